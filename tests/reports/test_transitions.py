"""What became of the detections inside pairs, against a count with pandas."""

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from scipy.stats import binomtest

from pytest_benchbench.evidence.writing import encode_document

SERIES = ["suite", "params", "adapter"]
PARTS = ["kept", "lost", "gained", "absent", "undecided"]

cases = st.lists(
    st.fixed_dictionaries(
        {
            "suite": st.sampled_from(["a.py::test", "b.py::test"]),
            "adapter": st.sampled_from(["dwt-dct", "rivagan"]),
            "params": st.just("q75"),
            "pair_id": st.sampled_from(["p1", "p2", "p3", "p4"]),
            "state": st.sampled_from(["clean", "marked", "marked", "attacked", "attacked", "removed"]),
            "transform": st.sampled_from(["jpeg", "crop"]),
            "status": st.sampled_from(["detected", "detected", "not_detected", "scored", "error", "unavailable"]),
        }
    ),
    max_size=50,
)


def counted_by_pandas(drawn):
    """Give {(series, to, transform): counts} by joining the members of each pair."""
    frame = pd.DataFrame(drawn, columns=[*SERIES, "pair_id", "state", "transform", "status"])
    found = {}

    def verdict(statuses):
        said = set(statuses)
        return said.pop() if len(said) == 1 and said <= {"detected", "not_detected"} else "undecided"

    marked = frame[frame.state == "marked"].groupby([*SERIES, "pair_id"]).status.agg(verdict).rename("before")
    later = frame[frame.state.isin(["attacked", "removed"])]
    members = later.groupby([*SERIES, "pair_id", "state", "transform"]).status.agg(verdict).rename("after").reset_index()
    joined = members.merge(marked.reset_index(), how="left", on=[*SERIES, "pair_id"])
    names = {
        ("detected", "detected"): "kept",
        ("detected", "not_detected"): "lost",
        ("not_detected", "detected"): "gained",
        ("not_detected", "not_detected"): "absent",
    }
    for line in joined.itertuples():
        key = (line.suite, line.params, line.adapter, line.state, line.transform)
        counts = found.setdefault(key, dict.fromkeys([*PARTS, "unpaired"], 0))
        counts["unpaired" if pd.isna(line.before) else names.get((line.before, line.after), "undecided")] += 1
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=cases, data=st.data())
def test_pairs_agree_with_pandas_and_not_with_the_order_of_rows(row, report, drawn, data):
    rows = [row(**{"case_id": f"c{number}", **one}) for number, one in enumerate(drawn)]
    lines = report(rows)["results"]["transitions"]
    told = {tuple(line[name] for name in [*SERIES, "to", "transform"]): line for line in lines}
    expected = counted_by_pandas(drawn)
    assert list(told) == sorted(expected)
    for key, counts in expected.items():
        line = told[key]
        assert {name: line[name] for name in counts} == counts
        assert line["pairs"] == sum(counts[name] for name in PARTS)
        assert 0 <= line["undecided_mixed"] <= line["undecided"]
        changed = line["lost"] + line["gained"]
        p = binomtest(line["lost"], changed).pvalue if changed else None
        assert line["mcnemar_p"] == (p if p is None else pytest.approx(p, rel=1e-12))
        assert (line["kept_rate"]["k"], line["kept_rate"]["n"]) == (line["kept"], line["kept"] + line["lost"])
        assert (line["gained_rate"]["k"], line["gained_rate"]["n"]) == (line["gained"], line["gained"] + line["absent"])
    shuffled = report(data.draw(st.permutations(rows)))["results"]["transitions"]
    assert encode_document(shuffled) == encode_document(lines)


def pair(row, name, *later, marked="detected", transform="jpeg", **more):
    """Write the rows of a pair: one marked row, and later ones with these verdicts."""
    yield row(f"{name}-marked", pair_id=name, status=marked, state="marked", **more)
    for number, status in enumerate(later):
        yield row(f"{name}-{transform}-{number}", pair_id=name, status=status, state="attacked", transform=transform, **more)


def only_line(report, rows):
    (line,) = report(list(rows))["results"]["transitions"]
    return line


def test_a_pair_says_everything(row, report):
    rows = [*pair(row, "p", "not_detected"), *pair(row, "q", "detected")]
    assert only_line(report, rows) == {
        "suite": "suite.py::test_detection",
        "params": None,
        "adapter": "dwt-dct",
        "transform": "jpeg",
        "from": "marked",
        "to": "attacked",
        "pairs": 2,
        "kept": 1,
        "lost": 1,
        "gained": 0,
        "absent": 0,
        "undecided": 0,
        "undecided_mixed": 0,
        "unpaired": 0,
        "kept_rate": {
            "k": 1,
            "n": 2,
            "rate": 0.5,
            "wilson95_low": pytest.approx(0.094531205734231),
            "wilson95_high": pytest.approx(0.905468794265769),
        },
        "gained_rate": {"k": 0, "n": 0, "rate": None, "wilson95_low": None, "wilson95_high": None},
        "mcnemar_p": 1.0,
    }


@pytest.mark.parametrize(
    ("marked", "later", "part"),
    [
        ("detected", ["detected", "detected"], "kept"),
        ("detected", ["not_detected", "not_detected"], "lost"),
        ("not_detected", ["detected"], "gained"),
        ("not_detected", ["not_detected"], "absent"),
        ("detected", ["detected", "not_detected"], "undecided"),
        ("detected", ["detected", "error"], "undecided"),
        ("detected", ["scored"], "undecided"),
        ("error", ["detected"], "undecided"),
        ("unavailable", ["unavailable"], "undecided"),
        ("scored", ["not_detected"], "undecided"),
    ],
)
def test_a_member_is_what_all_its_rows_say(row, report, marked, later, part):
    line = only_line(report, pair(row, "p", *later, marked=marked))
    assert (line["pairs"], line[part], line["unpaired"]) == (1, 1, 0)


def test_undecided_pairs_whose_rows_all_have_a_verdict_are_told_apart(row, report):
    rows = [
        *pair(row, "p", "detected", "not_detected"),
        *pair(row, "q", "detected", "not_detected", "error"),
        *pair(row, "r", "detected"),
        row("r-marked-again", pair_id="r", status="not_detected", state="marked"),
    ]
    line = only_line(report, rows)
    assert (line["pairs"], line["undecided"], line["undecided_mixed"]) == (3, 3, 2)


def test_attempts_that_disagree_leave_a_pair_undecided(row, report):
    again = row("p-marked", pair_id="p", status="not_detected", state="marked", attempt=2)
    assert only_line(report, [*pair(row, "p", "detected"), again])["undecided"] == 1


def test_a_row_that_was_not_run_leaves_a_pair_undecided(row, report):
    rows = [
        row("a", pair_id="p", state="marked"),
        row("b", pair_id="p", state="attacked", transform="jpeg", status="error", outcome="not_run"),
    ]
    assert only_line(report, rows)["undecided"] == 1


def test_without_a_marked_row_there_is_no_pair(row, report):
    line = only_line(report, [row(f"c{seed}", pair_id="p", state="attacked", transform="jpeg") for seed in range(3)])
    assert (line["pairs"], line["unpaired"], line["mcnemar_p"]) == (0, 1, None)


def test_rows_without_a_pair_are_unpaired_each(row, report):
    rows = [row(f"c{number}", state="attacked", transform="jpeg") for number in range(3)]
    rows.append(row("m", state="marked"))
    for one in rows:
        del one["case"]["pair_id"]
    line = only_line(report, rows)
    assert (line["pairs"], line["unpaired"]) == (0, 3)


def test_pairs_of_two_adapters_are_never_joined(row, report):
    rows = [*pair(row, "p", "detected")][:1] + [*pair(row, "p", "detected", adapter="rivagan")][1:]
    assert only_line(report, rows)["unpaired"] == 1


def test_a_removed_row_is_compared_with_the_marked_one(row, report):
    rows = [
        *pair(row, "p", "detected"),
        row("p-removed", pair_id="p", state="removed", transform="remove", status="not_detected"),
    ]
    attacked, removed = report(rows)["results"]["transitions"]
    assert (attacked["to"], attacked["kept"]) == ("attacked", 1)
    assert (removed["to"], removed["transform"], removed["lost"]) == ("removed", "remove", 1)


def test_nothing_later_is_no_line(row, report):
    assert report([row("a"), row("b", state="clean")])["results"]["transitions"] == []
    assert report([])["results"]["transitions"] == []

"""Verdict tables against a count in plain Python."""

from collections import defaultdict

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from statsmodels.stats.proportion import proportion_confint

DIMENSIONS = {
    "adapter": (),
    "adapter_arm": ("arm",),
    "adapter_state": ("state",),
    "adapter_state_transform": ("state", "transform"),
}

cases = st.lists(
    st.fixed_dictionaries(
        {
            "suite": st.sampled_from(["a.py::test", "b.py::test"]),
            "params": st.sampled_from([None, "q75"]),
            "adapter": st.sampled_from(["dwt-dct", "rivagan"]),
            "artifact": st.sampled_from("uvwxyz"),
            "state": st.sampled_from(["clean", "attacked", "removed"]),
            "arm": st.sampled_from(["positive", "matched_negative"]),
            "transform": st.sampled_from(["jpeg", "crop"]),
            "status": st.sampled_from(["detected", "not_detected", "scored", "error", "unavailable"]),
        }
    ),
    max_size=25,
)


def counted_by_hand(drawn, dimensions):
    """Give {cell: (rows by status, artifacts by verdict)} by walking over the rows for each question anew."""
    answers = {"detected", "not_detected", "scored"}
    verdicts = defaultdict(set)
    for one in drawn:
        if one["status"] in answers:
            verdicts[one["suite"], one["params"], one["adapter"], one["artifact"]].add(one["status"])
    cells = {}
    for cell in {(one["suite"], one["params"], one["adapter"], *(one[name] for name in dimensions)) for one in drawn}:
        here = [o for o in drawn if (o["suite"], o["params"], o["adapter"], *(o[name] for name in dimensions)) == cell]
        artifacts = {one["artifact"] for one in here if one["status"] in answers}
        said = [verdicts[*cell[:3], artifact] for artifact in artifacts]
        cells[cell] = (
            {status: sum(one["status"] == status for one in here) for status in (*answers, "error", "unavailable")},
            {
                **{answer: said.count({answer}) for answer in answers},
                "conflicting": sum(len(answer) > 1 for answer in said),
            },
        )
    return cells


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=cases)
def test_every_table_agrees_with_a_count_by_hand(row, report, drawn):
    tables = report([row(f"c{i}", **one) for i, one in enumerate(drawn)])["results"]["tables"]
    for name, dimensions in DIMENSIONS.items():
        by_hand = counted_by_hand(drawn, dimensions)
        lines = {tuple(line[key] for key in ("suite", "params", "adapter", *dimensions)): line for line in tables[name]}
        assert lines.keys() == by_hand.keys()
        assert len(lines) == len(tables[name])
        for cell, (rows, artifacts) in by_hand.items():
            line = lines[cell]
            assert {status: line[f"rows_{status}"] for status in rows} == rows
            assert line["rows"] == sum(rows.values())
            assert {verdict: line[f"artifacts_{verdict}"] for verdict in artifacts} == artifacts
            assert line["artifacts"] == sum(artifacts.values())
            assert_rate(line["detected_rate_of_artifacts"], artifacts["detected"], artifacts["not_detected"])


def assert_rate(rate, detected, not_detected):
    n = detected + not_detected
    assert (rate["k"], rate["n"]) == (detected, n)
    if n == 0:
        assert (rate["rate"], rate["wilson95_low"], rate["wilson95_high"]) == (None, None, None)
    else:
        low, high = proportion_confint(detected, n, 0.05, "wilson")
        assert (rate["rate"], rate["wilson95_low"], rate["wilson95_high"]) == pytest.approx(
            (detected / n, low, high), abs=1e-12
        )


def line_of(document, **where):
    (line,) = [
        line
        for line in document["results"]["tables"]["adapter_state"]
        if all(line[name] == value for name, value in where.items())
    ]
    return line


def test_repeating_an_artifact_adds_rows_and_no_artifact(row, report):
    line = line_of(report([row(f"c{i}", artifact="same") for i in range(5)]))
    assert (line["rows_detected"], line["artifacts_detected"], line["detected_rate_of_artifacts"]["n"]) == (5, 1, 1)


def test_errors_unavailable_and_lost_rows_are_never_not_detected(row, report):
    rows = [row("a", status="error"), row("b", status="unavailable"), row("c", status="error", outcome="not_run")]
    line = line_of(report(rows))
    assert (line["rows_error"], line["rows_unavailable"], line["rows_not_run"]) == (1, 1, 1)
    assert (line["rows_not_detected"], line["artifacts"], line["detected_rate_of_artifacts"]["rate"]) == (0, 0, None)


def test_a_score_where_a_verdict_is_demanded_is_an_error(row, report):
    line = line_of(report([row("a", status="scored", expected="detected", score=0.5)]))
    assert (line["rows_error"], line["rows_scored"]) == (1, 0)


def test_an_artifact_with_different_verdicts_is_in_no_rate(row, report):
    document = report([row("a", artifact="x"), row("b", artifact="x", status="not_detected"), row("c")])
    line = line_of(document)
    assert line["artifacts_conflicting"] == 1
    assert (line["detected_rate_of_artifacts"]["k"], line["detected_rate_of_artifacts"]["n"]) == (1, 1)
    listed = document["results"]["conflicting_artifacts"]
    assert listed["count"] == 1
    assert listed["listed"][0]["verdicts"] == ["detected", "not_detected"]


def test_a_conflict_between_states_is_one_too(row, report):
    document = report(
        [row("a", artifact="x", state="attacked"), row("b", artifact="x", state="removed", status="not_detected")]
    )
    assert line_of(document, state="attacked")["artifacts_conflicting"] == 1
    assert document["results"]["conflicting_artifacts"]["listed"][0]["states"] == ["attacked", "removed"]


def test_the_artifact_of_an_unstable_row_is_in_no_rate(row, report):
    document = report([row("a", attempt=1), row("a", attempt=2, status="not_detected")])
    line = line_of(document)
    assert (line["rows"], line["rows_unstable"], line["rows_detected"], line["artifacts_conflicting"]) == (1, 1, 0, 1)
    assert document["results"]["conflicting_artifacts"]["listed"][0]["verdicts"] == ["unstable"]


@pytest.mark.parametrize("difference", [{"suite": "b.py::test"}, {"params": "q75"}, {"adapter": "rivagan"}])
def test_suites_parameters_and_adapters_are_never_pooled(row, report, difference):
    document = report([row("a"), row("a", status="not_detected", **difference)])
    lines = document["results"]["tables"]["adapter"]
    assert [line["detected_rate_of_artifacts"]["n"] for line in lines] == [1, 1]
    assert document["results"]["conflicting_artifacts"]["count"] == 0


def test_absent_arms_are_named(row, report):
    rows = [
        row("a", arm="positive"),
        row("b", arm="hard_negative", status="unavailable"),
        row("c", adapter="x", arm="wrong_key"),
    ]
    absent = {line["adapter"]: line["absent"] for line in report(rows)["results"]["absent_arms"]}
    assert absent == {
        "dwt-dct": ["matched_negative", "wrong_key"],
        "x": ["positive", "matched_negative", "hard_negative"],
    }


def test_a_kind_without_arms_lacks_none(row, report):
    rows = [row("a", kind="dataset", case={"id": "a", "label": 1, "transform": "jpeg-75"})]
    document = report(rows)
    assert document["results"]["absent_arms"] == []
    assert document["results"]["tables"]["adapter_state_transform"][0]["transform"] == "jpeg-75"


def test_fields_together_make_one_table_with_the_numbers_of_its_rows(row, report):
    def marked(case_id, name, accuracy, state="marked", status="detected"):
        parameters = {"carrier": {"name": name}}
        numbers = {} if accuracy is None else {"message_bit_accuracy": accuracy}
        return row(case_id, state=state, status=status, parameters=parameters, artifact=case_id, **numbers)

    rows = [
        marked("a", "sky", 0.875),
        marked("b", "sky", 0.5, status="not_detected"),
        marked("c", "sky", 0.25, state="attacked", status="not_detected"),
        marked("d", "sea", None),
    ]
    field = "state,transform.parameters.carrier.name"
    lines = report(rows, by=[field])["results"]["by"][field]
    assert [line["value"] for line in lines] == [["attacked", "sky"], ["marked", "sea"], ["marked", "sky"]]
    assert [(line["detected_rate_of_artifacts"]["k"], line["artifacts"]) for line in lines] == [(0, 1), (1, 1), (1, 2)]
    assert [line["message_bit_accuracy"] for line in lines] == [
        {"rows": 1, "min": 0.25, "median": 0.25, "max": 0.25},
        None,
        {"rows": 2, "min": 0.5, "median": 0.5, "max": 0.875},
    ]
    assert [line["score"] for line in lines] == [None, None, None]


def test_a_table_by_a_field_has_a_line_for_each_value_in_their_order(row, report):
    path = "transform.parameters.quality"
    values = ["low", 90, 75.0, None, True, 75, [1, "x"], {"b": 1, "a": 2}]
    rows = [row(f"c{i}", parameters={"quality": value}) for i, value in enumerate(values)]
    rows += [row("d", case={"case_id": "d"}), row("e", adapter="a", parameters={"quality": 5})]
    lines = report(rows, by=[path])["results"]["by"][path]
    assert [(line["adapter"], line["value"], line["rows"]) for line in lines] == [
        ("a", 5, 1),
        ("dwt-dct", None, 2),
        ("dwt-dct", 75, 2),
        ("dwt-dct", 90, 1),
        ("dwt-dct", "low", 1),
        ("dwt-dct", [1, "x"], 1),
        ("dwt-dct", True, 1),
        ("dwt-dct", {"a": 2, "b": 1}, 1),
    ]
    assert lines[2]["detected_rate_of_artifacts"]["n"] == 2

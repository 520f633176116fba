"""Where it goes wrong most."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from statsmodels.stats.proportion import proportion_confint

cases = st.lists(
    st.fixed_dictionaries(
        {
            "adapter": st.sampled_from(["dwt-dct", "rivagan"]),
            "state": st.sampled_from(["clean", "marked"]),
            "arm": st.sampled_from(["positive", "hard_negative"]),
            "transform": st.sampled_from(["jpeg", "crop"]),
            "status": st.sampled_from(["detected", "not_detected", "error", "unavailable"]),
            "expected": st.sampled_from(["detected", "unresolved"]),
            "known": st.booleans(),
        }
    ),
    max_size=40,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=cases)
def test_slices_are_counted_and_the_worst_comes_first(row, report, drawn):
    results = report([row(f"c{number}", **one) for number, one in enumerate(drawn)])["results"]
    slices = {}
    for one in drawn:
        counts = slices.setdefault((one["adapter"], one["state"], one["transform"], one["arm"]), Counter())
        counts["rows"] += 1
        counts["run"] += one["status"] != "unavailable"
        counts["error"] += one["status"] == "error"
        counts["mismatch"] += one["status"] == "not_detected" and one["expected"] == "detected" and not one["known"]
    wrong = {key: counts for key, counts in slices.items() if counts["error"] + counts["mismatch"]}
    lines = results["worst_slices"]
    assert results["wrong_slices"] == len(wrong)
    assert {(line["adapter"], line["state"], line["transform"], line["arm"]) for line in lines} == set(wrong)
    for line in lines:
        counts = wrong[line["adapter"], line["state"], line["transform"], line["arm"]]
        rate = line["wrong_rate_of_rows"]
        assert (line["rows"], line["rows_error"], line["rows_mismatch"]) == (
            counts["rows"],
            counts["error"],
            counts["mismatch"],
        )
        assert (rate["k"], rate["n"]) == (counts["error"] + counts["mismatch"], counts["run"])
        low, high = proportion_confint(rate["k"], rate["n"], method="wilson")
        assert (rate["wilson95_low"], rate["wilson95_high"]) == (pytest.approx(low), pytest.approx(high))
    lows = [line["wrong_rate_of_rows"]["wilson95_low"] for line in lines]
    assert lows == sorted(lows, reverse=True)


def test_one_of_one_is_not_worse_than_nine_of_ten(row, report):
    rows = [row("a", transform="once", expected="not_detected")]
    rows += [row(f"b{n}", transform="often", expected="not_detected" if n else "detected") for n in range(10)]
    assert [line["transform"] for line in report(rows)["results"]["worst_slices"]] == ["often", "once"]


def test_unstable_rows_are_wrong_and_known_ones_are_not(row, report):
    rows = [
        row("a", attempt=1),
        row("a", attempt=2, status="not_detected"),
        row("b", expected="not_detected", known=True),
        row("c", status="error", outcome="not_run"),
    ]
    (line,) = report(rows)["results"]["worst_slices"]
    assert (line["rows"], line["rows_mismatch"], line["rows_unstable"]) == (3, 1, 1)
    assert (line["rows_known_mismatch"], line["rows_not_run"]) == (1, 1)
    assert (line["wrong_rate_of_rows"]["k"], line["wrong_rate_of_rows"]["n"]) == (1, 2)


def test_what_is_as_expected_is_no_slice(row, report):
    results = report([row("a"), row("b", expected="detected")])["results"]
    assert (results["worst_slices"], results["wrong_slices"]) == ([], 0)


def test_some_are_named_and_all_are_counted(row, report):
    results = report([row(f"c{n}", transform=f"t{n:02}", expected="not_detected") for n in range(23)])["results"]
    assert results["wrong_slices"] == 23
    assert [line["transform"] for line in results["worst_slices"]] == [f"t{n:02}" for n in range(20)]


def test_asking_again_makes_no_interval_narrower(directories, row):
    from pytest_benchbench.evidence.repeated_runs import RepeatedRuns
    from pytest_benchbench.reports.repeated import report_on

    rows = [row(f"c{n}", expected="detected", status="detected" if n % 3 else "not_detected", line=n + 1) for n in range(9)]
    paths = [directories.write(f"run-{number}", rows) for number in range(3)]
    (one,), (three,) = (report_on(RepeatedRuns.read(some))["results"]["worst_slices"] for some in (paths[:1], paths))
    rate, again = one.pop("wrong_rate_of_rows"), three.pop("wrong_rate_of_rows")
    assert (rate["k"], rate["n"], again["k"], again["n"]) == (3, 9, 9, 27)
    other = directories.write("other", [{**each, "key": {**each["key"], "adapter": "rivagan"}} for each in rows])
    both = report_on(RepeatedRuns.read([paths[0], other]))["results"]["worst_slices"]
    assert [line["wrong_rate_of_rows"] for line in both] == [rate, rate]
    assert [again[name] for name in ("rate", "wilson95_low", "wilson95_high")] == [
        pytest.approx(rate[name]) for name in ("rate", "wilson95_low", "wilson95_high")
    ]

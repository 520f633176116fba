"""What each metric counts, and where a rule's edge lies."""

import pytest
from hypothesis import given, settings, strategies as st
from statsmodels.stats.proportion import proportion_confint

from pytest_benchbench.evidence.grouping import standing
from pytest_benchbench.gates.policy import Rule
from pytest_benchbench.gates.rules import COUNTS, Tallies


def measure(rule, rows):
    """Give all findings of a rule."""
    tallies = Tallies([rule])
    for row in rows:
        tallies.add(row, standing(row))
    return [found for _, found in tallies.measurements()]


def measure_one(rule, rows):
    (found,) = measure(rule, rows)
    return found


def count(metric, op="<=", value=0, **more):
    return Rule(id="r", metric=metric, op=op, value=value, **more)


def rate(op, value, **more):
    return Rule(id="r", metric="detection_rate", op=op, value=value, **more)


ONE_OF_EACH = {
    "match": {},
    "mismatch": {"status": "not_detected"},
    "known_mismatch": {"status": "not_detected", "known": True},
    "measured": {"expected": "unresolved"},
    "error": {"status": "error"},
    "unavailable": {"status": "unavailable"},
    "not_run": {"status": "error", "outcome": "not_run"},
    "unstable": {"unstable": True},
}
COUNTED = {
    "planned_count": set(ONE_OF_EACH),
    "match_count": {"match"},
    "mismatch_count": {"mismatch", "unstable"},
    "measured_count": {"measured"},
    "known_mismatch_count": {"known_mismatch"},
    "error_count": {"error"},
    "unavailable_count": {"unavailable"},
    "unstable_count": {"unstable"},
}


@pytest.mark.parametrize("metric", COUNTS)
@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_each_metric_counts_its_rows_and_no_others(row, metric, kind):
    assert measure_one(count(metric), [row("a", **ONE_OF_EACH[kind])]).observed == (kind in COUNTED[metric])


@pytest.mark.parametrize(("op", "holding"), [("<=", {0, 1, 2}), ("<", {0, 1}), (">=", {2, 3}), (">", {3}), ("==", {2})])
@pytest.mark.parametrize("failing", range(4))
def test_each_operator_at_its_edge(row, op, holding, failing):
    rows = [row(f"c{i}", status="not_detected" if i < failing else "detected") for i in range(3)]
    assert measure_one(count("mismatch_count", op, 2), rows).passed is (failing in holding)


@pytest.mark.parametrize("facet", ["state", "arm", "media_type", "adapter", "transform"])
def test_a_slice_selects_by_each_property(row, facet):
    other = "other"
    changed = {facet: {"name": other}} if facet == "transform" else {facet: other}
    rows = [row("a", status="not_detected"), row("b", status="not_detected", **changed), row("c", **changed)]
    found = measure_one(count("mismatch_count", slice={facet: other}), rows)
    assert (found.n, found.observed, found.slice) == (2, 1, {facet: other})


def test_all_properties_of_a_slice_must_hold(row):
    rows = [row("a", arm="x"), row("b", state="y"), row("c", arm="x", state="y")]
    assert measure_one(count("planned_count", slice={"arm": "x", "state": "y"}), rows).n == 1


def test_a_slice_without_rows_cannot_be_computed(row):
    found = measure_one(count("mismatch_count", slice={"state": "typo"}), [row("a")])
    assert (found.passed, found.observed, found.n) == (None, None, 0)


def test_a_number_of_rows_is_known_to_be_zero(row):
    assert measure_one(count("planned_count", ">=", 1, slice={"state": "typo"}), [row("a")]).passed is False


@pytest.mark.parametrize(("rows", "passed"), [(2, False), (3, True)])
def test_a_minimum_count_is_a_rule_of_its_own(row, rows, passed):
    assert measure_one(count("mismatch_count", min_n=3), [row(f"c{i}") for i in range(rows)]).passed is passed


def test_a_minimum_count_fails_where_there_is_nothing(row):
    assert measure_one(count("mismatch_count", min_n=1), []).passed is False


@pytest.mark.parametrize(
    ("metric", "op", "value", "failures", "largest"),
    [
        ("mismatch_count", "<=", 2, 1, 2),
        ("mismatch_count", "<", 2, 1, 1),
        ("mismatch_count", "==", 0, 1, 0),
        ("mismatch_count", "==", 2, 1, 2),
        ("mismatch_count", "==", 4, 1, 4),
        ("mismatch_count", "==", 5, 1, None),
        ("mismatch_count", "<=", 99, 1, 4),
        ("mismatch_count", "<", 0, 1, None),
        ("mismatch_count", ">=", 0, None, None),
        ("match_count", ">=", 3, 1, 1),
        ("match_count", ">", 3, 1, 0),
        ("match_count", "==", 4, 1, 0),
        ("match_count", "==", 0, 1, 4),
        ("match_count", ">=", 5, 1, None),
        ("match_count", "<=", 5, None, None),
        ("planned_count", ">=", 1, None, None),
        ("measured_count", "<=", 1, None, None),
    ],
)
def test_failures_and_how_many_pass(row, metric, op, value, failures, largest):
    rows = [row(f"c{i}", status="detected" if i else "not_detected") for i in range(4)]
    found = measure_one(count(metric, op, value), rows)
    assert (found.failures, found.max_failures) == (failures, largest)


@pytest.mark.parametrize(
    ("metric", "observed"), [("mismatch_count", 1), ("match_count", 1), ("planned_count", 2), ("error_count", 0)]
)
def test_rows_of_one_base_count_once(row, metric, observed):
    rows = [
        row("a", pair_id="p"),
        row("b", pair_id="p", status="not_detected"),
        row("c", pair_id="q"),
        row("d", pair_id="q"),
    ]
    found = measure_one(count(metric, unit="base"), rows)
    assert (found.n, found.observed) == (2, observed)


def test_the_order_of_a_bases_rows_does_not_matter(row):
    rows = [row("a", pair_id="p"), row("b", pair_id="p", status="not_detected")]
    for metric in ("match_count", "mismatch_count"):
        rule = count(metric, unit="base")
        assert measure_one(rule, rows) == measure_one(rule, rows[::-1])


def test_a_base_id_is_preferred_to_a_pair(row):
    rows = [row("a", pair_id="p", baseId="x"), row("b", pair_id="q", baseId="x")]
    assert measure_one(count("planned_count", unit="base"), rows).observed == 1


def test_pairs_that_were_made_from_one_carrier_are_one_base(row):
    rows = [
        row(f"{state}-{mark}", pair_id=f"cat-{mark}", **more)
        for mark in "abc"
        for state, more in (
            ("clean", {"artifact": "cat", "status": "not_detected", "expected": "not_detected"}),
            ("marked", {}),
        )
    ]
    assert measure_one(count("planned_count", unit="base"), rows).observed == 1
    alone = [row for row in rows if row.row.key.case_id.startswith("marked")]
    assert measure_one(count("planned_count", unit="base"), alone).observed == 3


@pytest.mark.parametrize("rule", [count("mismatch_count", unit="base"), rate(">=", 0.5, unit="base")])
def test_without_bases_a_rule_about_bases_cannot_be_computed(row, rule):
    assert measure_one(rule, [row("a"), row("b", pair_id=None)]).passed is None


@pytest.mark.parametrize(("detected", "passed"), [(8, True), (7, False)])
def test_an_observed_rate(row, detected, passed):
    rows = [row(f"c{i}", status="detected" if i < detected else "not_detected") for i in range(10)]
    found = measure_one(rate(">=", 0.8), rows)
    assert (found.passed, found.observed, found.n, found.failures, found.max_failures) == (
        passed,
        detected / 10,
        10,
        10 - detected,
        2,
    )


@pytest.mark.parametrize(
    ("op", "bound", "value", "n", "largest"),
    [
        ("<=", "wilson_upper", 0.02, 500, 3),
        ("<=", "wilson_upper", 0.02, 189, 0),
        ("<=", "wilson_upper", 0.02, 188, None),
        (">=", "wilson_lower", 0.95, 500, 15),
        (">=", "wilson_lower", 0.80, 500, 82),
        (">=", "observed", 0.98, 500, 10),
        ("<", "observed", 0.02, 500, 9),
    ],
)
@pytest.mark.parametrize("over", [0, 1])
def test_reference_numbers_of_allowed_failures(row, op, bound, value, n, largest, over):
    failing = "detected" if op in {"<=", "<"} else "not_detected"
    other = "not_detected" if failing == "detected" else "detected"
    failures = over if largest is None else largest + over
    rows = [row(f"c{i}", status=failing if i < failures else other) for i in range(n)]
    found = measure_one(rate(op, value, bound=bound), rows)
    assert (found.n, found.failures, found.max_failures) == (n, failures, largest)
    assert found.passed is (largest is not None and over == 0)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 60), k=st.integers(0, 60), op=st.sampled_from(["<=", "<", ">=", ">"]), value=st.floats(0, 1))
@pytest.mark.parametrize("bound", ["wilson_lower", "wilson_upper"])
def test_the_largest_number_of_failures_is_the_edge(row, n, k, op, value, bound):
    k = min(k, n)
    rows = [row(f"c{i}", status="detected" if i < k else "not_detected") for i in range(n)]
    found = measure_one(rate(op, value, bound=bound), rows)
    low, high = proportion_confint(k, n, 0.05, "wilson")
    assert found.observed == pytest.approx(low if bound == "wilson_lower" else high, abs=1e-12)
    assert found.failures == (n - k if op in {">=", ">"} else k)
    assert found.passed is (found.max_failures is not None and found.failures <= found.max_failures)


def test_a_repeated_artifact_narrows_no_interval(row):
    once = measure_one(rate(">=", 0.5), [row("a"), row("b")])
    repeated = [row("a"), row("b"), row("c", artifact="a"), row("a", params="q"), row("a", suite="other")]
    assert measure_one(rate(">=", 0.5), repeated) == once


@pytest.mark.parametrize(("op", "failures"), [(">=", 1), ("<=", 1)])
@pytest.mark.parametrize("disagreement", [{"status": "not_detected"}, {"unstable": True}])
def test_disagreement_about_an_artifact_counts_against_the_rule(row, op, failures, disagreement):
    rows = [row("a", artifact="x"), row("b", artifact="x", **disagreement)]
    assert measure_one(rate(op, 0.5), rows).failures == failures


@pytest.mark.parametrize("op", [">=", "<="])
def test_an_unstable_row_alone_counts_against_the_rule(row, op):
    assert measure_one(rate(op, 0.5), [row("a", unstable=True)]).failures == 1


@pytest.mark.parametrize(("op", "failures"), [(">=", 1), ("<=", 1)])
def test_one_failing_row_fails_its_base(row, op, failures):
    rows = [row("a", pair_id="p"), row("b", pair_id="p", status="not_detected")]
    found = measure_one(rate(op, 0.5, unit="base"), rows)
    assert (found.n, found.failures) == (1, failures)


@pytest.mark.parametrize("status", ["error", "unavailable", "scored"])
def test_no_decision_is_in_no_rate(row, status):
    found = measure_one(rate(">=", 1.0), [row("a"), row("b", status=status, expected="unresolved")])
    assert (found.n, found.observed) == (1, 1.0)


def test_rates_are_never_pooled_over_adapters(row):
    rows = [row("a", adapter="y", status="not_detected"), row("a", adapter="x")]
    found = measure(rate(">=", 0.5, slice={"state": "marked"}), rows)
    assert [(one.slice, one.observed, one.passed) for one in found] == [
        ({"state": "marked", "adapter": "x"}, 1.0, True),
        ({"state": "marked", "adapter": "y"}, 0.0, False),
    ]


def test_an_adapter_without_decisions_cannot_be_computed(row):
    found = measure(rate(">=", 0.5), [row("a"), row("a", adapter="y", status="unavailable")])
    assert [(one.slice, one.passed) for one in found] == [({"adapter": "dwt-dct"}, True), ({"adapter": "y"}, None)]


def test_a_rate_of_nothing_cannot_be_computed():
    found = measure_one(rate(">=", 0.5, slice={"state": "marked"}), [])
    assert (found.passed, found.slice, found.n) == (None, {"state": "marked"}, 0)


def test_a_rate_of_nothing_fails_a_minimum():
    assert measure_one(rate(">=", 0.5, min_n=1), []).passed is False


def test_each_value_of_a_slice_is_decided_apart(row):
    rows = [
        row("a", source="x"),
        row("b", source="x", status="not_detected"),
        row("c", source="y"),
        row("d", source="y", state="attacked", status="not_detected"),
        row("e", source="z", state="attacked"),
    ]
    found = measure(count("mismatch_count", slice={"source": "*", "state": "marked"}), rows)
    assert [(one.slice, one.observed, one.n, one.passed) for one in found] == [
        ({"state": "marked", "source": "x"}, 1, 2, False),
        ({"state": "marked", "source": "y"}, 0, 1, True),
    ]


def test_rows_that_do_not_say_a_value_leave_it_open(row):
    found = measure(rate(">=", 0.5, slice={"source": "*"}), [row("a", source="x"), row("b")])
    assert [(one.slice["source"], one.passed) for one in found] == [("*", None), ("x", True)]


def test_without_rows_no_value_is_known():
    (found,) = measure(count("mismatch_count", slice={"source": "*"}), [])
    assert (found.slice, found.passed) == ({"source": "*"}, None)

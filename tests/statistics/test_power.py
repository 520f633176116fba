import math
import subprocess
import sys
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom

from pytest_benchbench.statistics.power import (
    MAX_TRIALS,
    base_failure_rate,
    holds,
    most_failures,
    pass_probability,
    passes_once,
    smallest_n,
    tolerable_rate,
    trials_needed,
)


class Rule(NamedTuple):
    bound: str
    op: str
    value: float


FALSE_POSITIVES = Rule("wilson_upper", "<=", 0.02)
REAL_RECALL = Rule("wilson_lower", ">=", 0.95)
AI_RECALL = Rule("wilson_lower", ">=", 0.80)
OBSERVED_RECALL = Rule("observed", ">=", 0.98)
PER_SOURCE = Rule("observed", "<=", 0.05)

RELEASE_RULES = [FALSE_POSITIVES, REAL_RECALL, AI_RECALL, OBSERVED_RECALL, PER_SOURCE]

few = settings(max_examples=60, deadline=None)

rules = st.builds(
    Rule,
    st.sampled_from(["observed", "wilson_lower", "wilson_upper"]),
    st.sampled_from(["<=", "<", ">=", ">"]),
    st.floats(0, 1),
)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (FALSE_POSITIVES, [189, 280, 361, 437, 510, 581, 650, 718, 785, 850, 916]),
        (REAL_RECALL, [73, 110, 142, 173, 202, 230, 257, 284, 311, 337, 363]),
        (AI_RECALL, [16, 25, 33, 40, 47, 54, 61, 68, 74, 81, 87]),
    ],
)
def test_reference_smallest_n(rule, expected):
    assert [smallest_n(rule, failures) for failures in range(11)] == expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (FALSE_POSITIVES, [None, 0, 3, 5, 7, 11, 19, 27, 80]),
        (REAL_RECALL, [0, 5, 15, 19, 25, 36, 58, 80, 219]),
        (OBSERVED_RECALL, [2, 5, 10, 12, 15, 20, 30, 40, 100]),
        (AI_RECALL, [12, 37, 82, 100, 128, 175, 269, 364, 944]),
    ],
)
def test_reference_most_failures(rule, expected):
    assert [most_failures(rule, n) for n in (100, 250, 500, 600, 750, 1000, 1500, 2000, 5000)] == expected


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (0.001, 0.998264),
        (0.002, 0.981135),
        (0.003, 0.934641),
        (0.004, 0.857486),
        (0.005, 0.757845),
        (0.0075, 0.483184),
        (0.01, 0.263616),
        (0.02, 0.009812),
    ],
)
def test_reference_gate_power(rate, expected):
    assert pass_probability(500, 3, rate) == pytest.approx(expected, abs=5e-7)
    assert pass_probability(500, 3, rate) == pytest.approx(binom.cdf(3, 500, rate), abs=1e-12)


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (500, [0.00459681, 0.00349393, 0.00273712]),
        (1000, [0.00903983, 0.00784181, 0.00693839]),
        (2000, [0.01174918, 0.01074925, 0.00996807]),
    ],
)
def test_reference_tolerable_rates(n, expected):
    most = most_failures(FALSE_POSITIVES, n)
    assert [tolerable_rate(n, most, power) for power in (0.8, 0.9, 0.95)] == pytest.approx(expected, abs=5e-9)


def test_reference_retries():
    assert passes_once(pass_probability(500, 3, 0.01), 1) == pytest.approx(0.26362, abs=5e-6)
    assert passes_once(pass_probability(500, 3, 0.01), 5) == pytest.approx(0.78347, abs=5e-6)
    assert passes_once(pass_probability(500, 3, 0.02), 5) == pytest.approx(0.04811, abs=5e-6)


@pytest.mark.parametrize(
    ("derivatives", "expected"), [(1, 0.001), (4, 0.003994), (8, 0.007972), (12, 0.011934), (24, 0.023726)]
)
def test_reference_any_derivative(derivatives, expected):
    assert base_failure_rate(0.001, derivatives) == pytest.approx(expected, abs=5e-7)
    exact = 1 - (1 - Fraction(1, 1000)) ** derivatives
    assert base_failure_rate(0.001, derivatives) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("rate", "expected"), [(0.001, 0.15255), (0.0005, 0.64908), (0.002, 0.00233)])
def test_reference_any_derivative_of_twelve_passes(rate, expected):
    assert pass_probability(500, 3, base_failure_rate(rate, 12)) == pytest.approx(expected, abs=5e-6)


def test_reference_recall_over_twelve_derivatives():
    assert 1 - base_failure_rate(0.02, 12) == pytest.approx(0.78472, abs=5e-6)
    assert 1 - base_failure_rate(1 - 0.985184, 12) == pytest.approx(0.836, abs=5e-6)


@pytest.mark.parametrize(("rate", "expected"), [(0.005, 0.020366), (0.01, 0.12989), (0.02, 0.558131)])
def test_reference_per_source_floor(rate, expected):
    most = most_failures(PER_SOURCE, 50)
    assert most == 2
    assert passes_once(1 - pass_probability(50, most, rate), 10) == pytest.approx(expected, abs=5e-7)


@few
@given(st.integers(0, 10_000), st.floats(0, 1), st.floats(-0.1, 1.1))
def test_agrees_with_scipy(n, rate, share):
    most = round(n * share)
    assert pass_probability(n, most, rate) == pytest.approx(binom.cdf(most, n, rate), abs=1e-9)


@pytest.mark.parametrize("rate", [1e-300, 1e-9, 0.0123, 0.5, 1 - 1e-9])
@pytest.mark.parametrize("most", [0, 1, 120, 5000, 9999])
def test_ten_thousand_trials(most, rate):
    assert pass_probability(10_000, most, rate) == pytest.approx(binom.cdf(most, 10_000, rate), abs=1e-12)


@few
@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), st.integers(0, 20))
def test_agrees_with_whole_numbers(counts, twentieths):
    n, most = counts
    rate = Fraction(twentieths, 20)
    exact = sum(math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(most + 1))
    assert pass_probability(n, most, twentieths / 20) == pytest.approx(float(exact), abs=1e-12)


def test_a_rule_that_cannot_hold_is_never_passed():
    assert pass_probability(100, None, 0.0) == 0
    assert tolerable_rate(100, None, 0.5) is None


def test_where_all_may_fail_every_rate_passes():
    assert tolerable_rate(5, 5, 0.9) == 1.0


def test_what_is_always_wrong_fails_every_base():
    assert base_failure_rate(1.0, 3) == 1.0


def test_without_trials_nothing_fails():
    assert pass_probability(0, 0, 0.5) == 1
    assert most_failures(OBSERVED_RECALL, 0) is None


@few
@given(rules, st.integers(1, 400))
def test_most_failures_is_the_last_that_holds(rule, n):
    kept = [failures for failures in range(n + 1) if holds(rule, failures, n)]
    assert most_failures(rule, n) == (max(kept) if kept else None)
    assert kept == list(range(len(kept)))


@few
@given(rules, st.integers(0, 40))
def test_smallest_n_is_the_first_that_holds(rule, failures):
    first = smallest_n(rule, failures)
    if first is None:
        assert not holds(rule, failures, MAX_TRIALS)
        return
    assert holds(rule, failures, first)
    assert first == max(failures, 1) or not holds(rule, failures, first - 1)


@pytest.mark.parametrize(("op", "failures", "holding"), [("<=", 1, True), ("<", 1, False), (">=", 1, True), (">", 1, False)])
def test_each_operator_at_its_very_bound(op, failures, holding):
    assert holds(Rule("observed", op, 0.5), failures, 2) is holding


def test_as_many_trials_may_fail_as_are_tried_out():
    always = Rule("observed", "<=", 1.0)
    assert smallest_n(always, MAX_TRIALS) == MAX_TRIALS
    assert smallest_n(always, MAX_TRIALS + 1) is None
    assert trials_needed(always, 0.0, [0.5], at_least=MAX_TRIALS) == [(MAX_TRIALS, MAX_TRIALS)]
    assert trials_needed(always, 0.0, [0.5], at_least=MAX_TRIALS + 1) == [None]


@few
@given(st.integers(1, 2000), st.integers(0, 30), st.floats(0.01, 0.99))
def test_a_tolerable_rate_is_the_largest(n, most, probability):
    rate = tolerable_rate(n, most, probability)
    assert pass_probability(n, most, rate) >= probability - 1e-12
    assert rate == 1 or pass_probability(n, most, min(rate * (1 + 1e-9), 1)) <= probability + 1e-9


@pytest.mark.parametrize(
    ("rule", "rate"), [(FALSE_POSITIVES, 0.004), (AI_RECALL, 0.1), (PER_SOURCE, 0.03), (PER_SOURCE, 0.0)]
)
def test_needed_trials_are_those_of_every_number_tried(monkeypatch, rule, rate):
    monkeypatch.setattr("pytest_benchbench.statistics.power.MAX_TRIALS", 1200)
    tried = {n: pass_probability(n, most_failures(rule, n), rate) for n in range(50, 1201)}
    powers = (0.8, 0.9, 0.95)
    for power, found in zip(powers, trials_needed(rule, rate, powers, at_least=50), strict=True):
        enough = [n for n, passes in tried.items() if passes >= power]
        missed = [n for n, passes in tried.items() if passes < power]
        assert found.first == min(enough)
        assert found.always_from == max(missed, default=49) + 1


def test_one_trial_more_may_pass_less_often():
    assert pass_probability(510, most_failures(FALSE_POSITIVES, 510), 0.005) > pass_probability(
        580, most_failures(FALSE_POSITIVES, 580), 0.005
    )


def test_no_number_of_trials_passes_a_rate_beyond_the_bound():
    assert trials_needed(FALSE_POSITIVES, 0.03, [0.8]) == [None]


def test_certain_failure_passes_only_what_bears_it():
    assert trials_needed(AI_RECALL, 1.0, [0.8]) == [None]
    assert trials_needed(Rule("observed", "<=", 1.0), 1.0, [0.8]) == [(1, 1)]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pass_probability(-1, 0, 0.5), "too small"),
        (lambda: pass_probability(1, 0, 1.5), "rate"),
        (lambda: pass_probability(1, 0, math.nan), "rate"),
        (lambda: base_failure_rate(0.5, 0), "too small"),
        (lambda: passes_once(0.5, 0), "too small"),
        (lambda: smallest_n(AI_RECALL, -1), "failures"),
        (lambda: tolerable_rate(1, 0, 1.0), "probability"),
        (lambda: trials_needed(AI_RECALL, 0.1, [0.0]), "probability"),
        (lambda: holds(Rule("observed", "==", 0.5), 1, 2), "compared by"),
    ],
)
def test_impossible_arguments_are_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_a_probability_costs_no_heavy_import():
    code = (
        "import sys; from pytest_benchbench.statistics.power import pass_probability as p;"
        "p(500, 3, .01); sys.exit(bool({'scipy', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

import pytest

from pytest_benchbench.gates.needed_bases import bases_of_policy, bases_of_rules, least_bases, tolerable_rates
from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.gates.prospects import Bases, ErrorRates, prospect
from pytest_benchbench.statistics.power import pass_probability

RELEASE = load_policy("release").policy

POWERS = (0.8, 0.9, 0.95)


def test_release_demands_these_bases():
    assert least_bases(RELEASE) == (500, 500, 3, 3)


def test_a_policy_that_demands_no_number_of_bases(own_policy):
    assert least_bases(own_policy("metric: ai_recall, op: '>=', value: 0.5")) == (1, 1, 1, 1)


@pytest.mark.parametrize(("op", "value", "least"), [(">=", 7, 7), (">", 7, 8), (">=", 6.5, 7), ("==", 7, 7), ("<=", 7, 1)])
def test_a_demanded_number_is_the_smallest_that_holds(own_policy, op, value, least):
    assert least_bases(own_policy(f"metric: real_count, op: '{op}', value: {value}"))[0] == least


def test_bases_that_release_needs():
    rates, bases = ErrorRates(0.005, 0.1), Bases(500, 500, 3, 3)
    needed = bases_of_rules(RELEASE, bases, rates, POWERS)
    strictest = next(each for each in needed if each.id == "false_positives_upper")
    assert strictest.of == "real bases"
    assert strictest.sizes == [(510, 510), (581, 650), (650, 718)]
    floor = next(each for each in needed if each.id == "source_false_positives")
    assert (floor.of, floor.groups) == ("real bases of each source", 3)
    assert floor.sizes == [(50, 50)] * 3
    assert bases_of_policy(RELEASE, bases, rates, POWERS, needed) == [510, 581, 650]


def test_bases_that_both_classes_need_together():
    rates, bases = ErrorRates(0.005, 0.15), Bases(500, 500, 3, 3)
    needed = bases_of_rules(RELEASE, bases, rates, [0.9])
    alone = {each.id: each.sizes[0].first for each in needed}
    (n,) = bases_of_policy(RELEASE, bases, rates, [0.9], needed)
    assert n > max(alone["false_positives_upper"], alone["ai_recall_lower"])
    assert prospect(RELEASE, Bases(n, n, 3, 3), rates).probability >= 0.9
    assert prospect(RELEASE, Bases(n - 1, n - 1, 3, 3), rates).probability < 0.9


def test_no_number_of_bases_passes_a_rate_beyond_the_bound():
    rates, bases = ErrorRates(0.021, 0.1), Bases(500, 500, 3, 3)
    needed = bases_of_rules(RELEASE, bases, rates, [0.8])
    assert bases_of_policy(RELEASE, bases, rates, [0.8], needed) == [None]


def test_groups_share_the_probability(own_policy):
    own = own_policy("metric: false_positive_rate, op: '<=', value: 0.05, slice: {source: '*'}, min_n: 50")
    (each,) = bases_of_rules(own, Bases(500, 1, 10, 1), ErrorRates(0.01, 0.0), [0.9])
    assert pass_probability(each.sizes[0].first, each.sizes[0].first // 20, 0.01) ** 10 >= 0.9
    assert each.sizes[0].first > 50  # where ten of fifty each pass with .87


def test_a_number_of_bases_that_is_demanded_is_where_the_search_begins(own_policy):
    own = own_policy(
        "metric: balanced_accuracy, op: '>=', value: 0.5", "metric: real_count, op: '>=', value: 60, slice: {source: '*'}"
    )
    bases, rates = Bases(1, 1, 100, 1), ErrorRates(0.0, 0.0)
    assert bases_of_policy(own, bases, rates, [0.9], bases_of_rules(own, bases, rates, [0.9])) == [6000]


def test_a_rule_about_each_resolution_is_about_all_bases(own_policy):
    own = own_policy("metric: real_recall, op: '>=', value: 0.5, slice: {resolutionGroup: '*'}")
    (each,) = bases_of_rules(own, Bases(5, 5, 2, 2), ErrorRates(0.0, 0.0), [0.9])
    assert (each.of, each.groups) == ("real bases", 1)


def test_rates_that_pass_release_with_five_hundred_bases():
    bases = Bases(500, 500, 3, 3)
    expected = [0.00459681, 0.00349393, 0.00273712]
    assert tolerable_rates(RELEASE, bases, "real", POWERS) == pytest.approx(expected, abs=5e-9)
    for rate, power in zip(tolerable_rates(RELEASE, bases, "ai", POWERS), POWERS, strict=True):
        assert prospect(RELEASE, bases, ErrorRates(0.0, rate)).ai == pytest.approx(power, abs=1e-9)


def test_rates_of_a_derivative_are_lower_than_those_of_a_base():
    alone, of_twelve = (tolerable_rates(RELEASE, Bases(500, 500, 3, 3, m), "real", [0.8])[0] for m in (1, 12))
    assert 1 - (1 - of_twelve) ** 12 == pytest.approx(alone, abs=1e-9)


def test_too_few_bases_pass_with_no_rate(own_policy):
    own = own_policy("metric: false_positive_rate, op: '<=', value: 0.02, bound: wilson_upper")
    assert tolerable_rates(own, Bases(188, 1, 1, 1), "real", [0.8]) == [None]
    assert tolerable_rates(own, Bases(188, 1, 1, 1), "ai", [0.8]) == [1.0]

from itertools import product

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom

from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.gates.prospects import Bases, ErrorRates, prospect

RELEASE = load_policy("release").policy

RULES = {
    "metric: false_positive_rate, op: '<=', value: 0.4": lambda real, ai: share(real) <= 0.4,
    "metric: real_recall, op: '>', value: 0.5, bound: wilson_lower": lambda real, ai: (
        sum(map(sum, real)) == 0 and sum(map(len, real)) >= 4  # of 3 of 3 the bound is .44, of 5 of 6 too
    ),
    "metric: ai_recall, op: '>=', value: 0.5": lambda real, ai: share(ai) <= 0.5,
    "metric: balanced_accuracy, op: '>=', value: 0.7": lambda real, ai: (1 - share(real) + 1 - share(ai)) / 2 >= 0.7 - 1e-12,
    "metric: precision, op: '>=', value: 0.6": lambda real, ai: precision(real, ai) >= 0.6,
    "metric: false_positive_rate, op: '<', value: 0.5, slice: {source: '*'}": lambda real, ai: all(
        share([group]) < 0.5 for group in real
    ),
    "metric: ai_recall, op: '>=', value: 0.5, slice: {generatorFamily: '*'}": lambda real, ai: all(
        share([group]) <= 0.5 for group in ai
    ),
    "metric: real_recall, op: '>=', value: 0.7, slice: {resolutionGroup: thumbnail}": lambda real, ai: (
        share(real) <= 0.3 + 1e-12
    ),
    "metric: real_count, op: '>=', value: 2, slice: {source: '*'}": lambda real, ai: all(len(group) >= 2 for group in real),
    "metric: generator_family_count, op: '==', value: 2": lambda real, ai: len(ai) == 2,
    "metric: ai_recall, op: '>=', value: 0.1, min_n: 4": lambda real, ai: sum(map(len, ai)) >= 4 and share(ai) <= 0.9,
}
"""Rules as a policy writes them, and as they are reckoned here from the failures of each group."""


def share(groups):
    return sum(map(sum, groups)) / sum(map(len, groups))


def precision(real, ai):
    hits = sum(map(len, ai)) - sum(map(sum, ai))
    called = hits + sum(map(sum, real))
    return hits / called if called else -1


def enumerated(rules, bases, rates):
    """Weigh every outcome of every base."""
    total = 0.0
    for failing in product([0, 1], repeat=bases.real + bases.ai):
        weight = 1.0
        for place, failed in enumerate(failing):
            rate = rates.false_positive if place < bases.real else rates.miss
            weight *= rate if failed else 1 - rate
        real = [failing[: bases.real][group :: bases.real_sources] for group in range(bases.real_sources)]
        ai = [failing[bases.real :][group :: bases.generator_families] for group in range(bases.generator_families)]
        total += weight * all(RULES[rule](real, ai) for rule in rules)
    return total


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(RULES)), min_size=1, max_size=5, unique=True),
    st.builds(Bases, st.integers(2, 6), st.integers(2, 5), st.integers(1, 2), st.integers(1, 2)),
    st.builds(ErrorRates, st.floats(0, 1), st.floats(0, 1)),
)
def test_agrees_with_every_outcome_weighed(tmp_path_factory, rules, bases, rates):
    path = tmp_path_factory.mktemp("policy") / "own.yaml"
    path.write_text("name: own\nrules:\n" + "".join(f"  - {{id: rule{i}, {rule}}}\n" for i, rule in enumerate(rules)))
    found = prospect(load_policy(str(path)).policy, bases, rates)
    assert found.probability == pytest.approx(enumerated(rules, bases, rates), abs=1e-9)
    for rule, alone in zip(rules, found.rules, strict=True):
        assert alone.probability == pytest.approx(enumerated([rule], bases, rates), abs=1e-9)


def test_release_is_passed_as_often_as_its_strictest_rules_allow():
    found = prospect(RELEASE, Bases(500, 500, 3, 3), ErrorRates(0.01, 0.1))
    assert found.real == pytest.approx(0.263616, abs=5e-7)
    assert found.ai == pytest.approx(binom.cdf(82, 500, 0.1), abs=1e-9)
    assert found.probability == pytest.approx(found.real * found.ai, abs=1e-9)


def test_release_counts_one_outcome_of_each_base():
    found = prospect(RELEASE, Bases(500, 500, 3, 3, derivatives=12), ErrorRates(0.001, 0.0))
    assert found.probability == pytest.approx(0.15255, abs=5e-6)


def test_ten_sources_of_fifty_each_have_a_floor():
    found = prospect(RELEASE, Bases(500, 500, 10, 3), ErrorRates(0.02, 0.0))
    floor = next(rule for rule in found.rules if rule.id == "source_false_positives")
    assert (floor.n, floor.groups, floor.max_failures) == (50, 10, 2)
    assert 1 - floor.probability == pytest.approx(0.558131, abs=5e-7)


@pytest.mark.parametrize(("real", "probability"), [(500, 1.0), (499, 0.0)])
def test_a_base_too_few_never_passes(real, probability):
    assert prospect(RELEASE, Bases(real, 500, 3, 3), ErrorRates(0.0, 0.0)).probability == probability


def test_a_source_too_small_never_passes():
    assert prospect(RELEASE, Bases(500, 500, 11, 3), ErrorRates(0.0, 0.0)).probability == 0
    assert prospect(RELEASE, Bases(550, 500, 11, 3), ErrorRates(0.0, 0.0)).probability == 1


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("metric: mismatch_count, op: '<=', value: 0", "not about scores"),
        ("metric: brier, op: '<=', value: 0.1", "scores themselves"),
        ("metric: terminal_count, op: '<=', value: 0", "taken to have a score"),
        ("metric: ai_recall, op: '>=', value: 0.5, unit: row", "depend on each other"),
        ("metric: ai_recall, op: '>=', value: 0.5, slice: {contentGroup: '*'}", "how many bases its slice has"),
        ("metric: ai_recall, op: '>=', value: 0.5, slice: {source: '*'}", "how many bases its slice has"),
        ("metric: real_recall, op: '>=', value: 0.5, slice: {source: one}", "how many bases its slice has"),
    ],
)
def test_what_cannot_be_told_is_left_out_and_named(own_policy, rule, said):
    found = prospect(own_policy(rule, "metric: ai_recall, op: '>=', value: 0.5"), Bases(5, 5, 1, 1, 2), ErrorRates(0.0, 0.0))
    assert said in found.rules[0].left_out
    assert found.rules[0].probability is None
    assert found.rules[1].left_out is None
    assert found.probability == 1


def test_rows_are_bases_where_each_has_one(own_policy):
    own = own_policy("metric: ai_recall, op: '>=', value: 0.5, unit: row")
    assert prospect(own, Bases(1, 2, 1, 1), ErrorRates(0.0, 0.5)).probability == pytest.approx(0.75)


def test_rules_bear_as_much_as_the_gate_says(release):
    decided = {rule.id: rule for rule in release.decide().rules if rule.max_failures is not None}
    found = prospect(RELEASE, Bases(500, 500, 5, 5), ErrorRates(0.0, 0.0))
    told = {rule.id: (rule.n, rule.max_failures) for rule in found.rules if rule.max_failures is not None}
    assert told == {name: (decided[name].n, decided[name].max_failures) for name in told}
    assert {"false_positives_upper", "ai_recall_lower", "source_false_positives", "thumbnail_recall"} <= told.keys()


@pytest.mark.parametrize(("misses", "false_positives"), [(82, 3), (83, 3), (82, 4), (0, 0)])
def test_the_gate_passes_where_the_chance_is_certain(release, misses, false_positives):
    """A detector that fails on exactly so many bases passes where all its possible failures are within what is borne."""
    decision = release.fail(1, misses).fail(0, false_positives).decide().decision
    borne = {rule.id: rule.max_failures for rule in prospect(RELEASE, Bases(500, 500, 5, 5), ErrorRates(0.0, 0.0)).rules}
    within = misses <= borne["ai_recall_lower"] and false_positives <= borne["false_positives_upper"]
    assert (decision == "pass") == within


@pytest.mark.parametrize(("real", "probability"), [(4, 0.0), (5, 1.0)])
def test_a_rule_that_counts_has_its_minimum_too(own_policy, real, probability):
    own = own_policy("metric: real_count, op: '>=', value: 1, min_n: 5")
    assert prospect(own, Bases(real, 5, 1, 1), ErrorRates(0.0, 0.0)).probability == probability

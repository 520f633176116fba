import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.reports.detector_shifts import Moved, shifts
from pytest_benchbench.statistics.regression import Step, chance_of_shift, paired_outcomes
from pytest_benchbench.statistics.unchanged import at_least

NAMES = [f"digest ai s{number:03}" for number in range(100)]


def moved(lost=(), gained=()):
    """A detector that was right about the first 80 samples, and has lost and gained those of these numbers."""
    before = {name: number < 80 for number, name in enumerate(NAMES)}
    after = before | {NAMES[number]: False for number in lost} | {NAMES[number]: True for number in gained}
    return Moved(Step(paired_outcomes(before, after), True, 0.0125), before, after)


STILL = moved()


def test_a_single_detector_that_moves_is_told_as_one():
    (found,) = shifts("accuracy", {"a": moved(range(8)), "b": STILL, "c": STILL, "d": STILL})
    assert found["reading"] == "single"
    assert found["way"] == "down"
    assert found["moved"] == [{"alias": "a", "points": -8.0}]
    assert found["of"] == 4


def test_three_that_move_together_point_to_a_common_cause():
    three = {name: moved(range(8), [90]) for name in "abc"}
    (found,) = shifts("accuracy", {**three, "d": moved([1], [91])})
    assert found["reading"] == "common"
    assert [each["alias"] for each in found["moved"]] == ["a", "b", "c"]
    assert found["chance"] < 0.05
    assert found["sharedSamples"] == {"count": 8, "listed": [f"s{number:03}" for number in range(8)]}


def test_the_chance_is_that_of_detectors_that_have_nothing_to_do_with_one_another():
    detectors = {"a": moved(range(8), range(90, 94)), "b": moved(range(20, 27), [95]), "c": moved([50], [51 + 30])}
    (found,) = shifts("tpr", detectors)
    alone = [chance_of_shift(each.step.transitions) for each in detectors.values()]
    assert found["chance"] == at_least(1, alone) == pytest.approx(1 - (1 - alone[0]) * (1 - alone[1]) * (1 - alone[2]))


def test_two_restless_detectors_that_lean_the_same_way_are_not_surprising():
    restless = {name: moved(range(20), range(80, 94 if name in "ab" else 99)) for name in "abcd"}
    (found,) = shifts("accuracy", restless)
    assert found["reading"] == "several"
    assert len(found["moved"]) == 2


def test_both_ways_are_told_apart():
    found = shifts("accuracy", {"a": moved(range(8)), "b": moved((), range(80, 90)), "c": STILL})
    assert [(each["way"], [one["alias"] for one in each["moved"]]) for each in found] == [("down", ["a"]), ("up", ["b"])]
    assert found[1]["sharedSamples"] == {"count": 0, "listed": []}


def test_without_a_large_move_nothing_is_said():
    assert shifts("accuracy", {"a": moved(range(4)), "b": STILL}) == []
    assert shifts("accuracy", {}) == []


def test_many_shared_samples_are_counted_and_the_first_named():
    (found,) = shifts("accuracy", {name: moved(range(30)) for name in "ab"})
    assert found["sharedSamples"]["count"] == 30
    assert len(found["sharedSamples"]["listed"]) == 20


changes = st.tuples(st.sets(st.integers(0, 79), max_size=20), st.sets(st.integers(80, 99), max_size=20))


@settings(max_examples=40)
@given(st.lists(changes, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_and_the_names_of_detectors_do_not_matter(told, random):
    detectors = {f"d{number}": moved(*each) for number, each in enumerate(told)}
    shuffled = dict(random.sample(list(detectors.items()), len(detectors)))
    ours, theirs = shifts("accuracy", detectors), shifts("accuracy", shuffled)
    for one, other in zip(ours, theirs, strict=True):
        assert one.pop("chance") == pytest.approx(other.pop("chance"), rel=1e-12)
        assert one == other


@settings(max_examples=40)
@given(st.lists(changes, min_size=1, max_size=4))
def test_turning_every_change_round_turns_the_ways_round(told):
    there = shifts("accuracy", {f"d{n}": moved(*each) for n, each in enumerate(told)})
    detectors = {f"d{n}": moved(*each) for n, each in enumerate(told)}
    back = shifts(
        "accuracy",
        {
            name: Moved(Step(paired_outcomes(each.after, each.before), True, 0.05), each.after, each.before)
            for name, each in detectors.items()
        },
    )
    turned = {"up": "down", "down": "up"}
    assert {(one["way"], one["chance"], one["reading"]) for one in there} == {
        (turned[one["way"]], one["chance"], one["reading"]) for one in back
    }

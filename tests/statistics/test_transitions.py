import pytest
from hypothesis import given, strategies as st
from statsmodels.stats.proportion import proportion_confint

from pytest_benchbench.statistics.paired import mcnemar_exact, paired_difference
from pytest_benchbench.statistics.transitions import Share, Transitions

counts = st.integers(0, 200)


@given(counts, counts, counts, counts)
def test_the_four_counts_make_up_the_margins(kept, lost, gained, absent):
    transitions = Transitions(kept, lost, gained, absent)
    before, after = transitions.before, transitions.after
    assert transitions.pairs == before.n == after.n == kept + lost + gained + absent
    assert after.k - before.k == gained - lost
    assert (transitions.kept_share.k, transitions.kept_share.n) == (kept, before.k)
    assert (transitions.gained_share.k, transitions.gained_share.n) == (gained, before.n - before.k)


@given(counts, counts, counts, counts)
def test_change_is_after_minus_before(kept, lost, gained, absent):
    transitions = Transitions(kept, lost, gained, absent)
    change = transitions.change()
    if change is not None:
        assert change.difference == pytest.approx(transitions.after.rate - transitions.before.rate)
        assert change == paired_difference(kept, gained, lost, absent)
    assert transitions.mcnemar_p == mcnemar_exact(lost, gained)


def test_nothing_lost_of_nothing_is_no_rate():
    transitions = Transitions(kept=0, lost=0, gained=0, absent=7)
    assert transitions.kept_share == Share(0, 0, None, None, None)
    assert transitions.gained_share.rate == 0
    assert transitions.mcnemar_p is None


def test_without_a_pair_there_is_no_change():
    assert Transitions(0, 0, 0, 0).change() is None


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_share_has_the_interval_of_wilson(count):
    share = Share.of(*count)
    assert share.rate == count[0] / count[1]
    assert (share.low, share.high) == pytest.approx(proportion_confint(*count, method="wilson"), abs=1e-12)


@pytest.mark.parametrize("place", range(4))
def test_negative_counts_are_refused(place):
    with pytest.raises(ValueError, match="at least 0"):
        Transitions(*(-1 if number == place else 1 for number in range(4)))


def test_change_has_the_confidence_that_is_asked_for():
    assert Transitions(9, 3, 1, 7).change(0.5) == paired_difference(9, 1, 3, 7, 0.5)
    assert Transitions(9, 3, 1, 7).change(0.5) != Transitions(9, 3, 1, 7).change()

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy.stats import binom

from pytest_benchbench.statistics.latency import Latency, nearest_rank, rank_interval

times = st.lists(st.floats(0, 1e6), min_size=1, max_size=200)


@given(times, st.integers(1, 100))
def test_agrees_with_the_inverted_cdf_of_numpy(values, p):
    assume(p * len(values) % 100)  # there NumPy's own rounding decides: 28 % of 25 values is 7.000000000000001 to it
    assert nearest_rank(sorted(values), p) == np.percentile(values, p, method="inverted_cdf")


@given(times, st.floats(0.1, 100))
def test_is_the_smallest_value_that_enough_values_do_not_exceed(values, p):
    value = nearest_rank(sorted(values), p)
    assert value in values
    below = sum(other < value for other in values)
    up_to = sum(other <= value for other in values)
    assert below / len(values) < p / 100 + 1e-12
    assert up_to / len(values) >= p / 100 - 1e-12


@pytest.mark.parametrize(
    ("n", "p", "rank"),
    [
        (1, 50, 1),
        (2, 50, 1),
        (3, 50, 2),
        (10, 90, 9),
        (11, 90, 10),
        (20, 55, 11),
        (100, 29, 29),
        (1000, 99.9, 999),
        (7, 100, 7),
    ],
)
def test_rank_is_exact(n, p, rank):
    assert nearest_rank(list(range(1, n + 1)), p) == rank


@pytest.mark.parametrize("p", [0, -1, 100.1, float("nan")])
def test_percent_outside_its_range_is_refused(p):
    with pytest.raises(ValueError, match="percentile lies"):
        nearest_rank([1.0], p)


def test_no_value_is_refused():
    with pytest.raises(ValueError, match="no value"):
        nearest_rank([], 50)


def test_summary_of_the_ranks():
    assert Latency.of([5.0, 1.0, 4.0, 2.0, 3.0, 6.0, 7.0, 8.0, 9.0, 10.0]) == Latency(10, 5.0, 9.0, 10.0, 10.0)


def test_each_percentile_of_a_summary_is_its_own():
    assert Latency.of(float(number) for number in range(1, 1001)) == Latency(1000, 500.0, 900.0, 950.0, 1000.0)


def test_no_call_has_no_summary():
    assert Latency.of([]) is None


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 3000), st.sampled_from([1, 25, 50, 90, 95, 99, 99.9]), st.sampled_from([0.8, 0.95, 0.99]))
def test_ranks_agree_with_the_quantiles_of_scipy(n, p, confidence):
    below = binom(n, p / 100)
    miss = (1 - confidence) / 2
    numbers = np.arange(n + 2)
    low = numbers[below.cdf(numbers - 1) <= miss].max()  # P(X < low)
    high = numbers[below.sf(numbers - 1) <= miss].min()  # P(X >= high)
    interval = rank_interval(n, p, confidence)
    if low < 1 or high > n:
        assert interval is None
    else:
        assert interval[:2] == (low, high)
        assert interval.coverage == pytest.approx(below.cdf(high - 1) - below.cdf(low - 1), abs=1e-9)
        assert confidence <= interval.coverage <= 1


def test_ranks_of_the_95th_percentile_of_100_reach_the_maximum():
    assert rank_interval(100, 95)[:2] == (90, 100)


@pytest.mark.parametrize(("p", "n"), [(50, 6), (90, 36), (95, 72), (99, 368)])
def test_too_few_values_bound_no_percentile(p, n):
    assert rank_interval(n - 1, p) is None
    assert rank_interval(n, p).high_rank == n


def test_a_side_may_miss_just_as_often_as_it_is_allowed_to():
    """Of two values both lie on one side of the median in one draw of four."""
    assert rank_interval(2, 50, 0.5) == (1, 2, 0.5)
    assert rank_interval(2, 50, 0.51) is None


def test_ranks_of_a_million_values():
    low, high, coverage = rank_interval(1_000_000, 50)
    assert (low + high) / 2 == pytest.approx(500_000.5)
    assert 0.95 <= coverage < 0.951


@pytest.mark.parametrize(
    ("n", "p", "confidence"), [(-1, 50, 0.95), (9, 0, 0.95), (9, 100, 0.95), (9, 50, 0), (9, 50, 1), (9, 50, 95)]
)
def test_impossible_ranks_are_refused(n, p, confidence):
    with pytest.raises(ValueError, match="no interval of ranks"):
        rank_interval(n, p, confidence)

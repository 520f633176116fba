import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.statistics.latency import Latency, nearest_rank

times = st.lists(st.floats(0, 1e6), min_size=1, max_size=200)


@given(times, st.integers(1, 100))
def test_agrees_with_the_inverted_cdf_of_numpy(values, p):
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
    assert Latency.of([5.0, 1.0, 4.0, 2.0, 3.0, 6.0, 7.0, 8.0, 9.0, 10.0]) == Latency(10, 5.0, 9.0, 10.0)


def test_no_call_has_no_summary():
    assert Latency.of([]) is None

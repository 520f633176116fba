import math

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from pytest_benchbench.statistics.intervals import wilson_interval
from pytest_benchbench.statistics.paired import mcnemar_exact, paired_difference

few = settings(max_examples=100, deadline=None)
table = st.tuples(*[st.integers(0, 60)] * 4)


@pytest.mark.parametrize(
    ("only_first", "only_second", "p"),
    [
        (5, 0, 0.0625),
        (6, 0, 0.03125),
        (7, 0, 0.015625),
        (8, 0, 0.0078125),
        (8, 1, 0.0390625),
        (9, 1, 0.0214844),
        (10, 2, 0.0385742),
    ],
)
def test_reference_numbers_of_mcnemar(only_first, only_second, p):
    assert mcnemar_exact(only_first, only_second) == pytest.approx(p, abs=5e-8)


@few
@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_agrees_with_scipy_and_statsmodels(one, other):
    p = mcnemar_exact(one, other)
    if one + other == 0:
        assert p is None
        return
    assert p == pytest.approx(binomtest(one, one + other, 0.5).pvalue, rel=1e-9)
    assert p == pytest.approx(mcnemar([[3, one], [other, 5]], exact=True).pvalue, rel=1e-9)


def test_mcnemar_of_half_a_million_changes():
    assert mcnemar_exact(251_000, 249_000) == pytest.approx(binomtest(251_000, 500_000, 0.5).pvalue, rel=1e-7)


@few
@given(st.integers(0, 3000), st.integers(0, 3000))
def test_mcnemar_knows_no_direction(one, other):
    assert mcnemar_exact(one, other) == mcnemar_exact(other, one)


@few
@given(st.integers(0, 3000))
def test_equal_changes_are_no_difference(count):
    assert mcnemar_exact(count, count) in (1.0, None)


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="at least 0"):
        mcnemar_exact(-1, 3)
    with pytest.raises(ValueError, match="at least 0"):
        paired_difference(1, 2, -1, 3)


@pytest.mark.parametrize(
    ("counts", "difference", "low", "high"),
    [
        # Fagerland, Lydersen and Laake, Statistical Analysis of Contingency Tables (2017), chapter 8
        ((1, 1, 7, 12), -0.2857, -0.5069, -0.0256),
        ((59, 6, 16, 80), -0.0621, -0.1186, -0.0046),
    ],
)
def test_published_intervals(counts, difference, low, high):
    assert paired_difference(*counts) == pytest.approx((difference, low, high), abs=5e-5)


@few
@given(table, st.sampled_from([0.8, 0.95, 0.99]))
def test_difference_agrees_with_the_formula_over_the_bounds_of_statsmodels(counts, confidence):
    a, b, c, d = counts
    n = sum(counts)
    result = paired_difference(*counts, confidence)
    if n == 0:
        assert result is None
        return
    (l1, u1), (l2, u2) = (proportion_confint(k, n, 1 - confidence, "wilson") for k in (a + b, a + c))
    determinant = a * d - b * c
    corrected = determinant - n / 2 if determinant > n / 2 else min(determinant, 0)
    margins = math.prod((a + b, c + d, a + c, b + d))
    phi = corrected / math.sqrt(margins) if margins else 0
    p1, p2 = (a + b) / n, (a + c) / n
    low = p1 - p2 - math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    high = p1 - p2 + math.sqrt((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2)
    assert result == pytest.approx((p1 - p2, low, high), abs=1e-9)


@few
@given(table)
def test_difference_lies_in_its_interval_and_in_range(counts):
    if (result := paired_difference(*counts)) is not None:
        assert -1 <= result.low <= result.difference <= result.high <= 1
        assert result.low < result.high


@few
@given(table)
def test_difference_changes_its_sign_with_the_order(counts):
    both, only_first, only_second, neither = counts
    one, other = paired_difference(*counts), paired_difference(both, only_second, only_first, neither)
    if one is not None:
        assert other == pytest.approx((-one.difference, -one.high, -one.low), abs=1e-12)


@few
@given(table)
def test_difference_changes_its_sign_with_what_counts_as_success(counts):
    both, only_first, only_second, neither = counts
    one, other = paired_difference(*counts), paired_difference(neither, only_first, only_second, both)
    if one is not None:
        assert other.difference == one.difference
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=1e-9)


@few
@given(table)
def test_more_confidence_is_wider(counts):
    if (narrow := paired_difference(*counts, 0.8)) is not None:
        wide = paired_difference(*counts, 0.99)
        assert wide.low <= narrow.low
        assert narrow.high <= wide.high


def test_a_correlation_of_two_pairs_is_taken_away_by_the_correction():
    reach = math.sqrt(2) * (0.5 - wilson_interval(1, 2)[0])
    assert paired_difference(1, 0, 0, 1) == pytest.approx((0.0, -reach, reach))


def test_pairs_that_all_agree_still_have_a_width():
    difference, low, high = paired_difference(40, 0, 0, 0)
    missing = 1 - wilson_interval(40, 40)[0]
    assert difference == 0
    assert (low, high) == pytest.approx((-missing, missing))

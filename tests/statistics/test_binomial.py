import math
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom

from pytest_benchbench.statistics.binomial import fair_tail, masses

few = settings(max_examples=60, deadline=None)
throws = st.integers(0, 1024).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
many_throws = st.integers(1025, 1_000_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@few
@given(throws)
def test_tails_are_the_quotients_of_whole_numbers(count):
    k, n = count
    ways = sum(math.comb(n, heads) for heads in range(k, n + 1))
    tail = fair_tail(k, n)
    assert tail.p == pytest.approx(float(Fraction(ways, 2**n)), rel=1e-15)
    missing = Fraction(2**n - ways, 2**n)
    reference = math.log10(ways) - n * math.log10(2) if 2 * k > n else math.log1p(-missing) / math.log(10)
    assert tail.log10_p == pytest.approx(reference, rel=1e-12, abs=1e-300)


@few
@given(many_throws)
def test_agrees_with_scipy_beyond_whole_numbers(count):
    k, n = count
    tail = fair_tail(k, n)
    assert tail.p == pytest.approx(binom.sf(k - 1, n, 0.5), rel=1e-6, abs=1e-300)
    log10_p = binom.logsf(k - 1, n, 0.5) / math.log(10)
    if math.isfinite(log10_p):
        assert tail.log10_p == pytest.approx(log10_p, rel=1e-6, abs=1e-12)
    else:
        assert -math.inf < tail.log10_p < -300


@pytest.mark.parametrize("k", [512, 513, 560, 700, 1000, 1024, 1025])
def test_both_ways_of_summing_meet(k):
    exact, summed = fair_tail(k - 1, 1024).p / 2 + fair_tail(k, 1024).p / 2 if k <= 1024 else 0.5**1025, fair_tail(k, 1025).p
    assert summed == pytest.approx(exact, rel=1e-11)  # Pascal's rule


@few
@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n))))
def test_the_two_sides_make_one(count):
    k, n = count
    assert fair_tail(k, n).p + fair_tail(n - k + 1, n).p == pytest.approx(1, abs=1e-9)


@few
@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n))))
def test_more_heads_are_less_likely(count):
    k, n = count
    fewer, more = fair_tail(k - 1, n), fair_tail(k, n)
    assert 0 <= more.p <= fewer.p <= 1
    assert more.log10_p <= fewer.log10_p <= 0
    assert math.isfinite(more.log10_p)


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (1, 0), (0, -1)])
def test_impossible_counts_are_refused(k, n):
    with pytest.raises(ValueError, match="k must lie"):
        fair_tail(k, n)


@few
@given(st.integers(0, 100_000), st.floats(0.001, 0.999))
def test_masses_agree_with_scipy(n, p):
    first, probabilities = masses(n, p)
    assert math.fsum(probabilities) == pytest.approx(1, abs=1e-12)
    assert 0 <= first <= first + len(probabilities) - 1 <= n
    assert binom.cdf(first - 1, n, p) + binom.sf(first + len(probabilities) - 1, n, p) < 1e-15
    numbers = range(first, first + len(probabilities))
    assert probabilities == pytest.approx(binom.pmf(numbers, n, p), rel=1e-7, abs=1e-15)


@pytest.mark.parametrize(("n", "p"), [(-1, 0.5), (3, 0.0), (3, 1.0), (3, math.nan)])
def test_impossible_trials_are_refused(n, p):
    with pytest.raises(ValueError, match="strictly between"):
        masses(n, p)

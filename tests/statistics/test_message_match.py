import math

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binomtest

from pytest_benchbench.statistics.message_match import match_tail

bits = st.integers(1, 256).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(max_examples=80, deadline=None)
@given(bits)
def test_agrees_with_the_binomial_test_of_scipy(count):
    k, n = count
    p = binomtest(k, n, 0.5, alternative="greater").pvalue
    assert match_tail(k, n).p == pytest.approx(p, rel=1e-9)
    assert match_tail(k, n).log10_p == pytest.approx(math.log10(p), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("k", "n", "log10_p"),
    [(256, 256, -256 * math.log10(2)), (1024, 1024, -1024 * math.log10(2)), (5000, 5000, -5000 * math.log10(2))],
)
def test_a_whole_message_has_a_finite_logarithm(k, n, log10_p):
    assert match_tail(k, n).log10_p == pytest.approx(log10_p, rel=1e-9)


def test_half_of_one_bit():
    assert match_tail(1, 1) == pytest.approx((0.5, math.log10(0.5)))


def test_the_usual_threshold_for_64_bits():
    """51 of 64 bits is where peers begin to accept a match at 1e-6."""
    assert match_tail(51, 64).p <= 1e-6 < match_tail(50, 64).p


def test_no_bit_says_nothing():
    assert match_tail(0, 0) == (1.0, 0.0)


def test_more_right_bits_than_bits_are_refused():
    with pytest.raises(ValueError, match="k must lie"):
        match_tail(65, 64)

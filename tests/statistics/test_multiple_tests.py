"""Adjusted p-values, held against statsmodels."""

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.statistics.multiple_tests import holm

multitest = pytest.importorskip("statsmodels.stats.multitest")

values = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0]), min_size=1, max_size=12)


@given(values)
def test_agrees_with_statsmodels(p_values):
    assert holm(p_values) == pytest.approx(
        multitest.multipletests(p_values, method="holm")[1].tolist(), rel=1e-12, abs=1e-300
    )


@given(values, st.integers(0, 5))
def test_what_tested_nothing_counts_among_the_tests(p_values, untested):
    adjusted = holm([*p_values, *[None] * untested])
    assert adjusted[len(p_values) :] == [None] * untested
    expected = multitest.multipletests([*p_values, *[1.0] * untested], method="holm")[1][: len(p_values)]
    assert adjusted[: len(p_values)] == pytest.approx(expected.tolist(), rel=1e-12, abs=1e-300)


def test_a_published_example():
    """Holm's steps by hand: 3 * .01, then 2 * .02 = .04, then the .04 before it."""
    assert holm([0.03, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([]) == []


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(p):
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        holm([p])

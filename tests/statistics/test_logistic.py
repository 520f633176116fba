"""The logistic function and its inverse, against SciPy and at the ends of doubles."""

import math

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.statistics.logistic import CLIP, logit, sigmoid

special = pytest.importorskip("scipy.special")


@given(st.floats(-800, 800))
def test_sigmoid_is_scipys(x):
    assert sigmoid(x) == pytest.approx(float(special.expit(x)), rel=1e-14, abs=1e-300)


@given(st.floats(CLIP, 1 - CLIP))
def test_logit_is_scipys_and_the_inverse(p):
    assert logit(p) == pytest.approx(float(special.logit(p)), rel=1e-12, abs=1e-15)
    assert sigmoid(logit(p)) == pytest.approx(p, rel=1e-12)


def test_the_ends():
    assert (sigmoid(-1.7e308), sigmoid(1.7e308), sigmoid(0.0)) == (0.0, 1.0, 0.5)
    assert logit(0.0) == logit(CLIP / 2) == logit(CLIP) == math.log(CLIP / (1 - CLIP))
    assert logit(1.0) == pytest.approx(-logit(0.0), abs=1e-9)
    assert logit(0.0, clip=0.25) == pytest.approx(math.log(1 / 3))


@pytest.mark.parametrize("value", [-1e-9, 1 + 1e-9, math.nan, math.inf])
def test_what_is_no_probability_has_no_logit(value):
    with pytest.raises(ValueError, match=r"a probability in \[0, 1\]"):
        logit(value)

import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from pytest_benchbench.statistics.score_mapping import ScoreMapping

RAWS = st.floats(0, 1)
SLOPES = st.floats(1e-3, 1e3)
INTERCEPTS = st.floats(-50, 50)


@st.composite
def mappings(draw):
    method = draw(st.sampled_from(["identity", "temperature", "platt"]))
    if method == "identity":
        return ScoreMapping(method)
    return ScoreMapping(method, draw(SLOPES), draw(INTERCEPTS) if method == "platt" else 0.0)


@pytest.mark.parametrize(
    ("temperature", "raw"),
    [(0.5, 0.576768), (0.75, 0.61402888), (1.5, 0.71678281), (2, 0.77522936), (3, 0.86496063)],
)
def test_raw_score_at_the_threshold_of_a_temperature(temperature, raw):
    assert ScoreMapping("temperature", 1 / temperature).raw_at(0.65) == pytest.approx(raw, abs=1e-6)


def test_raw_score_at_the_threshold_of_a_platt_mapping():
    assert ScoreMapping("platt", 0.686601583134, -0.174852599932).raw_at(0.65) == pytest.approx(0.76065297, abs=1e-8)


def test_raw_score_at_the_threshold_of_the_identity():
    assert ScoreMapping("identity").raw_at(0.65) == 0.65


@pytest.mark.parametrize(
    ("mapping", "probability"),
    [
        (ScoreMapping("temperature", 0.01), 0.65),
        (ScoreMapping("temperature", 0.01), 0.35),
        (ScoreMapping("platt", 1.0, -20.0), 0.65),
        (ScoreMapping("platt", 1.0, 20.0), 0.65),
    ],
)
def test_no_raw_score_has_a_probability_beyond_those_of_clipped_ones(mapping, probability):
    assert not mapping.apply(0.0) <= probability <= mapping.apply(1.0)
    assert mapping.raw_at(probability) is None


def test_the_formula():
    mapping = ScoreMapping("platt", 2.0, -1.0)
    assert mapping.apply(0.7) == pytest.approx(1 / (1 + math.exp(-(2 * math.log(0.7 / 0.3) - 1))), rel=1e-15)


@given(RAWS)
def test_the_identity_changes_nothing(raw):
    assert ScoreMapping("identity").apply(raw).hex() == raw.hex()


@pytest.mark.parametrize("method", ["temperature", "platt"])
def test_raw_scores_are_clipped(method):
    mapping = ScoreMapping(method, 1.5)
    assert mapping.apply(0.0) == mapping.apply(1e-6) == mapping.apply(5e-324)
    assert mapping.apply(1.0) == mapping.apply(1 - 1e-6)
    assert mapping.apply(0.0) < mapping.apply(1.1e-6)


@given(mappings(), RAWS, RAWS)
def test_the_order_of_scores_is_kept(mapping, one, other):
    low, high = sorted((one, other))
    assert 0 <= mapping.apply(low) <= mapping.apply(high) + 1e-15
    assert mapping.apply(high) <= 1


@given(mappings(), st.lists(RAWS))
def test_many_at_once_are_bit_for_bit_the_same(mapping, raws):
    expected = [mapping.apply(raw) for raw in raws]
    assert mapping.apply_all(raws).tolist() == expected
    assert mapping.apply_all(np.array(raws)).tolist() == expected


@given(mappings(), RAWS)
def test_a_raw_score_is_at_the_threshold_exactly_where_it_is_said_to_be(mapping, raw):
    at = mapping.raw_at(0.65)
    if at is None:
        assert (mapping.apply(0.0) >= 0.65) == (mapping.apply(1.0) >= 0.65) == (mapping.apply(raw) >= 0.65)
    else:
        assume(not math.isclose(raw, at, rel_tol=1e-12, abs_tol=1e-12))
        assert (mapping.apply(raw) >= 0.65) == (raw >= at)


@pytest.mark.parametrize("raw", [-1e-9, 1.0000001, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("method", ["identity", "temperature"])
def test_what_is_no_score_is_refused(method, raw):
    with pytest.raises(ValueError, match="a raw score lies in"):
        ScoreMapping(method).apply(raw)
    with pytest.raises(ValueError, match="a raw score lies in"):
        ScoreMapping(method).apply_all([0.5, raw])


@pytest.mark.parametrize(
    ("numbers", "field"),
    [
        (("platt", 0.0, 0.0), "slope"),
        (("platt", -1.0, 0.0), "slope"),
        (("platt", math.inf, 0.0), "slope"),
        (("platt", math.nan, 0.0), "slope"),
        (("platt", 1.0, math.nan), "intercept"),
        (("platt", 1.0, math.inf), "intercept"),
        (("temperature", 1.0, 0.1), "intercept"),
        (("identity", 1.0, 0.1), "intercept"),
        (("identity", 1.1, 0.0), "slope"),
        (("platt", 1.0, 0.0, 0.0), "clip"),
        (("platt", 1.0, 0.0, 0.5), "clip"),
        (("platt", 1.0, 0.0, math.nan), "clip"),
    ],
)
def test_numbers_that_are_no_mapping_are_refused(numbers, field):
    with pytest.raises(ValueError, match=rf"^{field}: "):
        ScoreMapping(*numbers)

"""From answers about crops to a raw score: the formulas, what they have in common, and answers that are no score."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.onnx_config import Aggregation, Output
from pytest_benchbench.adapters.onnx_scoring import NoScoreError, raw_score
from pytest_benchbench.statistics.logistic import logit, sigmoid

LOGITS = st.lists(st.floats(-30, 30), min_size=1, max_size=9)

WAYS = [Aggregation(of=of, by=by) for of in ("logit", "probability") for by in ("mean", "max")]


def score(answers, kind="logit", index=None, aggregation=None):
    return raw_score(np.array(answers, np.float64), Output(name="out", kind=kind, index=index), aggregation)


@given(LOGITS, st.sampled_from(WAYS))
def test_logits_by_hand(logits, way):
    values = logits if way.of == "logit" else [1 / (1 + math.exp(-value)) for value in logits]
    joined = max(values) if way.by == "max" else sum(values) / len(values)
    wanted = 1 / (1 + math.exp(-joined)) if way.of == "logit" else joined
    assert score([[value] for value in logits], aggregation=way) == pytest.approx(wanted, abs=1e-12)


@given(LOGITS, st.sampled_from(WAYS), st.randoms())
def test_the_order_of_crops_means_nothing(logits, way, random):
    shuffled = random.sample(logits, len(logits))
    assert score([[value] for value in logits], aggregation=way) == score([[value] for value in shuffled], aggregation=way)


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=6), st.floats(-50, 50))
def test_a_softmax_by_hand_which_no_shift_changes(logits, shift):
    grown = np.exp(np.array(logits) - max(logits))
    for index in range(len(logits)):
        found = score([logits], "softmax", index)
        assert found == pytest.approx(grown[index] / grown.sum(), abs=1e-12)
        assert score([[value + shift for value in logits]], "softmax", index) == pytest.approx(found, abs=1e-9)


@given(st.floats(0, 1))
def test_one_probability_is_the_score(probability):
    assert score([[probability]], "probability") == probability
    joined = score([[probability]], "probability", aggregation=WAYS[0])
    assert joined == pytest.approx(min(max(probability, 1e-6), 1 - 1e-6), abs=1e-15)
    assert score([[1 - probability, probability]], "probability", 1) == probability


def test_a_rounded_probability_is_put_back_and_another_one_is_none():
    assert score([[1 + 1e-7]], "probability") == 1.0
    assert score([[-1e-7]], "probability") == 0.0
    for value in (1 + 2e-6, -2e-6):
        with pytest.raises(NoScoreError, match="declared a probability"):
            score([[value]], "probability")


def test_enormous_logits_saturate():
    assert score([[1e30]]) == 1.0
    assert score([[-1e30]]) == 0.0
    assert score([[1e30], [-1e30]], aggregation=WAYS[0]) == 0.5
    assert score([[-1e300, 1e300]], "softmax", 0) == 0.0
    with pytest.raises(NoScoreError, match="too large"):
        score([[-1.7e308, 1.7e308]], "softmax", 0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", ["logit", "probability", "softmax"])
def test_what_is_not_finite_is_no_score_wherever_it_stands(value, kind):
    for answers in ([[value, 0.5]], [[0.5, value]], [[0.5, 0.5], [0.5, value]]):
        with pytest.raises(NoScoreError, match="not finite"):
            score(answers, kind, 0, WAYS[0])


@pytest.mark.parametrize(
    ("answers", "kind", "index"),
    [
        ([[1, 2]], "logit", None),
        ([[1]], "logit", 1),
        ([[1]], "softmax", 0),
        ([[1, 2]], "softmax", None),
        ([[1, 2]], "softmax", 2),
    ],
)
def test_a_column_that_is_not_there(answers, kind, index):
    with pytest.raises(NoScoreError, match=r"output out has \d columns"):
        score(answers, kind, index)


def test_a_single_column_needs_no_index():
    assert score([[0.25]], index=0) == score([[0.25]]) == sigmoid(0.25)
    assert logit(sigmoid(0.25)) == pytest.approx(0.25)

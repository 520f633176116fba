"""The threshold at a declared false-positive rate, held against scikit-learn's ROC curve and its own definition."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.statistics.classification import confusion
from pytest_benchbench.statistics.operating_point import threshold_at_fpr

metrics = pytest.importorskip("sklearn.metrics")

# few different scores, so that ties are the rule
labelled = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 12)), min_size=1, max_size=60).filter(
    lambda rows: any(label == 0 for label, _ in rows)
)
targets = st.sampled_from([0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.99])


def arrays(rows):
    found = np.array(rows, dtype=np.float64)
    return found[:, 0].astype(np.int8), found[:, 1]


@given(labelled.filter(lambda rows: any(label == 1 for label, _ in rows)), targets)
def test_it_is_the_last_point_of_scikit_learns_curve_that_keeps_the_rate(rows, target):
    labels, scores = arrays(rows)
    rates, _, thresholds = metrics.roc_curve(labels, scores, drop_intermediate=False)
    fitting = thresholds[rates <= target]
    expected = None if np.isinf(fitting[-1]) else float(fitting[-1])
    assert threshold_at_fpr(labels, scores, target) == expected


@given(labelled, targets)
def test_it_keeps_the_rate_and_any_lower_score_would_not(rows, target):
    labels, scores = arrays(rows)
    threshold = threshold_at_fpr(labels, scores, target)
    lower = [score for score in set(scores.tolist()) if threshold is None or score < threshold]
    assert all(confusion(labels, scores, score).false_positive_rate > target for score in lower)
    if threshold is not None:
        assert threshold in scores
        assert confusion(labels, scores, threshold).false_positive_rate <= target


@given(labelled, targets, st.randoms())
def test_the_order_does_not_show(rows, target, random):
    shuffled = random.sample(rows, len(rows))
    assert threshold_at_fpr(*arrays(rows), target) == threshold_at_fpr(*arrays(shuffled), target)


def test_the_rate_is_reckoned_as_it_is_written():
    """0.07 * 100 is 7.000000000000001 and 0.29 * 100 is 28.999999999999996 to floating point."""
    scores = np.arange(100, dtype=np.float64)
    labels = np.zeros(100, np.int8)
    assert threshold_at_fpr(labels, scores, 0.07) == 93
    assert threshold_at_fpr(labels, scores, 0.29) == 71


def test_equal_scores_are_on_one_side():
    labels, scores = np.array([0, 0, 0, 0, 1], np.int8), np.array([10.0, 20, 90, 90, 90])
    assert threshold_at_fpr(labels, scores, 0.25) is None  # two of the four come together
    assert threshold_at_fpr(labels, scores, 0.5) == 90


@pytest.mark.parametrize("target", [-0.01, 1.0, float("nan")])
def test_a_rate_that_is_none_is_refused(target):
    with pytest.raises(ValueError, match="rate to aim at"):
        threshold_at_fpr(np.array([0], np.int8), np.array([1.0]), target)


def test_without_negatives_there_is_no_rate():
    with pytest.raises(ValueError, match="without negatives"):
        threshold_at_fpr(np.array([1], np.int8), np.array([1.0]), 0.05)


@pytest.mark.parametrize(("label", "score"), [(0, float("nan")), (2, 1.0)])
def test_what_is_no_score_or_label_is_refused(label, score):
    with pytest.raises(ValueError, match="finite"):
        threshold_at_fpr(np.array([label], np.int8), np.array([score]), 0.05)

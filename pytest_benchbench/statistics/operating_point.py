"""The threshold of a detector at a declared false-positive rate."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.statistics.classification import AI, REAL


def threshold_at_fpr(labels: NDArray[np.int8], scores: NDArray[np.float64], target: float) -> float | None:
    """Give the lowest threshold whose false-positive rate is at most a declared one.

    Thresholds are scores that occur, of either class. What scores at least as much is called AI, so equal scores are always
    on one side. Of ``n`` negatives at most ``floor(target * n)`` may be called AI, reckoned exactly from ``target`` as
    it is written: .07 of 100 is 7. The choice is the point of the empirical ROC curve with the highest true-positive rate
    (T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27 (2006) 861-874, algorithm 1).

    Args:
        labels: 1 AI, 0 not; of shape (n,).
        scores: Of shape (n,), finite; a higher one speaks for AI.
        target: The false-positive rate, at least 0 and below 1.

    Returns:
        A score; ``None`` where even the highest one that occurs lets too many negatives through: then nothing may be called
        AI.

    Raises:
        ValueError: ``target`` lies outside its range, a score is not finite, or there is no negative, of which no rate can
            be taken.
    """
    if not 0 <= target < 1:
        raise ValueError(f"a false-positive rate to aim at lies at or above 0 and below 1: {target!r}")
    if not np.isfinite(scores).all() or not ((labels == REAL) | (labels == AI)).all():
        raise ValueError("scores must be finite, and labels 0 or 1")
    negatives = np.sort(scores[labels == REAL])
    if not len(negatives):
        raise ValueError("without negatives there is no false-positive rate")
    allowed = floor(Fraction(str(target)) * len(negatives))
    thresholds = np.unique(scores)
    passing = len(negatives) - np.searchsorted(negatives, thresholds, side="left")  # negatives at or above each threshold
    fitting = thresholds[passing <= allowed]
    return float(fitting[0]) if len(fitting) else None

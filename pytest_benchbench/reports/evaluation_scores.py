"""How the scores of a series are spread, whether they mean what they say, and whether they are scores at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.reports.histograms import bin_edges, histogram
from pytest_benchbench.reports.reliability import reliability_bins
from pytest_benchbench.statistics.classification import AI, REAL, called_ai

FEW: Final = 10
"""Scores of fewer different values than this, in at least ``MANY`` rows, are hardly scores."""

MANY: Final = 100

SATURATED: Final = 0.5
"""From this share of rows with exactly 0 or 1 on, scores are saturated."""


def score_distribution(scores: NDArray[np.float64], labels: NDArray[np.int8]) -> dict[str, Any]:
    """Describe scores apart from what is right and wrong.

    Args:
        scores: In [0, 1], NaN where a row has none; of shape (rows,).
        labels: 1 AI, 0 real.

    Returns:
        ``distribution``: how many scores there are, how many different ones, how many are exactly 0 or 1, the smallest,
        middle and largest, and ``warnings``: ``all-equal``, ``few-values``, ``saturated``, ``one-sided`` (all rows are
        called the same although both classes occur). ``histogram``: counts in twentieths, for each class. ``reliability``:
        of the scores in each tenth, their mean and how many should be detected, which are the AI images.
    """
    has_score = ~np.isnan(scores)
    scores, labels = scores[has_score], labels[has_score]
    edges = bin_edges(0.0, 1.0)
    ascending = np.sort(scores)
    distinct = int(np.count_nonzero(ascending[1:] != ascending[:-1])) + 1 if len(scores) else 0
    extremes = int(np.count_nonzero((scores == 0.0) | (scores == 1.0)))
    return {
        "distribution": {
            "n": len(scores),
            "distinct": distinct,
            "zero_or_one": extremes,
            "min": float(ascending[0]) if len(scores) else None,
            "median": float(ascending[(len(scores) - 1) // 2]) if len(scores) else None,
            "max": float(ascending[-1]) if len(scores) else None,
            "warnings": list(_warnings(scores, labels, distinct, extremes)),
        },
        "histogram": {
            "edges": edges.tolist(),
            "ai": histogram(scores[labels == AI], edges),
            "real": histogram(scores[labels == REAL], edges),
        },
        "reliability": reliability_bins(scores, labels == AI),
    }


def _warnings(scores: NDArray[np.float64], labels: NDArray[np.int8], distinct: int, extremes: int) -> Iterator[str]:
    if len(scores) > 1 and distinct == 1:
        yield "all-equal"
    elif len(scores) >= MANY and distinct < FEW:
        yield "few-values"
    if len(scores) > 1 and extremes >= SATURATED * len(scores):
        yield "saturated"
    called = called_ai(scores)
    if len(set(labels.tolist())) == 2 and (called.all() or not called.any()):
        yield "one-sided"

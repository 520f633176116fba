"""Do scores mean what they say? Of the rows with scores about 0.8, how many should have been detected."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.reports.columns import Rows
from pytest_benchbench.reports.confusion import asserted
from pytest_benchbench.reports.facets import Series

BINS: Final = 10


def reliability_bins(scores: NDArray[np.float64], is_expected: NDArray[np.bool_]) -> list[dict[str, Any]] | None:
    """Compare scores with what they were given for, in bins of a tenth.

    Args:
        scores: Shape (n,).
        is_expected: For each score whether the right verdict is detected.

    Returns:
        Ten bins ``low`` <= score < ``high`` (the last one with 1): ``n`` rows, their ``mean_score`` (null without a row) and
        the number of them whose right verdict is detected. ``None`` without a score, or if one lies outside [0, 1]: it is
        no probability then.
    """
    if not len(scores) or scores.min() < 0.0 or scores.max() > 1.0:
        return None
    edges = np.arange(BINS + 1) / BINS
    order = np.lexsort((is_expected, scores))  # sums depend on the order in which they are made: one order for all
    scores, is_expected = scores[order], is_expected[order]
    places = np.minimum(np.searchsorted(edges, scores, side="right") - 1, BINS - 1)
    numbers = np.bincount(places, minlength=BINS)
    sums = np.bincount(places, weights=scores, minlength=BINS)
    expected = np.bincount(places, weights=is_expected, minlength=BINS)
    return [
        {
            "low": float(edges[place]),
            "high": float(edges[place + 1]),
            "n": int(numbers[place]),
            "mean_score": float(sums[place] / numbers[place]) if numbers[place] else None,
            "detected_expected": int(expected[place]),
        }
        for place in range(BINS)
    ]


def reliability(rows: Rows) -> list[dict[str, Any]]:
    """Compare scores with asserted verdicts, over the rows that have both.

    Returns:
        A line with ``bins`` for each series whose scores of such rows all lie in [0, 1], sorted. There is none for the
        others: what is no probability has no reliability.
    """
    scores = rows.quantities["score"]
    has_verdict = np.flatnonzero(rows.that(lambda kind: asserted(kind) is not None)[scores.places])
    is_detected = rows.that(lambda kind: asserted(kind) == "detected")[scores.places]
    return [
        {**dict(zip(Series._fields, series, strict=True)), "bins": bins}
        for series, part in rows.grouped(lambda kind: kind.series, scores.places[has_verdict])
        if (bins := reliability_bins(scores.values[has_verdict[part]], is_detected[has_verdict[part]])) is not None
    ]

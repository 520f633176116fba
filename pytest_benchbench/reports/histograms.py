"""How scores and message bit accuracies are spread, by adapter and state."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.reports.columns import DETECTION_QUANTITIES, Rows
from pytest_benchbench.reports.facets import Series
from pytest_benchbench.reports.ordering import sort_key

BINS: Final = 20


def bin_edges(low: float, high: float) -> NDArray[np.float64]:
    """Give the bounds of equally wide bins: over [0, 1] where all values lie inside, else over [low, high].

    Args:
        low: The smallest value, finite.
        high: The largest value, finite.

    Returns:
        Shape (21,), ascending. Each bin holds what is at least its lower and less than its upper bound, the last one its
        upper bound too. One value alone outside [0, 1] stands in the middle of bins that reach half of it, at least 0.5, to
        both sides.
    """
    if low >= 0.0 and high <= 1.0:
        low, high = 0.0, 1.0
    elif low == high:
        reach = max(0.5, abs(low) / 2)
        most = float(np.finfo(np.float64).max)
        low, high = max(low - reach, -most), min(high + reach, most)
    steps = np.arange(BINS + 1) / BINS
    edges = low * (1.0 - steps) + high * steps  # no difference of bounds, which may be more than a float holds
    edges[0], edges[-1] = low, high
    return np.maximum.accumulate(edges)


def histogram(values: NDArray[np.float64], edges: NDArray[np.float64]) -> list[int]:
    """Count the values in each bin.

    Args:
        values: Shape (n,), each at least the first edge and at most the last.
        edges: Shape (bins + 1,), ascending.

    Returns:
        Counts that sum to n.
    """
    places = np.searchsorted(edges, values, side="right") - 1
    counts = np.bincount(np.minimum(places, len(edges) - 2), minlength=len(edges) - 1)
    return [int(count) for count in counts]


def histograms(rows: Rows) -> list[dict[str, Any]]:
    """Count the numbers that detectors reported, over the rows that have a verdict.

    Returns:
        A line for each series, quantity and state in which it was reported, sorted. All states of a series share the edges
        of a quantity, so that their counts can be laid over each other.
    """
    lines = []
    for name in DETECTION_QUANTITIES:
        quantity = rows.quantities[name]
        for series, places in rows.grouped(lambda kind: kind.series, quantity.places):
            values = quantity.values[places]
            edges = bin_edges(float(values.min()), float(values.max()))
            lines += [
                {
                    **dict(zip(Series._fields, series, strict=True)),
                    "quantity": name,
                    "state": state,
                    "edges": edges.tolist(),
                    "counts": histogram(values[part], edges),
                }
                for (state,), part in rows.grouped(lambda kind: (kind.facets.state,), quantity.places[places])
            ]
    return sorted(lines, key=lambda line: sort_key(line[name] for name in (*Series._fields, "quantity", "state")))

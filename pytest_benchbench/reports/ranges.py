"""Ranges of what detectors and fidelity measured: smallest, middle and largest value, over rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.reports.columns import DETECTION_QUANTITIES, FIDELITY, FIDELITY_QUANTITIES, Rows
from pytest_benchbench.reports.facets import Kind, Series
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.statistics.latency import nearest_rank

Key = tuple[str | None, ...]

_FIDELITY_STATUSES = ("measured", "unbounded_identical", "incomparable", "no_reference", "error")


def detection_ranges(rows: Rows) -> list[dict[str, Any]]:
    """Give one line for each adapter, state and quantity that was reported beside a verdict."""
    found: list[tuple[Key, str, dict[str, Any]]] = []
    for name in DETECTION_QUANTITIES:
        quantity = rows.quantities[name]
        for key, values in rows.grouped(lambda kind: (*kind.series, kind.facets.state), quantity.places):
            found.append((key, name, range_of(np.sort(quantity.values[values]))))
    found.sort(key=lambda line: (sort_key(line[0]), line[1]))
    return [
        {**dict(zip((*Series._fields, "state"), key, strict=True)), "quantity": name, **summary}
        for key, name, summary in found
    ]


def fidelity_ranges(rows: Rows) -> list[dict[str, Any]]:
    """Give one line for each adapter, state and transform of rows that were run.

    ``unbounded_identical`` rows are among the measured ones.
    """
    ranges: dict[Key, dict[str, Any]] = {}
    for name in sorted(FIDELITY_QUANTITIES):
        quantity = rows.quantities[name]
        for key, values in rows.grouped(_place, quantity.places):
            ranges.setdefault(key, {})[name] = range_of(np.sort(quantity.values[values]))
    lines = []
    for key, places in rows.grouped(_place):
        counts = dict(zip(FIDELITY, np.bincount(rows.fidelity[places], minlength=len(FIDELITY)).tolist(), strict=True))
        counts["measured"] += counts["unbounded_identical"]
        if counts["not_run"] < len(places):
            lines.append(
                {
                    **dict(zip((*Series._fields, "state", "transform"), key, strict=True)),
                    **{status: counts[status] for status in _FIDELITY_STATUSES},
                    "ranges": ranges.get(key, {}),
                }
            )
    return lines


def _place(kind: Kind) -> Key:
    return (*kind.series, kind.facets.state, kind.facets.transform)


def range_of(ascending: NDArray[np.float64]) -> dict[str, Any]:
    """Give the number, the smallest, the middle (nearest rank) and the largest of values, of shape (n,), at least one."""
    values = ascending.tolist()
    return {"rows": len(values), "min": values[0], "median": nearest_rank(values, 50), "max": values[-1]}

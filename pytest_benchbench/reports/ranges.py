"""Ranges of what detectors and fidelity measured: smallest, middle and largest value, over rows."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from typing import Any

from pytest_benchbench.evidence.observation import DetectionRecord, FidelityRecord
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.reports.tables import Facets, Series
from pytest_benchbench.statistics.latency import nearest_rank

DETECTION_QUANTITIES = ("message_bit_accuracy", "score")

FIDELITY_QUANTITIES = ("mae", "changed_fraction", "psnr_db", "snr_db", "mean_psnr_db", "changed_frame_fraction")

_UNBOUNDED_STATUSES = ("psnr_status", "snr_status", "mean_psnr_status")


class DetectionRanges:
    """Collects what detectors reported beside their verdicts, by adapter and state. Memory: 8 bytes a number."""

    def __init__(self) -> None:
        self._values: defaultdict[tuple[str | None, ...], array[float]] = defaultdict(lambda: array("d"))

    def add(self, detection: DetectionRecord, series: Series, facets: Facets) -> None:
        """Take the numbers of one row that has a verdict."""
        for quantity in DETECTION_QUANTITIES:
            value = getattr(detection, quantity)
            if value is not None:
                self._values[*series, facets.state, quantity].append(value)

    def document(self) -> list[dict[str, Any]]:
        """Give one line for each adapter, state and quantity that was reported."""
        names = (*Series._fields, "state", "quantity")
        return [
            {**dict(zip(names, cell, strict=True)), **_range(self._values[cell])}
            for cell in sorted(self._values, key=sort_key)
        ]


class FidelityRanges:
    """Collects how artifacts compare with their references, by adapter, state and transform. Memory: 8 bytes a number."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[str | None, ...], Counter[str]] = defaultdict(Counter)
        self._values: defaultdict[tuple[str | None, ...], dict[str, array[float]]] = defaultdict(dict)

    def add(self, fidelity: FidelityRecord, series: Series, facets: Facets) -> None:
        """Take the fidelity of one row that was run."""
        cell = (*series, facets.state, facets.transform)
        counts = self._counts[cell]
        counts[fidelity.status] += 1
        if fidelity.status != "measured":
            return
        if any(getattr(fidelity, status) == "unbounded_identical" for status in _UNBOUNDED_STATUSES):
            counts["unbounded_identical"] += 1
        values = self._values[cell]
        for quantity in FIDELITY_QUANTITIES:
            if isinstance(value := getattr(fidelity, quantity), float):
                values.setdefault(quantity, array("d")).append(value)

    def document(self) -> list[dict[str, Any]]:
        """Give one line for each adapter, state and transform; ``unbounded_identical`` rows are among the measured ones."""
        names = (*Series._fields, "state", "transform")
        return [
            {
                **dict(zip(names, cell, strict=True)),
                "measured": counts["measured"],
                "unbounded_identical": counts["unbounded_identical"],
                "incomparable": counts["incomparable"],
                "no_reference": counts["no_reference"],
                "error": counts["error"],
                "ranges": {quantity: _range(values) for quantity, values in sorted(self._values[cell].items())},
            }
            for cell, counts in sorted(self._counts.items(), key=lambda item: sort_key(item[0]))
        ]


def _range(values: array[float]) -> dict[str, Any]:
    ascending = sorted(values)
    return {"rows": len(ascending), "min": ascending[0], "median": nearest_rank(ascending, 50), "max": ascending[-1]}

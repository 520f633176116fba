"""Ranges of what detectors and fidelity measured: smallest, middle and largest value, over rows."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from operator import attrgetter
from typing import Any

from pytest_benchbench.evidence.observation import DetectionRecord, FidelityRecord
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.reports.tables import Facets, Series
from pytest_benchbench.statistics.latency import nearest_rank

DETECTION_QUANTITIES = ("message_bit_accuracy", "score")

FIDELITY_QUANTITIES = ("mae", "changed_fraction", "psnr_db", "snr_db", "mean_psnr_db", "changed_frame_fraction")

_Cell = tuple[Series, str | None, str | None]

_numbers = attrgetter(*FIDELITY_QUANTITIES)
_statuses = attrgetter("psnr_status", "snr_status", "mean_psnr_status")


class DetectionRanges:
    """Collects what detectors reported beside their verdicts, by adapter and state. Memory: 8 bytes a number."""

    def __init__(self) -> None:
        self._values: defaultdict[tuple[str | None, ...], array[float]] = defaultdict(_no_numbers)

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
        self._cells: defaultdict[_Cell, tuple[Counter[str], defaultdict[str, array[float]]]] = defaultdict(
            lambda: (Counter(), defaultdict(_no_numbers))
        )

    def add(self, fidelity: FidelityRecord, series: Series, facets: Facets) -> None:
        """Take the fidelity of one row that was run."""
        counts, values = self._cells[series, facets.state, facets.transform]
        counts[fidelity.status] += 1
        if fidelity.status != "measured":
            return
        if "unbounded_identical" in _statuses(fidelity):
            counts["unbounded_identical"] += 1
        for quantity, value in zip(FIDELITY_QUANTITIES, _numbers(fidelity), strict=True):
            if isinstance(value, float):
                values[quantity].append(value)

    def document(self) -> list[dict[str, Any]]:
        """Give one line for each adapter, state and transform; ``unbounded_identical`` rows are among the measured ones."""
        return [
            {
                **series._asdict(),
                "state": state,
                "transform": transform,
                "measured": counts["measured"],
                "unbounded_identical": counts["unbounded_identical"],
                "incomparable": counts["incomparable"],
                "no_reference": counts["no_reference"],
                "error": counts["error"],
                "ranges": {quantity: _range(numbers) for quantity, numbers in sorted(values.items())},
            }
            for (series, state, transform), (counts, values) in sorted(self._cells.items(), key=_order)
        ]


def _no_numbers() -> array[float]:
    return array("d")


def _order(item: tuple[_Cell, Any]) -> Any:
    series, state, transform = item[0]
    return sort_key((*series, state, transform))


def _range(values: array[float]) -> dict[str, Any]:
    ascending = sorted(values)
    return {"rows": len(ascending), "min": ascending[0], "median": nearest_rank(ascending, 50), "max": ascending[-1]}

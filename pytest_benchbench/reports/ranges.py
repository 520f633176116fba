"""Ranges of what detectors and fidelity measured: smallest, middle and largest value, over rows."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from operator import attrgetter
from typing import Any

import numpy as np

from pytest_benchbench.evidence.observation import DetectionRecord, FidelityRecord
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.reports.tables import Facets, Series
from pytest_benchbench.statistics.latency import nearest_rank

DETECTION_QUANTITIES = ("message_bit_accuracy", "score")

FIDELITY_QUANTITIES = ("mae", "changed_fraction", "psnr_db", "snr_db", "mean_psnr_db", "changed_frame_fraction")

_numbers = attrgetter(*FIDELITY_QUANTITIES)
_statuses = attrgetter("psnr_status", "snr_status", "mean_psnr_status")


class DetectionCell:
    """What the detector of one series reported about artifacts of one state. Memory: 8 bytes a number."""

    def __init__(self) -> None:
        self.message_bit_accuracy = array("d")
        self.score = array("d")

    def add(self, detection: DetectionRecord) -> None:
        """Take the numbers of one row that has a verdict."""
        if detection.message_bit_accuracy is not None:
            self.message_bit_accuracy.append(detection.message_bit_accuracy)
        if detection.score is not None:
            self.score.append(detection.score)


class DetectionRanges:
    """Collects what detectors reported beside their verdicts, by adapter and state."""

    def __init__(self) -> None:
        self._cells: defaultdict[tuple[str | None, ...], DetectionCell] = defaultdict(DetectionCell)

    def cell(self, series: Series, facets: Facets) -> DetectionCell:
        """Give what collects the rows of a series with these facets."""
        return self._cells[*series, facets.state]

    def document(self) -> list[dict[str, Any]]:
        """Give one line for each adapter, state and quantity that was reported."""
        names = (*Series._fields, "state")
        return [
            {**dict(zip(names, key, strict=True)), "quantity": quantity, **_range(values)}
            for key in sorted(self._cells, key=sort_key)
            for quantity in DETECTION_QUANTITIES
            if (values := getattr(self._cells[key], quantity))
        ]


class FidelityCell:
    """How artifacts of one series, state and transform compare with their references. Memory: 8 bytes a number."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.values = [array("d") for _ in FIDELITY_QUANTITIES]
        self._append = [values.append for values in self.values]

    def add(self, fidelity: FidelityRecord) -> None:
        """Take the fidelity of one row that was run."""
        self.counts[fidelity.status] += 1
        if fidelity.status != "measured":
            return
        if "unbounded_identical" in _statuses(fidelity):
            self.counts["unbounded_identical"] += 1
        for append, value in zip(self._append, _numbers(fidelity), strict=True):
            if type(value) is float:
                append(value)


class FidelityRanges:
    """Collects how artifacts compare with their references, by adapter, state and transform."""

    def __init__(self) -> None:
        self._cells: defaultdict[tuple[str | None, ...], FidelityCell] = defaultdict(FidelityCell)

    def cell(self, series: Series, facets: Facets) -> FidelityCell:
        """Give what collects the rows of a series with these facets."""
        return self._cells[*series, facets.state, facets.transform]

    def document(self) -> list[dict[str, Any]]:
        """Give one line for each adapter, state and transform; ``unbounded_identical`` rows are among the measured ones."""
        names = (*Series._fields, "state", "transform")
        statuses = ("measured", "unbounded_identical", "incomparable", "no_reference", "error")
        return [
            {
                **dict(zip(names, key, strict=True)),
                **{status: cell.counts[status] for status in statuses},
                "ranges": {
                    quantity: _range(values)
                    for quantity, values in sorted(zip(FIDELITY_QUANTITIES, cell.values, strict=True))
                    if values
                },
            }
            for key, cell in sorted(self._cells.items(), key=lambda item: sort_key(item[0]))
            if cell.counts
        ]


def _range(values: array[float]) -> dict[str, Any]:
    ascending = np.sort(np.frombuffer(values)).tolist()
    return {"rows": len(ascending), "min": ascending[0], "median": nearest_rank(ascending, 50), "max": ascending[-1]}

"""What the calls of each adapter took."""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import asdict
from typing import Any

from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.statistics.latency import Latency

CALLS = ("cold", "warm")


class TimingTally:
    """Collects the wall time of adapter calls. Memory: 8 bytes a call.

    A cold call is the first of an instance and includes loading. A row without an own time (no call, or one call shared by
    a batch) is in no number.
    """

    def __init__(self) -> None:
        self._calls: defaultdict[str, dict[str, array[float]]] = defaultdict(dict)

    def add(self, row: EvidenceRow) -> None:
        """Take the time of one row."""
        detection = row.detection
        if detection.adapter_elapsed_ms is not None and detection.call is not None:
            self._calls[row.key.adapter].setdefault(detection.call, array("d")).append(detection.adapter_elapsed_ms)

    def document(self) -> dict[str, Any]:
        """Give for each adapter the cold and the warm calls; null where there was none."""
        return {
            adapter: {
                call: None if (latency := Latency.of(calls.get(call, ()))) is None else asdict(latency) for call in CALLS
            }
            for adapter, calls in sorted(self._calls.items())
        }

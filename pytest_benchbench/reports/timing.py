"""What the calls of each adapter took."""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import asdict
from typing import Any

from pytest_benchbench.adapters.base import VERDICTS
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.statistics.latency import Latency

CALLS = ("cold", "warm")


class TimingTally:
    """Collects the wall time of adapter calls. Memory: 8 bytes a call.

    Only calls that ended in a verdict: one that failed or timed out says how long failing takes. A cold call is the first of
    an instance and includes loading. A row without an own time (no call, or one call shared by a batch) is in no number.
    """

    def __init__(self) -> None:
        self._calls: defaultdict[tuple[str, str], array[float]] = defaultdict(lambda: array("d"))

    def add(self, row: EvidenceRow) -> None:
        """Take the time of one row."""
        detection = row.detection
        if detection.status not in VERDICTS:
            return
        if detection.adapter_elapsed_ms is not None and detection.call is not None:
            self._calls[row.key.adapter, detection.call].append(detection.adapter_elapsed_ms)

    def document(self) -> dict[str, Any]:
        """Give for each adapter the cold and the warm calls; null where there was none."""
        summaries = {key: asdict(latency) for key, calls in self._calls.items() if (latency := Latency.of(calls))}
        adapters = sorted({adapter for adapter, _ in summaries})
        return {adapter: {call: summaries.get((adapter, call)) for call in CALLS} for adapter in adapters}

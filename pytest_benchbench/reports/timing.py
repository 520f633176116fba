"""What the calls of each adapter took."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_benchbench.adapters.base import VERDICTS
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.statistics.latency import Latency, rank_interval

CALLS = ("cold", "warm")

_PERCENTILES = {"p50_ms": 50, "p90_ms": 90, "p95_ms": 95}


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
        """Give for each adapter the cold and the warm calls; null where there was none.

        Each percentile has an interval: the ranks, and the times there, between which the percentile of all calls lies with
        the stated ``coverage``, if calls are independent. It is null where there are too few of them.
        """
        summaries = {key: summary_of_calls(calls) for key, calls in self._calls.items()}
        adapters = sorted({adapter for adapter, _ in summaries})
        return {adapter: {call: summaries.get((adapter, call)) for call in CALLS} for adapter in adapters}


def summary_of_calls(calls: ArrayLike) -> dict[str, Any] | None:
    """Give percentiles of calls in milliseconds, in any order, with their intervals; ``None`` when there was none."""
    ascending = np.sort(np.asarray(calls, dtype=np.float64)).tolist()
    latency = Latency.of(ascending)
    if latency is None:
        return None
    return {**asdict(latency), "intervals": {name: _interval(ascending, p) for name, p in _PERCENTILES.items()}}


def _interval(ascending: Sequence[float], p: float) -> dict[str, Any] | None:
    interval = rank_interval(len(ascending), p)
    if interval is None:
        return None
    return {
        "low_rank": interval.low_rank,
        "high_rank": interval.high_rank,
        "low_ms": ascending[interval.low_rank - 1],
        "high_ms": ascending[interval.high_rank - 1],
        "coverage": interval.coverage,
    }

"""What the calls of each adapter took."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from pytest_benchbench.adapters.base import VERDICTS
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.statistics.latency import Latency, nearest_rank, rank_interval

CALLS = ("cold", "warm")

_PERCENTILES = {"p50_ms": 50, "p90_ms": 90, "p95_ms": 95}


class TimingTally:
    """Collects the wall time of adapter calls. Memory: 8 bytes a call, 16 bytes a row that shared one.

    Only calls that ended in a verdict: one that failed or timed out says how long failing takes. A cold call is the first of
    an instance and includes loading. What several rows shared is a time of the batch, and of none of its rows.
    """

    def __init__(self) -> None:
        self._calls: defaultdict[tuple[str, str], array[float]] = defaultdict(lambda: array("d"))
        self._shared: defaultdict[tuple[str, str], tuple[array[int], array[float]]] = defaultdict(
            lambda: (array("q"), array("d"))
        )

    def add(self, row: EvidenceRow) -> None:
        """Take the time of one row."""
        detection = row.detection
        if detection.status not in VERDICTS or detection.call is None:
            return
        kind = row.key.adapter, detection.call
        if detection.adapter_elapsed_ms is not None:
            self._calls[kind].append(detection.adapter_elapsed_ms)
        elif row.batch is not msgspec.UNSET:
            sizes, elapsed = self._shared[kind]
            sizes.append(row.batch.size)
            elapsed.append(row.batch.elapsed_ms)

    def document(self) -> dict[str, Any]:
        """Give for each adapter the cold and the warm calls; null where there was none.

        Each percentile has an interval: the ranks, and the times there, between which the percentile of all calls lies with
        the stated ``coverage``, if calls are independent. It is null where there are too few of them.
        """
        return _by_adapter({key: summary_of_calls(calls) for key, calls in self._calls.items()})

    def batches(self) -> dict[str, Any]:
        """Give for each adapter the cold and the warm calls that several rows shared; null where there was none.

        ``batch_size`` says how many rows they were about, ``per_batch`` what they took, and ``row_share`` that divided by
        the number of rows: a share of a common cost, which no row would have had alone. All three count each batch once.

        A row says how large its batch was and what it took, not which one it was: rows for which both are the same are of
        one batch, or of as many as it takes to hold them.
        """
        return _by_adapter({key: _summary_of_batches(*shared) for key, shared in self._shared.items()})


def _by_adapter(summaries: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    adapters = sorted({adapter for adapter, _ in summaries})
    return {adapter: {call: summaries.get((adapter, call)) for call in CALLS} for adapter in adapters}


def _summary_of_batches(sizes: array[int], elapsed: array[float]) -> dict[str, Any]:
    alike, rows = np.unique(np.stack([np.asarray(sizes, dtype=np.float64), np.asarray(elapsed)]), axis=1, return_counts=True)
    size, took = np.repeat(alike, np.ceil(rows / alike[0]).astype(np.intp), axis=1)
    ascending = np.sort(size).astype(np.int64).tolist()
    return {
        "batch_size": {"min": ascending[0], "median": nearest_rank(ascending, 50), "max": ascending[-1]},
        "per_batch": summary_of_calls(took),
        "row_share": summary_of_calls(took / size),
    }


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

"""What the calls of adapters took on both sides of a comparison, and whether a change is more than noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.reports.paired_rows import ComparedRows, Pairs, RowKind
from pytest_benchbench.reports.timing import CALLS, summary_of_calls
from pytest_benchbench.statistics.latency import nearest_rank, rank_interval

BLOCKS = 10
"""Parts of a run, one after the other, whose medians show how far the machine's speed drifted."""

ROWS_OF_A_BLOCK = 20
"""Fewer rows say little about the machine."""

_SHORTEST = 1e-6
"""A nanosecond, in milliseconds: what took less was not timed, and how many times as long it takes is no number."""


def call_times(rows: ComparedRows, pairs: Pairs) -> list[dict[str, Any]]:
    """Give for each adapter and kind of call what it took, over the rows that are on both sides.

    ``old`` and ``new`` are as in the section ``timing`` of a report. ``change`` compares each row with itself, so that
    neither the size of its file nor the order of the rows matters: ``ratio`` is the median of new time / old time over the
    ``rows`` that were called alike on both sides. Its noise reaches from ``low`` to ``high``: the ranks between which the
    median lies with 95 % (calls scatter), widened by the medians of up to ``BLOCKS`` consecutive parts of either run (the
    machine drifts). ``beyond_noise`` says whether 1 lies outside. With less than 6 rows the noise is unknown and all three
    are null.

    What one run of each cannot show is how much whole runs differ: another machine, or the same one busy with something
    else, is slower in all of its parts.
    """
    of_rows, elapsed = rows.of_rows(), rows.elapsed()
    before, after = of_rows[pairs.old], of_rows[pairs.new]
    ordinals = rows.ordinals()[pairs.new]
    kinds = [
        (rows.kinds[old], rows.kinds[new]) for old, new in np.unique(np.stack([before, after], axis=1), axis=0).tolist()
    ]
    lines = []
    for adapter, new_adapter in sorted({(old.series.adapter, new.series.adapter) for old, new in kinds}):
        for call in CALLS:
            was = _that(rows.kinds, adapter, call)[before] & _that(rows.kinds, new_adapter, None)[after]
            now = _that(rows.kinds, new_adapter, call)[after] & _that(rows.kinds, adapter, None)[before]
            old, new = summary_of_calls(elapsed[pairs.old[was]]), summary_of_calls(elapsed[pairs.new[now]])
            if old is not None or new is not None:
                alike = np.flatnonzero(was & now & (elapsed[pairs.old] >= _SHORTEST))
                ratios = elapsed[pairs.new[alike]] / elapsed[pairs.old[alike]]
                lines.append(
                    {
                        "adapter": adapter,
                        "new_adapter": new_adapter,
                        "call": call,
                        "old": old,
                        "new": new,
                        "change": _change(ratios, np.argsort(ordinals[alike], kind="stable")),
                    }
                )
    return lines


def _that(kinds: list[RowKind], adapter: str, call: str | None) -> NDArray[np.bool_]:
    """Say of each kind whether it is of the adapter and, unless any will do, of this kind of call."""
    return np.array([kind.series.adapter == adapter and call in (None, kind.call) for kind in kinds], dtype=np.bool_)


def _change(ratios: NDArray[np.float64], order_of_new: NDArray[np.intp]) -> dict[str, Any] | None:
    """Sum up ratios, given in the order of the first run."""
    count = len(ratios)
    if not count:
        return None
    ascending = np.sort(ratios).tolist()
    ratio = nearest_rank(ascending, 50)
    interval = rank_interval(count, 50)
    if interval is None:
        return {"rows": count, "ratio": ratio, "low": None, "high": None, "beyond_noise": None}
    blocks = min(BLOCKS, count // ROWS_OF_A_BLOCK)
    medians = [
        float(np.median(part))
        for in_order in ((ratios, ratios[order_of_new]) if blocks > 1 else ())
        for part in np.array_split(in_order, blocks)
    ]
    low = min([ascending[interval.low_rank - 1], *medians])
    high = max([ascending[interval.high_rank - 1], *medians])
    return {"rows": count, "ratio": ratio, "low": low, "high": high, "beyond_noise": not low <= 1.0 <= high}

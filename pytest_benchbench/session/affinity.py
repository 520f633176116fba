"""Which adapter a worker should turn to next: numbers about rows, seconds and loads; knows no pytest and no pytest-xdist.

The laws of this module are held by ``tests/session/test_scheduling.py``.

1. A worker stays with an adapter that it has loaded while rows of it are left.
2. Then it takes an adapter that no worker has loaded: one that cannot be shared first, then the one with most work.
3. Then it takes tests that need no adapter; they fill gaps, as nothing has to be loaded for them.
4. Then it joins others at an adapter only if that pays: if the work that is left for each of those who have it loaded
   takes longer than loading it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Workload:
    """The rows of one adapter, or all tests that have none, and what they were seen to cost.

    Attributes:
        adapter: The adapter; ``None`` for tests that need none.
        exclusive: Whether one worker has to run all of it.
        waiting: Rows that no worker was given yet, as indices of the collection, in the order in which they are given.
        crashed_at: When a worker that had it for itself died last, in births and deaths of workers; -1 for never.
        rows_timed: Rows whose duration says what a row costs: all but the first of each worker.
        row_seconds_total: Seconds that these took.
        loads: First rows of a worker that have ended; their time contains that of loading.
        load_seconds_total: Seconds that these took.
    """

    adapter: str | None
    exclusive: bool = False
    waiting: deque[int] = field(default_factory=deque)
    crashed_at: int = -1
    rows_timed: int = 0
    row_seconds_total: float = 0.0
    loads: int = 0
    load_seconds_total: float = 0.0

    def time_row(self, seconds: float, *, first: bool) -> None:
        """Learn from a row that has ended.

        Args:
            seconds: What it took.
            first: Whether it was the first of this adapter on its worker, so that its time contains loading.
        """
        if first and self.adapter is not None:
            self.loads += 1
            self.load_seconds_total += seconds
        else:
            self.rows_timed += 1
            self.row_seconds_total += seconds

    @property
    def row_seconds(self) -> float | None:
        """Mean time of a row; ``None`` while nothing is known."""
        return self.row_seconds_total / self.rows_timed if self.rows_timed else None

    @property
    def load_seconds(self) -> float | None:
        """Mean time that loading takes; ``None`` while nothing is known."""
        if self.adapter is None:
            return 0.0
        if not self.loads:
            return None
        return max(0.0, self.load_seconds_total / self.loads - (self.row_seconds or 0.0))

    def pays_to_join(self, workers: int) -> bool:
        """Say whether one more worker should load it.

        With ``workers`` at it, R seconds of work left end after R / workers; with one more, which first loads for L seconds,
        after (R + L) / (workers + 1). The latter is earlier where L * workers < R. What is not known yet is taken to pay: to
        wait for knowledge would cost the time of a load too.

        Args:
            workers: How many have it loaded, at least 1.
        """
        if self.exclusive or not self.waiting:
            return False
        if self.adapter is None or self.row_seconds is None or self.load_seconds is None:
            return True
        return self.load_seconds * workers < len(self.waiting) * self.row_seconds


def heaviest(workloads: Collection[Workload], typical_row_seconds: float | None) -> Workload | None:
    """Choose the workload to begin with: one that cannot be shared before the others, then the one with most work left.

    Args:
        workloads: Those to choose from.
        typical_row_seconds: What a row is taken to cost where nothing of its kind has been seen; if that is ``None``, rows
            are counted.
    """

    def weight(workload: Workload) -> tuple[bool, float]:
        seconds = workload.row_seconds if typical_row_seconds is not None else None
        if seconds is None:
            seconds = 1.0 if typical_row_seconds is None else typical_row_seconds
        return workload.exclusive, len(workload.waiting) * seconds

    return max(workloads, key=weight, default=None)

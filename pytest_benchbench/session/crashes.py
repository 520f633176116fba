"""How often a row is tried again whose worker died, which rows that were, and what is no crash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

WORKER_CRASH = "WorkerCrash"
"""Type of the error of a row whose worker died while it ran it."""

PROCESS_DIED = "ProcessDied"
"""Type of the error of a row whose process died while it ran it, with nobody left to say so but a later session."""

DEATHS = frozenset({WORKER_CRASH, PROCESS_DIED})
"""Types of errors that tell of a process that died; such a row is tried again ``--bench-crash-retries`` times."""

CRASHED = "benchbench_crashed"
"""What a worker is told under this name: node ids of rows of exclusive adapters that killed a worker."""

TIMED_OUT = "benchbench_timed_out"
"""Attribute of a report of pytest-xdist about a row whose worker died after the row's time was over: no try follows."""

INTERRUPTED = "benchbench_interrupted"
"""Attribute of a report of pytest-xdist about a row whose worker was interrupted by the user."""


def is_interruption(error: object) -> bool:
    """Say whether a worker of pytest-xdist ended because the user interrupted it, which is no crash."""
    return error == "keyboard-interrupt"


class CrashPolicy:
    """Counts crashes.

    Args:
        retries: How often a row may be tried again, at least 0.
        deaths: How often processes died over rows in earlier sessions of the run, by node id.

    Attributes:
        rows: Node ids of the rows of exclusive adapters that killed a worker, in the order of the crashes.
    """

    def __init__(self, retries: int, deaths: Mapping[str, int] | None = None) -> None:
        self.rows: list[str] = []
        self._retries = retries
        self._retried: Counter[str] = Counter(deaths)
        self._dead_workers = 0

    def worker_ended(self, *, died: bool) -> None:
        """Count a worker that died."""
        self._dead_workers += died

    def may_retry(self, nodeid: str, max_worker_restart: int | None) -> bool:
        """Say whether a row whose worker has just died may run again.

        Args:
            nodeid: The row.
            max_worker_restart: How many dead workers are replaced; after one more pytest-xdist ends the session.
        """
        goes_on = max_worker_restart is None or self._dead_workers <= max_worker_restart
        return goes_on and self._retried[nodeid] < self._retries

    def retried(self, nodeid: str) -> None:
        """Know that a row will run again."""
        self._retried[nodeid] += 1

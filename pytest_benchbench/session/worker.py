"""What a pytest-xdist worker tells the controller at its end."""

from __future__ import annotations

import msgspec
import pytest

from pytest_benchbench.evidence.environment import peak_bytes
from pytest_benchbench.session.planning import Plan


class Tally(msgspec.Struct, frozen=True):
    """Counts of one process.

    Attributes:
        planned: Rows that the collected suites take, times their parameter sets, and those that none takes.
        taken: Without the latter; ``None`` where no suite was collected.
        decode_hits: Artifacts that were decoded already when they were needed.
        decode_misses: Artifacts that were decoded.
        faults: Adapters that could not be closed, one line each.
        withdrawn: Why answers do not count, by the alias of an adapter that took them back when it was closed.
        peak_bytes: Largest resident set of the process; ``None`` where the system does not say.
    """

    planned: int
    taken: int | None
    decode_hits: int = 0
    decode_misses: int = 0
    faults: tuple[str, ...] = ()
    withdrawn: dict[str, str] = msgspec.field(default_factory=dict)
    peak_bytes: int | None = None

    @classmethod
    def take(cls, plan: Plan) -> Tally:
        """Close the process's adapters and count."""
        faults = tuple(plan.pool.close())
        hits, misses = (plan.loader.hits, plan.loader.misses) if plan.loader else (0, 0)
        return cls(plan.planned, plan.taken, hits, misses, faults, plan.pool.withdrawn, peak_bytes())


class WorkerSide:
    """Registered in each worker that runs rows."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send the counts."""
        tally = Tally.take(self._plan)
        session.config.workeroutput["benchbench"] = msgspec.json.encode(tally).decode()  # type: ignore[attr-defined]

"""What became of every planned row. The law of this module is held by ``tests/session/test_accounting.py``.

Each planned row is exactly one of: finished (an attempt ended with evidence), left out by the user, or lost.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """The planned rows of a run and what became of them.

    Attributes:
        planned: Rows times parameter sets of every suite that takes them, once for a row that no collected suite takes.
        selected: Those that were to run after everything was deselected.
        left_out: Those that the user left out, by selecting others or by stopping at a failure.
        lost: Those that were to run and never ended, although nobody left them out.
    """

    planned: int
    selected: int
    left_out: int
    lost: int


def account(*, planned: int, finished: int, pending: int, stopped: bool, lost_before: int = 0) -> Account:
    """Account for the rows of a run.

    Args:
        planned: Rows that the plan has; too small where the process that counted them died.
        finished: Rows that have evidence.
        pending: Rows that were to run and have none.
        stopped: Whether the user asked to stop at a failure: then the pending rows are left out, not lost.
        lost_before: Rows that an earlier session of the run lost, and that have no evidence still; none of ``pending``.
    """
    selected = finished + pending + lost_before
    planned = max(planned, selected)
    lost = lost_before + (0 if stopped else pending)
    return Account(planned, selected, planned - finished - lost, lost)

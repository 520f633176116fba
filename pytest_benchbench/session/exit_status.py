"""The exit code of a run. The laws of this module are held by ``tests/session/test_exit_status.py``.

1. 2 (interrupted), 3 (internal error) and 4 (usage) stay pytest's own, whatever the evidence says.
2. Otherwise the first that applies: 21 incomplete evidence, 20 a gate that did not pass, 1 failures, else what pytest said.
3. Lost rows are incomplete always; rows that the user left out only where a gate has to decide.
4. A gate never turns 1 into 0, and no code hides a higher one of rule 2.
"""

from __future__ import annotations

from dataclasses import dataclass

INCOMPLETE = 21
GATE_NOT_PASSED = 20
FAILED = 1
NO_TESTS_COLLECTED = 5

KEPT = frozenset({2, 3, 4})
"""Codes by which pytest says that the session itself did not work."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the exit code depends on.

    Attributes:
        lost: Planned rows that no attempt answered although nobody left them out.
        left_out: Planned rows that the user left out.
        nothing_measured: Rows were asked, and every one of them was unavailable.
        failed_rows: Rows that are an error, or whose verdict changed between attempts.
        gate: The decision, if a gate ran.
    """

    lost: int = 0
    left_out: int = 0
    nothing_measured: bool = False
    failed_rows: int = 0
    gate: str | None = None


def exit_status(pytest_status: int, facts: RunFacts) -> int:
    """Give the exit code of a run.

    Args:
        pytest_status: What pytest would exit with.
        facts: What the evidence says.
    """
    if pytest_status in KEPT:
        return pytest_status
    if facts.lost or facts.nothing_measured or (facts.gate is not None and facts.left_out):
        return INCOMPLETE
    if facts.gate is not None and facts.gate != "pass":
        return GATE_NOT_PASSED
    if facts.failed_rows and pytest_status == 0:
        return FAILED
    return pytest_status

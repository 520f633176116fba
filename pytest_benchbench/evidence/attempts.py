"""Which attempt at a row counts. The laws of this module are held by ``tests/evidence/test_attempts.py``.

1. Order does not matter: attempts carry numbers, lines of a file do not.
2. A later attempt supersedes ``error``, ``unavailable`` and ``not_run``, never a verdict: the first verdict counts.
3. Inside one attempt an ``error`` beats a verdict: a process that died after it answered is a failed attempt.
4. A verdict that differs between attempts makes the row ``unstable``: it counts as a mismatch. A bare score is a verdict.
5. Folding is associative, commutative and idempotent, so shards, resumed runs and merged files agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_benchbench.evidence.observation import SETTLED, Outcome

_RANK = {"not_run": 0, "unavailable": 1, "error": 3}
"""Inside one attempt the higher rank stands; a verdict has rank 2."""


@dataclass(frozen=True, slots=True, order=True)
class Attempt:
    """One try at a row, reduced to what decides.

    Attributes:
        number: 1 for the first.
        status: ``detection.status``.
        outcome: The outcome that this try alone would have.
        position: Where its line begins, to find it again; takes no part in deciding between different attempts.
        score: ``detection.score``, if there is one.
    """

    number: int
    outcome: Outcome
    status: str
    position: int = 0
    score: float | None = None

    @property
    def settled(self) -> bool:
        """Whether the detector answered."""
        return self.outcome in SETTLED

    @property
    def verdict(self) -> tuple[str, float | None]:
        """What was answered: a status that decides, whatever score it rests on, or a bare score."""
        return self.status, self.score if self.status == "scored" else None


@dataclass(frozen=True, slots=True)
class RowHistory:
    """All attempts at one planned row, at most one for each number, ascending."""

    attempts: tuple[Attempt, ...]

    @classmethod
    def of(cls, attempts: Iterable[Attempt]) -> RowHistory:
        """Fold any number of attempts, in any order, repeated or not."""
        standing: dict[int, Attempt] = {}
        for attempt in attempts:
            other = standing.get(attempt.number)
            if other is None or _precedence(attempt) > _precedence(other):
                standing[attempt.number] = attempt
        return cls(tuple(standing[number] for number in sorted(standing)))

    def __or__(self, other: RowHistory) -> RowHistory:
        return RowHistory.of((*self.attempts, *other.attempts))

    @property
    def counting(self) -> Attempt:
        """The attempt that stands for the row: the first that has a verdict, else the last.

        Raises:
            ValueError: There is no attempt.
        """
        if not self.attempts:
            raise ValueError("a row without attempts has no outcome")
        return next((attempt for attempt in self.attempts if attempt.settled), self.attempts[-1])

    @property
    def unstable(self) -> bool:
        """Whether two attempts gave different verdicts; scores that are not exactly equal are."""
        return len({attempt.verdict for attempt in self.attempts if attempt.settled}) > 1

    @property
    def outcome(self) -> Outcome:
        """The row's outcome; an unstable row is a ``mismatch``."""
        return "mismatch" if self.unstable else self.counting.outcome


def _precedence(attempt: Attempt) -> tuple[int, str, str, bool, float, int]:
    """Order inside one attempt number: total, so that folding does not depend on the order of arrival."""
    score = attempt.score
    rank = _RANK.get(attempt.outcome, 2)
    return (rank, attempt.outcome, attempt.status, score is not None, score or 0.0, attempt.position)

"""Which lines of evidence count, told from their heads alone: some seventy bytes of a line stay in memory.

Attempts are folded by the laws of ``evidence/attempts.py``; only rows with several lines take that way.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Annotated, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.attempts import Attempt, RowHistory
from pytest_benchbench.evidence.digest_column import TEXT_DIGEST_BYTES, DigestColumn, Groups, sha256_text_digest, text_digest
from pytest_benchbench.evidence.observation import OUTCOMES, SETTLED, Outcome

_OUTCOME_CODES = {outcome: code for code, outcome in enumerate(OUTCOMES)}
_NOT_RUN = _OUTCOME_CODES["not_run"]
_NOTHING_KNOWN = bytes(TEXT_DIGEST_BYTES)


class Key(msgspec.Struct, frozen=True, gc=False):
    """The key of a line; see ``EvidenceKey``."""

    suite: str
    adapter: str
    case_id: str
    params: str | None
    attempt: Annotated[int, msgspec.Meta(ge=1, le=2**31)]


class _Decision(msgspec.Struct, gc=False):
    status: str
    score: float | None = None


class Head(msgspec.Struct, gc=False):
    """What of a line decides whether it counts."""

    schema_version: Literal[1]
    key: Key
    row_sha256: str
    detection: _Decision
    outcome: Outcome


class Pair(NamedTuple):
    """Two lines, by their numbers from 0 in the order of arrival."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of every line.

    Attributes:
        attempts: How many attempts there are at the row for which this line counts; 0 for a line that does not count.
            Of shape (lines,), as are the others.
        outcomes: The row's outcome as a place in ``OUTCOMES``.
        unstable: Whether attempts at the row gave different verdicts.
        cases: Digests of the case ids.
    """

    attempts: NDArray[np.uint32]
    outcomes: NDArray[np.uint8]
    unstable: NDArray[np.bool_]
    cases: DigestColumn

    def ended(self, begin: int, end: int) -> int:
        """Count the rows that were run to an end among those that lines ``begin`` to ``end - 1`` stand for."""
        part = slice(begin, end)
        return int(np.count_nonzero((self.attempts[part] > 0) & (self.outcomes[part] != _NOT_RUN)))


class EvidenceIndex:
    """Takes the lines of one or several files one after the other."""

    def __init__(self) -> None:
        self._decode = msgspec.json.Decoder(Head).decode
        self._cases = DigestColumn()
        self._series = array("I")
        self._series_codes: dict[tuple[str, str, str], int] = {}
        self._manifest_lines = DigestColumn()
        self._attempts = array("I")
        self._outcomes = bytearray()
        self._statuses = array("I")
        self._scores = array("d")
        self._status_codes: dict[str, int] = {}
        self._groups: Groups | None = None

    def __len__(self) -> int:
        """How many lines there are."""
        return len(self._attempts)

    def add(self, line: bytes) -> None:
        """Take the next line.

        Raises:
            ValueError, RecursionError: It is no row of evidence.
        """
        head = self._decode(line)
        key = head.key
        series = (key.suite, key.adapter, key.params or "")
        self._cases.append(text_digest(key.case_id.encode()))
        self._series.append(self._series_codes.setdefault(series, len(self._series_codes)))
        unread = not head.row_sha256 and head.outcome not in SETTLED  # the manifest could not be read again
        self._manifest_lines.append(_NOTHING_KNOWN if unread else sha256_text_digest(head.row_sha256))
        self._attempts.append(key.attempt)
        self._outcomes.append(_OUTCOME_CODES[head.outcome])
        detection = head.detection
        self._statuses.append(self._status_codes.setdefault(detection.status, len(self._status_codes)))
        self._scores.append(nan if detection.score is None else detection.score)

    def contradiction(self) -> Pair | None:
        """Find two lines about one case that were made from different lines of a manifest; the earliest such pair.

        A line whose row could not be read again, because the manifest was changed meanwhile, contradicts nothing.
        """
        order = self._cases.groups().order  # the lines of a case stand side by side, in the order of arrival
        is_told: NDArray[np.bool_] = np.any(self._manifest_lines.words() != 0, axis=1)
        told = order[is_told[order]]
        cases, made_from = self._cases.words()[told], self._manifest_lines.words()[told]
        differs = (made_from[1:] != made_from[:-1]).any(axis=1) & (cases[1:] == cases[:-1]).all(axis=1)
        seconds = np.flatnonzero(differs) + 1
        if not len(seconds):
            return None
        second = seconds[np.argmin(told[seconds])]
        return Pair(int(told[second - 1]), int(told[second]))

    def in_several(self, begins: Sequence[int]) -> list[Pair]:
        """Find planned rows that have lines in several parts of what was taken.

        Args:
            begins: The number of the first line of each part, ascending, the first 0.

        Returns:
            For each such row its first lines in two parts, ordered by the second.
        """
        pairs = []
        for lines in self._grouped().several():
            parts = np.searchsorted(begins, lines, side="right")
            if parts[0] != parts[-1]:  # lines ascend, and so do their parts
                other = int(np.argmax(parts != parts[0]))
                pairs.append(Pair(int(lines[0]), int(lines[other])))
        return sorted(pairs, key=lambda pair: pair.second)

    def settle(self) -> Settlement:
        """Decide for every planned row which of its lines counts."""
        attempts = np.ones(len(self), dtype=np.uint32)
        outcomes = np.frombuffer(bytes(self._outcomes), dtype=np.uint8).copy()
        unstable = np.zeros(len(self), dtype=np.bool_)
        statuses = list(self._status_codes)
        for lines in self._grouped().several():
            history = RowHistory.of(
                Attempt(
                    self._attempts[line],
                    OUTCOMES[self._outcomes[line]],
                    statuses[self._statuses[line]],
                    line,
                    None if isnan(self._scores[line]) else self._scores[line],
                )
                for line in lines.tolist()
            )
            counting = history.counting.position
            attempts[lines] = 0
            attempts[counting] = len(history.attempts)
            outcomes[counting] = _OUTCOME_CODES[history.outcome]
            unstable[counting] = history.unstable
        return Settlement(attempts, outcomes, unstable, self._cases)

    def _grouped(self) -> Groups:
        if self._groups is None or len(self._groups.order) != len(self):
            self._groups = self._cases.groups(np.array(self._series, dtype=np.uint32))
        return self._groups

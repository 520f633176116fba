"""Reading evidence back: rows of a file, and for each planned row the attempt that counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from pytest_benchbench.evidence.attempts import Attempt, RowHistory
from pytest_benchbench.evidence.observation import EvidenceKey, EvidenceRow, Outcome

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is refused: evidence of a per-frame series is large, but not that large."""


class EvidenceError(Exception):
    """An evidence file that cannot be read; the message names file, line and fault."""


@dataclass(frozen=True, slots=True)
class SettledRow:
    """A planned row with the attempt that counts.

    Attributes:
        row: The evidence of that attempt.
        outcome: The row's outcome, ``mismatch`` where attempts disagree.
        unstable: Whether attempts gave different verdicts.
        attempts: How many attempts there are.
    """

    row: EvidenceRow
    outcome: Outcome
    unstable: bool
    attempts: int


class _Decision(msgspec.Struct):
    status: str


class _Head(msgspec.Struct):
    key: EvidenceKey
    detection: _Decision
    outcome: Outcome


def complete_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield ``(line number, byte offset, line)`` of every terminated line.

    An unterminated last line is what a killed writer leaves; it was never acknowledged and is passed over.

    Raises:
        EvidenceError: A line is longer than ``MAX_LINE_BYTES``.
    """
    offset = 0
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES + 1), b""), 1):
            if not line.endswith(b"\n"):
                if len(line) > MAX_LINE_BYTES:
                    raise EvidenceError(f"{path}:{number}: the line is longer than {MAX_LINE_BYTES} bytes")
                return
            yield number, offset, line
            offset += len(line)


def settled_rows(path: Path) -> Iterator[SettledRow]:
    """Yield every planned row of an evidence file once, by the attempt that counts, in the order of the file.

    The file is read twice: once for the attempts (some hundred bytes stay in memory for each row), once for the rows.

    Raises:
        EvidenceError: A line is not a row of evidence.
    """
    histories: dict[tuple[str, str, str, str], RowHistory] = {}
    heads = msgspec.json.Decoder(_Head)
    for number, offset, line in complete_lines(path):
        try:
            head = heads.decode(line)
        except msgspec.DecodeError as error:
            raise EvidenceError(f"{path}:{number}: {error}") from None
        one = RowHistory((Attempt(head.key.attempt, head.outcome, head.detection.status, offset),))
        row = head.key.row
        histories[row] = histories[row] | one if row in histories else one
    by_position = {history.counting.position: history for history in histories.values()}
    rows = msgspec.json.Decoder(EvidenceRow)
    for number, offset, line in complete_lines(path):
        if (counting := by_position.get(offset)) is None:
            continue
        try:
            evidence = rows.decode(line)
        except msgspec.DecodeError as error:
            raise EvidenceError(f"{path}:{number}: {error}") from None
        yield SettledRow(evidence, counting.outcome, counting.unstable, len(counting.attempts))

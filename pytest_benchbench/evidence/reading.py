"""Reading evidence back: rows of a file, and for each planned row the attempt that counts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import force_setattr

from pytest_benchbench.evidence.index import EvidenceIndex, Head, Settlement
from pytest_benchbench.evidence.observation import OUTCOMES, AdapterRecord, CodeRecord, EvidenceRow, Outcome

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is refused: evidence of a per-frame series is large, but not that large."""

_BUFFER_BYTES = 64 * 1024

_TOLD_AFTER = 1000
"""Lines after which progress is told again."""


class EvidenceError(Exception):
    """An evidence file that cannot be read; the message names file, line and fault."""


class SettledRow(msgspec.Struct, frozen=True, gc=False):
    """A planned row with the attempt that counts.

    Attributes:
        row: The evidence of that attempt.
        outcome: The row's outcome, ``mismatch`` where attempts disagree.
        unstable: Whether attempts gave different verdicts.
        attempts: How many attempts there are.
        case_digest: Of the case id; see ``text_digest``.
    """

    row: EvidenceRow
    outcome: Outcome
    unstable: bool
    attempts: int
    case_digest: bytes


@dataclass(frozen=True, slots=True)
class IndexedEvidence:
    """A file of evidence whose heads were read: it is known which lines count.

    Attributes:
        path: The file.
        sha256: Of its bytes, 64 lower-case hex digits.
        settlement: What became of each complete line.
        place: Names a line, numbered from 0, as people find it.
    """

    path: Path
    sha256: str
    settlement: Settlement
    place: Callable[[int], str]

    def rows(self) -> Iterator[SettledRow]:
        """Yield every planned row once, by the attempt that counts, in the order of the file.

        Raises:
            EvidenceError: A line that counts is not a row of evidence.
        """
        return (settled for _, settled in self.numbered())

    def feed(self, *takers: Callable[[SettledRow], None]) -> None:
        """Hand every planned row to each of those who want them, in one pass.

        Raises:
            EvidenceError: A line that counts is not a row of evidence, or a taker refuses it.
        """
        for number, settled in self.numbered():
            try:
                for take in takers:
                    take(settled)
            except EvidenceError as error:
                raise EvidenceError(f"{self.place(number)}: {error}") from None

    def numbered(self) -> Iterator[tuple[int, SettledRow]]:
        """Yield the same rows as ``rows``, each with the number of its line from 0; see ``place``.

        Raises:
            EvidenceError: A line that counts is not a row of evidence.
        """
        decode = msgspec.json.Decoder(EvidenceRow).decode
        settlement, cases = self.settlement, self.settlement.cases
        became = zip(settlement.attempts.tolist(), settlement.outcomes.tolist(), settlement.unstable.tolist(), strict=True)
        records: dict[str, AdapterRecord] = {}
        code: CodeRecord | None = None
        number = 0
        for (attempts, outcome, unstable), (number, _, line) in zip(became, complete_lines(self.path), strict=False):
            if attempts:
                try:
                    row = decode(line)
                except (ValueError, RecursionError) as error:
                    raise unreadable(self.place(number - 1), error) from None
                # rows mostly agree on what answered: one object for all is told from another at a glance, and is kept once
                if (record := records.get(row.key.adapter)) is not None and record == row.adapter:
                    force_setattr(row, "adapter", record)
                else:
                    records[row.key.adapter] = row.adapter
                if code == row.code:
                    force_setattr(row, "code", code)
                else:
                    code = row.code
                yield number - 1, SettledRow(row, OUTCOMES[outcome], unstable, attempts, cases[number - 1])
        if number < len(settlement.attempts):
            raise EvidenceError(f"{self.path}: lost lines while it was read")


def complete_lines(path: Path, begin: int = 0, first: int = 1) -> Iterator[tuple[int, int, bytes]]:
    """Yield ``(line number, byte offset, line)`` of every terminated line.

    An unterminated last line is what a killed writer leaves; it was never acknowledged and is passed over.

    Args:
        path: The file.
        begin: Byte offset of the line to begin with.
        first: Its number.

    Raises:
        EvidenceError: A line is longer than ``MAX_LINE_BYTES``.
    """
    offset = begin
    with path.open("rb", buffering=_BUFFER_BYTES) as file:
        file.seek(begin)
        for number, line in enumerate(iter(partial(file.readline, MAX_LINE_BYTES + 1), b""), first):
            if not line.endswith(b"\n"):
                if len(line) > MAX_LINE_BYTES:
                    raise EvidenceError(f"{path}:{number}: the line is longer than {MAX_LINE_BYTES} bytes")
                return
            yield number, offset, line
            offset += len(line)


def index_evidence(path: Path, progress: Callable[[int], None] | None = None) -> IndexedEvidence:
    """Read the heads of a file of evidence, by which it is decided which lines count.

    Memory grows by some seventy bytes a line.

    Args:
        path: The file.
        progress: Is told how many more bytes were read.

    Raises:
        EvidenceError: A line is not a row of evidence, or two lines about one case contradict each other.
    """
    index = EvidenceIndex()
    told = 0
    for number, offset, line in complete_lines(path):
        try:
            index.add(line)
        except (ValueError, RecursionError) as error:
            raise unreadable(f"{path}:{number}", error) from None
        if progress is not None and number % _TOLD_AFTER == 0:
            progress(offset - told)
            told = offset

    def place(number: int) -> str:
        return f"{path}:{number + 1}"

    refuse_contradiction(index, place, lambda number: next(line for n, _, line in complete_lines(path) if n == number + 1))
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return IndexedEvidence(path, sha256, index.settle(), place)


def settled_rows(path: Path) -> Iterator[SettledRow]:
    """Yield every planned row of an evidence file once, by the attempt that counts, in the order of the file.

    The file is read twice: once for the attempts, once for the rows.

    Raises:
        EvidenceError: A line is not a row of evidence, or two lines about one case contradict each other.
    """
    yield from index_evidence(path).rows()


def refuse_contradiction(index: EvidenceIndex, place: Callable[[int], str], line: Callable[[int], bytes]) -> None:
    """Refuse lines about one case that were made from different lines of a manifest: they are about different things.

    Args:
        index: What the lines were taken into.
        place: Names a line, numbered from 0.
        line: Gives it.

    Raises:
        EvidenceError: There are such lines.
    """
    if (pair := index.contradiction()) is not None:
        case_id = msgspec.json.decode(line(pair.second), type=Head).key.case_id
        raise EvidenceError(
            f"{place(pair.second)}: {case_id}: rows of this case come from different manifest lines "
            f"(row_sha256 differs from {place(pair.first)})"
        )


def unreadable(place: str, error: Exception) -> EvidenceError:
    """Say that a line is not a row of evidence, and why."""
    return EvidenceError(f"{place}: {'nested too deeply' if isinstance(error, RecursionError) else error}")

"""The lines of several runs put into one file of evidence, checked and indexed as they pass."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

import msgspec

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.index import EvidenceIndex, Head
from pytest_benchbench.evidence.observation import SETTLED, AdapterRecord
from pytest_benchbench.evidence.reading import (
    EvidenceError,
    IndexedEvidence,
    SettledRow,
    complete_lines,
    refuse_contradiction,
    unreadable,
)
from pytest_benchbench.evidence.recorded_run import Part, RecordedRun

_BATCH = 256
"""Lines that are hashed and written together."""

Progress = Callable[[int], None]
"""Is told how many more bytes were read."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Where the lines of a part stand.

    Attributes:
        run: The directory.
        part: The part.
        begin: Byte offset of its first line.
        first: Number of that line.
    """

    run: RecordedRun
    part: Part
    begin: int
    first: int

    @property
    def label(self) -> str:
        """The part as people know it: its directory, and which one it is of those that were merged there."""
        if not self.run.is_merged:
            return str(self.run.path)
        return f"{self.run.path} ({one_line(self.part.name)})"


@dataclass(frozen=True, slots=True)
class JoinedPart:
    """A part in the joined file.

    Attributes:
        piece: Where it came from.
        part: What is known of it now, its evidence included.
        ended: How many of its rows were run to an end.
    """

    piece: Piece
    part: Part
    ended: int


@dataclass(frozen=True, slots=True)
class JoinedEvidence:
    """The evidence of several runs in one file.

    Attributes:
        evidence: The file.
        parts: The parts in their order in the file.
    """

    evidence: IndexedEvidence
    parts: tuple[JoinedPart, ...]


def pieces_of(runs: Iterable[RecordedRun]) -> list[Piece]:
    """Give the parts of all runs in the order in which they are joined: by shard, then by the name of the run."""
    pieces = []
    for run in runs:
        begin, first = 0, 1
        for part in run.parts:
            pieces.append(Piece(run, part, begin, first))
            begin, first = begin + part.evidence_bytes, first + part.evidence_lines
    return sorted(pieces, key=lambda piece: (piece.part.cut.index if piece.part.cut else 0, piece.part.run_id))


def join_evidence(pieces: Sequence[Piece], target: Path, progress: Progress | None = None) -> JoinedEvidence:
    """Write the complete lines of all parts to a new file, one part after the other.

    Memory grows by some seventy bytes a line.

    Args:
        pieces: The parts in the order in which they are written.
        target: Must not exist.
        progress: Is told how far it is.

    Raises:
        EvidenceError: A line is no row of evidence, lines about one case contradict each other, a planned row is in several
            parts, or a merged file is not what it was.
        OSError: A file cannot be read or written.
    """
    index = EvidenceIndex()
    begins: list[int] = []
    parts: list[Part] = []
    whole = hashlib.sha256()
    with target.open("xb") as file, ThreadPoolExecutor(1) as beside:
        for piece in pieces:
            begins.append(len(index))
            parts.append(_append(piece, index, _Copy(file, whole.update, beside), progress or _nobody))
        file.flush()
        os.fsync(file.fileno())

    def place(number: int) -> str:
        of = bisect_right(begins, number) - 1
        return f"{pieces[of].run.evidence}:{pieces[of].first + number - begins[of]}"

    def line(number: int) -> bytes:
        return next(islice(complete_lines(target), number, None))[2]

    refuse_contradiction(index, place, line)
    _refuse_duplicates(index, begins, place, line)
    settlement = index.settle()
    ends = [*begins[1:], len(index)]
    joined = (
        JoinedPart(piece, part, settlement.ended(begin, end))
        for piece, part, begin, end in zip(pieces, parts, begins, ends, strict=True)
    )
    return JoinedEvidence(IndexedEvidence(target, whole.hexdigest(), settlement, place), tuple(joined))


def _nobody(_: int) -> None:
    return


class _Copy:
    """Writes and hashes what one part has, in a thread beside the one that reads: both need no interpreter.

    Args:
        file: The whole.
        hash_whole: Takes what is written.
        beside: Of one thread.
    """

    def __init__(self, file: IO[bytes], hash_whole: Callable[[bytes], None], beside: ThreadPoolExecutor) -> None:
        self._file = file
        self._hash_whole = hash_whole
        self._beside = beside
        self._digest = hashlib.sha256()
        self._before: Future[None] | None = None

    def write(self, data: bytes) -> None:
        """Take the next bytes, once those before are written.

        Raises:
            OSError: Those before could not be.
        """
        self._wait()
        self._before = self._beside.submit(self._write, data)

    def sha256(self) -> str:
        """Give the digest of all that was taken, once it is written.

        Raises:
            OSError: The last bytes could not be.
        """
        self._wait()
        return self._digest.hexdigest()

    def _wait(self) -> None:
        if self._before is not None:
            self._before.result()

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._digest.update(data)
        self._hash_whole(data)


def _append(piece: Piece, index: EvidenceIndex, copy: _Copy, progress: Progress) -> Part:
    """Append the lines of one part; give what is known of it now."""
    run, part = piece.run, piece.part
    lines = size = 0
    batch: list[bytes] = []

    def flush() -> None:
        data = b"".join(batch)
        batch.clear()
        copy.write(data)
        progress(len(data))

    source = complete_lines(run.evidence, piece.begin, piece.first)
    for number, _, line in islice(source, part.evidence_lines) if run.is_merged else source:
        try:
            index.add(line)
        except (ValueError, RecursionError) as error:
            raise unreadable(f"{run.evidence}:{number}", error) from None
        batch.append(line)
        lines += 1
        size += len(line)
        if len(batch) == _BATCH:
            flush()
    flush()
    sha256 = copy.sha256()
    if run.is_merged:
        if (lines, size, sha256) != (part.evidence_lines, part.evidence_bytes, part.evidence_sha256):
            raise EvidenceError(f"{run.evidence}: is not what was merged: the lines of run {one_line(part.run_id)} differ")
        return part
    return msgspec.structs.replace(
        part,
        evidence_sha256=sha256,
        evidence_lines=lines,
        evidence_bytes=size,
        is_altered=run.is_altered(sha256),
    )


def _refuse_duplicates(
    index: EvidenceIndex, begins: Sequence[int], place: Callable[[int], str], line: Callable[[int], bytes]
) -> None:
    """Refuse planned rows that have lines in several parts: nobody could say which of them counts.

    Raises:
        EvidenceError: There are such rows; the first is named.
    """
    if not (pairs := index.in_several(begins)):
        return
    first, second = pairs[0]
    key = msgspec.json.decode(line(second), type=Head).key
    params = f"[{key.params}]" if key.params else ""
    row = one_line(f"{key.suite}::{key.adapter}::{key.case_id}{params}")
    more = f", and {len(pairs) - 1} more rows so" if len(pairs) > 1 else ""
    raise EvidenceError(f"the same row twice: {row} stands in {place(first)} and in {place(second)}{more}")


class OneDetector:
    """Holds that the verdicts under one adapter's name come from one detector, whichever run gave them.

    What an adapter says of itself within one run is that run's own affair.

    Args:
        label: Names a run for people by its id.
    """

    def __init__(self, label: Callable[[str], str] = one_line) -> None:
        self._label = label
        self._known: dict[str, dict[str, list[AdapterRecord]]] = {}
        self._last: dict[str, tuple[str, AdapterRecord]] = {}  # rows that follow each other mostly agree

    def add(self, settled: SettledRow) -> None:
        """Take one row.

        Raises:
            EvidenceError: Another run had another detector under the name.
        """
        if settled.outcome not in SETTLED:
            return
        row = settled.row
        last = self._last.get(row.key.adapter)
        if last is not None and last[1] is row.adapter and last[0] == row.run_id:
            return
        self._last[row.key.adapter] = (row.run_id, row.adapter)
        runs = self._known.setdefault(row.key.adapter, {})
        mine = runs.setdefault(row.run_id, [])
        if row.adapter in mine:
            return
        others = [record for run_id, records in runs.items() if run_id != row.run_id for record in records]
        if others and row.adapter not in others:
            fields = msgspec.structs.asdict(others[0])
            differing = [name for name, value in msgspec.structs.asdict(row.adapter).items() if value != fields[name]]
            other = self._label(next(iter(runs)))
            raise EvidenceError(f"{row.key.adapter} is not the detector of run {other}: {', '.join(differing)} differ")
        mine.append(row.adapter)

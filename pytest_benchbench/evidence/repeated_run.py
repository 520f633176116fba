"""One of the runs that a report is about: its evidence, and what its directory says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.joining import JoinedPart, Piece
from pytest_benchbench.evidence.merging import take_stock
from pytest_benchbench.evidence.reading import EvidenceError, IndexedEvidence, index_evidence
from pytest_benchbench.evidence.recorded_run import ALTERED, EVIDENCE, RUN, Planned, RecordedRun, RecordedRunError, read_run

_UNKNOWN = f"evidence without {RUN}: nobody knows whether it is all"


@dataclass(frozen=True, slots=True)
class RepeatedRun:
    """A run whose evidence was indexed.

    Attributes:
        path: What was given: its directory, or its file of evidence.
        recorded: What its directory says of it; ``None`` for a file alone.
        evidence: Its evidence.
        planned: What became of its planned rows, as far as is known.
        gaps: What it lacks, one line each.
    """

    path: Path
    recorded: RecordedRun | None
    evidence: IndexedEvidence
    planned: Planned | None
    gaps: tuple[str, ...]

    @property
    def document(self) -> dict[str, Any]:
        """The content of ``run.json``; empty where there is none."""
        return {} if self.recorded is None else self.recorded.document

    @property
    def run_id(self) -> str | None:
        """The run's name, where it is known without its rows."""
        return self.document.get("run_id")

    @property
    def name(self) -> str:
        """What people call it: the name of its folder or file, wherever that lies."""
        return one_line((self.path if self.recorded is None else self.recorded.path).resolve().name)

    @property
    def order(self) -> tuple[str, str, str]:
        """Orders runs, whichever is given first: by their beginning where it is known."""
        return self.document.get("started", ""), self.run_id or "", self.evidence.sha256


def read_repeated_run(path: Path, progress: Callable[[int], None] | None = None) -> RepeatedRun:
    """Read what is known of a run, and index its evidence.

    Args:
        path: Its directory or a file of evidence. Beside an ``evidence.jsonl`` its ``run.json`` is read too.
        progress: Is told how many more bytes of evidence were read.

    Raises:
        RecordedRunError: The directory holds no run, or what it says is damaged.
        EvidenceError: The evidence is damaged or cannot be read.
    """
    directory = path
    if not path.is_dir():
        if path.name != EVIDENCE or not (path.parent / RUN).is_file():
            return RepeatedRun(path, None, _indexed(path, progress), None, (_UNKNOWN,))
        directory = path.parent
    recorded = read_run(directory)
    evidence = _indexed(recorded.evidence, progress)
    is_altered = recorded.is_altered(evidence.sha256)
    if recorded.is_merged:
        planned, gaps = _said(recorded)
        return RepeatedRun(path, recorded, evidence, planned, (*gaps, *([ALTERED] if is_altered else [])))
    (part,) = recorded.parts
    part = msgspec.structs.replace(part, is_altered=is_altered)
    ended = evidence.settlement.ended(0, len(evidence.settlement.attempts))
    whole = take_stock([JoinedPart(Piece(recorded, part, 0, 1), part, ended)], [recorded])
    gaps = tuple(gap.removeprefix(f"{part.label}: ") for gap in whole.gaps)
    return RepeatedRun(path, recorded, evidence, whole.planned if part.planned else None, gaps)


def _said(recorded: RecordedRun) -> tuple[Planned | None, tuple[str, ...]]:
    """Give what a merged run says of itself: what became of the planned rows, and what it lacks.

    Raises:
        RecordedRunError: It is damaged.
    """
    document = recorded.document
    try:
        planned = msgspec.convert(document.get("planned"), Planned | None)
        gaps = msgspec.convert(document.get("gaps", []), list[str])
    except ValueError as error:
        raise RecordedRunError(f"{recorded.path / RUN}: not the description of a run: {error}") from None
    return planned, tuple(map(one_line, gaps))


def _indexed(path: Path, progress: Callable[[int], None] | None) -> IndexedEvidence:
    if not path.is_file():
        raise EvidenceError(f"{path}: not a file")
    try:
        return index_evidence(path, progress)
    except OSError as error:
        raise EvidenceError(f"{path}: cannot be read: {error.strerror or error}") from None

"""Files looked through for holdout samples: every overlap with its place, and every file that was not looked into."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pytest_benchbench.validation.contamination import FileScanner, Holdout, Overlap
from pytest_benchbench.validation.contamination_files import MAX_BYTES, NotLookedInto, PassedOver, text_pieces

MAX_KEPT = 1000
"""Overlaps, and files that were passed over, that are told; the rest is counted."""


@dataclass(frozen=True, slots=True, order=True)
class FoundOverlap:
    """A sample in a file.

    Attributes:
        file: The file's path.
        overlap: What of which sample, and where.
    """

    file: str
    overlap: Overlap


@dataclass(slots=True)
class Search:
    """What came out.

    Attributes:
        files: Files that were looked into, to their end or not.
        bytes: Of their text.
        overlaps: The first ones, by file and line; at most ``MAX_KEPT``.
        total: How many there are.
        passed_over: The first files that were not looked into, or not to the end; at most ``MAX_KEPT``.
        total_passed_over: How many there are.
        gaps: Of these, files that may be a text nobody has looked at.
    """

    files: int = 0
    bytes: int = 0
    overlaps: list[FoundOverlap] = field(default_factory=list)
    total: int = 0
    passed_over: list[PassedOver] = field(default_factory=list)
    total_passed_over: int = 0
    gaps: int = 0

    def pass_over(self, passed: PassedOver) -> None:
        """Note a file that was not looked into."""
        self.total_passed_over += 1
        self.gaps += passed.is_gap
        if len(self.passed_over) < MAX_KEPT:
            self.passed_over.append(passed)

    def add(self, found: FoundOverlap) -> None:
        """Note an overlap."""
        self.total += 1
        if len(self.overlaps) < MAX_KEPT:
            self.overlaps.append(found)


def search(
    holdout: Holdout,
    files: Iterable[Path | PassedOver],
    *,
    leave_out: Iterable[Path] = (),
    max_bytes: int = MAX_BYTES,
    progress: Callable[[int], None] = lambda count: None,
) -> Search:
    """Look through files.

    Args:
        holdout: What is looked for.
        files: As ``files_under`` lists them.
        leave_out: Files that hold the samples by right: the golden set. Copies of them are not left out.
        max_bytes: Of one file.
        progress: Is told how many more bytes were read.
    """
    found = Search()
    rightful = list(leave_out)
    for file in files:
        if isinstance(file, PassedOver):
            found.pass_over(file)
        elif any(_is_same(file, own) for own in rightful):
            found.pass_over(PassedOver(str(file), "the golden set itself", is_gap=False))
        else:
            scanned = scan_file(holdout, file, max_bytes=max_bytes, progress=progress)
            found.files += scanned.is_looked_into
            found.bytes += scanned.bytes
            if scanned.passed_over is not None:
                found.pass_over(scanned.passed_over)
            for overlap in scanned.overlaps:
                found.add(FoundOverlap(str(file), overlap))
    return found


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """What one file holds.

    Attributes:
        overlaps: All that was found, by line.
        bytes: Of its text that were looked at.
        is_looked_into: Whether any were.
        passed_over: Why it, or its rest, was not looked into; ``None`` where all of it was.
    """

    overlaps: list[Overlap]
    bytes: int
    is_looked_into: bool
    passed_over: PassedOver | None


def scan_file(
    holdout: Holdout, file: Path, *, max_bytes: int = MAX_BYTES, progress: Callable[[int], None] = lambda count: None
) -> ScannedFile:
    """Look through one file, as ``search`` does through each."""
    scanner, looked_into, total, passed = FileScanner(holdout), False, 0, None
    try:
        for line, text, count in text_pieces(file, max_bytes=max_bytes):
            looked_into = True
            scanner.feed(text, line)
            total += count
            progress(count)
    except NotLookedInto as refusal:
        rest = "its rest is not looked into: " if looked_into else ""
        passed = PassedOver(str(file), rest + refusal.reason, is_gap=refusal.is_gap)
    return ScannedFile(scanner.finish(), total, looked_into, passed)


def _is_same(file: Path, other: Path) -> bool:
    try:
        return file.samefile(other)
    except OSError:
        return False

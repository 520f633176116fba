"""What is asked about one case, before anything is read or decoded."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pytest_benchbench.artifacts.media import MediaType
from pytest_benchbench.evidence.answers import ScoreScale
from pytest_benchbench.evidence.observation import Expected


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file and the digest that it must have.

    Attributes:
        path: As the manifest writes it, relative to the manifest's directory.
        sha256: 64 lower-case hex digits.
    """

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class PinnedText:
    """A text that stands in the manifest itself. Nothing that is kept of the answer holds any of it.

    Attributes:
        text: The text.
        sha256: The digest that it must have in UTF-8, 64 lower-case hex digits.
    """

    text: str = field(repr=False)
    sha256: str


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about one case.

    Attributes:
        media_type: The artifact's media type.
        artifact: What the adapter is shown.
        reference: What fidelity is measured against, if anything.
        base: The directory that relative paths start from.
        roots: Further directories in which files may lie.
        removed: Whether the case's state is ``removed``.
        expected: The verdict that the case asserts; ``None`` or ``unresolved`` asserts nothing.
        known_mismatch: Whether a wrong answer is listed as known.
        scale: The scale of scores; ``None`` where a score may be any number.
    """

    media_type: MediaType
    artifact: PinnedFile | PinnedText
    reference: PinnedFile | None
    base: Path
    roots: tuple[Path, ...] = ()
    removed: bool = False
    expected: Expected | None = None
    known_mismatch: bool = False
    scale: ScoreScale | None = None

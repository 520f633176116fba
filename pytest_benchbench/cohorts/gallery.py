"""The artifacts of a cohort that is being built: written once, read back from the file."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from pytest_benchbench.artifacts.verification import read_verified
from pytest_benchbench.cohorts.media import CohortMedium, Content

MANIFEST = "manifest.jsonl"
DESCRIPTION = "cohort.json"
"""The files of a cohort besides its artifacts."""


@dataclass(frozen=True, slots=True)
class SavedArtifact:
    """A file of the cohort.

    Attributes:
        file: Where it stands while the cohort is built.
        path: Relative to the manifest, with ``/``.
        sha256: Digest of the file.
        size: Its length in bytes.
        medium: What it is.
    """

    file: Path
    path: str
    sha256: str
    size: int
    medium: CohortMedium

    def content(self) -> Content:
        """Decode the saved file: what comes next is built on what a detector will be shown."""
        return self.medium.decode(read_verified(self.file, self.sha256))


class Gallery:
    """A new cohort's folder of artifacts.

    Args:
        folder: The cohort's folder.

    Attributes:
        saved: Every file so far, in the order of saving.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.saved: list[SavedArtifact] = []

    def save(self, medium: CohortMedium, state: str, name: str, data: bytes) -> SavedArtifact:
        """Write ``artifacts/<state>/<name>``, which must be new, and see that it is on the disk."""
        path = f"artifacts/{state}/{name}"
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        write_new(file, data)
        artifact = SavedArtifact(file, path, hashlib.sha256(data).hexdigest(), len(data), medium)
        self.saved.append(artifact)
        return artifact


def write_new(file: Path, data: bytes) -> None:
    """Write a file that must not exist, and sync it."""
    with file.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())

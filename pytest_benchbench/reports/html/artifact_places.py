"""Where the files of recorded rows may lie: beside their manifests, and in folders that the user names."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from pytest_benchbench.artifacts.verification import MAX_ARTIFACT_BYTES, ArtifactPathError, resolve_artifact
from pytest_benchbench.manifests.lines import Lines
from pytest_benchbench.manifests.reading import Manifest
from pytest_benchbench.manifests.regular_files import open_regular

_STATE_FOLDERS = (".benchbench", "runs")
"""Where a project keeps its runs by default."""


class ArtifactPlaces:
    """Finds where the files of rows may lie. That a file is the one that was measured is for the reader to verify.

    Args:
        manifests: By the digest of a manifest, the places where it may lie.
        roots: Further folders: files may lie there, and paths are also read as relative to them.
    """

    def __init__(self, manifests: Mapping[str, Sequence[Path]], roots: Sequence[Path] = ()) -> None:
        self._manifests = manifests
        self._roots = tuple(roots)

    @classmethod
    def of_manifests(cls, manifests: Iterable[Manifest], roots: Sequence[Path] = ()) -> ArtifactPlaces:
        """Know the places of manifests that are open, as at the end of a session.

        Args:
            manifests: Those of the session's plan.
            roots: Its ``--bench-artifact-root``.
        """
        places: defaultdict[str, list[Path]] = defaultdict(list)
        for manifest in manifests:
            places[manifest.sha256].append(manifest.directory / manifest.name)
        return cls(places, roots)

    @classmethod
    def of_runs(cls, runs: Iterable[tuple[Path, Mapping[str, Any]]], roots: Sequence[Path] = ()) -> ArtifactPlaces:
        """Find the manifests that recorded runs name.

        ``run.json`` has each manifest's path as the user wrote it, from a directory that it does not tell. It is looked for
        from the working directory, from where the run's directory lies, and from the project that keeps it. A folder inside
        one of these counts if it is there; one elsewhere, to which a ``run.json`` from anywhere could point, only if the
        manifest in it has the recorded digest.

        Args:
            runs: The directory of each run with its ``run.json``, whose ``manifests`` are read.
            roots: Folders that the user names (``--artifact-root``).
        """
        places: defaultdict[str, list[Path]] = defaultdict(list)
        for directory, document in runs:
            starts = [*dict.fromkeys([Path.cwd(), *_starts(directory.absolute())])]
            for manifest in document["manifests"]:
                path, known = manifest.get("path"), places[manifest["sha256"]]
                if isinstance(path, str):  # parts of a merged run may have had it in different places
                    known += [place for place in _places(path, manifest["sha256"], starts) if place not in known]
        return cls(places, roots)

    def __call__(self, manifest_sha256: str, written: str) -> tuple[str, ...]:
        """Give the real paths at which a file may lie, the likeliest first; whether there is one is not looked at.

        Args:
            manifest_sha256: Digest of the manifest that names the file.
            written: Its path as the manifest writes it.

        Returns:
            Paths inside the manifest's folder or a root, each once; none where nobody knows of the manifest, or the path
            leads elsewhere.
        """
        found: dict[str, None] = {}
        for base in (*(place.parent for place in self._manifests.get(manifest_sha256, ())), *self._roots):
            try:
                found.setdefault(resolve_artifact(written, base=base, roots=self._roots))
            except ArtifactPathError:
                continue
        return tuple(found)

    def paths_on(self, manifest_sha256: str, lines: Collection[int]) -> dict[int, str]:
        """Read which paths stand on lines of a manifest whose evidence leaves them out.

        Whether it is the very manifest is not looked at: a file counts by its own digest alone.

        Args:
            manifest_sha256: Digest of the manifest.
            lines: Their numbers, 1 for the first.

        Returns:
            The paths as they are written, by line. Lines without one are absent, all of them where no manifest is at hand.
        """
        wanted = frozenset(lines)
        for place in self._manifests.get(manifest_sha256, ()):
            try:
                with open_regular(place) as file:
                    return dict(_paths(file, wanted))
            except OSError:
                continue
        return {}


class _Placed(msgspec.Struct):
    path: str | None = None


def _paths(file: BinaryIO, wanted: frozenset[int]) -> Iterator[tuple[int, str]]:
    last = max(wanted, default=0)
    for number, _, line in Lines(file):
        if number in wanted:
            try:
                path = msgspec.json.decode(line, type=_Placed).path
            except (ValueError, RecursionError):
                path = None
            if path is not None:
                yield number, path
        if number >= last:
            return


def _starts(directory: Path) -> Iterator[Path]:
    """Give the directories from which a run may have been started."""
    yield directory.parent
    if directory.parent.parts[-2:] == _STATE_FOLDERS:
        yield directory.parents[2]


def _places(written: str, sha256: str, starts: Iterable[Path]) -> Iterator[Path]:
    for start in starts:
        try:
            manifest = (start / written).resolve()
            inside = manifest.parent.is_relative_to(start.resolve())
            if manifest.parent.is_dir() and (inside or _digest(manifest) == sha256):
                yield manifest
        except (OSError, ValueError, RuntimeError):  # what is no path leads nowhere
            continue


def _digest(path: Path) -> str | None:
    if not path.is_file() or path.stat().st_size > MAX_ARTIFACT_BYTES:
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

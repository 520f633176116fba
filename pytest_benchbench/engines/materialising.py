"""Putting a shard's manifests and files where pytest finds them, as they lie in their source."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from pathlib import Path

from pytest_benchbench.engines import UnfetchableError
from pytest_benchbench.engines.artifact_cache import MAX_MANIFEST_BYTES, ArtifactCache
from pytest_benchbench.engines.shard_job import PinnedManifest
from pytest_benchbench.manifests.kinds import ROW_KINDS, kind_of_lines
from pytest_benchbench.manifests.lines import Lines
from pytest_benchbench.manifests.reading import ManifestChangedError, NamedArtifact, index_manifest
from pytest_benchbench.manifests.sharding import Shard

_THREADS = 8

_FILES_AT_ONCE = 64 * _THREADS


def materialise(
    cache: ArtifactCache, manifests: Iterable[PinnedManifest], shard: Shard, work: Path, *, split: str | None = None
) -> None:
    """Put whole manifests, and the files that the rows of one shard name, below a folder.

    What is wrong with a manifest itself is left for pytest to say, which knows the line and the field.

    Args:
        cache: Where they come from.
        manifests: Which.
        shard: Whose files.
        work: An empty folder.
        split: The split that is run, if the command names one: no file of other splits is fetched.

    Raises:
        UnfetchableError: A file is missing, is not the pinned one, or cannot be kept; one line that names the place in the
            manifest.
    """
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="benchbench-fetch") as pool:
        for pinned in manifests:
            try:
                path = cache.place(pinned.name, pinned.sha256, work, limit=MAX_MANIFEST_BYTES)
            except UnfetchableError as error:
                raise UnfetchableError(f"{pinned.name}{error}", passing=error.passing) from None
            folder = posixpath.dirname(pinned.name)

            def place(file: NamedArtifact, folder: str = folder) -> None:
                try:
                    cache.place(file.path, file.sha256, work / folder, below=folder)
                except UnfetchableError as error:
                    raise UnfetchableError(f"{file.path_origin}: {file.path}{error}", passing=error.passing) from None

            files = _files(path, pinned, shard, split)
            while some := list(islice(files, _FILES_AT_ONCE)):
                for _ in pool.map(place, some):
                    pass


def _files(path: Path, pinned: PinnedManifest, shard: Shard, split: str | None) -> Iterator[NamedArtifact]:
    """Yield the files that the shard's rows of the split name, each once, up to a row that cannot be read."""
    with path.open("rb") as file:
        kind = kind_of_lines(Lines(file))
    if kind is None or kind not in ROW_KINDS:
        return
    seen: set[tuple[str, str]] = set()
    try:
        indexed = index_manifest(path, display=pinned.name, sha256=pinned.sha256, kind=kind, shard=shard, split=split)
        with closing(indexed) as manifest:
            for named in manifest.artifacts():
                if (key := (named.path, named.sha256)) not in seen:
                    seen.add(key)
                    yield named
    except ManifestChangedError:  # the bytes are the pinned ones: a row is at fault
        return

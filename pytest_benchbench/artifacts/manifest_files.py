"""Verifying the files that manifests name, before anything is asked about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

from pytest_benchbench.artifacts.verification import ArtifactPathError, NamedFile, preflight, resolve_artifact
from pytest_benchbench.manifests.reading import Manifest


def verify_manifests(manifests: Iterable[Manifest], *, roots: Sequence[Path]) -> list[str]:
    """Hash every file that the manifests name, each once.

    Args:
        manifests: Validated manifests.
        roots: Directories besides each manifest's own in which artifacts may lie.

    Returns:
        One line for every row whose file is missing, lies elsewhere or is not what the row pins, in the order of the
        manifests.

    Raises:
        ManifestChangedError: A manifest was changed since it was validated.
    """

    def named_files() -> Iterator[NamedFile | str]:
        for manifest in manifests:
            # a reference is often named by many rows in a row
            resolve = lru_cache(1024)(partial(resolve_artifact, base=manifest.directory, roots=tuple(roots)))
            for file in manifest.artifacts():
                try:
                    path = resolve(file.path)
                except ArtifactPathError as error:
                    yield f"{file.path_origin}: {error}"
                else:
                    yield NamedFile(path, file.sha256, file.origin, file.path_origin, file.path)

    return preflight(named_files())

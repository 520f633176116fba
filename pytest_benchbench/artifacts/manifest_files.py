"""Verifying the files that manifests name, before anything is asked about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_benchbench.artifacts.verification import ArtifactPathError, NamedFile, preflight, resolve_artifact
from pytest_benchbench.manifests.reading import Manifest


def verify_manifests(manifests: Iterable[Manifest], *, roots: Sequence[Path]) -> list[str]:
    """Hash every file that the manifests name, each once.

    Args:
        manifests: Validated manifests.
        roots: Directories besides each manifest's own in which artifacts may lie.

    Returns:
        One line for every row whose file is missing, lies elsewhere or is not what the row pins.

    Raises:
        ManifestChangedError: A manifest was changed since it was validated.
    """
    misplaced: list[str] = []

    def named_files() -> Iterator[NamedFile]:
        for manifest in manifests:
            for file in manifest.artifacts():
                try:
                    path = resolve_artifact(file.path, base=manifest.path.parent, roots=roots)
                except ArtifactPathError as error:
                    misplaced.append(f"{file.path_origin}: {error}")
                else:
                    yield NamedFile(path, file.sha256, file.origin)

    different = preflight(named_files())
    return misplaced + different

"""From a recipe to a folder: artifacts, ``manifest.jsonl`` and ``cohort.json``, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from pytest_benchbench.artifacts.verification import NamedFile, preflight
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.gallery import Gallery, write_new
from pytest_benchbench.cohorts.provenance import dependency_versions, digest_of, recipe_sources
from pytest_benchbench.cohorts.recipe import ImageRecipe, open_marks, plan
from pytest_benchbench.cohorts.rows import cohort_rows
from pytest_benchbench.cohorts.schemes import Mark
from pytest_benchbench.manifests.reading import read_manifest
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES, WatermarkCase

MANIFEST = "manifest.jsonl"
DESCRIPTION = "cohort.json"
STATES = ("clean", "marked", "attacked", "removed")

Progress = Callable[[int, int], None]
"""Is told after each row how many there are and how many there will be."""


@dataclass(frozen=True, slots=True)
class BuiltCohort:
    """A cohort on disk.

    Attributes:
        folder: Where it is.
        rows: Number of rows of its manifest.
        left_out: By adapter, why its planned rows were not built.
    """

    folder: Path
    rows: int
    left_out: dict[str, str]

    @property
    def manifest(self) -> Path:
        """Its manifest."""
        return self.folder / MANIFEST


def build_digest(recipe: ImageRecipe) -> str:
    """SHA-256 over what decides the bytes of a cohort: sources, parameters, adapters available, dependency versions."""
    marks, _ = open_marks(recipe)
    return digest_of(_made_by(recipe, marks))


def build_cohort(recipe: ImageRecipe, folder: Path, *, progress: Progress | None = None) -> BuiltCohort:
    """Build a cohort into a new folder.

    Everything is written beside the folder, read back by the manifest reader, verified, and renamed into place in one step.

    Args:
        recipe: What to build.
        folder: Must not exist; its parents are made.
        progress: Is told how far the build is.

    Raises:
        CohortError: The folder exists, no adapter is available, or a source is refused; nothing stays behind.
    """
    if os.path.lexists(folder):
        raise CohortError(f"{folder}: exists already; name a new folder")
    marks, left_out = open_marks(recipe)
    if not marks:
        raise CohortError(f"{recipe.name}: no adapter is available: {'; '.join(left_out.values())}")
    beside = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:12]}.partial")
    missing = [parent for parent in folder.parents if not parent.exists()]
    try:
        beside.mkdir(parents=True)
        rows = _write(recipe, marks, left_out, beside, progress)
        _move(beside, folder)
    except BaseException as error:
        shutil.rmtree(beside, ignore_errors=True)
        with suppress(OSError):  # a parent that is not empty has become someone else's too
            for parent in missing:
                parent.rmdir()
        if isinstance(error, OSError):
            raise CohortError(f"{folder}: cannot be built: {error.strerror or error}") from error
        raise
    return BuiltCohort(folder, rows, left_out)


def _write(
    recipe: ImageRecipe,
    marks: Mapping[str, tuple[Mark, ...]],
    left_out: Mapping[str, str],
    folder: Path,
    progress: Progress | None,
) -> int:
    gallery = Gallery(folder)
    expected = sum(planned.total - planned.removed for planned in plan(recipe) if planned.adapter in marks)
    rows: list[WatermarkCase] = []
    for row in cohort_rows(recipe, marks, gallery):
        rows.append(row)
        if progress is not None:
            progress(len(rows), expected)
    manifest = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    write_new(folder / MANIFEST, manifest)
    description = _describe(recipe, marks, left_out, rows, hashlib.sha256(manifest).hexdigest(), gallery)
    write_new(folder / DESCRIPTION, msgspec.json.format(msgspec.json.encode(description), indent=2) + b"\n")
    _examine(folder, gallery)
    return len(rows)


def _made_by(recipe: ImageRecipe, marks: Iterable[str]) -> dict[str, Any]:
    return {
        "recipe": {"name": recipe.name, "sources": recipe_sources(recipe.module, __name__)},
        "parameters": {**recipe.parameters, "adapters": list(marks)},
        "dependencies": dependency_versions(recipe.distributions),
    }


def _describe(
    recipe: ImageRecipe,
    marks: Mapping[str, tuple[Mark, ...]],
    left_out: Mapping[str, str],
    rows: list[WatermarkCase],
    manifest_sha256: str,
    gallery: Gallery,
) -> dict[str, Any]:
    made_by = _made_by(recipe, marks)
    planned = {of_adapter.adapter: of_adapter.total for of_adapter in plan(recipe)}
    return {
        "schema_version": 1,
        "recipe": {
            "name": recipe.name,
            "sha256": digest_of(made_by["recipe"]["sources"]),
            "sources": made_by["recipe"]["sources"],
        },
        "parameters": made_by["parameters"],
        "dependencies": made_by["dependencies"],
        "build_sha256": digest_of(made_by),
        "manifest": {"path": MANIFEST, "sha256": manifest_sha256, "rows": len(rows)},
        "rows": {adapter: _counts(rows, adapter) for adapter in marks},
        "left_out": {adapter: {"planned_rows": planned[adapter], "reason": why} for adapter, why in left_out.items()},
        "artifacts": [
            {"path": picture.path, "sha256": picture.sha256, "bytes": picture.size}
            for picture in sorted(gallery.saved, key=lambda picture: picture.path)
        ],
    }


def _counts(rows: list[WatermarkCase], adapter: str) -> dict[str, int]:
    states = Counter(str(row.state) for row in rows if row.adapter == adapter)
    return {**{state: states[state] for state in STATES}, "total": states.total()}


def _examine(folder: Path, gallery: Gallery) -> None:
    """Read the manifest as a benchmark will, and every artifact as its rows pin it."""
    read_manifest(folder / MANIFEST, media_types=KERNEL_MEDIA_TYPES, seen={}).close()
    faults = preflight(NamedFile(picture.file, picture.sha256, picture.path) for picture in gallery.saved)
    if faults:
        raise CohortError(f"{folder}: changed while it was built: {faults[0]}")


def _move(beside: Path, folder: Path) -> None:
    try:
        beside.rename(folder)
    except OSError:
        if os.path.lexists(folder):
            raise CohortError(f"{folder}: exists already; name a new folder") from None
        raise

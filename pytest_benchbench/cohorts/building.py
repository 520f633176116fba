"""From a recipe to a folder: artifacts, ``manifest.jsonl`` and ``cohort.json``, whole or not at all."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from pytest_benchbench.adapters.registry import installed_registry
from pytest_benchbench.artifacts.verification import NamedFile, preflight
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.gallery import DESCRIPTION, MANIFEST, Gallery, write_new
from pytest_benchbench.cohorts.provenance import dependency_versions, digest_of, recipe_sources
from pytest_benchbench.cohorts.recipe import OpenedSchemes, Recipe, open_schemes, plan
from pytest_benchbench.cohorts.rows import cohort_rows
from pytest_benchbench.manifests.new_folders import FolderExistsError, new_folder
from pytest_benchbench.manifests.reading import read_manifest
from pytest_benchbench.manifests.watermark import WatermarkCase

STATES = ("clean", "marked", "attacked", "removed", "forged")

Progress = Callable[[int, int], None]
"""Is told after each row how many there are and how many there will be at most."""


@dataclass(frozen=True, slots=True)
class BuiltCohort:
    """A cohort on disk.

    Attributes:
        folder: Where it is.
        rows: Number of rows of its manifest.
        left_out: By adapter, why its planned rows were not built.
        notes: Why planned removed rows were not built, one line each.
    """

    folder: Path
    rows: int
    left_out: dict[str, str]
    notes: list[str] = field(default_factory=list)

    @property
    def manifest(self) -> Path:
        """Its manifest."""
        return self.folder / MANIFEST


def build_digest(recipe: Recipe, adapters: Iterable[str]) -> str:
    """SHA-256 over what decides the bytes of a cohort: sources, parameters, adapters, versions of what is depended on.

    Raises:
        CohortError: A distribution that shapes the bytes is not installed.
    """
    return digest_of(_made_by(recipe, list(adapters)))


def build_cohort(
    recipe: Recipe,
    folder: Path,
    *,
    opened: OpenedSchemes | None = None,
    leave_out_unavailable: bool = False,
    progress: Progress | None = None,
) -> BuiltCohort:
    """Build a cohort into a new folder.

    Everything is written beside the folder, read back by the manifest reader, verified, and renamed into place in one step.

    Args:
        recipe: What to build.
        folder: Must not exist; its parents are made.
        opened: The recipe's schemes, if the caller has opened them already.
        leave_out_unavailable: Build without the adapters whose marks cannot be made here, instead of refusing.
        progress: Is told how far the build is.

    Raises:
        CohortError: The folder exists, an adapter is unavailable (with ``leave_out_unavailable``: all are), or a source is
            refused; nothing stays behind.
    """
    try:
        with new_folder(folder) as beside:  # first: opening networks takes time
            opened = opened or open_schemes(recipe)
            if opened.left_out and not (leave_out_unavailable and opened.by_adapter):
                missing = "; ".join(f"{adapter} is unavailable: {why}" for adapter, why in opened.left_out.items())
                raise CohortError(f"{recipe.name}: {missing}")
            rows, notes = _write(recipe, opened, beside, progress)
    except FolderExistsError:
        raise CohortError(f"{folder}: exists already; name a new folder") from None
    except OSError as error:
        raise CohortError(f"{folder}: cannot be built: {error.strerror or error}") from error
    return BuiltCohort(folder, rows, opened.left_out, notes)


def read_left_out(folder: Path) -> dict[str, str]:
    """Read from a cohort on disk which adapters were left out, and why.

    Raises:
        CohortError: The folder holds no description of a cohort.
    """
    try:
        description = msgspec.json.decode((folder / DESCRIPTION).read_bytes())
        return {str(adapter): str(left_out["reason"]) for adapter, left_out in description["left_out"].items()}
    except (OSError, msgspec.DecodeError, TypeError, KeyError, AttributeError) as error:
        raise CohortError(f"{folder / DESCRIPTION}: cannot be read: {error}; delete the folder") from None


def _write(recipe: Recipe, opened: OpenedSchemes, folder: Path, progress: Progress | None) -> tuple[int, list[str]]:
    gallery = Gallery(folder)
    expected = sum(planned.total for planned in plan(recipe) if planned.adapter in opened.by_adapter)
    rows: list[WatermarkCase] = []
    notes: list[str] = []
    for row in cohort_rows(recipe, opened.by_adapter, gallery, notes.append):
        rows.append(row)
        if progress is not None:
            progress(len(rows), expected)
    manifest = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    write_new(folder / MANIFEST, manifest)
    description = _describe(recipe, opened, rows, hashlib.sha256(manifest).hexdigest(), gallery)
    description["not_removed"] = notes
    write_new(folder / DESCRIPTION, msgspec.json.format(msgspec.json.encode(description), indent=2) + b"\n")
    _examine(folder, gallery)
    return len(rows), notes


def _made_by(recipe: Recipe, adapters: list[str]) -> dict[str, Any]:
    schemes = [scheme for adapter, scheme in recipe.schemes().items() if adapter in adapters]
    registry = installed_registry()
    sources = recipe_sources(recipe.module, __name__, *(registry.module_of(scheme.adapter) for scheme in schemes))
    used = {*recipe.distributions}
    for part in recipe.parts:
        used.update(part.medium.distributions if any(s.adapter in adapters for s in part.schemes) else ())
    for scheme in schemes:
        used.update(scheme.distributions)
    return {
        "recipe": {"name": recipe.name, "sources": sources},
        "parameters": {**recipe.parameters, "adapters": adapters},
        "dependencies": dependency_versions(sorted(used)),
    }


def _describe(
    recipe: Recipe, opened: OpenedSchemes, rows: list[WatermarkCase], manifest_sha256: str, gallery: Gallery
) -> dict[str, Any]:
    adapters = list(opened.by_adapter)
    made_by = _made_by(recipe, adapters)
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
        "rows": {adapter: _counts(rows, adapter) for adapter in adapters},
        "left_out": {adapter: {"planned_rows": planned[adapter], "reason": why} for adapter, why in opened.left_out.items()},
        "artifacts": [
            {"path": saved.path, "sha256": saved.sha256, "bytes": saved.size}
            for saved in sorted(gallery.saved, key=lambda saved: saved.path)
        ],
    }


def _counts(rows: list[WatermarkCase], adapter: str) -> dict[str, int]:
    states = Counter(str(row.state) for row in rows if row.adapter == adapter)
    return {**{state: states[state] for state in STATES}, "total": states.total()}


def _examine(folder: Path, gallery: Gallery) -> None:
    """Read the manifest as a benchmark will, and every artifact as its rows pin it."""
    media_types = installed_registry().media_types()
    read_manifest(folder / MANIFEST, media_types=media_types, seen={}).close()
    faults = preflight(NamedFile(saved.file, saved.sha256, saved.path) for saved in gallery.saved)
    if faults:
        raise CohortError(f"{folder}: changed while it was built: {faults[0]}")

"""Rows of a watermark manifest from a user's own files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_benchbench.manifests.gathering import BuildingError, GatheredFile, digest_of, gather, readable
from pytest_benchbench.manifests.naming import id_part, unique_ids
from pytest_benchbench.manifests.placing import Place, ids_besides
from pytest_benchbench.manifests.reading import Manifest
from pytest_benchbench.manifests.watermark import Transform, WatermarkCase


@dataclass(frozen=True, slots=True)
class SharedFields:
    """What all new rows have in common; the values are checked when the manifest is read back.

    Attributes:
        adapter: Name of the detector.
        arm: See ``WatermarkCase``.
        state: See ``WatermarkCase``.
        expected: See ``WatermarkCase``.
        source_revision: See ``WatermarkCase``.
        transform: See ``WatermarkCase``.
    """

    adapter: str
    arm: Any
    state: Any
    expected: Any
    source_revision: str
    transform: Transform


def watermark_rows(
    files: Iterable[GatheredFile],
    shared: SharedFields,
    place: Place,
    *,
    references: dict[GatheredFile, Path],
    onto: Manifest | None,
) -> Iterator[WatermarkCase]:
    """Make a row for every file.

    The ``case_id`` is the file's name and the state, ``cat-marked``; where that is not unique, the path from the manifest,
    the state and the adapter. The ``pair_id`` is the file's name, so that a clean and a marked folder of the same carriers
    pair.

    Args:
        files: The artifacts.
        shared: What all rows have in common.
        place: Where the manifest will stand.
        references: The reference of each file that has one.
        onto: A manifest to which the rows are added.

    Raises:
        BuildingError: A file cannot be named from the manifest, or has a row of this adapter already.
    """
    named = [(file, place.relative(file.path)) for file in files]
    taken = ids_besides(onto, shared.adapter, {relative for _, relative in named})
    wishes = [
        (f"{id_part(file.name)}-{shared.state}", f"{id_part(relative)}-{shared.state}-{shared.adapter}")
        for file, relative in named
    ]
    for (file, relative), case_id in zip(named, unique_ids(wishes, taken), strict=True):
        reference = references.get(file)
        yield WatermarkCase(
            schema_version=1,
            case_id=case_id,
            pair_id=file.name,
            media_type=file.media_type,  # type: ignore[arg-type]  # checked when it is read back
            adapter=shared.adapter,
            arm=shared.arm,
            state=shared.state,
            path=relative,
            sha256=digest_of(file.path),
            reference_path=None if reference is None else place.relative(reference),
            reference_sha256=None if reference is None else digest_of(reference),
            source_revision=shared.source_revision,
            transform=shared.transform,
            seed=None,
            expected=shared.expected,
        )


def find_references(files: Iterable[GatheredFile], folder: Path) -> dict[GatheredFile, Path]:
    """Find the reference of every file: the file of the same name in a folder, or the only one with another suffix.

    Raises:
        BuildingError: A file has none, or several.
    """
    files = list(files)
    candidates: dict[tuple[str, str], list[Path]] = {}
    for candidate in gather([folder], {file.media_type for file in files}).files:
        candidates.setdefault((candidate.name, candidate.media_type), []).append(candidate.path)
    found: dict[GatheredFile, Path] = {}
    for file in files:
        of_name = candidates.get((file.name, file.media_type), [])
        same = [path for path in of_name if path.suffix == file.path.suffix] or of_name
        if len(same) != 1:
            why = "no reference" if not same else f"{len(same)} references"
            raise BuildingError(f"{readable(file.path)}: {why} of the name {file.name!r} in {readable(folder)}")
        (found[file],) = same
    return found

"""The stress set: every original of a dataset manifest, and the derivatives that the release contract asks for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.artifacts.manifest_files import verify_manifests
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.verification import ArtifactMismatchError, ArtifactUnreadableError, read_verified
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.attack import Attacked
from pytest_benchbench.cohorts.attacks.image_metadata import EXTENSIONS, ImageFile
from pytest_benchbench.cohorts.gallery import DESCRIPTION, MANIFEST, write_new
from pytest_benchbench.cohorts.provenance import dependency_versions, digest_of, recipe_sources
from pytest_benchbench.cohorts.stress_originals import Original, derived_id, in_order
from pytest_benchbench.cohorts.stress_plan import StressPlan, TooSmall
from pytest_benchbench.cohorts.stress_transforms import ORIGINAL, StressTransform
from pytest_benchbench.manifests.dataset import DatasetCase, ResolutionGroup
from pytest_benchbench.manifests.naming import id_part
from pytest_benchbench.manifests.new_folders import FolderExistsError, new_folder
from pytest_benchbench.manifests.reading import Manifest, read_manifest

NAME = "stress"

RECORDS = "transforms.jsonl"
"""The file with one record for each row of the manifest."""

DEFAULT_SEED = 0

_STEM_CHARACTERS = 40
_DIGEST_CHARACTERS = 16

Progress = Callable[[int, int], None]
"""Is told how many rows there are and how many there will be."""


@dataclass(frozen=True, slots=True)
class StressSettings:
    """What decides a stress set, besides its originals.

    Attributes:
        seed: Of the cohort; the seeds of rows follow from it.
        too_small: See ``TooSmall``.
        workers: Threads; they change nothing that is written.
    """

    seed: int
    too_small: TooSmall
    workers: int


@dataclass(frozen=True, slots=True)
class BuiltStressSet:
    """A stress set on disk.

    Attributes:
        manifest: Its manifest.
        rows: How many rows it has.
        copies: Derivatives whose file is the original's, byte for byte.
    """

    manifest: Path
    rows: int
    copies: int


class _Made(msgspec.Struct, frozen=True):
    """A row and its record, as they are written."""

    row: bytes
    record: bytes
    is_copy: bool


def build_stress(
    base: Manifest, plan: StressPlan, folder: Path, settings: StressSettings, *, progress: Progress | None = None
) -> BuiltStressSet:
    """Build a stress set into a new folder: ``manifest.jsonl``, ``transforms.jsonl``, ``cohort.json`` and ``artifacts/``.

    Originals are streamed: what is in memory at a time is one decoded image with one derivative for each worker. The set is
    written beside the folder, read back, verified, and renamed into place in one step.

    Args:
        base: The manifest of the originals.
        plan: What is made of them.
        folder: Must not exist; its parents are made.
        settings: What decides the bytes.
        progress: Is told after each row.

    Raises:
        CohortError: The folder exists, no original is left, a file was changed, cannot be decoded or refuses a transform;
            nothing stays behind.
        ManifestChangedError: The manifest was changed meanwhile.
        ManifestError: What was written is no valid manifest.
    """
    if not plan.originals:
        raise CohortError(f"{base.display}: no original is large enough for every transform")
    try:
        with new_folder(folder) as beside:
            copies = _write(base, plan, beside, settings, progress)
    except FolderExistsError:
        raise CohortError(f"{folder}: exists already; name a new folder") from None
    except OSError as error:
        raise CohortError(f"{folder}: cannot be built: {error.strerror or error}") from error
    return BuiltStressSet(folder / MANIFEST, plan.rows, copies)


def parameters_of(base: Manifest, plan: StressPlan, settings: StressSettings) -> dict[str, Any]:
    """Give what distinguishes this set from others, as JSON values."""
    return {
        "seed": settings.seed,
        "too_small": settings.too_small,
        "transforms": [transform.name for transform in plan.transforms],
        "base": {"name": base.name, "sha256": base.sha256, "rows": base.rows},
    }


def _write(base: Manifest, plan: StressPlan, folder: Path, settings: StressSettings, progress: Progress | None) -> int:
    rows = copies = 0
    derive = partial(_derive, transforms=plan.transforms, folder=folder, seed=settings.seed)
    originals = ((original, base.read(original.ref).case) for original in plan.originals)
    with (folder / MANIFEST).open("xb") as manifest, (folder / RECORDS).open("xb") as records:
        with closing(in_order(derive, originals, settings.workers)) as derived:
            for of_original in derived:
                for made in of_original:
                    manifest.write(made.row)
                    records.write(made.record)
                    rows += 1
                    copies += made.is_copy
                    if progress is not None:
                        progress(rows, plan.rows)
        _sync(manifest, records)
    description = _describe(base, plan, folder, settings, copies)
    write_new(folder / DESCRIPTION, msgspec.json.format(msgspec.json.encode(description), indent=2) + b"\n")
    _examine(folder, plan)
    return copies


def _derive(
    item: tuple[Original, DatasetCase], *, transforms: Sequence[StressTransform], folder: Path, seed: int
) -> list[_Made]:
    """Write an original and its derivatives; runs in a thread of its own."""
    original, case = item
    try:
        data = read_verified(original.path, case.sha256)
        file = ImageFile(data, decode_image(data))
    except (ArtifactMismatchError, ArtifactUnreadableError) as error:
        raise CohortError(f"{original.ref}: path: was changed while the set was built: {error}") from None
    except UndecodableArtifactError as error:
        raise CohortError(f"{original.ref}: path: cannot be decoded: {error}") from None
    return list(_derivatives(original, case, file, transforms, folder, seed))


def _derivatives(
    original: Original,
    case: DatasetCase,
    file: ImageFile,
    transforms: Sequence[StressTransform],
    folder: Path,
    seed: int,
) -> Iterator[_Made]:
    source = {"id": case.id, "sha256": case.sha256, "decoding": file.image.decoding}
    copied = Attacked(file.data, EXTENSIONS[original.format], {})
    yield _save(case, ORIGINAL, original.group, copied, folder, {"seed": None, "attack": None, "source": source})
    for transform in transforms:
        if not transform.fits(original.long_side):
            continue
        attack = transform.seeded_attack(seed, case.baseId)
        try:
            attacked = attack.apply(file if transform.media_type == "image-file" else file.image.pixels)
        except CohortError as error:
            raise CohortError(f"{original.ref}: {transform.name}: {error}") from error
        how = {"seed": attack.seed, "attack": {"name": attack.name, "revision": attack.revision}, "source": source}
        yield _save(case, transform.name, transform.group(original.group), attacked, folder, how)


def _save(
    case: DatasetCase, transform: str, group: ResolutionGroup, attacked: Attacked, folder: Path, how: dict[str, Any]
) -> _Made:
    """Write the file of a row, and give row and record."""
    path = f"artifacts/{transform}/{_stem(case.id)}{attacked.extension}"
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    write_new(folder / path, attacked.data)
    sha256 = hashlib.sha256(attacked.data).hexdigest()
    row = msgspec.structs.replace(
        case,
        id=case.id if transform == ORIGINAL else derived_id(case.id, transform),
        sha256=sha256,
        transform=transform,
        path=path,
        resolutionGroup=group,
    )
    is_copy = transform != ORIGINAL and sha256 == case.sha256
    record = {
        "schema_version": 1,
        "id": row.id,
        "baseId": row.baseId,
        "transform": transform,
        **how,
        "output": {"path": path, "sha256": sha256, "bytes": len(attacked.data)},
        "same_bytes_as_source": sha256 == case.sha256,
        "parameters": attacked.parameters,
    }
    return _Made(msgspec.json.encode(row) + b"\n", msgspec.json.encode(record) + b"\n", is_copy)


def _stem(case_id: str) -> str:
    """Name a file after a row, alike on every file system: a readable beginning, and a digest that tells rows apart."""
    readable = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in id_part(case_id))
    return f"{readable[:_STEM_CHARACTERS]}-{hashlib.sha256(case_id.encode()).hexdigest()[:_DIGEST_CHARACTERS]}"


def _describe(base: Manifest, plan: StressPlan, folder: Path, settings: StressSettings, copies: int) -> dict[str, Any]:
    sources = recipe_sources(__name__)
    parameters = parameters_of(base, plan, settings)
    dependencies = dependency_versions(("msgspec", "numpy", "Pillow"))
    made_by = {"recipe": {"name": NAME, "sources": sources}, "parameters": parameters, "dependencies": dependencies}
    return {
        "schema_version": 1,
        "recipe": {"name": NAME, "sha256": digest_of(sources), "sources": sources},
        "parameters": parameters,
        "dependencies": dependencies,
        "build_sha256": digest_of(made_by),
        "manifest": {"path": MANIFEST, "sha256": _digest(folder / MANIFEST), "rows": plan.rows},
        "transforms": {"path": RECORDS, "sha256": _digest(folder / RECORDS), "rows": plan.rows},
        "rows": [asdict(planned) for planned in plan.counts],
        "left_out": {
            "bases": plan.left_out_bases,
            "transforms": list(plan.left_out_transforms),
            "rows": sum(planned.left_out for planned in plan.counts),
        },
        "uneven_bases": plan.uneven_bases,
        "copies": copies,
    }


def _examine(folder: Path, plan: StressPlan) -> None:
    """Read the manifest as a run will, and every file as its row pins it."""
    manifest = read_manifest(folder / MANIFEST, display=MANIFEST, media_types={})
    try:
        faults = verify_manifests([manifest], roots=())
        if manifest.rows != plan.rows:
            faults.append(f"{MANIFEST}: has {manifest.rows} rows, {plan.rows} were planned")
    finally:
        manifest.close()
    if faults:
        raise CohortError(f"the set was changed while it was built: {faults[0]}")


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sync(*files: BinaryIO) -> None:
    for file in files:
        file.flush()
        os.fsync(file.fileno())

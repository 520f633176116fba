"""The originals of a stress set: rows of a dataset manifest with a base each, verified before anything is built."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pytest_benchbench.artifacts.image import image_header
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.verification import (
    ArtifactMismatchError,
    ArtifactPathError,
    ArtifactUnreadableError,
    read_verified,
    resolve_artifact,
)
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.image_metadata import metadata_kinds
from pytest_benchbench.cohorts.stress_transforms import ORIGINAL, THUMBNAIL_SIDE, StressTransform
from pytest_benchbench.manifests.dataset import DatasetCase, ResolutionGroup
from pytest_benchbench.manifests.faults import FaultLog, shown
from pytest_benchbench.manifests.field_types import MAX_ID_LENGTH
from pytest_benchbench.manifests.reading import CaseRef, Manifest

MOST_WORKERS = 64
"""Threads that can be asked for."""

_DEFAULT_MOST_WORKERS = 8
_IN_FLIGHT_PER_WORKER = 2

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Original:
    """An image from which derivatives are made.

    Attributes:
        ref: Where its row stands.
        path: Its file, resolved.
        long_side: Its longer side in pixels.
        group: Its row's resolution group; by its size where the row has none.
        format: One of ``artifacts.opening.FORMATS``.
        has_metadata: Whether there is something to strip; ``None`` where files of its format are not taken apart.
    """

    ref: CaseRef
    path: str
    long_side: int
    group: ResolutionGroup
    format: str
    has_metadata: bool | None


def default_workers() -> int:
    """As many threads as there are processors, at most 8."""
    return min(_DEFAULT_MOST_WORKERS, os.cpu_count() or 1)


def in_order(work: Callable[[T], R], items: Iterable[T], workers: int) -> Generator[R, None, None]:
    """Do a piece of work for each item in threads, and give what comes of it in the order of the items.

    Two items for each worker are under way or wait to be taken, never more, so that memory stays bounded. What has not begun
    is given up when the iterator is closed or a piece of work fails, whose error is raised at its place.
    """
    waiting: deque[Future[R]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="benchbench-stress")
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > _IN_FLIGHT_PER_WORKER * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def read_originals(
    manifest: Manifest,
    transforms: Sequence[StressTransform],
    *,
    roots: Sequence[Path],
    workers: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Original]:
    """Look at every row of a manifest and at the file that it pins.

    Args:
        manifest: A dataset manifest, validated.
        transforms: What is to be made of each original.
        roots: Directories besides the manifest's own in which files may lie.
        workers: Threads that hash.
        progress: Is told after each row how many there were and how many there are.

    Returns:
        The originals in the order of the manifest; some 300 bytes each.

    Raises:
        CohortError: The manifest is of another kind.
        ManifestError: Rows are derivatives, share a base, have no file or one that is missing, different or undecodable, or
            ids that leave no room for those of derivatives; each named by file, line and field.
        ManifestChangedError: The manifest was changed meanwhile.
    """
    if manifest.kind != "dataset":
        raise CohortError(f"{manifest.display}: has {manifest.kind} rows; a stress set is made from a dataset manifest")
    refs = [ref for of_adapter in manifest.adapters.values() for ref in of_adapter]
    ids = {ref.case_id for ref in refs}
    log = FaultLog(manifest.display)
    bases: dict[str, CaseRef] = {}
    rows = ((ref, manifest.read(ref).case) for ref in refs)
    originals = []
    for number, (ref, base_id, looked_at) in enumerate(
        in_order(lambda row: (row[0], row[1].baseId, _look_at(*row, manifest.directory, roots)), rows, workers), start=1
    ):
        problems = list(_id_problems(ref.case_id, transforms, ids))
        if (first := bases.setdefault(base_id, ref)) is not ref:
            problems.append(("baseId", f"{shown(base_id)} is also the base of {first}; a base has one original"))
        if isinstance(looked_at, Original):
            originals.append(looked_at)
        else:
            problems.append(looked_at)
        for name, message in problems:
            log.add(ref.line, name, message)
        if progress is not None:
            progress(number, len(refs))
    log.check()
    return originals


def _look_at(ref: CaseRef, case: DatasetCase, directory: Path, roots: Sequence[Path]) -> Original | tuple[str, str]:
    """Verify the file of a row and read its header; or say which field is at fault, and why."""
    if case.transform != ORIGINAL:
        return "transform", f"{shown(case.transform)} is a derivative; give originals alone, whose transform is 'none'"
    if case.path is None:
        return "path", "missing: a derivative cannot be made without the file"
    try:
        path = resolve_artifact(case.path, base=directory, roots=roots)
        data = read_verified(path, case.sha256)
        file_format, size = image_header(data)
        kinds = metadata_kinds(data, file_format)
    except ArtifactMismatchError as error:
        return "sha256", str(error)
    except (ArtifactPathError, ArtifactUnreadableError, UndecodableArtifactError, CohortError) as error:
        return "path", str(error)
    long_side = max(size)
    group = case.resolutionGroup or ("thumbnail" if long_side <= THUMBNAIL_SIDE else "full-res")
    return Original(ref, path, long_side, group, file_format, None if kinds is None else bool(kinds))


def _id_problems(case_id: str, transforms: Iterable[StressTransform], ids: set[str]) -> Iterator[tuple[str, str]]:
    names = [derived_id(case_id, transform.name) for transform in transforms]
    longest = max(names, key=len)
    if len(longest) > MAX_ID_LENGTH:
        yield "id", f"{longest.removeprefix(case_id)} makes it {len(longest)} characters long, more than {MAX_ID_LENGTH}"
    elif taken := next((name for name in names if name in ids), None):
        yield "id", f"its derivative would be called {shown(taken)}, as another row is"


def derived_id(case_id: str, transform: str) -> str:
    """Name a derivative."""
    return f"{case_id}-{transform}"

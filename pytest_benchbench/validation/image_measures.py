"""What the rules about images need of each file: a perceptual hash, and how the file is made. Read in worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from pytest_benchbench.artifacts.image import ImageTraits, decode_with_traits, image_traits
from pytest_benchbench.artifacts.media import DEFAULT_MAX_PIXELS, UndecodableArtifactError
from pytest_benchbench.artifacts.verification import (
    ArtifactMismatchError,
    ArtifactPathError,
    ArtifactUnreadableError,
    read_verified,
    resolve_artifact,
)
from pytest_benchbench.manifests.reading import Manifest

HASH_SIDE: Final = 16
"""The hash has ``HASH_SIDE ** 2`` bits: the lowest frequencies of the picture, above or not above their median."""

HASH_BYTES: Final = HASH_SIDE**2 // 8

INSTALL: Final = "pip install 'pytest-benchbench[dataset]'"

MIN_CONTRAST: Final = 2.0
"""Standard deviation of brightness (0 to 255) below which a picture is too plain: its hash would be that of its noise."""

_REDUCED_SIDE = 256
"""Pictures are averaged over whole blocks down to no less than this before they are hashed, which costs little."""

_IMAGES_OF_A_TASK = 16
_TASKS_IN_FLIGHT_PER_WORKER = 3
_FEW_IMAGES = 64
"""So many images are read here: processes would take longer to start."""

Progress = Callable[[int], None]
"""Is told how many images have been read."""


class ImagesUnmeasuredError(Exception):
    """The images cannot be read through; one line that says why and what to do."""


@dataclass(frozen=True, slots=True)
class ImageMeasure:
    """What was read from one file.

    Attributes:
        traits: How the file is made.
        hash: The perceptual hash, ``HASH_BYTES`` bytes; ``None`` where the picture is too plain, or no hash was asked for.
    """

    traits: ImageTraits
    hash: bytes | None


class Undecodable(NamedTuple):
    """Why a file has no measure although it is the one that is pinned."""

    reason: str


class _Task(NamedTuple):
    """A file that is to be read."""

    path: str
    sha256: str


Measured = ImageMeasure | Undecodable | None
"""``None`` for a file that is missing, unreadable or another one: of that the verification of files tells."""


def demand_library() -> None:
    """End here if the package that hashes images is not installed.

    Raises:
        ImagesUnmeasuredError: It is not.
    """
    if find_spec("imagehash") is None:
        raise ImagesUnmeasuredError(f"comparing images needs imagehash: {INSTALL}")


def measure_images(
    manifests: Iterable[Manifest],
    *,
    roots: Sequence[Path],
    hashes: bool = True,
    workers: int | None = None,
    max_pixels: int = DEFAULT_MAX_PIXELS,
    progress: Progress | None = None,
) -> dict[str, Measured]:
    """Read every image that the rows of dataset manifests name, each distinct content once.

    In memory are a measure for each distinct content (some 300 bytes) and one decoded image for each worker.

    Args:
        manifests: Validated manifests.
        roots: Directories besides each manifest's own in which images may lie.
        hashes: Whether pictures are decoded and hashed; without it only how files are made is read.
        workers: Processes; by default one for each processor. They change nothing in the result.
        max_pixels: Largest accepted product of width and height.
        progress: Is told after each batch.

    Returns:
        By SHA-256.

    Raises:
        ImagesUnmeasuredError: A worker died, or the package that hashes is missing.
        ManifestChangedError: A manifest was changed since it was validated.
    """
    if hashes:
        demand_library()
    measured: dict[str, Measured] = {}
    tasks = _tasks(manifests, roots, measured)
    measure = partial(_measure_all, hashes=hashes, max_pixels=max_pixels)
    few = list(islice(tasks, _FEW_IMAGES))
    workers = workers or os.cpu_count() or 1
    if len(few) < _FEW_IMAGES or workers == 1:
        batches: Iterator[list[tuple[str, Measured]]] = (measure([task]) for part in (few, tasks) for task in part)
        _collect(batches, measured, progress)
        return measured
    others = set(multiprocessing.active_children())
    try:
        with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
            try:
                _collect(_in_order(pool, measure, _chained(few, tasks), workers), measured, progress)
            except BaseException:
                for process in set(multiprocessing.active_children()) - others:
                    process.terminate()  # who interrupts this does not wait for what was begun and is still queued
                raise
    except BrokenProcessPool:
        raise ImagesUnmeasuredError("a process that read images died, for lack of memory perhaps; try --workers 1") from None
    return measured


def _tasks(manifests: Iterable[Manifest], roots: Sequence[Path], measured: dict[str, Measured]) -> Iterator[_Task]:
    """Give each content once, by the first row whose path leads to where files may lie."""
    for manifest in manifests:
        for artifact in manifest.artifacts():
            if artifact.sha256 not in measured:
                try:
                    path = resolve_artifact(artifact.path, base=manifest.directory, roots=roots)
                except ArtifactPathError:
                    continue
                measured[artifact.sha256] = None
                yield _Task(path, artifact.sha256)


def _chained(few: list[_Task], rest: Iterator[_Task]) -> Iterator[_Task]:
    yield from few
    yield from rest


def _in_order(
    pool: ProcessPoolExecutor,
    measure: Callable[[list[_Task]], list[tuple[str, Measured]]],
    tasks: Iterator[_Task],
    workers: int,
) -> Iterator[list[tuple[str, Measured]]]:
    waiting: deque[Future[list[tuple[str, Measured]]]] = deque()
    while batch := list(islice(tasks, _IMAGES_OF_A_TASK)):
        with _interrupts_put_off():  # submitting may start a process
            waiting.append(pool.submit(measure, batch))
        if len(waiting) >= workers * _TASKS_IN_FLIGHT_PER_WORKER:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@contextmanager
def _interrupts_put_off() -> Iterator[None]:
    """Start processes that do not hear the interrupt of a terminal, and hear it here when they have been started.

    Whoever started them ends them. An interrupt amid a start would leave a process with half of what it is told.
    """
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))  # any thread may be sent the signal
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # processes inherit this, and not the handler
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if heard:
        signal.raise_signal(signal.SIGINT)


def _collect(
    batches: Iterator[list[tuple[str, Measured]]], measured: dict[str, Measured], progress: Progress | None
) -> None:
    alike: dict[ImageTraits, ImageTraits] = {}  # most files are made like many others: such are kept once
    for batch in batches:
        for sha256, found in batch:
            if isinstance(found, ImageMeasure):
                found = ImageMeasure(alike.setdefault(found.traits, found.traits), found.hash)
            measured[sha256] = found
        if progress is not None:
            progress(len(batch))


def _measure_all(tasks: list[_Task], *, hashes: bool, max_pixels: int) -> list[tuple[str, Measured]]:
    return [(task.sha256, _measure(task, hashes, max_pixels)) for task in tasks]


def _measure(task: _Task, hashes: bool, max_pixels: int) -> Measured:
    try:
        data = read_verified(task.path, task.sha256)
    except (ArtifactUnreadableError, ArtifactMismatchError):
        return None
    try:
        if not hashes:
            return ImageMeasure(image_traits(data, max_pixels=max_pixels), None)
        image, traits = decode_with_traits(data, max_pixels=max_pixels)
        return ImageMeasure(traits, perceptual_hash(image.pixels))
    except UndecodableArtifactError as error:
        return Undecodable(str(error))


def perceptual_hash(pixels: NDArray[np.uint8]) -> bytes | None:
    """Hash a picture so that one that looks alike has a hash that differs in few bits.

    pHash of ImageHash: brightness at 64x64, its cosine transform, and of the 16x16 lowest frequencies whether each is above
    their median (C. Zauner, "Implementation and Benchmarking of Perceptual Image Hash Functions", 2010, section 3.2.1).

    Args:
        pixels: Array of shape (height, width, 3), uint8, RGB.

    Returns:
        ``HASH_BYTES`` bytes, row by row; ``None`` for a picture whose contrast is below ``MIN_CONTRAST``.
    """
    import imagehash

    brightness = Pillow.fromarray(pixels).convert("L")
    factor = min(brightness.size) // _REDUCED_SIDE
    if factor > 1:
        brightness = brightness.reduce(factor)
    if np.asarray(brightness, np.float32).std() < MIN_CONTRAST:
        return None
    return np.packbits(imagehash.phash(brightness, hash_size=HASH_SIDE).hash).tobytes()

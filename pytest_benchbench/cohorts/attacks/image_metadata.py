"""Image files whose metadata are taken out, or carried over into a new encoding.

These attacks take the file and not its pixels alone: what is said beside the picture is in no array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import PIL.Image

from pytest_benchbench.artifacts.image import Image, decode_image
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.attack import Attacked, Reproducible, Writer
from pytest_benchbench.cohorts.attacks.image_compression import jpeg_writer, webp_writer
from pytest_benchbench.cohorts.attacks.image_containers import (
    Container,
    Part,
    joined,
    orientation_part,
    parts_of,
    webp_flags,
    with_metadata,
)
from pytest_benchbench.cohorts.attacks.image_geometry import PNG
from pytest_benchbench.cohorts.pictures import Pixels, encode_png

EXTENSIONS = {
    "PNG": ".png",
    "JPEG": ".jpg",
    "WEBP": ".webp",
    "AVIF": ".avif",
    "TIFF": ".tif",
    "BMP": ".bmp",
    "GIF": ".gif",
    "JPEG2000": ".jp2",
    "PPM": ".ppm",
}
"""How the name of a file of each format ends."""

INTACT_QUALITY = 90
"""Of a JPEG or WebP that is written again with its metadata."""

_WRITERS: dict[Container, Writer[Pixels]] = {
    "JPEG": jpeg_writer(INTACT_QUALITY),
    "PNG": PNG,
    "WEBP": webp_writer(INTACT_QUALITY),
}

_NEVER_CARRIED = frozenset(("multi-picture", "app0", "stray bytes", "trailing bytes"))
"""What points to places of the old file, is a preview of it, or belongs to no part."""

_NOT_RGB = ("gray", "bilevel", "cmyk")
"""Rules of decoding after which an old ICC profile is one for other samples."""

_TO_STORED = {
    2: PIL.Image.Transpose.FLIP_LEFT_RIGHT,
    3: PIL.Image.Transpose.ROTATE_180,
    4: PIL.Image.Transpose.FLIP_TOP_BOTTOM,
    5: PIL.Image.Transpose.TRANSPOSE,
    6: PIL.Image.Transpose.ROTATE_90,
    7: PIL.Image.Transpose.TRANSVERSE,
    8: PIL.Image.Transpose.ROTATE_270,
}
"""EXIF orientation to the turn that leads from the upright picture back to the stored one."""


@dataclass(frozen=True, slots=True)
class ImageFile:
    """An image file and what it decodes to.

    Attributes:
        data: The whole file.
        image: Decoded from it.
    """

    data: bytes
    image: Image

    @property
    def format(self) -> str:
        """One of ``artifacts.opening.FORMATS``."""
        return str(self.image.decoding["format"])

    @property
    def orientation(self) -> int | None:
        """The EXIF orientation, 2 to 8, that decoding applied; ``None`` where the picture is stored upright."""
        orientation = self.image.decoding.get("orientation")
        return None if orientation is None else int(orientation)

    @property
    def container(self) -> Container | None:
        """The format where its files can be taken apart, else ``None``."""
        return _container(self.format)


@dataclass(frozen=True, slots=True)
class MetadataAttack:
    """An attack on what an image file says beside its picture; see ``Attack`` for the attributes."""

    name: str
    revision: int = 1

    @property
    def family(self) -> str:
        """Its name: there is no strength to vary."""
        return self.name

    @property
    def strength(self) -> None:
        """There is nothing to vary."""
        return

    @property
    def seed(self) -> None:
        """Nothing random happens."""
        return

    @property
    def keeps_positions(self) -> bool:
        """Every pixel shows what it showed before."""
        return True

    @property
    def reproducible(self) -> Reproducible:
        """The same file gives the same bytes."""
        return "bytes"

    def with_seed(self, seed: int) -> MetadataAttack:
        """Give itself: there is nothing to seed."""
        return self

    def apply(self, medium: ImageFile) -> Attacked:
        """Give the file with its metadata taken out or carried over.

        Raises:
            CohortError: The parts of the file cannot be told apart, or its encoder refuses; one line.
        """
        return _ATTACKS[self.name](medium)


def metadata_kinds(data: bytes, file_format: str) -> dict[str, int] | None:
    """Count the bytes of metadata by kind; ``None`` for a format whose files are not taken apart here.

    Args:
        data: The whole file.
        file_format: One of ``artifacts.opening.FORMATS``.

    Raises:
        CohortError: The parts of the file cannot be told apart.
    """
    container = _container(file_format)
    return None if container is None else _bytes_by_kind(part for part in parts_of(data, container) if part.is_metadata)


def _container(file_format: str) -> Container | None:
    return next((container for container in get_args(Container) if container == file_format), None)


def _stripped(file: ImageFile) -> Attacked:
    """Take all metadata out and leave the coded samples as they are; only the orientation is said again."""
    container = file.container
    if container is None:
        record: dict[str, Any] = {
            "container": file.format,
            "removed": "all, by writing the decoded pixels: files of this format are not taken apart",
            "kept": [],
            "pixels": "identical",
            "encoder": dict(PNG.record),
        }
        return Attacked(encode_png(np.asarray(file.image.pixels)), PNG.extension, record)
    parts = parts_of(file.data, container)
    removed = [part for part in parts if part.is_metadata]
    kept = [part for part in parts if not part.is_metadata]
    if file.orientation is not None:
        turn = orientation_part(file.orientation, container)
        kept = [*kept, turn] if container == "WEBP" else [*kept[:2], turn, *kept[2:]]
    data = joined(webp_flags(kept) if container == "WEBP" else kept, container)
    if not removed:  # nor is padding put in that was missing
        data = file.data
    _demand_same_pixels(file, data)
    record = {
        "container": container,
        "removed": _bytes_by_kind(removed),
        "kept": (["orientation"] if file.orientation is not None else [])
        + (["colour profile"] if any(part.colour for part in kept) else []),
        "pixels": "identical",
        "encoder": {"library": "pytest-benchbench", "rule": "parts copied as they are"},
    }
    return Attacked(data, EXTENSIONS[container], record)


def _intact(file: ImageFile) -> Attacked:
    """Encode the stored picture again and carry every part of the metadata over, byte for byte."""
    container = file.container
    if container is None:
        record: dict[str, Any] = {
            "container": file.format,
            "carried_over": "all: the file is copied, since files of this format are not taken apart",
            "lost": {},
            "encoder": {"library": "pytest-benchbench", "rule": "file copied as it is"},
        }
        return Attacked(file.data, EXTENSIONS[file.format], record)
    says = [part for part in parts_of(file.data, container) if part.is_metadata or part.colour]
    carried: list[Part] = []
    lost: list[Part] = []
    for part in says:
        (carried if _can_be_carried(part, file) else lost).append(part)
    stored = _as_stored(file)
    writer = _WRITERS[container]
    size = (stored.shape[1], stored.shape[0])
    record = {
        "container": container,
        "carried_over": _bytes_by_kind(carried),
        "lost": _bytes_by_kind(lost),
        "signature": "no longer that of this picture" if any(part.kind == "c2pa" for part in carried) else None,
        "encoder": dict(writer.record),
    }
    return Attacked(with_metadata(writer.encode(stored), carried, container, size), EXTENSIONS[container], record)


def _can_be_carried(part: Part, file: ImageFile) -> bool:
    if part.colour:
        return not str(file.image.decoding["rule"]).startswith(_NOT_RGB)
    unknown_chunk = part.kind.startswith("chunk ") and file.format == "PNG"
    may_be_copied = not unknown_chunk or bool(part.data[7] & 0x20)  # PNG, section 5.4: the safe-to-copy bit
    return part.kind not in _NEVER_CARRIED and may_be_copied


def _as_stored(file: ImageFile) -> Pixels:
    """Turn the upright picture back: the EXIF block that is carried over turns it upright again."""
    if file.orientation is None:
        return file.image.pixels
    return np.asarray(PIL.Image.fromarray(file.image.pixels).transpose(_TO_STORED[file.orientation]))


def _demand_same_pixels(file: ImageFile, data: bytes) -> None:
    try:
        after = decode_image(data).pixels if data is not file.data else file.image.pixels
    except UndecodableArtifactError as error:
        raise CohortError(f"without its metadata the file cannot be decoded: {error}") from None
    if not np.array_equal(after, file.image.pixels):
        raise CohortError("without its metadata the file decodes to other pixels")


def _bytes_by_kind(parts: Iterable[Part]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for part in parts:
        kind = part.kind or "colour profile"
        counts[kind] = counts.get(kind, 0) + len(part.data)
    return dict(sorted(counts.items()))


_ATTACKS = {"metadata-intact": _intact, "metadata-stripped": _stripped}

ATTACKS: tuple[MetadataAttack, ...] = tuple(MetadataAttack(name) for name in _ATTACKS)
"""Every attack of this module."""

"""What cohorts do to marked pictures. Each attack has a name of its own and puts every parameter on record.

A name alone is ambiguous: chroma subsampling moves a DWT-DCT mark under JPEG quality 90 between lost and intact, and so does
the way back to the old size after a resize. Plain names are 4:4:4 and restore the size; the other variants say so in theirs.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import PIL.Image

from pytest_benchbench.cohorts.pictures import PNG_ENCODER, Pixels, encode_png, resize


@dataclass(frozen=True, slots=True)
class AttackedPicture:
    """The file that an attack leaves.

    Attributes:
        data: The encoded picture.
        extension: How its name ends, with the dot.
        parameters: Everything that was done, for the case row; JSON values.
    """

    data: bytes
    extension: str
    parameters: dict[str, Any]


class ImageAttack(Protocol):
    """Does one thing to a picture, always in the same way."""

    @property
    def name(self) -> str:
        """Its name in case ids and in ``transform.name``."""

    @property
    def revision(self) -> int:
        """Counts the versions of what it does."""

    @property
    def seed(self) -> int | None:
        """What its generator is given; ``None`` when nothing random happens."""

    @property
    def keeps_positions(self) -> bool:
        """Whether each pixel still shows what it showed before, so that a paired fidelity number has a meaning."""

    def apply(self, pixels: Pixels) -> AttackedPicture:
        """Attack (H, W, 3) uint8 RGB."""


@dataclass(frozen=True, slots=True)
class JpegAttack:
    """Write a baseline JPEG.

    Attributes:
        quality: libjpeg's quality, 1 to 100.
        subsampling: Of the chroma planes.
    """

    name: str
    quality: int
    subsampling: Literal["4:4:4", "4:2:0"] = "4:4:4"
    revision: int = 1
    seed: int | None = None
    keeps_positions: bool = True

    def apply(self, pixels: Pixels) -> AttackedPicture:
        """Attack (H, W, 3) uint8 RGB."""
        options = {"quality": self.quality, "subsampling": self.subsampling, "progressive": False, "optimize": False}
        buffer = io.BytesIO()
        PIL.Image.fromarray(pixels).save(buffer, format="JPEG", **options)
        return AttackedPicture(buffer.getvalue(), ".jpg", {"encoder": {"library": "Pillow", "format": "JPEG", **options}})


@dataclass(frozen=True, slots=True)
class ResizeAttack:
    """Scale with LANCZOS and, where the size is restored, scale back with LANCZOS.

    Attributes:
        percent: New side in percent of the old one; halves are rounded up.
        restored: Whether the picture gets its old size back.
    """

    name: str
    percent: int
    restored: bool = True
    revision: int = 1
    seed: int | None = None

    @property
    def keeps_positions(self) -> bool:
        """Only when the size is restored."""
        return self.restored

    def apply(self, pixels: Pixels) -> AttackedPicture:
        """Attack (H, W, 3) uint8 RGB."""
        height, width = pixels.shape[:2]
        smaller = (_percent_of(width, self.percent), _percent_of(height, self.percent))
        attacked = resize(pixels, smaller)
        if self.restored:
            attacked = resize(attacked, (width, height))
        parameters = {
            "percent": self.percent,
            "resized_to": list(smaller),
            "filter": "lanczos",
            "size_restored": self.restored,
            "encoder": PNG_ENCODER,
        }
        return AttackedPicture(encode_png(attacked), ".png", parameters)


@dataclass(frozen=True, slots=True)
class CropAttack:
    """Cut a border off and, where the size is restored, scale what is left to the old size with LANCZOS.

    What is left is moved and scaled either way, so it is never compared pixel by pixel.

    Attributes:
        percent_per_edge: Cut off at each of the four edges, in percent of the side; halves are rounded up.
        restored: Whether the picture gets its old size back.
    """

    name: str
    percent_per_edge: int
    restored: bool = True
    revision: int = 1
    seed: int | None = None
    keeps_positions: bool = False

    def apply(self, pixels: Pixels) -> AttackedPicture:
        """Attack (H, W, 3) uint8 RGB."""
        height, width = pixels.shape[:2]
        left, top = _percent_of(width, self.percent_per_edge), _percent_of(height, self.percent_per_edge)
        attacked = pixels[top : height - top, left : width - left].copy()
        if self.restored:
            attacked = resize(attacked, (width, height))
        parameters = {
            "percent_per_edge": self.percent_per_edge,
            "box": [left, top, width - left, height - top],
            "filter": "lanczos" if self.restored else None,
            "size_restored": self.restored,
            "encoder": PNG_ENCODER,
        }
        return AttackedPicture(encode_png(attacked), ".png", parameters)


def _percent_of(side: int, percent: int) -> int:
    return (side * percent + 50) // 100


_ATTACKS: tuple[ImageAttack, ...] = (
    JpegAttack("jpeg-90", quality=90),
    JpegAttack("jpeg-90-420", quality=90, subsampling="4:2:0"),
    ResizeAttack("resize-75", percent=75),
    ResizeAttack("resize-75-unrestored", percent=75, restored=False),
    CropAttack("crop-5", percent_per_edge=5),
    CropAttack("crop-5-unrestored", percent_per_edge=5, restored=False),
)

IMAGE_ATTACKS: Mapping[str, ImageAttack] = {attack.name: attack for attack in _ATTACKS}
"""Every image attack by name."""

DEFAULT_IMAGE_ATTACKS: tuple[str, ...] = ("jpeg-90", "resize-75", "crop-5")
"""What the default cohorts do to each marked picture."""

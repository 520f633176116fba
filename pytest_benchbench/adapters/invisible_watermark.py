"""What the methods of the package ``invisible-watermark`` have in common: which pictures they can be asked about."""

from __future__ import annotations

from pytest_benchbench.adapters.base import Sample
from pytest_benchbench.adapters.yuv import Pixels
from pytest_benchbench.artifacts.image import Image

MINIMUM_PIXELS = 65_536
"""The package refuses pictures of fewer pixels (256 x 256)."""


def pixels_of(sample: Sample) -> Pixels:
    """Take the decoded pixels out of a sample: (H, W, 3) uint8 RGB.

    Raises:
        TypeError: The sample is no decoded image.
    """
    if not isinstance(sample.decoded, Image):
        raise TypeError(f"expected a decoded image, not {type(sample.decoded).__name__}")
    return sample.decoded.pixels


def require_pixels(pixels: Pixels) -> None:
    """Check that an array is an RGB picture.

    Raises:
        ValueError: Its shape is not (H, W, 3), or its type not uint8.
    """
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != "uint8":
        raise ValueError(f"expected (H, W, 3) uint8, not {pixels.shape} {pixels.dtype}")


def too_small(pixels: Pixels, *, side: int = 1) -> str | None:
    """Say why a picture cannot carry a message: under 65,536 pixels or a side under ``side``; ``None`` if it can."""
    height, width = pixels.shape[:2]
    if height * width >= MINIMUM_PIXELS and min(height, width) >= side:
        return None
    sides = "" if side == 1 else f" and sides of {side} or more"
    return f"{MINIMUM_PIXELS:,} pixels{sides} are needed, the image is {width}x{height}"

"""What the methods of the package ``invisible-watermark`` have in common: which pictures they take, and how they mark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from pytest_benchbench.adapters.base import Sample
from pytest_benchbench.adapters.patterns import Pattern
from pytest_benchbench.adapters.yuv import Pixels
from pytest_benchbench.artifacts.image import Image

MINIMUM_PIXELS = 65_536
"""The package refuses pictures of fewer pixels (256 x 256)."""


class PatternEmbedder(ABC):
    """An ``Embedder`` whose messages are patterns.

    Attributes:
        message: What it writes unless told otherwise.
    """

    message: ClassVar[Pattern]

    def embed(self, sample: Sample, message: Pattern | None = None) -> Image:
        """Mark a decoded image with a pattern.

        Raises:
            TypeError: The sample is no decoded image.
            ValueError: It cannot carry the pattern.
        """
        pixels = self.embed_pixels(pixels_of(sample), message or self.message)
        pixels.flags.writeable = False
        height, width = pixels.shape[:2]
        return Image(pixels, {"rule": "embedded", "size": [width, height], "bit_depth": 8}, None)

    @abstractmethod
    def embed_pixels(self, pixels: Pixels, message: Pattern) -> Pixels:
        """Mark (H, W, 3) uint8 RGB with a pattern's bits and give a new array of the same shape.

        Raises:
            ValueError: The array is no such picture, or it cannot carry the pattern.
        """


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

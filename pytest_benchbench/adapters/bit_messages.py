"""Messages that are bits of a fixed length: checking and comparing them, and what image embedders of such messages share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pytest_benchbench.adapters.base import Sample, Weights
from pytest_benchbench.adapters.invisible_watermark import pixels_of
from pytest_benchbench.adapters.yuv import Pixels
from pytest_benchbench.artifacts.image import Image

Message = tuple[int, ...]
"""0 and 1, most significant first."""


class BitEmbedder(ABC):
    """An ``Embedder`` of images whose messages are bits.

    Attributes:
        message: What it writes unless told otherwise, and what the adapter looks for.
        weights: The files that it loaded.
    """

    message: ClassVar[Message]
    weights: tuple[Weights, ...]

    def embed(self, sample: Sample, message: Message | None = None) -> Image:
        """Mark a decoded image with a message, the benchmark's own if none is given.

        Raises:
            TypeError: The sample is no decoded image.
            ValueError: The message is none of this embedder's.
        """
        return image_of(self.embed_pixels(pixels_of(sample), self.message if message is None else message), "embedded")

    @abstractmethod
    def embed_pixels(self, pixels: Pixels, message: Message) -> Pixels:
        """Mark (H, W, 3) uint8 RGB with a message and give a new array of the same shape.

        Raises:
            ValueError: The array is no such picture, or the message none of this embedder's.
        """


def image_of(pixels: Pixels, rule: str) -> Image:
    """Make a decoded image of (H, W, 3) uint8 RGB pixels, which become read-only.

    Args:
        pixels: A new array.
        rule: How they came about.
    """
    pixels.flags.writeable = False
    height, width = pixels.shape[:2]
    return Image(pixels, {"rule": rule, "size": [width, height], "bit_depth": 8}, None)


def require_bits(message: Sequence[int], bits: int) -> None:
    """Check that a message has the right length and nothing but 0 and 1.

    Raises:
        ValueError: It has not.
    """
    if len(message) != bits or not set(message) <= {0, 1}:
        raise ValueError(f"expected a message of {bits} bits, each 0 or 1, not {len(message)}: {str(message)[:60]}")


def equal_bits(read: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.bool_]], message: Message) -> int:
    """Count the positions in which a read message and another one of the same length agree.

    Raises:
        ValueError: Their lengths differ.
    """
    if len(read) != len(message):
        raise ValueError(f"{len(read)} bits cannot be compared with {len(message)}")
    return int(np.count_nonzero(np.asarray(read, dtype=bool) == np.asarray(message, dtype=bool)))


def chance_of(threshold: int, bits: int) -> float:
    """Give the probability that ``threshold`` or more of ``bits`` fair, independent bits agree (binomial upper tail)."""
    return float(sum(math.comb(bits, equal) for equal in range(threshold, bits + 1)) / 2**bits)

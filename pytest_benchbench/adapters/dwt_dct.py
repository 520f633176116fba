"""``dwt-dct``: the mark of the public code of Stable Diffusion 1.x, SDXL and FLUX.2.

Written from the description of the method; its bits and pixels equal those of ``invisible-watermark`` 0.2.0 (method
``dwtDct``). In spite of the name no cosine transform takes part: a block's bit lies in the largest coefficient of the
low Haar band, the first of the sixteen left out.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pytest_benchbench.adapters import haar_frame
from pytest_benchbench.adapters.haar_frame import BLOCK, SCALE, Floats, PatternDetector
from pytest_benchbench.adapters.invisible_watermark import PatternEmbedder
from pytest_benchbench.adapters.patterns import SDXL, Bits, Pattern
from pytest_benchbench.adapters.yuv import Pixels, Plane

VERSION = "1, bits of invisible-watermark 0.2.0 dwtDct"


class DwtDct(PatternDetector):
    """Reads the message of a picture and compares it with the published patterns."""

    name: ClassVar[str] = "dwt-dct"
    version: ClassVar[str] = VERSION

    def read(self, pixels: Pixels) -> Bits:
        """Read the bit of every 8x8 block of (H, W, 3) uint8 RGB, row by row."""
        return read_blocks(pixels)

    def embedder(self) -> DwtDctEmbedder:
        """Make the embedder."""
        return DwtDctEmbedder()


class DwtDctEmbedder(PatternEmbedder):
    """Writes the mark as the reference encoder writes it, pixel for pixel."""

    message: ClassVar[Pattern] = SDXL

    def embed_pixels(self, pixels: Pixels, message: Pattern = SDXL) -> Pixels:
        """Mark (H, W, 3) uint8 RGB with a pattern's bits and give a new array of the same shape.

        Raises:
            ValueError: The array is no such picture, or it is too small to carry a message.
        """
        return haar_frame.write_blocks(pixels, message.bits, _write)


def read_blocks(pixels: Pixels) -> Bits:
    """Read the bit of every 8x8 block of (H, W, 3) uint8 RGB, row by row."""
    return haar_frame.read_blocks(pixels, _read)


def _read(u: Plane) -> Bits:
    """Read the blocks of a U plane (8r, 8c): (r, c).

    A coefficient is half the sum of four samples but for the last bit of its rounding. So whole numbers decide wherever
    the largest sum is no multiple of half a step, and only the blocks in which it is one are computed as the reference
    computes them.
    """
    sums = u[0::2] + u[1::2]
    sums = sums[:, 0::2] + sums[:, 1::2]
    sums[::4, ::4] = 0  # a block's first coefficient carries nothing
    rows = np.maximum(np.maximum(sums[0::4], sums[1::4]), np.maximum(sums[2::4], sums[3::4]))
    largest = np.maximum(np.maximum(rows[:, 0::4], rows[:, 1::4]), np.maximum(rows[:, 2::4], rows[:, 3::4]))
    bits: Bits = largest % (2 * SCALE) > SCALE
    tied = largest % SCALE == 0
    if tied.any():
        blocks = u.reshape(largest.shape[0], BLOCK, largest.shape[1], BLOCK).swapaxes(1, 2)[tied]
        bits[tied] = haar_frame.read_bit(haar_frame.low_band(blocks).reshape(-1, 16)[:, 1:].max(axis=1))
    return bits


def _write(blocks: Floats, bits: Bits) -> Floats:
    """Write one bit into each of n blocks (n, 4, 4) of the low band; its values are never negative."""
    marked = blocks.reshape(-1, 16).copy()
    every = np.arange(len(marked))
    largest = marked[:, 1:].argmax(axis=1) + 1
    marked[every, largest] = haar_frame.write_bit(marked[every, largest], bits)
    return marked.reshape(blocks.shape)

"""``dwt-dct-svd``: the sturdier sibling of ``dwt-dct``, whose bits lie in the largest singular value of each block.

Written from the description of the method; its bits and pixels equal those of ``invisible-watermark`` 0.2.0 (method
``dwtDctSvd``). No generator is known to use it by default; the messages are those of ``dwt-dct``.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pytest_benchbench.adapters import haar_frame
from pytest_benchbench.adapters.haar_frame import SCALE, Floats, PatternDetector
from pytest_benchbench.adapters.invisible_watermark import PatternEmbedder
from pytest_benchbench.adapters.patterns import SDXL, Bits, Pattern
from pytest_benchbench.adapters.yuv import Pixels, Plane

VERSION = "1, bits of invisible-watermark 0.2.0 dwtDctSvd"

_HALF_ROOT = 0.7071067811865476
_HALF = 0.49999999999999994
_WIDE = 0.6532814824381883
_NARROW = 0.2705980500730985
"""Coefficients of the four-point cosine transform as OpenCV's tables hold them: sqrt(1/2); what stands for 1/2;
sqrt(1/2) times cosine and sine of pi/8."""

_DOUBTFUL = 1e-6
"""Distance of a singular value from a decision's border under which the reference's own arithmetic decides. The
screening's error is below 1e-10: values are at most 2,040 and float64 carries them to about 1e-12."""


class DwtDctSvd(PatternDetector):
    """Reads the message of a picture and compares it with the published patterns."""

    name: ClassVar[str] = "dwt-dct-svd"
    version: ClassVar[str] = VERSION

    def read(self, pixels: Pixels) -> Bits:
        """Read the bit of every 8x8 block of (H, W, 3) uint8 RGB, row by row."""
        return read_blocks(pixels)

    def embedder(self) -> DwtDctSvdEmbedder:
        """Make the embedder."""
        return DwtDctSvdEmbedder()


class DwtDctSvdEmbedder(PatternEmbedder):
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

    The cosine transform is orthonormal and changes no singular value, so the eigenvalues of each block's Gram matrix
    tell the largest one. That is exact but for rounding; where rounding could decide, the reference's route is taken.
    """
    blocks = haar_frame.blocks_of(haar_frame.low_band(u))
    shape = blocks.shape[:2]
    blocks = blocks.reshape(-1, 4, 4)
    largest: Floats = np.sqrt(np.linalg.eigvalsh(blocks @ blocks.swapaxes(1, 2))[:, -1])
    past_border = largest % (SCALE / 2)
    doubtful = np.minimum(past_border, SCALE / 2 - past_border) < _DOUBTFUL
    if doubtful.any():
        # with U and V, although only the values are needed: without them LAPACK takes a route with other last bits
        largest[doubtful] = np.linalg.svd(_dct(blocks[doubtful]))[1][:, 0]
    return haar_frame.read_bit(largest).reshape(shape)


def _write(blocks: Floats, bits: Bits) -> Floats:
    """Write one bit into each of n blocks (n, 4, 4) of the low band."""
    left, values, right = np.linalg.svd(_dct(blocks))
    values[:, 0] = haar_frame.write_bit(values[:, 0], bits)
    return _inverse_dct(left @ (values[:, :, np.newaxis] * right))


def _dct(blocks: Floats) -> Floats:
    """Transform (n, 4, 4) by the two-dimensional DCT-II, rounded as OpenCV's float64 ``dct``: rows, then columns."""
    for axis in (-1, -2):
        first, second, third, fourth = np.moveaxis(blocks, axis, 0)
        outer, inner = first + fourth, second + third
        outer_difference, inner_difference = first - fourth, second - third
        lines = (
            (outer + inner) * _HALF_ROOT * _HALF_ROOT,
            _WIDE * outer_difference + _NARROW * inner_difference,
            (outer - inner) * _HALF,
            _NARROW * outer_difference - _WIDE * inner_difference,
        )
        blocks = np.stack(lines, axis=axis)
    return blocks


def _inverse_dct(blocks: Floats) -> Floats:
    """Invert ``_dct``, rounded as OpenCV's float64 ``idct``: rows, then columns."""
    for axis in (-1, -2):
        first, second, third, fourth = np.moveaxis(blocks, axis, 0)
        mean, curve = first * _HALF_ROOT * _HALF_ROOT, third * _HALF
        outer, inner = mean + curve, mean - curve
        outer_difference = _WIDE * second + _NARROW * fourth
        inner_difference = _NARROW * second - _WIDE * fourth
        lines = (outer + outer_difference, inner + inner_difference, inner - inner_difference, outer - outer_difference)
        blocks = np.stack(lines, axis=axis)
    return blocks

"""The frame that both wavelet schemes of ``invisible-watermark`` share: colour plane, Haar bands, blocks, bits.

The picture becomes YUV, its U plane is split by one level of the Haar wavelet, and each 4x4 block of the low band (8x8
pixels, row by row) carries one bit of the message, block n the bit n modulo the message's length. Decisions fall on
exact ties (a value of 18.0 under modulus 36) in about one block of 72, so the frame repeats the arithmetic of the
reference to the last bit: OpenCV's fixed-point conversion, and PyWavelets' order of multiplications and additions in
float64 as built for x86-64. NumPy never fuses a multiplication with an addition, so the figures here are the same on
every machine.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters.base import Adapter, AdapterDescription, Detection, Sample
from pytest_benchbench.adapters.invisible_watermark import pixels_of, require_pixels, too_small
from pytest_benchbench.adapters.patterns import PATTERNS, Bits, recognise, rule_in_words
from pytest_benchbench.adapters.yuv import Pixels, Plane, luma_plane, rgb, u_plane, v_plane
from pytest_benchbench.artifacts.media import MediaType

Floats = NDArray[np.float64]

BLOCK = 8
"""Side of a block in pixels; four coefficients of the low band."""

SCALE = 36
"""Step of the quantisation that carries a bit."""

STRIP_PIXELS = 1 << 17
"""About how many pixels are worked on at a time: few enough for the processor's cache, enough that calls cost little."""

_HALF_ROOT = 0.7071067811865476
"""The Haar filter's coefficient, sqrt(1/2), as PyWavelets stores it."""


class PatternDetector(Adapter):
    """Reads the message of a picture and compares it with the published patterns. A scheme says how a block is read.

    Attributes:
        version: Of the scheme.
    """

    media_types: ClassVar[frozenset[MediaType]] = frozenset({"image"})
    verified_weights: ClassVar[frozenset[str]] = frozenset()
    version: ClassVar[str]

    @abstractmethod
    def read(self, pixels: Pixels) -> Bits:
        """Read the bit of every 8x8 block of (H, W, 3) uint8 RGB, row by row."""

    def detect(self, sample: Sample) -> Detection:
        """Answer ``detected`` with the pattern's name, ``not_detected``, or ``too-small`` where no message fits.

        Raises:
            TypeError: The sample is no decoded image.
        """
        pixels = pixels_of(sample)
        if reason := too_small(pixels, side=BLOCK):
            return Detection(status="too-small", reason=reason)
        blocks = self.read(pixels)
        patterns = tuple(PATTERNS.values())
        lengths = {len(pattern.bits) for pattern in patterns}
        return recognise({length: payload_bits(blocks, length) for length in lengths}, patterns)

    def describe(self) -> AdapterDescription:
        """Version and rule; there are no weights."""
        return AdapterDescription(self.version, rule_in_words(tuple(PATTERNS.values())))


def low_band(plane: NDArray[Any]) -> Floats:
    """Compute the low band of one Haar level over the last two axes, rounded as PyWavelets on x86-64 rounds.

    Args:
        plane: (..., H, W), even sides.

    Returns:
        (..., H/2, W/2) float64; half the sum of each 2x2 square.
    """
    scaled = plane * _HALF_ROOT
    rows = scaled[..., 0::2, :] + scaled[..., 1::2, :]
    rows *= _HALF_ROOT
    return rows[..., 0::2] + rows[..., 1::2]


def haar(plane: NDArray[Any]) -> tuple[Floats, Floats, Floats, Floats]:
    """Split (H, W), even sides, into the four bands of one Haar level, each (H/2, W/2) float64.

    Returns:
        Low, horizontal (difference of rows), vertical (difference of columns), diagonal; PyWavelets' ``dwt2``.
    """
    scaled = plane * _HALF_ROOT
    sums = (scaled[0::2] + scaled[1::2]) * _HALF_ROOT
    differences = (scaled[0::2] - scaled[1::2]) * _HALF_ROOT
    return (
        sums[:, 0::2] + sums[:, 1::2],
        differences[:, 0::2] + differences[:, 1::2],
        sums[:, 0::2] - sums[:, 1::2],
        differences[:, 0::2] - differences[:, 1::2],
    )


def inverse_haar(low: Floats, horizontal: Floats, vertical: Floats, diagonal: Floats) -> Floats:
    """Put four bands of (H, W) together to (2H, 2W); PyWavelets' ``idwt2``, columns first."""
    return _interleave(_interleave(low, vertical, axis=1), _interleave(horizontal, diagonal, axis=1), axis=0)


def _interleave(sums: Floats, differences: Floats, *, axis: int) -> Floats:
    """Invert one Haar step: double the length along ``axis``."""
    sums, differences = sums * _HALF_ROOT, differences * _HALF_ROOT
    pairs = np.stack((sums + differences, sums - differences), axis=axis + 1)
    shape = list(sums.shape)
    shape[axis] *= 2
    return pairs.reshape(shape)


def blocks_of(low: Floats) -> Floats:
    """View the whole 4x4 blocks of a low band (H, W) as (H // 4, W // 4, 4, 4); writing to it writes to the band."""
    rows, columns = low.shape[0] // 4, low.shape[1] // 4
    return low[: rows * 4, : columns * 4].reshape(rows, 4, columns, 4).swapaxes(1, 2)


def read_bit(values: Floats) -> Bits:
    """Read what ``write_bit`` wrote: a remainder above half a step is a 1."""
    return values % SCALE > SCALE / 2


def write_bit(values: Floats, bits: Bits) -> Floats:
    """Move values of 0 or more to a quarter of their step for a 0, to three quarters for a 1."""
    return (values // SCALE + 0.25 + 0.5 * bits) * SCALE


def read_blocks(pixels: Pixels, read: Callable[[Plane], Bits]) -> Bits:
    """Read one bit from every whole block of a picture, strip by strip.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        read: Reads a U plane of (8r, 8c) and gives (r, c).

    Returns:
        (H // 8 * W // 8,), row by row. The message's length plays no part: ``payload_bits`` folds the bits to any.
    """
    height, width = (side // BLOCK * BLOCK for side in pixels.shape[:2])
    whole = pixels[:height, :width]
    if whole.size == 0:
        return np.zeros(0, dtype=bool)
    return np.concatenate([read(u_plane(whole[rows])).ravel() for rows in _strips(height, width)])


def payload_bits(blocks: Bits, length: int) -> Bits:
    """Fold the bits of all blocks to a message: bit k is the mean over the blocks n with n % length = k.

    Args:
        blocks: Bits of all blocks in order.
        length: Bits of the message, positive.

    Returns:
        (length,); a mean times 255 above 127 is a 1, as in the reference. A bit without a block is a 0.
    """
    rounds = -(-blocks.size // length)
    padded = np.zeros(rounds * length, dtype=np.int64)
    padded[: blocks.size] = blocks
    ones = padded.reshape(rounds, length).sum(axis=0)
    counts = blocks.size // length + (np.arange(length) < blocks.size % length)
    means: Floats = ones / np.maximum(counts, 1)
    return means * 255 > 127


def write_blocks(pixels: Pixels, bits: Sequence[int], write: Callable[[Floats, Bits], Floats]) -> Pixels:
    """Write a message into every block, exactly as the reference encoder leaves the picture.

    That includes what looks like oversights of the reference: the horizontal and vertical band change places, samples
    are truncated instead of rounded and wrap around instead of being clipped, the whole picture passes through YUV, and
    up to three rows and columns beyond a multiple of four keep their U values.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        bits: The message, 0 and 1.
        write: Gets blocks (n, 4, 4) of the low band and n bits, gives marked blocks.

    Returns:
        A marked picture of the same shape.

    Raises:
        ValueError: The array is no such picture, or the picture is too small to carry a message.
    """
    require_pixels(pixels)
    if reason := too_small(pixels, side=BLOCK):
        raise ValueError(reason)
    height, width = pixels.shape[:2]
    message = np.array(bits, dtype=bool)
    marked = np.empty_like(pixels)
    first = 0
    for rows in _strips(height, width):
        strip = pixels[rows]
        u = u_plane(strip).astype(np.int32)
        area = u[: u.shape[0] // 4 * 4, : width // 4 * 4]
        low, horizontal, vertical, diagonal = haar(area)
        blocks = blocks_of(low)
        count = blocks.shape[0] * blocks.shape[1]
        carried = message[np.arange(first, first + count) % len(message)]
        blocks[...] = write(blocks.reshape(count, 4, 4), carried).reshape(blocks.shape)
        first += count
        swapped = inverse_haar(low, vertical, horizontal, diagonal)
        area[...] = swapped.astype(np.int32) & 0xFF
        luma = luma_plane(strip)
        marked[rows] = rgb(luma, u, v_plane(strip, luma))
    return marked


def _strips(height: int, width: int) -> Iterator[slice]:
    """Cut the rows into strips of whole blocks; the last one takes the rest."""
    step = max(STRIP_PIXELS // (width * BLOCK), 1) * BLOCK
    for first in range(0, height, step):
        yield slice(first, min(first + step, height))

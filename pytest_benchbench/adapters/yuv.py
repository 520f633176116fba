"""The fixed-point colour conversion between RGB and YUV that OpenCV uses for 8-bit pictures, to the last bit."""

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""An RGB picture, (H, W, 3), 0 to 255."""

Plane = NDArray[np.int16]
"""One colour plane, (H, W), 0 to 255."""

Wide = NDArray[np.int32]
"""One colour plane, (H, W), 0 to 255, in a type wide enough to compute with."""

_SHIFT = 14
_ROUND = 1 << (_SHIFT - 1)
_OFFSET = (128 << _SHIFT) + _ROUND
"""OpenCV's colour conversion works with coefficients times 2**14, rounds half up and shifts back."""


def u_plane(pixels: Pixels) -> Plane:
    """Compute the U plane exactly as OpenCV's ``COLOR_BGR2YUV`` does.

    Args:
        pixels: (H, W, 3) uint8 RGB.

    Returns:
        (H, W) int16, 17 to 239.
    """
    plane = _weighted(pixels, (4899, 9617, 1868 - (1 << _SHIFT)))  # luma less blue: whole numbers pass the shift unharmed
    plane *= -8061
    plane += _OFFSET
    plane >>= _SHIFT
    return plane.astype(np.int16)


def luma_plane(pixels: Pixels) -> Wide:
    """Compute the Y plane of (H, W, 3) uint8 RGB: (H, W) int32, 0 to 255."""
    return _weighted(pixels, (4899, 9617, 1868))


def _weighted(pixels: Pixels, weights: tuple[int, int, int]) -> Wide:
    """Add up the channels with weights times 2**-14, rounded half up; in place, since memory is what the time goes into."""
    total: Wide = np.full(pixels.shape[:2], _ROUND, dtype=np.int32)
    for channel, weight in enumerate(weights):
        term = np.ascontiguousarray(pixels[..., channel]).astype(np.int32)
        term *= weight
        total += term
    total >>= _SHIFT
    return total


def v_plane(pixels: Pixels, luma: Wide) -> Wide:
    """Compute the V plane of (H, W, 3) uint8 RGB, whose Y plane is at hand: (H, W) int32, 0 to 255."""
    red = pixels[..., 0] - luma
    plane: Wide = (red * 14369 + _OFFSET) >> _SHIFT
    return plane.clip(0, 255)


def rgb(luma: Wide, u: Wide, v: Wide) -> Pixels:
    """Convert three planes, (H, W) each, back to (H, W, 3) exactly as OpenCV's ``COLOR_YUV2BGR`` does."""
    blueness = u - 128
    redness = v - 128
    channels = (
        luma + ((redness * 18678 + _ROUND) >> _SHIFT),
        luma + ((blueness * -6472 + redness * -9519 + _ROUND) >> _SHIFT),
        luma + ((blueness * 33292 + _ROUND) >> _SHIFT),
    )
    pixels: Wide = np.stack(channels, axis=-1)
    return pixels.clip(0, 255).astype(np.uint8)

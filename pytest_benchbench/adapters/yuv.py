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
    blue = pixels[..., 2].astype(np.int32)
    blue -= luma_plane(pixels)
    blue *= 8061
    blue += _OFFSET
    blue >>= _SHIFT
    return blue.astype(np.int16)


def luma_plane(pixels: Pixels) -> Wide:
    """Compute the Y plane of (H, W, 3) uint8 RGB: (H, W) int32, 0 to 255."""
    luma = pixels[..., 0].astype(np.int32)
    luma *= 4899
    term = pixels[..., 1].astype(np.int32)
    term *= 9617
    luma += term
    np.multiply(pixels[..., 2], 1868, out=term, dtype=np.int32)
    luma += term
    luma += _ROUND
    luma >>= _SHIFT
    return luma


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

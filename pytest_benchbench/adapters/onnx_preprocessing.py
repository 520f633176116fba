"""From a decoded picture to the tensors that a network is shown, by the steps that ``docs/onnx.md`` writes down.

Every step up to the last gives 8-bit levels, and the last one is a table of 256 numbers for each channel: another runtime
that follows the steps gets the same numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from pytest_benchbench.adapters.base import DetectionStatus

if TYPE_CHECKING:
    from pytest_benchbench.adapters.onnx_config import Crops, Preprocessing, Resize

Levels = NDArray[np.uint8]
"""A picture, (height, width, 3), RGB."""

Tensor = NDArray[Any]
"""What the network is shown: (N, 3, height, width) or (N, height, width, 3)."""

MAX_RESIZED_PIXELS = 1 << 25
"""Of a picture after its resizing: 33 million, 100 MB. A long strip whose short side is scaled up would fill the memory."""

MAX_WHOLE_PIXELS = 1 << 24
"""Of a picture that is shown whole, in whatever size it has: 17 million."""

_FILTERS = {
    "box": Pillow.Resampling.BOX,
    "bilinear": Pillow.Resampling.BILINEAR,
    "hamming": Pillow.Resampling.HAMMING,
    "bicubic": Pillow.Resampling.BICUBIC,
    "lanczos": Pillow.Resampling.LANCZOS,
}


class NotShown(Exception):  # noqa: N818 - a property of the picture, not a fault
    """A picture that the network cannot be shown.

    Args:
        status: ``too-small`` or ``unsupported``.
        reason: One line.
    """

    def __init__(self, status: DetectionStatus, reason: str) -> None:
        super().__init__(reason)
        self.status: DetectionStatus = status
        self.reason = reason


class Preprocessor:
    """Carries out what a configuration declares.

    Args:
        declared: The block of the configuration.
    """

    def __init__(self, declared: Preprocessing) -> None:
        self._declared = declared
        levels = np.arange(256, dtype=np.float64)
        columns = [
            (levels / declared.scale - mean) / deviation
            for mean, deviation in zip(declared.mean, declared.deviation, strict=True)
        ]
        self._tables = np.stack(columns).astype(declared.dtype)

    @property
    def needs_alpha(self) -> bool:
        """Whether ``tensor`` wants to know how opaque the pixels are."""
        return self._declared.alpha != "drop"

    def tensor(self, pixels: Levels, alpha: NDArray[np.uint8] | None = None) -> Tensor:
        """Give the crops of a picture as one tensor.

        Args:
            pixels: As decoded, (height, width, 3), RGB.
            alpha: How opaque each pixel is, (height, width), 255 for opaque; ``None`` for an opaque picture.

        Raises:
            NotShown: The picture is too small, or would become too large.
        """
        height, width = pixels.shape[:2]
        if min(height, width) < self._declared.minimum_side:
            raise NotShown("too-small", f"sides of {self._declared.minimum_side} or more are needed, it is {width}x{height}")
        if alpha is not None and self._declared.alpha != "drop":
            pixels = composite(pixels, alpha, self._declared.alpha)
        if self._declared.resize is not None:
            pixels = resize(pixels, self._declared.resize)
        if self._declared.crops is not None:
            crops = crop(pixels, self._declared.crops)
        elif pixels.shape[0] * pixels.shape[1] > MAX_WHOLE_PIXELS:
            raise NotShown("unsupported", f"{MAX_WHOLE_PIXELS:,} pixels are shown whole at most")
        else:
            crops = pixels[np.newaxis]
        return self._normalised(crops)

    def _normalised(self, crops: Levels) -> Tensor:
        """Turn levels, (N, height, width, 3) RGB, into the network's numbers, order of channels and layout."""
        channels = (0, 1, 2) if self._declared.colour == "RGB" else (2, 1, 0)
        planes = [table[crops[..., channel]] for table, channel in zip(self._tables, channels, strict=True)]
        return np.stack(planes, axis=1 if self._declared.layout == "NCHW" else 3)


def composite(pixels: Levels, alpha: NDArray[np.uint8], background: tuple[int, int, int]) -> Levels:
    """Lay a picture over a background: (level * alpha + background * (255 - alpha)) / 255, halves rounded up.

    Args:
        pixels: (height, width, 3), RGB, not multiplied by alpha.
        alpha: (height, width), 0 to 255.
        background: R, G, B.
    """
    opaque = alpha.astype(np.uint32)[..., np.newaxis]
    summed = pixels * opaque + np.array(background, np.uint32) * (255 - opaque)
    return cast("Levels", ((2 * summed + 255) // 510).astype(np.uint8))


def resize(pixels: Levels, declared: Resize) -> Levels:
    """Scale a picture: Pillow's filters with antialiasing, the nearest pixel or the four nearest ones without.

    Raises:
        NotShown: The result would have more than ``MAX_RESIZED_PIXELS``.
    """
    height, width = pixels.shape[:2]
    size = declared.size
    if size is None:
        assert declared.side is not None
        have = min(height, width) if declared.mode == "shortest" else max(height, width)
        size = (max(1, declared.side * width // have), max(1, declared.side * height // have))
    if size[0] * size[1] > MAX_RESIZED_PIXELS:
        raise NotShown("unsupported", f"scaled it would be {size[0]}x{size[1]}, more than {MAX_RESIZED_PIXELS:,} pixels")
    if size == (width, height):
        return pixels
    if declared.filter == "nearest":  # Pillow's own adds up rounding errors from pixel to pixel
        rows, columns = (_nearest(have, length) for have, length in ((height, size[1]), (width, size[0])))
        return pixels[rows[:, np.newaxis], columns]
    if not declared.antialias:
        return _bilinear(pixels, size)
    # one axis at a time: which of them Pillow would take first depends on its version, and each rounds to 8 bits
    narrowed = Pillow.fromarray(pixels).resize((size[0], height), _FILTERS[declared.filter])
    return np.asarray(narrowed.resize(size, _FILTERS[declared.filter]))


def _nearest(have: int, length: int) -> NDArray[np.intp]:
    """Give the pixels under the centres of the new ones: floor((i + 1/2) * have / length)."""
    return (2 * np.arange(length, dtype=np.intp) + 1) * have // (2 * length)


def _bilinear(pixels: Levels, size: tuple[int, int]) -> Levels:
    """Interpolate between the four nearest pixels; centres of pixels map to (i + 1/2) * scale - 1/2, edges are repeated.

    Rows first, then columns, in doubles; rounded once, halves to even.
    """
    values = pixels.astype(np.float64)
    for axis, length in ((0, size[1]), (1, size[0])):
        have = values.shape[axis]
        place = np.clip((np.arange(length) + 0.5) * (have / length) - 0.5, 0, have - 1)
        before = np.floor(place).astype(np.intp)
        after = np.minimum(before + 1, have - 1)
        weight = (place - before).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        values = values.take(before, axis) * (1 - weight) + values.take(after, axis) * weight
    return cast("Levels", np.rint(values).astype(np.uint8))


def crop(pixels: Levels, declared: Crops) -> Levels:
    """Cut the declared crops out of a picture, rows of a grid from top to bottom, each from left to right.

    Of five crops the order is top left, top right, bottom left, bottom right, centre. Places are rounded down.

    Returns:
        (N, height, width, 3).

    Raises:
        NotShown: The picture is smaller than a crop, and no colour is declared to fill it up with.
    """
    wide, high = declared.size
    height, width = pixels.shape[:2]
    if height < high or width < wide:
        if declared.pad is None:
            raise NotShown("too-small", f"a crop has {wide}x{high} pixels, it is {width}x{height} when it is cropped")
        pixels = _padded(pixels, max(width, wide), max(height, high), declared.pad)
        height, width = pixels.shape[:2]
    down, right = height - high, width - wide
    if declared.mode == "centre":
        corners = [(down // 2, right // 2)]
    elif declared.mode == "five":
        corners = [(0, 0), (0, right), (down, 0), (down, right), (down // 2, right // 2)]
    else:
        rows, columns = _spread(down, declared.rows or 1), _spread(right, declared.columns or 1)
        corners = [(top, left) for top in rows for left in columns]
    return np.stack([pixels[top : top + high, left : left + wide] for top, left in corners])


def _spread(room: int, count: int) -> list[int]:
    return [room // 2] if count == 1 else [index * room // (count - 1) for index in range(count)]


def _padded(pixels: Levels, width: int, height: int, colour: tuple[int, int, int]) -> Levels:
    """Put a picture into the middle of a larger one, places rounded down."""
    canvas = np.empty((height, width, 3), np.uint8)
    canvas[:] = colour
    top, left = (height - pixels.shape[0]) // 2, (width - pixels.shape[1]) // 2
    canvas[top : top + pixels.shape[0], left : left + pixels.shape[1]] = pixels
    return canvas

"""Pictures made small enough to travel inside a page, as data URIs. The same pixels and limits give the same bytes."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, features

LONGEST_SIDE = 256
"""Pixels of a thumbnail's longer side, where there is room for so many."""

_TRIES = ((1.0, 80), (1.0, 60), (0.75, 60), (0.625, 50), (0.5, 45), (0.375, 40), (0.25, 35))
"""Scale and quality, from the best to the poorest that still shows something."""

INK = (46, 122, 184)
"""Of lines on a transparent ground: it stands out from white (4.5:1) and from near black (4.5:1) alike."""

_LINES = ((0, 0, 0), INK)


def thumbnail(pixels: NDArray[np.uint8], longest: int = LONGEST_SIDE) -> Image.Image:
    """Make a picture of a longest side: a larger one is resampled, a much smaller one enlarged by a whole number.

    Args:
        pixels: Shape (height, width, 3) or (height, width), uint8.
        longest: Of the result's sides the longer one has at most so many pixels.
    """
    picture = Image.fromarray(pixels)
    width, height = picture.size
    scale = longest / max(width, height)
    if scale >= 1:
        times = int(scale)
        return picture.resize((width * times, height * times), Image.Resampling.NEAREST)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


def photograph(picture: Image.Image, max_bytes: int) -> str | None:
    """Write a picture with loss: in its size if that fits, else poorer and smaller.

    Args:
        picture: RGB or gray.
        max_bytes: What the data URI may take.

    Returns:
        A data URI; ``None`` if even the poorest is too large.
    """
    kind = "WEBP" if features.check("webp") else "JPEG"
    for scale, quality in _TRIES:
        size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        tried = picture if size == picture.size else picture.resize(size, Image.Resampling.LANCZOS)
        stored = io.BytesIO()
        tried.save(stored, kind, quality=quality)
        uri = _data_uri(stored.getvalue(), kind.lower())
        if len(uri) <= max_bytes:
            return uri
    return None


def line_drawing(is_ink: NDArray[np.bool_], max_bytes: int) -> str | None:
    """Write lines on a transparent ground, without loss.

    Args:
        is_ink: Shape (height, width).
        max_bytes: What the data URI may take.

    Returns:
        A data URI; ``None`` if it is too large.
    """
    height, width = is_ink.shape
    picture = Image.frombytes("P", (width, height), is_ink.astype(np.uint8).tobytes())
    picture.putpalette([channel for colour in _LINES for channel in colour])
    stored = io.BytesIO()
    picture.save(stored, "PNG", transparency=0, bits=1, optimize=True)
    uri = _data_uri(stored.getvalue(), "png")
    return uri if len(uri) <= max_bytes else None


def columns_of(lows: NDArray[np.float64], highs: NDArray[np.float64], height: int) -> NDArray[np.bool_]:
    """Draw a band as one vertical stroke in each column.

    Args:
        lows: Shape (width,), lower ends, 0 (the lowest row) to 1 (the uppermost).
        highs: Upper ends, likewise, at least ``lows``.
        height: Rows of the drawing.

    Returns:
        Shape (height, width), row 0 on top; each column has ink in two rows at least.
    """
    rows = np.arange(height)[:, None]
    top = np.rint((1.0 - highs) * (height - 1))
    bottom = np.rint((1.0 - lows) * (height - 1)) + 1
    return (rows >= top) & (rows <= bottom)


def extremes(values: NDArray[np.floating], width: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the least and the greatest value of each of ``width`` equal parts; of fewer values each fills some columns.

    Args:
        values: Shape (n,), n > 0.
        width: How many parts.

    Returns:
        Two arrays of shape (width,).
    """
    bounds = np.arange(width + 1) * len(values) // width
    starts = np.minimum(bounds[:-1], len(values) - 1)
    if len(values) < width:
        chosen = values[starts].astype(np.float64)
        return chosen, chosen
    return np.minimum.reduceat(values, starts).astype(np.float64), np.maximum.reduceat(values, starts).astype(np.float64)


def _data_uri(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"

"""Pictures as the recipes handle them, and the one way in which they become files."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""An RGB picture: (H, W, 3), 0 to 255."""

PNG_ENCODER: dict[str, Any] = {"library": "Pillow", "format": "PNG", "compress_level": 4}
"""How every lossless artifact is written."""


def encode_png(pixels: Pixels) -> bytes:
    """Encode (H, W, 3) uint8 RGB as a PNG without metadata."""
    buffer = io.BytesIO()
    PIL.Image.fromarray(pixels).save(buffer, format="PNG", compress_level=PNG_ENCODER["compress_level"])
    return buffer.getvalue()


def resize(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """Resize (H, W, 3) uint8 RGB to ``size`` = (width, height) with LANCZOS. The same size gives the same pixels."""
    if size == (pixels.shape[1], pixels.shape[0]):
        return pixels
    return np.asarray(PIL.Image.fromarray(pixels).resize(size, PIL.Image.Resampling.LANCZOS))

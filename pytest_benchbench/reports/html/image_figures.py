"""An image as a thumbnail, and how it differs from its reference, amplified."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.artifacts.image import Image, decode_image
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.reports.html.figure import Figure
from pytest_benchbench.reports.html.raster import LONGEST_SIDE, photograph, thumbnail

MAX_PIXELS = 40_000_000
"""Largest image that is decoded to draw a thumbnail."""


def image_figures(data: bytes, name: str, read_reference: Callable[[], bytes] | None, room: int) -> list[Figure]:
    """Draw a thumbnail and the amplified difference.

    The difference is ``|artifact - reference|``, of the three channels the largest; in a reduced picture each pixel shows
    the largest difference of its block, so that a single changed pixel stays visible.

    Args:
        data: The image's file.
        name: What to call it.
        read_reference: Gives the reference's file, or raises with a message; ``None`` where there is none.
        room: Bytes of data URIs.

    Returns:
        The thumbnail, and the difference where there is one; none if there is no room.

    Raises:
        UndecodableArtifactError: The image cannot be decoded, or is too large.
    """
    image = decode_image(data, max_pixels=MAX_PIXELS)
    height, width, _ = image.pixels.shape
    uri = photograph(thumbnail(image.pixels), room if read_reference is None else room // 2)
    if uri is None:
        return []
    caption = f"{name}, {width} x {height} pixels."
    alt = f"Thumbnail of {name}"
    if read_reference is None:
        return [Figure(uri, alt, f"{caption} The case has no reference.")]
    drawn = _difference_figure(image, name, read_reference, room - len(uri))
    if isinstance(drawn, Figure):
        return [Figure(uri, alt, caption), drawn]
    return [Figure(uri, alt, f"{caption} {drawn}")]


def _difference_figure(image: Image, name: str, read_reference: Callable[[], bytes], room: int) -> Figure | str:
    """Draw how an image differs from its reference; a sentence says why there is nothing to draw."""
    try:
        reference = decode_image(read_reference(), max_pixels=MAX_PIXELS)
    except UndecodableArtifactError as error:
        return f"No difference: the reference cannot be decoded ({error})."
    except Exception as error:  # of reading it; the message names the file
        return f"No difference: {error}."
    for which, side in (("image", image), ("reference", reference)):
        if side.incomparable is not None:
            return f"No difference: the {which} has {side.incomparable}."
    if image.pixels.shape != reference.pixels.shape:
        height, width, _ = reference.pixels.shape
        return f"No difference: the reference has {width} x {height} pixels."
    difference, block = reduced_difference(image.pixels, reference.pixels)
    largest = int(difference.max())
    if not largest:
        return "Each pixel equals that of the reference."
    times = 255 // largest
    uri = photograph(thumbnail(difference * np.uint8(times)), room)
    if uri is None:
        return "The page has no room for the difference."
    of = "each pixel" if block == 1 else f"each block of {block} x {block} pixels, its largest"
    caption = (
        f"Difference from the reference in {of}, shown {times} times as large: black is none, white {255 / times:.4g} of "
        f"255. Largest difference: {largest} of 255."
    )
    return Figure(uri, f"Difference of {name} from its reference, {times} times as large", caption)


def reduced_difference(artifact: NDArray[np.uint8], reference: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], int]:
    """Give the largest difference in each block of pixels.

    Args:
        artifact: Shape (height, width, 3).
        reference: The same shape.

    Returns:
        Shape (rows, columns), at most ``LONGEST_SIDE`` each, and the side of a block in pixels; blocks at the lower and
        right edge may be smaller.
    """
    height, width, _ = artifact.shape
    block = -(-max(height, width) // LONGEST_SIDE)
    columns = np.arange(0, width, block)
    rows = []
    for top in range(0, height, block):
        a, r = artifact[top : top + block], reference[top : top + block]
        strip = (np.maximum(a, r) - np.minimum(a, r)).max(axis=0)  # over long rows first, which is many times quicker
        rows.append(np.maximum.reduceat(strip.max(axis=1), columns))
    return np.stack(rows), block

"""A video as some of its frames, and how much of the message each frame holds where the evidence knows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from pytest_benchbench.artifacts.video import Video, decode_video
from pytest_benchbench.reports.html.figure import Figure
from pytest_benchbench.reports.html.raster import columns_of, extremes, line_drawing, photograph, thumbnail

MAX_PIXELS = 9_000_000
"""Largest frame of a video that is decoded to draw it: one of 4096 x 2160 just fits."""

MAX_FRAMES = 3000
"""Most frames of a video that is decoded to draw it."""

SHOWN = 8
"""How many frames a strip shows."""

_COLUMNS = 4
_SIDE = 160
_GAP = 4
_BAR = 8

_WIDTH, _HEIGHT = 384, 96


def video_figures(data: bytes, name: str, frame_bit_accuracy: Sequence[float], room: int) -> list[Figure]:
    """Draw frames of a video at equal distances, the first and the last among them.

    Args:
        data: The video's file.
        name: What to call it.
        frame_bit_accuracy: The share of right bits in each frame, each in [0, 1]. One that has not as many numbers as the
            video has frames is about something else, and is not drawn.
        room: Bytes of data URIs.

    Returns:
        The strip, and where the shares are known a curve of them over all frames; without those for which there is no room.

    Raises:
        UndecodableArtifactError: The video cannot be decoded, or is too large.
    """
    video = decode_video(data, max_pixels=MAX_PIXELS, max_frames=MAX_FRAMES)
    frames = video.shape[0]
    series = np.array(frame_bit_accuracy) if len(frame_bit_accuracy) == frames else None
    numbers = np.unique(np.rint(np.linspace(0, frames - 1, min(SHOWN, frames))).astype(int)).tolist()
    curve = None if series is None else _curve_figure(series, name, room // 4)
    uri = photograph(_strip(_chosen(video, numbers), None if series is None else series[numbers]), room - _size(curve))
    figures = []
    if uri is not None:
        figures.append(Figure(uri, f"{len(numbers)} frames of {name}", _caption(video, name, numbers, series)))
    return figures if curve is None else [*figures, curve]


def _size(figure: Figure | None) -> int:
    return 0 if figure is None else len(figure.data_uri)


def _chosen(video: Video, numbers: Sequence[int]) -> list[Pillow.Image]:
    wanted, last = set(numbers), max(numbers)
    chosen = []
    for number, picture in enumerate(video.pictures()):
        if number in wanted:
            chosen.append(thumbnail(picture, _SIDE))
        if number == last:
            break
    return chosen


def _strip(pictures: Sequence[Pillow.Image], shares: NDArray[np.float64] | None) -> Pillow.Image:
    """Put pictures into rows of four, below each a bar whose dark part is its share."""
    width, height = pictures[0].size
    bar = 0 if shares is None else _BAR
    columns = min(_COLUMNS, len(pictures))
    rows = -(-len(pictures) // columns)
    size = (columns * (width + _GAP) - _GAP, rows * (height + bar + _GAP) - _GAP)
    strip = Pillow.new("RGB", size, "gray")
    for number, picture in enumerate(pictures):
        row, column = divmod(number, columns)
        left, top = column * (width + _GAP), row * (height + bar + _GAP)
        strip.paste(picture, (left, top))
        if shares is not None:
            strip.paste("silver", (left, top + height + 2, left + width, top + height + bar))
            strip.paste("black", (left, top + height + 2, left + round(float(shares[number]) * width), top + height + bar))
    return strip


def _caption(video: Video, name: str, numbers: Sequence[int], series: NDArray[np.float64] | None) -> str:
    frames, height, width, _ = video.shape
    shown = ", ".join(str(number) for number in numbers)
    caption = f"{name}, {width} x {height} pixels, {frames} frames, {float(video.rate):.4g} a second. Frames {shown}."
    if series is None:
        return caption
    bits = ", ".join(f"{share:.3g}" for share in series[numbers])
    return f"{caption} Bar: share of right bits in each: {bits}."


def _curve_figure(series: NDArray[np.float64], name: str, room: int) -> Figure | None:
    """Draw the share of right bits in each frame, and a dotted line at a half, which guessing reaches."""
    lows, highs = extremes(series, _WIDTH)
    ink = columns_of(lows, highs, _HEIGHT)
    ink[round((_HEIGHT - 1) / 2), ::6] = True
    if (uri := line_drawing(ink, room)) is None:
        return None
    caption = (
        f"{name}: share of right bits in each frame, 0 to 1 upwards, frames 0 to {len(series) - 1} from left to right; "
        f"dotted: a half. Least {series.min():.3g}, mean {series.mean():.3g}, greatest {series.max():.3g}."
    )
    return Figure(uri, f"Bits right in each frame of {name}", caption)

"""Clips scaled and cropped. New sides are even, because the chroma of yuv420p is.

Unlike with pictures, plain names leave the size changed, as video is scaled in practice; ``-restored`` variants say so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_benchbench.cohorts.attacks.attack import Change, FileAttack, Writer, named
from pytest_benchbench.cohorts.attacks.video_compression import CLIP_WRITER, clip_writer
from pytest_benchbench.cohorts.clips import Clip, x264
from pytest_benchbench.cohorts.pictures import resize

DOWNSCALE_CRF = 18


def downscaled(percent: int, *, restored: bool) -> Change[Clip]:
    """Scale every frame to ``percent`` of both sides, to the nearest even number, with LANCZOS, and back if ``restored``."""

    def change(clip: Clip) -> tuple[Clip, dict[str, Any]]:
        height, width = clip.frames.shape[1:3]
        smaller = (_even_percent(width, percent), _even_percent(height, percent))
        frames = [resize(frame, smaller) for frame in clip.frames]
        if restored:
            frames = [resize(frame, (width, height)) for frame in frames]
        record = {"percent": percent, "resized_to": list(smaller), "filter": "lanczos", "size_restored": restored}
        return Clip(np.stack(frames), clip.rate), record

    return change


def cropped_centre(percent: int) -> Change[Clip]:
    """Keep the centre of every frame, ``percent`` of both sides to the nearest even number; the size is not restored."""

    def change(clip: Clip) -> tuple[Clip, dict[str, Any]]:
        height, width = clip.frames.shape[1:3]
        kept_width, kept_height = _even_percent(width, percent), _even_percent(height, percent)
        left, top = (width - kept_width) // 2, (height - kept_height) // 2
        box = [left, top, left + kept_width, top + kept_height]
        frames = clip.frames[:, top : top + kept_height, left : left + kept_width].copy()
        return Clip(frames, clip.rate), {"percent_of_side": percent, "box": box, "size_restored": False}

    return change


def _even_percent(side: int, percent: int) -> int:
    return max(2, 2 * ((side * percent + 100) // 200))


def _moved(family: str, strength: float, change: Change[Clip], writer: Writer[Clip]) -> FileAttack[Clip]:
    name = named(family, strength)
    return FileAttack(name=name, family=family, strength=strength, change=change, writer=writer, keeps_positions=False)


def _restored(percent: int) -> FileAttack[Clip]:
    return FileAttack(
        name=f"{named('downscale', percent)}-restored",
        family="downscale-restored",
        strength=percent,
        change=downscaled(percent, restored=True),
        writer=clip_writer(x264(DOWNSCALE_CRF)),
    )


ATTACKS: tuple[FileAttack[Clip], ...] = (
    *(
        _moved("downscale", percent, downscaled(percent, restored=False), clip_writer(x264(DOWNSCALE_CRF)))
        for percent in (90, 75, 71, 55, 50)
    ),
    *map(_restored, (90, 75, 71, 55, 50)),
    *(_moved("crop-centre", percent, cropped_centre(percent), CLIP_WRITER) for percent in (98, 94, 90, 75, 71, 55, 50)),
)
"""Every attack of this module, each family from weak to strong."""

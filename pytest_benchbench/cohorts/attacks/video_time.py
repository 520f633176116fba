"""Clips with fewer frames, and with frames averaged over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_benchbench.cohorts.attacks.attack import Change, FileAttack, named
from pytest_benchbench.cohorts.attacks.noise import uniform_words
from pytest_benchbench.cohorts.attacks.video_compression import CLIP_WRITER
from pytest_benchbench.cohorts.clips import Clip


def at_half_rate(clip: Clip) -> tuple[Clip, dict[str, Any]]:
    """Keep every second frame, the first one among them, at half the rate: the clip lasts as long as before."""
    kept = clip.frames[::2].copy()
    return Clip(kept, clip.rate / 2), {"kept": "frames 0, 2, 4, ...", "frames": len(kept), "rate": str(clip.rate / 2)}


def dropped(percent: int, seed: int) -> Change[Clip]:
    """Drop ``percent`` of the frames (rounded down, never all) and keep the rate: the clip gets shorter.

    The order in which frames go is drawn once for a seed, so that a higher percentage drops the same frames and more.
    """

    def change(clip: Clip) -> tuple[Clip, dict[str, Any]]:
        count = len(clip.frames)
        order = np.argsort(uniform_words(count, seed), kind="stable")
        gone = sorted(order[: min(count * percent // 100, count - 1)].tolist())
        record = {"percent": percent, "dropped": gone, "order": "argsort of PCG64 raw words", "rate": str(clip.rate)}
        return Clip(np.delete(clip.frames, gone, axis=0), clip.rate), record

    return change


def averaged(window: int) -> Change[Clip]:
    """Replace every frame by the mean of the ``window`` frames (odd) around it, fewer at the ends; halves rounded up."""

    def change(clip: Clip) -> tuple[Clip, dict[str, Any]]:
        count, reach = len(clip.frames), window // 2
        frames = np.empty_like(clip.frames)
        for index in range(count):
            around = clip.frames[max(0, index - reach) : index + reach + 1]
            total = around.sum(axis=0, dtype=np.int64)
            frames[index] = (2 * total + len(around)) // (2 * len(around))
        return Clip(frames, clip.rate), {"window": window, "ends": "fewer frames", "rounding": "half up"}

    return change


def _drop(percent: int) -> FileAttack[Clip]:
    return FileAttack(
        name=named("frame-drop", percent),
        family="frame-drop",
        strength=percent,
        change=dropped(percent, seed=0),
        writer=CLIP_WRITER,
        seed=0,
        keeps_positions=False,
    )


def _average(window: int) -> FileAttack[Clip]:
    name = named("frame-average", window)
    return FileAttack(name=name, family="frame-average", strength=window, change=averaged(window), writer=CLIP_WRITER)


ATTACKS: tuple[FileAttack[Clip], ...] = (
    FileAttack(name="halve-rate", family="halve-rate", change=at_half_rate, writer=CLIP_WRITER, keeps_positions=False),
    *map(_drop, (5, 10, 20, 25, 50)),
    *map(_average, (3, 5, 7)),
)
"""Every attack of this module, each family from weak to strong."""

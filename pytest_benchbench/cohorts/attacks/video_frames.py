"""Image attacks done to every frame of a clip, which is then written as the clips of a cohort are."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import PIL.Image

from pytest_benchbench.cohorts.attacks import image
from pytest_benchbench.cohorts.attacks.attack import Change, FileAttack
from pytest_benchbench.cohorts.attacks.image_filters import with_noise
from pytest_benchbench.cohorts.attacks.video_compression import CLIP_WRITER
from pytest_benchbench.cohorts.clips import Clip, Frames
from pytest_benchbench.cohorts.pictures import Pixels

FAMILIES = (
    "jpeg",
    "jpeg-420",
    "rotate",
    "hflip",
    "perspective",
    "blur",
    "median",
    "brightness-up",
    "brightness-down",
    "contrast-up",
    "contrast-down",
    "saturation-up",
    "saturation-down",
    "hue-up",
    "hue-down",
    "grayscale",
)
"""The families that are done frame by frame; all keep the size."""


def frame_by_frame(attack: FileAttack[Pixels]) -> Change[Clip]:
    """Do an image attack to every frame as it does it to a picture: write it, and read it back."""

    def change(clip: Clip) -> tuple[Clip, dict[str, Any]]:
        frames: list[Frames] = []
        record: dict[str, Any] = {}
        for frame in clip.frames:
            attacked = attack.apply(frame)
            record = attacked.parameters  # of the same size, so the same for every frame
            with PIL.Image.open(io.BytesIO(attacked.data)) as opened:
                frames.append(np.asarray(opened.convert("RGB")))
        each = {"name": attack.name, "revision": attack.revision, "seed": attack.seed, "parameters": record}
        return Clip(np.stack(frames), clip.rate), {"each_frame": each}

    return change


def with_noise_in_time(sigma: float, seed: int) -> Change[Clip]:
    """Add noise that differs from frame to frame: the frames are one tall picture to the generator."""

    def change(clip: Clip) -> tuple[Clip, dict[str, Any]]:
        tall = clip.frames.reshape(-1, *clip.frames.shape[2:])
        noisy, record = with_noise(sigma, seed)(tall)
        return replace(clip, frames=noisy.reshape(clip.frames.shape)), {**record, "frames": "independent"}

    return change


def _of(attack: FileAttack[Pixels]) -> FileAttack[Clip]:
    return FileAttack(
        name=f"frames-{attack.name}",
        family=f"frames-{attack.family}",
        strength=attack.strength,
        change=frame_by_frame(attack),
        writer=CLIP_WRITER,
        seed=attack.seed,
        revision=attack.revision,
        keeps_positions=attack.keeps_positions,
    )


def _noise(sigma: float) -> FileAttack[Clip]:
    return FileAttack(
        name=f"frames-noise-{sigma:g}",
        family="frames-noise",
        strength=sigma,
        change=with_noise_in_time(sigma, seed=0),
        writer=CLIP_WRITER,
        seed=0,
    )


ATTACKS: tuple[FileAttack[Clip], ...] = (
    *(_of(attack) for family in FAMILIES for attack in image.ATTACKS if attack.family == family),
    *map(_noise, (1, 2, 5, 10, 20, 25, 40)),
)
"""Every attack of this module, each family from weak to strong."""

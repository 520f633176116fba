"""Clips drawn by a formula: integers only, so that every machine draws the same frames.

They were written down before any detector was asked about them, and are not adjusted to what detectors answer. A changed
formula gets a new ``revision``. Movement is by whole pixels, so nothing is interpolated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.cohorts.carriers.synthetic import CARRIERS as PICTURES, HIGH_FREQUENCY
from pytest_benchbench.cohorts.clips import Clip, Frames
from pytest_benchbench.cohorts.pictures import Pixels

FRAMES = 64
SIDE = 256
RATE = Fraction(24)
"""Frames per second."""


@dataclass(frozen=True, slots=True)
class VideoCarrier:
    """A clip that carries no mark.

    Attributes:
        name: Its part of a case id.
        revision: Counts the versions of its formula.
        seed: What the generator is given; ``None`` when nothing random happens.
        formula: The formula in words.
        drawing: Draws it: seed in, (64, 256, 256, 3) uint8 RGB out.
    """

    name: str
    revision: int
    seed: int | None
    formula: str
    drawing: Callable[[int | None], Frames]

    def draw(self) -> Clip:
        """Draw it: 64 frames of 256x256 at 24 frames per second."""
        return Clip(self.drawing(self.seed), RATE)

    def record(self) -> dict[str, Any]:
        """Say in a case row what was drawn."""
        return {"name": self.name, "revision": self.revision, "seed": self.seed}


def _gradient(seed: int | None) -> Frames:
    frames = np.full((FRAMES, SIDE, SIDE, 3), 128, dtype=np.uint8)
    for time in range(FRAMES):
        frames[time, :, :, 0] = _there_and_back(np.arange(SIDE) + 2 * time)[np.newaxis, :]
        frames[time, :, :, 1] = _there_and_back(np.arange(SIDE) + time)[:, np.newaxis]
    return frames


def _there_and_back(position: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rise from 0 to 255 and fall to 0 again, every 512 pixels: a gradient that can move on without an edge."""
    within = position % 512
    return np.minimum(within, 511 - within, dtype=np.int64)


def _texture(seed: int | None) -> Frames:
    return _moved(_TEXTURE.drawing(SIDE, seed))


def _high_frequency(seed: int | None) -> Frames:
    return _moved(HIGH_FREQUENCY.drawing(SIDE, seed))


def _moved(picture: Pixels) -> Frames:
    """Move a picture by 2 pixels to the right and 1 down with each frame, opposite edges joined."""
    return np.stack([np.roll(picture, (time, 2 * time), axis=(0, 1)) for time in range(FRAMES)])


_TEXTURE = next(carrier for carrier in PICTURES if carrier.name == "texture")

CARRIERS: tuple[VideoCarrier, ...] = (
    VideoCarrier(
        name="moving-gradient",
        revision=1,
        seed=None,
        formula=(
            "red rises from left to right and green from top to bottom, 0 to 255 and back over 512 pixels; blue is 128; with"
            " each frame red moves 2 pixels to the left and green 1 up"
        ),
        drawing=_gradient,
    ),
    VideoCarrier(
        name="moving-texture",
        revision=1,
        seed=3,
        formula=(
            "the synthetic image cohort's texture with this seed, moved 2 pixels to the right and 1 down with each frame,"
            " opposite edges joined"
        ),
        drawing=_texture,
    ),
)
"""The sources of the video cohort's pairs."""

HARD_NEGATIVE = VideoCarrier(
    name="moving-high-frequency",
    revision=1,
    seed=4,
    formula=(
        "uniform noise in each channel and pixel, moved 2 pixels to the right and 1 down with each frame, opposite edges"
        " joined"
    ),
    drawing=_high_frequency,
)
"""The hard negative: a clip that never carried a mark and is all detail."""

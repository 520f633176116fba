"""Carriers drawn by a formula: integers only, so that every machine draws the same bytes.

They were written down before any detector was asked about them, and are not adjusted to what detectors answer. A changed
formula gets a new ``revision``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.cohorts.pictures import Pixels


@dataclass(frozen=True, slots=True)
class SyntheticCarrier:
    """A square picture that carries no mark.

    Attributes:
        name: Its part of a case id.
        revision: Counts the versions of its formula.
        seed: What the generator is given; ``None`` when nothing random happens.
        formula: The formula in words.
        drawing: Draws it: side in pixels and seed in, (side, side, 3) uint8 RGB out.
    """

    name: str
    revision: int
    seed: int | None
    formula: str
    drawing: Callable[[int, int | None], Pixels]

    def draw(self, side: int) -> Pixels:
        """Draw it, ``side`` pixels wide and high."""
        return self.drawing(side, self.seed)

    def record(self) -> dict[str, Any]:
        """Say in a case row what was drawn."""
        return {"name": self.name, "revision": self.revision, "seed": self.seed}


def _gradient(side: int, seed: int | None) -> Pixels:
    ramp = np.arange(side) * 255 // (side - 1)
    picture = np.full((side, side, 3), 128, dtype=np.uint8)
    picture[:, :, 0] = ramp[np.newaxis, :]
    picture[:, :, 1] = ramp[:, np.newaxis]
    return picture


def _texture(side: int, seed: int | None) -> Pixels:
    smooth = _binomial(_noise(side, seed).astype(np.int64))
    return np.clip(128 + 2 * (smooth - 128), 0, 255).astype(np.uint8)


def _low_detail(side: int, seed: int | None) -> Pixels:
    shade = 96 + np.arange(side) * 64 // (side - 1)
    picture = shade[:, np.newaxis, np.newaxis] + np.array([-8, 0, 16])
    picture = np.repeat(picture, side, axis=1)
    offset = 2 * np.arange(side) - (side - 1)
    inside = offset[:, np.newaxis] ** 2 + offset[np.newaxis, :] ** 2 <= (side // 2) ** 2
    picture[inside] += np.array([40, 24, 0])
    grain = _noise(side, seed).astype(np.int64) % 5 - 2
    return np.clip(picture + grain, 0, 255).astype(np.uint8)


def _high_frequency(side: int, seed: int | None) -> Pixels:
    return _noise(side, seed)


def _noise(side: int, seed: int | None) -> Pixels:
    """Draw independent uniform bytes: the top byte of each raw PCG64 word, a stream that NumPy promises not to change."""
    words = np.random.PCG64(seed).random_raw(side * side * 3)
    return np.asarray(words >> np.uint64(56), dtype=np.uint8).reshape(side, side, 3)


def _binomial(plane: NDArray[np.int64]) -> NDArray[np.int64]:
    """Smooth rows, then columns, with 1-4-6-4-1, opposite edges joined, and round."""
    for axis in (0, 1):
        plane = sum(
            (weight * np.roll(plane, step, axis) for step, weight in zip(range(-2, 3), (1, 4, 6, 4, 1), strict=True)),
            start=np.zeros_like(plane),
        )
    return (plane + 128) >> 8


CARRIERS: tuple[SyntheticCarrier, ...] = (
    SyntheticCarrier(
        name="gradient",
        revision=1,
        seed=None,
        formula="red rises from left to right and green from top to bottom, 0 to 255; blue is 128",
        drawing=_gradient,
    ),
    SyntheticCarrier(
        name="texture",
        revision=1,
        seed=0,
        formula="uniform noise in each channel, smoothed by the 5 x 5 binomial kernel, its contrast about 128 doubled",
        drawing=_texture,
    ),
    SyntheticCarrier(
        name="low-detail",
        revision=1,
        seed=1,
        formula="a shade from top to bottom, one disc of half the width, grain of at most 2 steps",
        drawing=_low_detail,
    ),
)
"""The sources of the synthetic cohort's pairs."""

HIGH_FREQUENCY = SyntheticCarrier(
    name="high-frequency",
    revision=1,
    seed=2,
    formula="uniform noise in each channel and pixel",
    drawing=_high_frequency,
)
"""The hard negative: a picture that never carried a mark and is all detail."""

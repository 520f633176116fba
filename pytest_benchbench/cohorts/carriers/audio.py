"""Sounds drawn by a formula: integers only after one table of sines, so that every machine draws the same samples.

They were written down before any detector was asked about them, and are not adjusted to what detectors answer. A changed
formula gets a new ``revision``. Every sample is a 16-bit integer divided by 32768, so a WAV file holds it exactly; a longer
draw begins with the shorter one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.sounds import SAMPLE_RATE, Samples

SECONDS = 8.0
"""How long a carrier of the audio cohort is."""

MAX_SECONDS = 60.0
"""Of what can be drawn; bounds the memory."""


@dataclass(frozen=True, slots=True)
class AudioCarrier:
    """A sound that carries no mark.

    Attributes:
        name: Its part of a case id.
        revision: Counts the versions of its formula.
        seed: What the generator is given; ``None`` when nothing random happens.
        formula: The formula in words.
        drawing: Draws it: number of samples and seed in, (n,) int64 out, each within 16 bits.
    """

    name: str
    revision: int
    seed: int | None
    formula: str
    drawing: Callable[[int, int | None], NDArray[np.int64]]

    def draw(self, seconds: float = SECONDS) -> Samples:
        """Draw it: (``seconds`` x 16,000,) float32 mono at 16 kHz, each sample a multiple of 1/32768 in [-1, 1).

        Raises:
            CohortError: Not more than 0 and at most 60 seconds, or less than one sample.
        """
        count = round(seconds * SAMPLE_RATE) if 0 < seconds <= MAX_SECONDS else 0
        if not count:
            raise CohortError(f"{self.name}: {seconds} s: expected more than 0 and at most {MAX_SECONDS:g} s")
        return (self.drawing(count, self.seed) / 32768).astype(np.float32)

    def record(self) -> dict[str, Any]:
        """Say in a case row what was drawn."""
        return {"name": self.name, "revision": self.revision, "seed": self.seed}


_SINE_BITS = 20
_PARTIALS = range(1, 9)
_PARTIAL_UNIT = 840
"""The least common multiple of 1 to 8: every partial's weight ``840 / h`` is an integer."""


def _sine() -> NDArray[np.int64]:
    """One second of 1 Hz, in steps of 2**-20.

    Before rounding, no value lies closer than 1e-4 to the middle between two integers (a test measures it), while the sines
    of two libraries differ by less than 1e-8 at this scale: the integers are the same everywhere.
    """
    return np.asarray(np.rint(2**_SINE_BITS * np.sin(2 * np.pi * np.arange(SAMPLE_RATE) / SAMPLE_RATE)), dtype=np.int64)


def _tone_stack(count: int, seed: int | None) -> NDArray[np.int64]:
    sine, time = _sine(), np.arange(count)
    stack = np.zeros(count, dtype=np.int64)
    for partial in _PARTIALS:
        stack += _PARTIAL_UNIT // partial * sine[220 * partial * time % SAMPLE_RATE]
    envelope = (2 << _SINE_BITS) + sine[3 * time % SAMPLE_RATE]
    # the largest product that the two could reach stands for half of full scale, 2**14
    loudest = sum(_PARTIAL_UNIT // partial for partial in _PARTIALS) * 3
    step = loudest << (2 * _SINE_BITS - 14)
    return np.asarray((stack * envelope + step // 2) // step, dtype=np.int64)


def _pinkish_noise(count: int, seed: int | None) -> NDArray[np.int64]:
    longest = 256
    sums = np.concatenate([[0], np.cumsum(_noise(count + longest, seed, bits=12))])
    end = np.arange(longest + 1, longest + 1 + count)
    smooth = np.zeros(count, dtype=np.int64)
    for power in range(5):
        smooth += (sums[end] - sums[end - 4**power]) << (4 - power)
    return np.asarray(np.clip((smooth + 16) >> 5, -32768, 32767), dtype=np.int64)


def _white_noise(count: int, seed: int | None) -> NDArray[np.int64]:
    return _noise(count, seed, bits=13)


def _noise(count: int, seed: int | None, *, bits: int) -> NDArray[np.int64]:
    """Draw independent odd integers, uniform from ``1 - 2**bits`` to ``2**bits - 1``, which have no mean.

    They are the top bits of raw PCG64 words, a stream that NumPy promises not to change.
    """
    words = np.random.PCG64(seed).random_raw(count) >> np.uint64(64 - bits)
    return np.asarray(2 * words.astype(np.int64) - (2**bits - 1), dtype=np.int64)


CARRIERS: tuple[AudioCarrier, ...] = (
    AudioCarrier(
        name="tone-stack",
        revision=1,
        seed=None,
        formula=(
            "the partials 1 to 8 of 220 Hz in phase, the n-th with the amplitude 1/n, all of them swelling between a third"
            " and the whole at 3 Hz; peaks at 31 % of full scale"
        ),
        drawing=_tone_stack,
    ),
    AudioCarrier(
        name="pinkish-noise",
        revision=1,
        seed=0,
        formula=(
            "uniform white noise, smoothed by adding its running sums over 1, 4, 16, 64 and 256 samples, divided by 1, 2, 4,"
            " 8 and 16, so that the power of each octave from 31 Hz up is the same within 2 dB; 12 % of full scale rms"
        ),
        drawing=_pinkish_noise,
    ),
    AudioCarrier(
        name="white-noise",
        revision=1,
        seed=1,
        formula="uniform white noise of a quarter of full scale",
        drawing=_white_noise,
    ),
)
"""The sources of the audio cohort's pairs. ``tone-stack`` is what speech watermarks were not made for."""

HARD_NEGATIVE = AudioCarrier(
    name="other-white-noise",
    revision=1,
    seed=2,
    formula="uniform white noise of a quarter of full scale",
    drawing=_white_noise,
)
"""The hard negative: a sound that never carried a mark, of the kind of a marked carrier, but another one."""

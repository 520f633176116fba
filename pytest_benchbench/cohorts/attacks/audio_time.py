"""Sounds made faster, slower and shorter: nothing stays where it was, so nothing is compared sample by sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.attack import Change, FileAttack, named
from pytest_benchbench.cohorts.attacks.audio_filters import WAV, fitted
from pytest_benchbench.cohorts.attacks.packages import needed
from pytest_benchbench.cohorts.sounds import SAMPLE_RATE, Samples

WINDOW = 512
HOP = 128


def sped(speed: float) -> Change[Samples]:
    """Play ``speed`` times as fast, pitch and all: resample from ``16000 speed`` to 16000 samples per second."""

    def change(samples: Samples) -> tuple[Samples, dict[str, Any]]:
        resampled = needed("soxr").resample(samples, SAMPLE_RATE * speed, SAMPLE_RATE, quality="HQ")
        return fitted(resampled, _shortened(samples.size, speed)), {"speed": speed, "resampler": "soxr HQ", "pitch": "moves"}

    return change


def stretched(speed: float) -> Change[Samples]:
    """Play ``speed`` times as fast and keep the pitch, by a phase vocoder.

    The short-time spectrum (``scipy.signal.stft``, periodic Hann window of 512, hop 128) is read at steps of ``speed``
    frames: magnitudes are interpolated, and phases advance by what they advance between the two frames read (Laroche and
    Dolson, "Improved phase vocoder time-scale modification of audio", 1999, section II).
    """

    def change(samples: Samples) -> tuple[Samples, dict[str, Any]]:
        signal = needed("scipy.signal")
        if samples.size < WINDOW:
            raise CohortError(f"time stretch: the sound is shorter than a window ({samples.size} of {WINDOW} samples)")
        settings: dict[str, Any] = {"window": "hann", "nperseg": WINDOW, "noverlap": WINDOW - HOP}
        _, _, spectrum = signal.stft(samples.astype(np.float64), **settings)
        _, attacked = signal.istft(_read_at(spectrum, speed), **settings)
        record = {
            "speed": speed,
            "method": "phase vocoder, scipy.signal.stft",
            "window": "hann",
            "window_samples": WINDOW,
            "hop_samples": HOP,
            "pitch": "stays",
        }
        return fitted(attacked, _shortened(samples.size, speed)), record

    return change


def _read_at(spectrum: NDArray[np.complex128], speed: float) -> NDArray[np.complex128]:
    """Read (bins, frames) at every multiple of ``speed`` frames."""
    places = np.arange(0, spectrum.shape[1], speed)
    before = places.astype(np.int64)
    weight = places - before
    padded = np.pad(spectrum, ((0, 0), (0, 1)))
    first, second = padded[:, before], padded[:, before + 1]
    expected = 2 * np.pi * HOP * np.arange(spectrum.shape[0])[:, np.newaxis] / WINDOW
    deviation = np.angle(second) - np.angle(first) - expected
    advance = expected + deviation - 2 * np.pi * np.round(deviation / (2 * np.pi))
    phase = np.angle(spectrum[:, :1]) + np.cumsum(advance, axis=1) - advance
    read: NDArray[np.complex128] = ((1 - weight) * np.abs(first) + weight * np.abs(second)) * np.exp(1j * phase)
    return read


def cut(percent: int) -> Change[Samples]:
    """Cut ``percent`` of the length (halves rounded up) off the beginning and off the end."""

    def change(samples: Samples) -> tuple[Samples, dict[str, Any]]:
        first = (samples.size * percent + 50) // 100
        last = samples.size - first
        if first >= last:
            raise CohortError(f"a crop would leave nothing of {samples.size} samples")
        return samples[first:last].copy(), {"percent_per_end": percent, "kept": [first, last]}

    return change


def _shortened(length: int, speed: float) -> int:
    return max(1, round(length / speed))


def _moved(family: str, strength: float, change: Change[Samples]) -> FileAttack[Samples]:
    name = named(family, strength)
    return FileAttack(name=name, family=family, strength=strength, change=change, writer=WAV, keeps_positions=False)


ATTACKS: tuple[FileAttack[Samples], ...] = (
    *(_moved("speed-fast", speed, sped(speed)) for speed in (1.05, 1.1, 1.25, 1.5)),
    *(_moved("speed-slow", speed, sped(speed)) for speed in (0.95, 0.9, 0.75, 0.5)),
    *(_moved("stretch-fast", speed, stretched(speed)) for speed in (1.05, 1.1, 1.25, 1.3, 1.5)),
    *(_moved("stretch-slow", speed, stretched(speed)) for speed in (0.95, 0.9, 0.75, 0.7)),
    *(_moved("crop", percent, cut(percent)) for percent in (1, 5, 10, 25)),
)
"""Every attack of this module, each family from weak to strong."""

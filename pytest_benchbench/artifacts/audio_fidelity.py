"""How a decoded sound compares with its reference. It says nothing about whether an inaudible mark remains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from pytest_benchbench.artifacts.audio import Audio

_LANES = 16_384
"""Partial sums that are kept side by side."""


@dataclass(frozen=True, slots=True)
class AudioFidelity:
    """Audio fidelity, or why there is none.

    Attributes:
        status: ``measured`` or ``incomparable``.
        reason: Why incomparable.
        snr_db: Signal-to-noise ratio in dB; ``None`` where it has no bound or no meaning.
        snr_status: ``finite``, ``unbounded_identical`` or ``zero_reference_power``.
    """

    status: Literal["measured", "incomparable"]
    reason: str | None = None
    snr_db: float | None = None
    snr_status: Literal["finite", "unbounded_identical", "zero_reference_power"] | None = None


def audio_fidelity(artifact: Audio, reference: Audio) -> AudioFidelity:
    """Compare decoded samples.

    With a and r the samples of artifact and reference::

        snr_db = 10 log10(sum r^2 / sum (a - r)^2)

    Squares are 64-bit floats. Sample i goes to partial sum i mod 16384, in order, and the partial sums are added without
    rounding in between, so the figure depends neither on the machine nor on the library's way of summing. Nothing is
    aligned or cut: a shift by one sample counts as noise.

    Returns:
        ``incomparable`` with the reason when either sound says so or the lengths differ, else ``measured``. Identical
        samples are ``unbounded_identical``, silent ones included; any others against a silent reference are
        ``zero_reference_power``.
    """
    for name, audio in (("artifact", artifact), ("reference", reference)):
        if audio.incomparable is not None:
            return AudioFidelity("incomparable", f"{name}: {audio.incomparable}")
    a, r = artifact.samples, reference.samples
    if a.shape != r.shape:
        return AudioFidelity("incomparable", f"length: artifact {a.size} samples, reference {r.size}")
    noise = _power(a, r)
    if noise == 0:
        return AudioFidelity("measured", snr_status="unbounded_identical")
    signal = _power(r, None)
    if signal == 0:
        return AudioFidelity("measured", snr_status="zero_reference_power")
    return AudioFidelity("measured", snr_db=10.0 * math.log10(signal / noise), snr_status="finite")


def _power(samples: npt.NDArray[np.float32], other: npt.NDArray[np.float32] | None) -> float:
    """Sum the squares of the samples, or of their differences from others."""
    lanes = np.zeros(_LANES)
    for start in range(0, samples.size, _LANES):
        block = samples[start : start + _LANES].astype(np.float64)
        if other is not None:
            block -= other[start : start + _LANES]
        lanes[: block.size] += block * block
    return math.fsum(lanes)

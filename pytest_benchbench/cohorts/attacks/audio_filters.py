"""Sounds made noisy, filtered, scaled and quantised; every sample stays where it is."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.attack import Change, FileAttack, Writer, named
from pytest_benchbench.cohorts.attacks.noise import GENERATOR, normal_deviates
from pytest_benchbench.cohorts.attacks.packages import needed
from pytest_benchbench.cohorts.sounds import SAMPLE_RATE, WAV_ENCODER, Samples, encode_wav

WAV: Writer[Samples] = Writer(encode_wav, ".wav", WAV_ENCODER)
"""How every changed sound is written; what exceeds full scale is clipped."""

FILTER_ORDER = 4
ECHO_SECONDS = 0.1


def with_noise(decibels: float, seed: int) -> Change[Samples]:
    """Add white normal noise, scaled so that this very noise lies ``decibels`` below the sound in mean power.

    Powers are summed with ``math.fsum``, which rounds once: every machine adds the same noise.
    """

    def change(samples: Samples) -> tuple[Samples, dict[str, Any]]:
        noise = normal_deviates(samples.size, seed)
        of_sound, of_noise = _energy(samples.astype(np.float64)), _energy(noise)
        if of_sound == 0:
            raise CohortError("silence has no signal-to-noise ratio")
        scale = math.sqrt(of_sound / of_noise / 10 ** (decibels / 10))
        record = {"snr_db": decibels, "noise": "white, normal", "scale": scale, "generator": GENERATOR}
        return (samples + scale * noise).astype(np.float32), record

    return change


def resampled(rate: int) -> Change[Samples]:
    """Resample to ``rate`` samples per second and back, and cut or pad with zeros to the old length."""

    def change(samples: Samples) -> tuple[Samples, dict[str, Any]]:
        soxr = needed("soxr")
        there = soxr.resample(samples, SAMPLE_RATE, rate, quality="HQ")
        back = soxr.resample(there, rate, SAMPLE_RATE, quality="HQ")
        return fitted(back, samples.size), {"rate": rate, "resampler": "soxr HQ", "rate_restored": True}

    return change


def fitted(samples: NDArray[Any], length: int) -> Samples:
    """Cut at the end, or pad with zeros there, to ``length`` samples."""
    kept = np.zeros(length, dtype=np.float32)
    kept[: samples.size] = samples[:length]
    return kept


def filtered(kind: Literal["lowpass", "highpass", "bandpass"], *edges: float) -> Change[Samples]:
    """Filter by a Butterworth of order 4, forwards and backwards: no delay, and the response squared (-6 dB at an edge).

    Args:
        kind: What passes.
        edges: In Hz; two of them for ``bandpass``.
    """

    def change(samples: Samples) -> tuple[Samples, dict[str, Any]]:
        signal = needed("scipy.signal")
        sections = signal.butter(FILTER_ORDER, edges if len(edges) > 1 else edges[0], kind, fs=SAMPLE_RATE, output="sos")
        try:
            attacked = signal.sosfiltfilt(sections, samples.astype(np.float64))
        except ValueError as refused:  # it extends the sound at both ends and needs something to do so
            raise CohortError(f"{kind}: the sound is too short ({samples.size} samples)") from refused
        record = {
            "filter": "scipy.signal.butter, sosfiltfilt (zero phase)",
            "kind": kind,
            "order": FILTER_ORDER,
            "edges_hz": list(edges),
        }
        return attacked.astype(np.float32), record

    return change


def scaled(decibels: float) -> Change[Samples]:
    """Scale by a gain in dB; the writer clips what exceeds full scale."""

    def change(samples: Samples) -> tuple[Samples, dict[str, Any]]:
        return (samples * 10 ** (decibels / 20)).astype(np.float32), {"gain_db": decibels, "overflow": "clipped"}

    return change


def echoed(volume: float) -> Change[Samples]:
    """Add the sound once more, a tenth of a second later and scaled by ``volume``; the length stays."""
    delay = round(ECHO_SECONDS * SAMPLE_RATE)

    def change(samples: Samples) -> tuple[Samples, dict[str, Any]]:
        if samples.size <= delay:
            raise CohortError(f"echo: the sound ends before the echo begins ({samples.size} of {delay} samples)")
        attacked = samples.astype(np.float64)
        attacked[delay:] += volume * samples[:-delay].astype(np.float64)
        return attacked.astype(np.float32), {"volume": volume, "delay_samples": delay, "overflow": "clipped"}

    return change


def quantised(bits: int) -> Change[Samples]:
    """Round to the nearest of ``2^bits`` levels, half to even: multiples of ``2^(1 - bits)``, zero among them."""

    def change(samples: Samples) -> tuple[Samples, dict[str, Any]]:
        levels = float(2 ** (bits - 1))
        attacked = np.clip(np.rint(samples.astype(np.float64) * levels), -levels, levels - 1) / levels
        return attacked.astype(np.float32), {"bits": bits, "quantiser": "mid-tread, round half to even"}

    return change


def _energy(samples: NDArray[np.float64]) -> float:
    return math.fsum((samples * samples).tolist())


def _kept(family: str, strength: float, change: Change[Samples], *, seed: int | None = None) -> FileAttack[Samples]:
    name = named(family, strength)
    return FileAttack(name=name, family=family, strength=strength, change=change, writer=WAV, seed=seed)


def _bandpass(low: int, high: int) -> FileAttack[Samples]:
    """Name it by both edges, each band inside the one before; its strength is its width."""
    name, change = f"bandpass-{low}-{high}", filtered("bandpass", low, high)
    return FileAttack(name=name, family="bandpass", strength=high - low, change=change, writer=WAV)


ATTACKS: tuple[FileAttack[Samples], ...] = (
    *(_kept("noise", decibels, with_noise(decibels, seed=0), seed=0) for decibels in (40, 30, 20, 10, 5)),
    *(_kept("resample", rate, resampled(rate)) for rate in (32000, 22050, 11025, 8000)),
    *(_kept("lowpass", edge, filtered("lowpass", edge)) for edge in (6000, 5000, 3500, 2000, 1000, 500)),
    *(_kept("highpass", edge, filtered("highpass", edge)) for edge in (250, 500, 1000, 2000, 4000)),
    *(_bandpass(low, high) for low, high in ((100, 7000), (200, 6000), (500, 5000), (1000, 3000))),
    FileAttack(name="telephone-band", family="telephone-band", change=filtered("bandpass", 300, 3400), writer=WAV),
    *(_kept("gain-down", decibels, scaled(-decibels)) for decibels in (3, 6, 12, 20)),
    *(_kept("gain-up", decibels, scaled(decibels)) for decibels in (3, 6, 12)),
    *(_kept("echo", volume, echoed(volume)) for volume in (0.1, 0.3, 0.5, 0.7, 0.9)),
    *(_kept("quantise", bits, quantised(bits)) for bits in (14, 12, 10, 8, 6, 4)),
)
"""Every attack of this module, each family from weak to strong."""

"""Sounds as the recipes handle them, and the one way in which they become files and come back."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.cohorts import CohortError

Samples = NDArray[np.float32]
"""A mono sound at 16 kHz: (n,) float32, full scale from -1 to 1."""

SAMPLE_RATE = 16_000
"""Samples per second of every sound."""

WAV_ENCODER: dict[str, Any] = {
    "library": "Python wave",
    "format": "WAV",
    "sample_format": "16-bit PCM",
    "channels": 1,
    "rate": SAMPLE_RATE,
    "quantiser": "round half to even of 32768 x, clipped to -32768..32767",
}
"""How every lossless sound is written."""


def to_pcm16(samples: Samples) -> NDArray[np.int16]:
    """Quantise (n,) samples to 16-bit integers: ``32768 x``, rounded half to even, clipped to what 16 bits hold.

    Raises:
        CohortError: A sample is not a finite number, or the array is not one channel.
    """
    checked = check_samples(samples)
    return np.clip(np.rint(checked.astype(np.float64) * 32768.0), -32768, 32767).astype(np.int16)


def encode_wav(samples: Samples) -> bytes:
    """Encode (n,) samples as a WAV file of 16-bit PCM, which reads back as ``integer / 32768``.

    Raises:
        CohortError: A sample is not a finite number, or the array is not one channel.
    """
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(to_pcm16(samples).astype("<i2").tobytes())
    return buffer.getvalue()


def decode_sound(data: bytes) -> Samples:
    """Decode a file as an adapter will be shown it: (n,) float32 mono at 16 kHz, read-only.

    Raises:
        UndecodableArtifactError: The bytes are no sound that can be decoded.
    """
    from pytest_benchbench.artifacts.audio import decode_audio  # its decoders come with the extra `audio`

    return decode_audio(data).samples


def check_samples(samples: Samples) -> Samples:
    """Refuse an array that is no mono sound, else give it back.

    Raises:
        CohortError: Not one-dimensional, empty, or not finite.
    """
    if samples.ndim != 1 or not samples.size:
        raise CohortError(f"a sound of shape {samples.shape}: expected one channel of at least one sample")
    if not np.isfinite(samples).all():
        raise CohortError("a sound with samples that are not finite numbers")
    return samples

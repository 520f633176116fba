"""What the audio schemes have in common: which samples they take, and what their embedders give back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters.base import Sample
from pytest_benchbench.artifacts.audio import AUDIO_RATE, Audio

Samples = NDArray[np.float32]
"""A sound: (n,) float32, mono, 16 kHz, 1.0 at full scale."""


class SampleEmbedder(ABC):
    """An ``Embedder`` that marks mono sound at 16 kHz."""

    def embed(self, sample: Sample, message: tuple[int, ...] | None = None) -> Audio:
        """Mark a decoded sound; without a message with the benchmark's own, where the scheme has messages.

        Raises:
            TypeError: The sample is no decoded sound.
            ValueError: It cannot carry the message.
        """
        samples = self.embed_samples(samples_of(sample), message)
        samples.flags.writeable = False
        return Audio(samples, {"rule": "embedded", "size": [len(samples)], "rate": AUDIO_RATE}, None)

    @abstractmethod
    def embed_samples(self, samples: Samples, message: tuple[int, ...] | None = None) -> Samples:
        """Mark (n,) float32 mono at 16 kHz and give a new array; a scheme may give a shorter one.

        Raises:
            ValueError: The array is no such sound, it is too short, or the message is not one of the scheme's.
        """


def samples_of(sample: Sample) -> Samples:
    """Take the decoded samples out of a sample: (n,) float32, mono, 16 kHz.

    Raises:
        TypeError: The sample is no decoded sound.
    """
    if not isinstance(sample.decoded, Audio):
        raise TypeError(f"expected a decoded sound, not {type(sample.decoded).__name__}")
    return sample.decoded.samples


def require_samples(samples: NDArray[Any]) -> None:
    """Check that an array is a mono sound.

    Raises:
        ValueError: Its shape is not (n,), its type not float32, or a sample is not finite.
    """
    if samples.ndim != 1 or samples.dtype != np.float32:
        raise ValueError(f"expected (n,) float32, not {samples.shape} {samples.dtype}")
    if not np.isfinite(samples).all():
        raise ValueError("a sample is not finite")


def too_short(samples: Samples, minimum: int) -> str | None:
    """Say why a sound of fewer than ``minimum`` samples cannot be asked about; ``None`` if it is long enough."""
    if len(samples) >= minimum:
        return None
    milliseconds = minimum * 1000 / AUDIO_RATE
    return f"{minimum} samples ({milliseconds:.1f} ms) are needed, the sound has {len(samples)}"


def too_long(samples: Samples, seconds: int) -> str | None:
    """Say why a sound of more than ``seconds`` is not taken; ``None`` if it is."""
    if len(samples) <= seconds * AUDIO_RATE:
        return None
    return f"{seconds} s are taken at most, the sound has {len(samples) / AUDIO_RATE:.2f} s"

"""Audio artifacts: one written rule for each format, to mono 16 kHz. ``docs/decoding.md`` is the table of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_benchbench.artifacts.audio_decoders import Block, OpenedSound, library, open_sound
from pytest_benchbench.artifacts.media import UndecodableArtifactError

AUDIO_RATE = 16_000
"""Sample rate in Hz of every decoded sound."""

DEFAULT_MAX_SECONDS = 3600.0
"""Longest accepted duration: an hour, which takes 230 MB decoded, and as much again while it is put together."""

MAX_CHANNELS = 64

MIN_RATE, MAX_RATE = 1_000, 768_000
"""Accepted sample rates of a file in Hz."""

MAX_VALUES = 1 << 31
"""Most stored samples over all channels, an hour in six channels at 96 kHz: a small file can unfold to far more."""

_MAX_MESSAGE_CHARACTERS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Audio:
    """A decoded sound.

    Attributes:
        samples: Array of shape (n,), n > 0, float32, mono, 16 kHz, full scale at 1 (a file may go beyond), finite,
            read-only.
        decoding: The rule and its facts: ``rule`` (steps joined by ``+``), ``format`` (the container), ``codec``,
            ``channels`` and ``rate`` (of the file), ``size`` ([n]), ``decoder``, ``downmix`` and ``resampler`` (null where
            nothing was to do), and where they apply ``bit_depth``, ``gapless`` (what told encoder delay and padding),
            ``streams``.
        incomparable: Why fidelity against this sound is refused, or ``None``.
    """

    samples: npt.NDArray[np.float32]
    decoding: dict[str, Any]
    incomparable: str | None


def decode_audio(data: bytes, *, max_seconds: float = DEFAULT_MAX_SECONDS) -> Audio:
    """Decode the first audio stream of a file to mono 16 kHz float32 by the rules of ``docs/decoding.md``.

    A mono 16 kHz file passes through untouched. Channels are averaged in 64-bit floats in their order, then resampled by
    soxr at quality HQ, so that n samples become n x 16000 / rate, rounded. Nothing is clipped or normalised. Threads may
    call this at the same time.

    Args:
        data: The whole file.
        max_seconds: Longest accepted duration; checked in the header where it is told, and while decoding.

    Raises:
        UndecodableArtifactError: Not an accepted format, broken, truncated, too long, without a sample, with samples that
            are not finite, or a package of the extra ``audio`` is missing. One line.
    """
    try:
        return _decode(open_sound(data), max_seconds)
    except UndecodableArtifactError:
        raise
    except Exception as error:
        raise UndecodableArtifactError(_one_line(error)) from None


def _decode(sound: OpenedSound, max_seconds: float) -> Audio:
    _check_bounds(sound, max_seconds)
    resampler = None
    named = None
    if sound.rate != AUDIO_RATE:
        soxr = library("soxr", f"sound at {sound.rate} Hz")
        resampler = soxr.ResampleStream(sound.rate, AUDIO_RATE, 1, dtype="float64", quality="HQ")
        named = f"soxr {soxr.__version__} HQ"
    parts = []
    read = 0
    for block in sound.blocks:
        read += len(block)
        _check_length(read, sound, max_seconds)
        mono = _mean_of_channels(block)
        if not np.isfinite(mono).all():
            raise UndecodableArtifactError("the file holds samples that are not finite")
        parts.append(_narrowed(mono if resampler is None else resampler.resample_chunk(mono)))
    if sound.declared not in (None, read):
        raise UndecodableArtifactError(f"the file declares {sound.declared} samples, and {read} could be decoded")
    if resampler is not None:
        parts.append(_narrowed(resampler.resample_chunk(np.empty(0), last=True)))
    samples = np.frombuffer(b"".join(parts), np.float32)  # over bytes, hence read-only
    if not samples.size:
        raise UndecodableArtifactError("the file holds no samples" if not read else "the file is too short for one sample")
    if not np.isfinite(samples).all():
        raise UndecodableArtifactError("the file holds samples beyond what 32-bit floats can represent")
    steps = [sound.codec]
    if sound.channels > 1:
        steps.append("mean-of-channels")
    if named is not None:
        steps.append("resampled")
    decoding = {
        "rule": "+".join(steps),
        "format": sound.container,
        "codec": sound.codec,
        "channels": sound.channels,
        "rate": sound.rate,
        "size": [int(samples.size)],
        "decoder": sound.decoder,
        "downmix": "mean of channels" if sound.channels > 1 else None,
        "resampler": named,
    }
    return Audio(samples, decoding | sound.facts, sound.incomparable)


def _check_bounds(sound: OpenedSound, max_seconds: float) -> None:
    if not 1 <= sound.channels <= MAX_CHANNELS:
        raise UndecodableArtifactError(f"{sound.channels} channels; 1 to {MAX_CHANNELS} are accepted")
    if not MIN_RATE <= sound.rate <= MAX_RATE:
        raise UndecodableArtifactError(f"a sample rate of {sound.rate} Hz; {MIN_RATE} to {MAX_RATE} are accepted")
    if sound.declared is not None:
        if sound.declared <= 0:
            raise UndecodableArtifactError("the file holds no samples")
        _check_length(sound.declared, sound, max_seconds)


def _check_length(samples: int, sound: OpenedSound, max_seconds: float) -> None:
    if samples > max_seconds * sound.rate:
        raise UndecodableArtifactError(f"the sound is longer than the limit of {max_seconds:g} s")
    if samples * sound.channels > MAX_VALUES:
        raise UndecodableArtifactError(f"the sound has more than the limit of {MAX_VALUES} samples over all channels")


def _mean_of_channels(block: Block) -> npt.NDArray[np.float64]:
    """Average the channels in their order, so that every machine rounds alike."""
    total: npt.NDArray[np.float64] = block[:, 0].astype(np.float64)
    if block.shape[1] == 1:
        return total
    with np.errstate(all="ignore"):  # what is not finite is refused by name
        for channel in range(1, block.shape[1]):
            total += block[:, channel]
        total /= block.shape[1]
    return total


def _narrowed(samples: npt.NDArray[np.float64]) -> bytes:
    with np.errstate(all="ignore"):
        return samples.astype(np.float32).tobytes()


def _one_line(error: Exception) -> str:
    """Say what a library said, without the addresses and streams of FFmpeg's log that its messages may carry."""
    said = getattr(error, "error_string", None) or getattr(error, "strerror", None) or str(error)
    text = "".join(character if character.isprintable() else " " for character in str(said))
    text = " ".join(text.split())[:_MAX_MESSAGE_CHARACTERS]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

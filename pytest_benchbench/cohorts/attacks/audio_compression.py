"""Sounds written by lossy codecs, each in a file of its own kind, at 16 kHz and in one channel.

Every encoder tells the file how much of its padding to cut off, so that a reader which obeys gets the old length back: the
Xing/LAME header of MP3, the edit list of M4A, the pre-skip and the last granule of Ogg.
"""

from __future__ import annotations

import io
from fractions import Fraction
from typing import Any

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.attack import FileAttack, Writer, named, unchanged
from pytest_benchbench.cohorts.attacks.packages import needed
from pytest_benchbench.cohorts.sounds import SAMPLE_RATE, Samples, check_samples

AAC_LARGEST_RATE = 6144 * SAMPLE_RATE // 1024
"""Bits per second that AAC can hold in one channel (6144 bits for 1024 samples, ISO/IEC 14496-3): FFmpeg writes no more."""

_BIT_EXACT = {"fflags": "+bitexact"}  # no version and no random serial number in the file


def mp3_writer(kilobits: int) -> Writer[Samples]:
    """Write an MP3 of constant bit rate, in kbit/s (8 to 160 at this sample rate), by LAME."""
    return _ffmpeg_writer(
        "libmp3lame",
        {"b": f"{kilobits}000", "abr": "0", "reservoir": "1"},
        sample_format="fltp",
        container="mp3",
        container_options={**_BIT_EXACT, "id3v2_version": "0", "write_xing": "1"},
        extension=".mp3",
    )


def aac_writer(kilobits: int) -> Writer[Samples]:
    """Write AAC-LC in a gapless M4A by FFmpeg's own encoder, at most so many kbit/s; above 96 AAC can hold no more."""
    return _ffmpeg_writer(
        "aac",
        {"b": f"{kilobits}000", "aac_coder": "twoloop"},
        sample_format="fltp",
        container="ipod",
        container_options=_BIT_EXACT,
        extension=".m4a",
        bit_rate_used=min(kilobits * 1000, AAC_LARGEST_RATE),
    )


def opus_writer(kilobits: int) -> Writer[Samples]:
    """Write Opus in Ogg, variable bit rate around so many kbit/s (at least 6), by libopus."""
    return _ffmpeg_writer(
        "libopus",
        {"b": f"{kilobits}000", "application": "audio", "vbr": "on", "frame_duration": "20", "compression_level": "10"},
        sample_format="flt",
        container="ogg",
        container_options=_BIT_EXACT,
        extension=".opus",
    )


_PIECE = 4096
"""Samples in one call of libsndfile's Vorbis encoder, which takes them on the stack: minutes at once end the process."""


def vorbis_writer(quality: float) -> Writer[Samples]:
    """Write Vorbis in Ogg by libsndfile: quality 0 to 1. The file carries a random serial number."""
    settings = {"format": "OGG", "subtype": "VORBIS", "compression_level": round(1 - quality, 2)}

    def encode(samples: Samples) -> bytes:
        soundfile = needed("soundfile")
        check_samples(samples)
        buffer = io.BytesIO()
        try:
            with soundfile.SoundFile(buffer, "w", SAMPLE_RATE, 1, **settings) as file:
                for start in range(0, samples.size, _PIECE):
                    file.write(samples[start : start + _PIECE])
        except RuntimeError as refused:
            raise CohortError(f"Vorbis: cannot encode {samples.size} samples: {refused}") from refused
        return buffer.getvalue()

    record = {"library": "libsndfile", **settings, "rate": SAMPLE_RATE, "channels": 1, "samples_per_call": _PIECE}
    return Writer(encode, ".ogg", record, reproducible="samples")


def _ffmpeg_writer(
    codec: str,
    options: dict[str, str],
    *,
    sample_format: str,
    container: str,
    container_options: dict[str, str],
    extension: str,
    **used: Any,
) -> Writer[Samples]:
    def encode(samples: Samples) -> bytes:
        av = needed("av")
        buffer = io.BytesIO()
        try:
            with av.open(buffer, "w", format=container, options=container_options) as file:
                stream = file.add_stream(codec, rate=SAMPLE_RATE, options=options)
                known = stream.codec_context.supported_options
                for name in options.keys() - {option.name for option in (*known.generic, *known.private)}:
                    raise CohortError(f"{codec} has no option {name!r}")  # FFmpeg would encode without it
                stream.codec_context.layout = "mono"
                stream.codec_context.format = sample_format
                frame = av.AudioFrame.from_ndarray(check_samples(samples)[None].copy(), format=sample_format, layout="mono")
                frame.sample_rate, frame.pts, frame.time_base = SAMPLE_RATE, 0, Fraction(1, SAMPLE_RATE)
                file.mux(stream.encode(frame))
                file.mux(stream.encode(None))
        except (av.error.FFmpegError, ValueError) as refused:  # ValueError: PyAV knows no such codec
            raise CohortError(f"{codec}: cannot encode {samples.size} samples: {refused}") from refused
        return buffer.getvalue()

    record = {
        "library": "FFmpeg",
        "codec": codec,
        "options": options,
        "sample_format": sample_format,
        "rate": SAMPLE_RATE,
        "channels": 1,
        **used,
        "container": container,
        "container_options": container_options,
    }
    return Writer(encode, extension, record)


def _encode(family: str, strength: float, writer: Writer[Samples]) -> FileAttack[Samples]:
    return FileAttack(name=named(family, strength), family=family, strength=strength, change=unchanged, writer=writer)


ATTACKS: tuple[FileAttack[Samples], ...] = (
    *(_encode("mp3", rate, mp3_writer(rate)) for rate in (160, 128, 64, 40, 32, 24, 16, 8)),
    *(_encode("aac", rate, aac_writer(rate)) for rate in (128, 64, 32, 24, 12)),
    *(_encode("opus", rate, opus_writer(rate)) for rate in (128, 64, 32, 16, 8, 6)),
    *(_encode("vorbis", quality, vorbis_writer(quality)) for quality in (1, 0.8, 0.5, 0.2, 0)),
)
"""Every attack of this module, each family from weak to strong."""

"""Opening an audio file: which library decodes which format, and what it is held to.

WAV, FLAC and Ogg go through libsndfile, MP3, MP4 and ADTS through FFmpeg. FFmpeg gets a Vorbis file wrong whose sound lies
in one page, and its own Opus decoder loses samples and comes late where libopus, the reference, does not. What the file says
about its own length was read before, in ``sound_structure`` and ``mp4_structure``, and the decoder has to come to the same.
"""

from __future__ import annotations

import hashlib
import importlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_benchbench.artifacts.containers import DEMUXERS, AudioContainer, id3_bytes, identify_audio
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.mp4_structure import first_audio_track
from pytest_benchbench.artifacts.sound_structure import (
    OPUS_RATE,
    PcmLayout,
    adts_frames,
    flac_layout,
    mp3_frames,
    ogg_sound,
    wav_layout,
)

Block = npt.NDArray[Any]
"""Samples of shape (n, channels), floating-point, full scale at 1."""

INSTALL = "pip install 'pytest-benchbench[audio]'"

_CODECS: dict[AudioContainer, tuple[str, ...]] = {
    "mp3": ("mp3",),
    "m4a": ("aac", "alac"),
    "adts": ("aac",),
}

_BLOCK_VALUES = 1 << 18

_FULL_SCALE = {np.dtype(np.int16): 2.0**15, np.dtype(np.int32): 2.0**31}


@dataclass(frozen=True, slots=True)
class OpenedSound:
    """A sound whose header has been read and found acceptable.

    Attributes:
        container: What the file is.
        codec: How its samples are coded.
        channels: Number of channels.
        rate: Sample rate in Hz of ``blocks``.
        decoder: The library that decodes, with its version.
        declared: Samples of each channel that the file says it has; ``None`` where it does not say.
        blocks: The samples, once.
        facts: Further entries for the evidence.
        incomparable: Why fidelity against this sound is refused, or ``None``.
    """

    container: AudioContainer
    codec: str
    channels: int
    rate: int
    decoder: str
    declared: int | None
    blocks: Iterator[Block]
    facts: dict[str, Any] = field(default_factory=dict)
    incomparable: str | None = None


def open_sound(data: bytes) -> OpenedSound:
    """Read the header of an audio file and check its completeness, without decoding all of it.

    Args:
        data: The whole file.

    Raises:
        UndecodableArtifactError: Not an accepted format, not whole, or a package is missing.
        Exception: Whatever the libraries raise on a file that they cannot read.
    """
    container = identify_audio(data)
    if container == "wav":
        return _open_pcm(container, data, wav_layout(data))
    if container == "flac":
        data = data[id3_bytes(data) :]
        return _open_pcm(container, data, flac_layout(data))
    if container == "m4a":
        return _open_m4a(data)
    if container == "ogg":
        return _open_ogg(data)
    run = mp3_frames(data) if container == "mp3" else adts_frames(data)
    return _open_with_ffmpeg(
        container,
        data[run.start : run.end],
        rate=run.rate if container == "mp3" else None,
        packets=run.packets,
        declared=run.samples if run.gapless else None,
        facts={"gapless": "LAME tag" if run.gapless else "none: encoder delay and padding stay"},
    )


def library(name: str, container: str) -> Any:
    """Import one of the packages of the extra ``audio``.

    Raises:
        UndecodableArtifactError: It is missing or cannot be loaded; says how to install it.
    """
    try:
        return importlib.import_module(name)
    except (ImportError, OSError) as error:
        raise UndecodableArtifactError(
            f"decoding {container} needs the package {name}, which cannot be imported here ({INSTALL})"
        ) from error


def _open_pcm(container: AudioContainer, data: bytes, layout: PcmLayout) -> OpenedSound:
    file, decoder = _libsndfile(container, data)
    if (file.channels, file.samplerate, file.frames) != (layout.channels, layout.rate, layout.frames):
        raise UndecodableArtifactError(f"libsndfile reads the header of the {container} file differently: it is damaged")
    codec = f"pcm-{layout.kind}{layout.bits}" if container == "wav" else "flac"
    return OpenedSound(
        container,
        codec,
        layout.channels,
        layout.rate,
        decoder,
        layout.frames,
        _flac_blocks(file, layout) if container == "flac" else _float_blocks(file),
        {"bit_depth": layout.bits},
    )


def _libsndfile(container: AudioContainer, data: bytes) -> tuple[Any, str]:
    soundfile = library("soundfile", container)
    return soundfile.SoundFile(io.BytesIO(data)), f"libsndfile {soundfile.__libsndfile_version__}"


def _float_blocks(file: Any) -> Iterator[Block]:
    """Read integers of b bits as value / 2^(b-1), floats as they are; 64-bit floats hold all of them exactly."""
    with file:
        while len(block := file.read(_BLOCK_VALUES // file.channels or 1, dtype="float64", always_2d=True)):
            yield block


def _flac_blocks(file: Any, layout: PcmLayout) -> Iterator[Block]:
    """Read like ``_float_blocks``, and hold the integers against the file's digest: a lost frame would be silence."""
    digest = hashlib.md5(usedforsecurity=False)
    width = (layout.bits + 7) // 8
    with file:
        while len(block := file.read(_BLOCK_VALUES // file.channels or 1, dtype="int32", always_2d=True)):
            if layout.md5 is not None:
                stored = (block >> 32 - layout.bits).astype("<i4").view(np.uint8).reshape(-1, 4)
                digest.update(stored[:, :width].tobytes())
            yield block / _FULL_SCALE[block.dtype]
    if layout.md5 not in (None, digest.digest()):
        raise UndecodableArtifactError("the samples of the FLAC file do not match the digest in its header")


def _open_ogg(data: bytes) -> OpenedSound:
    codec, samples = ogg_sound(data)
    file, decoder = _libsndfile("ogg", data)
    if codec == "opus":  # positions are counted at 48 kHz; libsndfile has libopus decode at the rate of the source
        samples = samples * file.samplerate // OPUS_RATE
    facts = {"gapless": "granule positions"}
    return OpenedSound("ogg", codec, file.channels, file.samplerate, decoder, samples, _float_blocks(file), facts)


def _open_m4a(data: bytes) -> OpenedSound:
    track = first_audio_track(data)
    sound = _open_with_ffmpeg("m4a", data, packets=track.packets, track=track.track)
    start, end = round(track.start * sound.rate), round(track.end * sound.rate)
    facts = {"gapless": track.gapless if track.gapless != "none" else "none: encoder delay stays"}
    incomparable = None
    if track.others:
        facts["streams"] = f"first of {track.others + 1}"
        incomparable = f"only the first of {track.others + 1} audio streams was decoded"
    blocks = _cut(sound.blocks, start, end)
    return OpenedSound(
        "m4a", sound.codec, sound.channels, sound.rate, sound.decoder, end - start, blocks, facts, incomparable
    )


def _cut(blocks: Iterator[Block], start: int, end: int) -> Iterator[Block]:
    """Give samples ``start`` to ``end``; reads to the last block all the same, so that a later fault is seen."""
    position = 0
    for block in blocks:
        piece = block[max(start - position, 0) : max(end - position, 0)]
        position += len(block)
        if len(piece):
            yield piece


def _open_with_ffmpeg(
    container: AudioContainer,
    data: bytes,
    *,
    rate: int | None = None,
    packets: int | None = None,
    track: int | None = None,
    declared: int | None = None,
    facts: dict[str, Any] | None = None,
) -> OpenedSound:
    """Open the audio stream of a file, or an MP4 track.

    Args:
        container: Which demuxer reads it.
        data: The file, without what stands around its frames.
        rate: The rate that the file's headers declare.
        packets: How many packets there have to be.
        track: The id of the MP4 track; FFmpeg then leaves its edit list and its encoder delay alone.
        declared: Samples of each channel that there have to be.
        facts: Entries for the evidence.
    """
    av = library("av", container)
    # The demuxer is named, so nothing is guessed; edit lists are applied by whoever asked for a track.
    options = {} if track is None else {"ignore_editlist": "1"}
    file = av.open(io.BytesIO(data), format=DEMUXERS[container], options=options, metadata_errors="replace")
    streams = [stream for stream in file.streams.audio if track is None or stream.id == track]
    if not streams:
        file.close()
        raise UndecodableArtifactError(f"the {container} file has no audio stream")
    stream = streams[0]
    context = stream.codec_context
    codec = context.codec.canonical_name
    if codec not in _CODECS[container]:
        file.close()
        raise UndecodableArtifactError(
            f"{codec} in a {container} file is not decoded (only {' and '.join(_CODECS[container])}); convert the file"
        )
    # Checksums inside frames are checked where a format has them.
    context.options = {"err_detect": "+crccheck+explode", "threads": "1"}
    if track is not None:
        context.options |= {"flags2": "+skip_manual"}
    if rate not in (None, context.sample_rate):
        file.close()
        raise UndecodableArtifactError(f"FFmpeg reads the header of the {container} file differently: it is damaged")
    blocks = _ffmpeg_blocks(file, stream, context.sample_rate, context.channels, packets)
    return OpenedSound(
        container,
        codec,
        context.channels,
        context.sample_rate,
        f"FFmpeg {av.ffmpeg_version_info}",
        declared,
        blocks if declared is None else _cut(blocks, 0, declared),  # FFmpeg cuts an end inside the last packet only
        facts or {},
    )


def _ffmpeg_blocks(file: Any, stream: Any, rate: int, channels: int, packets: int | None) -> Iterator[Block]:
    seen = 0
    with file:
        for packet in file.demux(stream):
            if packet.is_corrupt:
                raise UndecodableArtifactError("the file is truncated inside a packet")
            seen += bool(packet.size)
            for frame in packet.decode():
                if (frame.sample_rate, frame.layout.nb_channels) != (rate, channels):
                    raise UndecodableArtifactError(
                        "rate or channels are not those that the header announces (in HE-AAC, for example); convert the file"
                    )
                yield _samples(frame)
    if packets not in (None, seen):
        raise UndecodableArtifactError(f"the file declares {packets} packets, and FFmpeg finds {seen}")


def _samples(frame: Any) -> Block:
    array: Block = frame.to_ndarray()
    array = array.T if frame.format.is_planar else array.reshape(frame.samples, -1)
    scale = _FULL_SCALE.get(array.dtype)
    return array if scale is None else np.divide(array, scale)

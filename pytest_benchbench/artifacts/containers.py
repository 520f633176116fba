"""Which audio or video container a file is, told by its first bytes and never by its name.

FFmpeg is always given the demuxer's name (``DEMUXERS``), so that its own guessing never opens a playlist, a list of files to
join or a numbered series of pictures, which would read other files than the pinned one.
"""

from __future__ import annotations

from typing import Literal, get_args

from pytest_benchbench.artifacts.media import UndecodableArtifactError

AudioContainer = Literal["wav", "flac", "mp3", "m4a", "adts", "ogg"]

VideoContainer = Literal["mp4", "matroska", "avi", "mpegts"]

AUDIO_CONTAINERS: tuple[AudioContainer, ...] = get_args(AudioContainer)

VIDEO_CONTAINERS: tuple[VideoContainer, ...] = get_args(VideoContainer)

DEMUXERS: dict[str, str] = {
    "mp3": "mp3",
    "m4a": "mov",
    "adts": "aac",
    "mp4": "mov",
    "matroska": "matroska",
    "avi": "avi",
    "mpegts": "mpegts",
}
"""A container's name here to the name of FFmpeg's demuxer."""

_STILL_BRANDS = frozenset((b"avif", b"avis", b"mif1", b"msf1", b"heic", b"heix", b"hevc", b"hevx"))
"""Major brands of image files in the ISO base media format (ISO/IEC 23000-22, AVIF 1.1)."""

_FIRST_BOXES = frozenset((b"moov", b"mdat", b"wide", b"free", b"skip"))
"""What a QuickTime file without an ``ftyp`` box begins with."""

_EBML = b"\x1a\x45\xdf\xa3"
_TS_PACKET_BYTES = 188
_TS_SYNC = 0x47


def identify_audio(data: bytes) -> AudioContainer:
    """Name the container of an audio file; one with pictures or a film beside the sound is accepted too.

    Before MP3, ADTS and FLAC an ID3v2 tag is passed over.

    Raises:
        UndecodableArtifactError: None of ``AUDIO_CONTAINERS``.
    """
    head = data[:16]
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return "wav"
    if head[:4] == b"OggS":
        return "ogg"
    if _is_iso_media(head):
        return "m4a"
    start = id3_bytes(data)
    head = data[start : start + 4]
    if head == b"fLaC":
        return "flac"
    if len(head) == 4 and head[0] == 0xFF:
        # Eleven bits of synchronisation, then version and layer: ADTS has layer 0, MP3 layer 3 (written as 1).
        if head[1] & 0xF6 == 0xF0:
            return "adts"
        if head[1] & 0xE6 == 0xE2 and head[1] & 0x18 != 0x08:
            return "mp3"
    raise _unknown(data, "audio", AUDIO_CONTAINERS)


def identify_video(data: bytes) -> VideoContainer:
    """Name the container of a video file: MP4 and QuickTime, Matroska and WebM, AVI, MPEG transport stream.

    Raises:
        UndecodableArtifactError: None of ``VIDEO_CONTAINERS``.
    """
    head = data[:16]
    if _is_iso_media(head):
        return "mp4"
    if head[:4] == _EBML:
        return "matroska"
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return "avi"
    starts = range(0, min(len(data), 3 * _TS_PACKET_BYTES), _TS_PACKET_BYTES)
    if len(data) >= _TS_PACKET_BYTES and all(data[start] == _TS_SYNC for start in starts):
        return "mpegts"
    raise _unknown(data, "video", VIDEO_CONTAINERS)


def id3_bytes(data: bytes) -> int:
    """Give the length in bytes of the ID3v2 tags that the file begins with (ID3v2.4.0, section 3.1); 0 without any."""
    position = 0
    while data[position : position + 3] == b"ID3" and len(data) >= position + 10:
        flags, *sizes = data[position + 5 : position + 10]
        if any(size > 0x7F for size in sizes):
            break
        length = sum(size << shift for size, shift in zip(sizes, (21, 14, 7, 0), strict=True))
        position += 10 + length + (10 if flags & 0x10 else 0)
    return position


def _is_iso_media(head: bytes) -> bool:
    if head[4:8] == b"ftyp":
        return head[8:12] not in _STILL_BRANDS
    return head[4:8] in _FIRST_BOXES


def _unknown(data: bytes, medium: str, accepted: tuple[str, ...]) -> UndecodableArtifactError:
    if not data:
        return UndecodableArtifactError("the file is empty")
    return UndecodableArtifactError(f"not {medium} in an accepted container ({', '.join(accepted)})")

"""Which formats of each medium C2PA's reader knows, as the MIME types that it is told."""

from __future__ import annotations

from pytest_benchbench.artifacts.containers import identify_audio, identify_video
from pytest_benchbench.artifacts.media import MediaType, UndecodableArtifactError
from pytest_benchbench.artifacts.opening import identify
from pytest_benchbench.artifacts.structure import BrokenImageError

FORMATS: dict[MediaType, str] = {
    "image": "PNG, JPEG, WebP, GIF, TIFF, AVIF, HEIC and JPEG XL",
    "audio": "WAV, MP3, FLAC and M4A",
    "video": "MP4, MOV and AVI",
}
"""What is read of each medium, for people."""

_IMAGES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WEBP": "image/webp",
    "GIF": "image/gif",
    "TIFF": "image/tiff",
    "AVIF": "image/avif",
}

_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "m4a": "audio/mp4"}

_VIDEO = {"mp4": "video/mp4", "avi": "video/x-msvideo"}
"""A MOV is read by the same code as an MP4."""

_JPEG_XL = b"\x00\x00\x00\x0cJXL \r\n\x87\n"
_HEIC_BRANDS = frozenset((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"))
"""Two formats in which cameras sign pictures, although this package does not decode them (ISO/IEC 18181-2, 23008-12)."""


def mime_of(data: bytes, media_type: MediaType) -> str | None:
    """Name the format that the first bytes announce.

    Returns:
        A MIME type that C2PA's reader knows, or ``None`` for a file that is no artifact of ``media_type`` or of a format in
        which it finds no manifest: BMP, JPEG 2000, Ogg, a bare AAC stream, Matroska.
    """
    try:
        if media_type == "audio":
            return _AUDIO.get(identify_audio(data))
        if media_type == "video":
            return _VIDEO.get(identify_video(data))
        if data.startswith(_JPEG_XL):
            return "image/jxl"
        if data[4:8] == b"ftyp" and data[8:12] in _HEIC_BRANDS:
            return "image/heic"
        return _IMAGES.get(identify(data))
    except (UndecodableArtifactError, BrokenImageError):
        return None

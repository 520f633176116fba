"""The four media types and what every decoded medium has in common."""

from typing import Any, Literal, Protocol, get_args

MediaType = Literal["image", "audio", "video", "text"]

DEFAULT_MAX_PIXELS = 200_000_000
"""Largest accepted product of width and height of an image or of a video's frame."""

MEDIA_TYPES: tuple[MediaType, ...] = get_args(MediaType)


class UndecodableArtifactError(Exception):
    """The bytes are what the manifest pinned, but they cannot be decoded: truncated, too large, of an unknown format."""


class DecodedMedia(Protocol):
    """A decoded artifact: an ``Image``, an ``Audio``, a ``Video`` or a ``Text``."""

    @property
    def decoding(self) -> dict[str, Any]:
        """The written rule by which the bytes were decoded, and its facts (``rule``, ``size``, ...), JSON values only."""

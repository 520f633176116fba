"""How a cohort keeps each medium: as what recipes handle it, and as which lossless file it is written and read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.cohorts.clips import CLIP_ENCODER, Clip, decode_clip, encode_clip
from pytest_benchbench.cohorts.pictures import PNG_ENCODER, Pixels, encode_png
from pytest_benchbench.cohorts.sounds import WAV_ENCODER, decode_sound, encode_wav
from pytest_benchbench.manifests.watermark import Medium

Content = Any
"""What recipes handle: ``Pixels`` of an image, ``Samples`` of a sound, a ``Clip``."""


@dataclass(frozen=True, slots=True)
class CohortMedium:
    """The files of one medium.

    Attributes:
        media_type: ``image``, ``audio`` or ``video``.
        extension: How the name of an unattacked file ends, with the dot.
        encoder: How it is written, for case rows; JSON values.
        encode: Content in, the file's bytes out.
        decode: Bytes in, content out: what a detector will be shown.
        distributions: Installed distributions that shape the bytes.
    """

    media_type: Medium
    extension: str
    encoder: Mapping[str, Any]
    encode: Callable[[Content], bytes]
    decode: Callable[[bytes], Content]
    distributions: tuple[str, ...]


def _decode_pixels(data: bytes) -> Pixels:
    return decode_image(data).pixels


def _encode_clip(clip: Clip) -> bytes:
    return encode_clip(clip)


MEDIA: Mapping[str, CohortMedium] = MappingProxyType(
    {
        "image": CohortMedium("image", ".png", PNG_ENCODER, encode_png, _decode_pixels, ("numpy", "Pillow")),
        "audio": CohortMedium("audio", ".wav", WAV_ENCODER, encode_wav, decode_sound, ("numpy", "av", "soundfile", "soxr")),
        "video": CohortMedium(
            "video", CLIP_ENCODER.extension, CLIP_ENCODER.record(), _encode_clip, decode_clip, ("numpy", "av")
        ),
    }
)
"""Every medium of a watermark manifest."""

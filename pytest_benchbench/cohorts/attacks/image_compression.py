"""Pictures written by lossy codecs.

A quality alone is ambiguous: chroma subsampling moves a DWT-DCT mark under JPEG quality 90 between lost and intact. Plain
JPEG names are 4:4:4, the others say so in theirs.
"""

from __future__ import annotations

import io
from typing import Any, Literal

import PIL.features
import PIL.Image

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.attack import FileAttack, Writer, named, unchanged
from pytest_benchbench.cohorts.pictures import Pixels

Subsampling = Literal["4:4:4", "4:2:0"]

_EXTENSIONS = {"JPEG": ".jpg", "WEBP": ".webp", "AVIF": ".avif"}


def jpeg_writer(quality: int, subsampling: Subsampling = "4:4:4") -> Writer[Pixels]:
    """Write a baseline JPEG: libjpeg's quality, 1 to 100."""
    return _pillow_writer("JPEG", quality=quality, subsampling=subsampling, progressive=False, optimize=False)


def webp_writer(quality: int) -> Writer[Pixels]:
    """Write a lossy WebP: libwebp's quality, 0 to 100; its chroma is always 4:2:0."""
    return _pillow_writer("WEBP", lossless=False, quality=quality, method=4, exact=False)


def avif_writer(quality: int) -> Writer[Pixels]:
    """Write an AVIF with libaom, 4:2:0 and one thread (the bytes depend on how many): quality 0 to 100."""
    return _pillow_writer(
        "AVIF",
        quality=quality,
        subsampling="4:2:0",
        speed=6,
        codec="aom",
        range="full",
        max_threads=1,
        autotiling=False,
    )


def _pillow_writer(file_format: str, **options: Any) -> Writer[Pixels]:
    def encode(pixels: Pixels) -> bytes:
        if file_format == "AVIF" and not PIL.features.check("avif"):
            raise CohortError("Pillow lacks AVIF here: pip install 'Pillow>=11.3'")
        height, width = pixels.shape[:2]
        buffer = io.BytesIO()
        try:
            PIL.Image.fromarray(pixels).save(buffer, format=file_format, **options)
        except (OSError, ValueError, RuntimeError) as refused:
            raise CohortError(f"{file_format}: cannot encode {width}x{height}: {refused}") from refused
        return buffer.getvalue()

    return Writer(encode, _EXTENSIONS[file_format], {"library": "Pillow", "format": file_format, **options})


def _jpeg(quality: int) -> FileAttack[Pixels]:
    return FileAttack(
        name=named("jpeg", quality), family="jpeg", strength=quality, change=unchanged, writer=jpeg_writer(quality)
    )


def _jpeg_420(quality: int) -> FileAttack[Pixels]:
    name, writer = f"{named('jpeg', quality)}-420", jpeg_writer(quality, "4:2:0")
    return FileAttack(name=name, family="jpeg-420", strength=quality, change=unchanged, writer=writer)


def _webp(quality: int) -> FileAttack[Pixels]:
    return FileAttack(
        name=named("webp", quality), family="webp", strength=quality, change=unchanged, writer=webp_writer(quality)
    )


def _avif(quality: int) -> FileAttack[Pixels]:
    return FileAttack(
        name=named("avif", quality), family="avif", strength=quality, change=unchanged, writer=avif_writer(quality)
    )


_JPEG_QUALITIES = (95, 90, 80, 75, 70, 60, 50, 40, 30, 20, 10)

ATTACKS: tuple[FileAttack[Pixels], ...] = (
    *map(_jpeg, _JPEG_QUALITIES),
    *map(_jpeg_420, _JPEG_QUALITIES),
    *map(_webp, (90, 80, 60, 50, 40, 20)),
    *map(_avif, (90, 80, 60, 40, 20)),
)
"""Every attack of this module, each family from weak to strong."""

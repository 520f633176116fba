"""Image artifacts: one written rule for each kind of stored sample. ``docs/decoding.md`` is the table of them."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow

from pytest_benchbench.artifacts.media import DEFAULT_MAX_PIXELS, UndecodableArtifactError
from pytest_benchbench.artifacts.opening import OpenedImage, PillowWarningsIgnored, open_image
from pytest_benchbench.artifacts.structure import BrokenImageError, png_chunk_kinds, tags_fit

_MAX_MESSAGE_CHARACTERS = 200

_ORIENTATION = 0x0112
_TURNS = {
    2: Pillow.Transpose.FLIP_LEFT_RIGHT,
    3: Pillow.Transpose.ROTATE_180,
    4: Pillow.Transpose.FLIP_TOP_BOTTOM,
    5: Pillow.Transpose.TRANSPOSE,
    6: Pillow.Transpose.ROTATE_270,
    7: Pillow.Transpose.TRANSVERSE,
    8: Pillow.Transpose.ROTATE_90,
}
"""EXIF orientation to the turn that shows the picture upright (EXIF 2.32, tag 0x0112); 1 and anything else mean none."""

_KINDS = {
    "RGB": "rgb",
    "RGBA": "rgb",
    "L": "gray",
    "LA": "gray",
    "La": "gray",
    "I": "gray",
    "1": "bilevel",
    "P": "palette",
    "PA": "palette",
    "CMYK": "cmyk",
    "YCbCr": "ycbcr",
}
"""Pillow's mode to the name of the rule; ``I;16`` in its byte orders is gray too."""

_METADATA = {
    "exif": "exif",
    "xmp": "xmp",
    "XML:com.adobe.xmp": "xmp",
    "icc_profile": "icc",
    "comment": "comment",
    "photoshop": "iptc",
}
"""Where Pillow's decoders leave metadata, and what it is called here."""

_PNG_METADATA = {b"eXIf": "exif", b"iCCP": "icc", b"tEXt": "text", b"zTXt": "text", b"iTXt": "text", b"caBX": "c2pa"}

_QUIET = PillowWarningsIgnored()


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """A decoded image.

    Attributes:
        pixels: Array of shape (height, width, 3), uint8, RGB, 0 to 255, read-only.
        decoding: The rule and its facts: ``rule`` (steps joined by ``+``), ``format``, ``mode`` (Pillow's, before the rule),
            ``size`` ([width, height] of ``pixels``), ``bit_depth`` (of the stored samples), and where they apply ``alpha``
            (``opaque`` or ``dropped``), ``frames``, ``orientation``, ``icc_profile`` (``not applied``).
        incomparable: Why fidelity against this image is refused, or ``None``: the pixels are all that the file shows, in
            8-bit samples.
    """

    pixels: npt.NDArray[np.uint8]
    decoding: dict[str, Any]
    incomparable: str | None


@dataclass(frozen=True, slots=True)
class ImageTraits:
    """What an image file shows of how it was made, beside its pixels.

    Attributes:
        format: One of ``FORMATS``.
        size: Width and height as they are stored.
        metadata: Kinds of metadata that are there, sorted: ``c2pa``, ``comment``, ``exif``, ``icc``, ``iptc``, ``text`` and
            ``xmp``.
        quantisation: SHA-256 of a JPEG's quantisation tables; ``None`` for other formats.
    """

    format: str
    size: tuple[int, int]
    metadata: tuple[str, ...]
    quantisation: str | None


def decode_image(data: bytes, *, max_pixels: int = DEFAULT_MAX_PIXELS) -> Image:
    """Decode the first frame of an image file to 8-bit RGB by the rules of ``docs/decoding.md``.

    The result depends on the bytes and the codecs, not on ``ImageFile.LOAD_TRUNCATED_IMAGES`` or the warning filters.
    Threads may call this at the same time.

    Args:
        data: The whole file.
        max_pixels: Largest accepted product of width and height; checked in the header, before a pixel is decoded.

    Raises:
        UndecodableArtifactError: Not an accepted format, broken, truncated, too large, or of samples without an agreed
            range. One line.
    """
    try:
        with _QUIET:
            return _decode(open_image(data, max_pixels))
    except Exception as error:
        raise UndecodableArtifactError(_one_line(error)) from None


def decode_alpha(data: bytes, *, max_pixels: int = DEFAULT_MAX_PIXELS) -> npt.NDArray[np.uint8] | None:
    """Decode what ``decode_image`` drops: how opaque each pixel of the first frame is.

    Returns:
        Array of shape (height, width), uint8, 0 (transparent) to 255 (opaque), turned as the pixels are; ``None`` for a
        picture without transparency.

    Raises:
        UndecodableArtifactError: As ``decode_image``.
    """
    try:
        with _QUIET:
            source = open_image(data, max_pixels)
            source.load()
            alpha = _alpha_of(source)
            orientation = _exif_orientation(source.image.info.get("exif"))
            if alpha is not None and orientation in _TURNS and source.format != "TIFF":
                alpha = alpha.transpose(_TURNS[orientation])
            return None if alpha is None else np.asarray(alpha)
    except Exception as error:
        raise UndecodableArtifactError(_one_line(error)) from None


def image_header(data: bytes, *, max_pixels: int = DEFAULT_MAX_PIXELS) -> tuple[str, tuple[int, int]]:
    """Give the format of an image file, and width and height as they are stored, without decoding a pixel.

    Raises:
        UndecodableArtifactError: The header of the file cannot be read, or it announces more than ``max_pixels``.
    """
    try:
        with _QUIET:
            opened = open_image(data, max_pixels)
    except Exception as error:
        raise UndecodableArtifactError(_one_line(error)) from None
    return opened.format, opened.image.size


def image_traits(data: bytes, *, max_pixels: int = DEFAULT_MAX_PIXELS) -> ImageTraits:
    """Read what an image file shows of how it was made, without decoding a pixel.

    Raises:
        UndecodableArtifactError: The header of the file cannot be read, or it announces more than ``max_pixels``.
    """
    try:
        with _QUIET:
            return _traits(open_image(data, max_pixels), data)
    except Exception as error:
        raise UndecodableArtifactError(_one_line(error)) from None


def decode_with_traits(data: bytes, *, max_pixels: int = DEFAULT_MAX_PIXELS) -> tuple[Image, ImageTraits]:
    """Give what ``decode_image`` and ``image_traits`` give, and read the header once.

    Raises:
        UndecodableArtifactError: As ``decode_image``.
    """
    try:
        with _QUIET:
            opened = open_image(data, max_pixels)
            traits = _traits(opened, data)
            return _decode(opened), traits
    except Exception as error:
        raise UndecodableArtifactError(_one_line(error)) from None


def _alpha_of(source: OpenedImage) -> Pillow.Image | None:
    """Give the alpha channel of a loaded image, also where a colour or entries of a palette stand for it.

    Pillow compares a transparent colour, which PNG gives in stored samples, with samples that it has scaled to 8 bits.
    """
    image, colour = source.image, source.image.info.get("transparency")
    if image.mode in ("LA", "La", "PA", "RGBA", "P"):
        has_alpha = image.mode != "P" or colour is not None or (image.palette is not None and image.palette.mode == "RGBA")
        return image.convert("RGBA").getchannel("A") if has_alpha else None
    if colour is None:
        return None
    if isinstance(colour, tuple) and source.bit_depth == 8:
        levels, wanted = np.asarray(image.convert("RGB")), np.array(colour)
        return Pillow.fromarray(np.where((levels == wanted).all(axis=2), 0, 255).astype(np.uint8))
    if isinstance(colour, int):
        levels = np.asarray(image.convert("L") if image.mode == "1" else image)
        scaled = image.mode == "L" and source.bit_depth < 8  # of mode 1 Pillow has scaled it
        shown = colour * 255 // (2**source.bit_depth - 1) if scaled else colour
        return Pillow.fromarray(np.where(levels == shown, 0, 255).astype(np.uint8))
    raise BrokenImageError(f"the transparent colour of {source.bit_depth}-bit samples cannot be told from its neighbours")


def embedded_metadata(data: bytes, *, max_pixels: int = DEFAULT_MAX_PIXELS) -> tuple[bytes, bytes]:
    """Give the EXIF block and the XMP packet that an image file's decoder hands out; empty where there is none.

    Raises:
        UndecodableArtifactError: The header of the file cannot be read.
    """
    try:
        with _QUIET:
            found = open_image(data, max_pixels).image.info
    except Exception as error:
        raise UndecodableArtifactError(_one_line(error)) from None
    exif, xmp = (value if isinstance(value := found.get(name), bytes) else b"" for name in ("exif", "xmp"))
    return exif, xmp


def _traits(source: OpenedImage, data: bytes) -> ImageTraits:
    found = {name for key, name in _METADATA.items() if source.image.info.get(key)}
    if source.format == "PNG":  # whose chunks may also stand behind the pixels
        found |= {_PNG_METADATA[kind] for kind in png_chunk_kinds(data) if kind in _PNG_METADATA}
    if b"jumb" in data and b"c2pa" in data:
        found.add("c2pa")
    tables: dict[int, list[int]] | None = getattr(source.image, "quantization", None)
    quantisation = None
    if source.format == "JPEG" and tables:
        quantisation = hashlib.sha256(repr(sorted((key, list(table)) for key, table in tables.items())).encode()).hexdigest()
    return ImageTraits(source.format, source.image.size, tuple(sorted(found)), quantisation)


def _decode(source: OpenedImage) -> Image:
    mode = source.image.mode
    kind = "gray" if mode.startswith("I;16") else _KINDS.get(mode)
    if kind is None or (mode == "I" and source.bit_depth != 16):
        raise BrokenImageError(f"samples of mode {mode} have no agreed way to 8-bit RGB; convert the file to PNG")
    source.load()
    decoding: dict[str, Any] = {"rule": kind, "format": source.format, "mode": mode}
    steps = [kind]
    reasons = []
    if source.bit_depth != 8:
        steps.append("codec-to-8-bit" if source.format == "AVIF" else "high-byte" if source.bit_depth > 8 else "scaled")
        reasons.append(f"{source.bit_depth}-bit samples")
    if kind == "cmyk":
        reasons.append("CMYK samples")
    picture, alpha = _without_alpha(_to_8_bit(source))
    if alpha is not None:
        steps.append("alpha-dropped")
        decoding["alpha"] = alpha
        if alpha != "opaque":
            reasons.append("transparency was dropped")
    if picture.mode != "RGB":
        picture = picture.convert("RGB")
    if source.frames > 1:
        steps.append("first-frame")
        decoding["frames"] = source.frames
        reasons.append(f"only the first of {source.frames} frames was decoded")
    orientation = source.turned if source.format == "TIFF" else _exif_orientation(source.image.info.get("exif"))
    if orientation in _TURNS:
        steps.append("exif-orientation")
        decoding["orientation"] = orientation
        if source.format != "TIFF":  # there Pillow has done it
            picture = picture.transpose(_TURNS[orientation])
    if source.image.info.get("icc_profile"):
        decoding["icc_profile"] = "not applied"
    width, height = picture.size
    decoding |= {"rule": "+".join(steps), "size": [width, height], "bit_depth": source.bit_depth}
    pixels = np.frombuffer(picture.tobytes(), np.uint8).reshape(height, width, 3)  # over bytes, hence read-only
    return Image(pixels, decoding, "; ".join(reasons) or None)


def _to_8_bit(source: OpenedImage) -> Pillow.Image:
    """Take the high eight bits of 16-bit gray. Of deeper colour samples Pillow's codecs keep just those by themselves."""
    image = source.image
    if image.mode != "I" and not image.mode.startswith("I;16"):
        return image
    # A TIFF stores 12-bit samples as they are; every other codec shifts them up to 16 bits.
    shift = source.bit_depth - 8 if source.format == "TIFF" else 8
    gray = Pillow.fromarray((np.asarray(image) >> shift).astype(np.uint8))
    gray.info = image.info
    return gray


def _without_alpha(image: Pillow.Image) -> tuple[Pillow.Image, str | None]:
    """Drop transparency and keep the stored colour values, which is what a detector has to see.

    Returns:
        The picture and ``opaque`` (there is an alpha channel, 255 everywhere), ``dropped`` or ``None`` (none at all).
    """
    if image.mode in ("PA", "P") and image.palette is not None and image.palette.mode not in ("RGB", "RGBA"):
        raise BrokenImageError(f"a palette of {image.palette.mode} colours is not decoded; convert the file to PNG")
    if image.mode == "La":
        image = image.convert("LA")
    elif image.mode == "PA" or (image.mode == "P" and image.palette is not None and image.palette.mode == "RGBA"):
        image = image.convert("RGBA")
    if image.mode in ("LA", "RGBA"):
        lowest = image.getchannel("A").getextrema()[0]
        return image, "opaque" if lowest == 255 else "dropped"
    # A transparent colour or palette entry; without it Pillow converts the colours as they are stored.
    return image, "dropped" if image.info.pop("transparency", None) is not None else None


def _exif_orientation(exif: object) -> int:
    """Read the orientation out of an EXIF block; a block that cannot be read turns nothing."""
    if not isinstance(exif, bytes):
        return 1
    block = Pillow.Exif()
    try:
        content = exif.removeprefix(b"Exif\0\0")
        order = "<" if content[:2] == b"II" else ">"
        (directory,) = struct.unpack_from(order + "I", content, 4)
        if not tags_fit(content, directory, order):
            return 1
        block.load(exif)
    except Exception:
        return 1
    orientation = block.get(_ORIENTATION, 1)
    return orientation if isinstance(orientation, int) else 1


def _one_line(error: Exception) -> str:
    text = "".join(character if character.isprintable() else " " for character in str(error))
    text = " ".join(text.split())[:_MAX_MESSAGE_CHARACTERS]
    if text and isinstance(error, (BrokenImageError, OSError, SyntaxError, Pillow.DecompressionBombError)):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

"""JPEG, PNG and WebP files taken apart into what shows the picture and what is said beside it, and put together again.

What shows the picture: the coded samples, all that a decoder needs for them, colour information (ICC profiles and their
like), animation and pixel density. Everything else is metadata: EXIF, XMP, IPTC, C2PA, texts, comments, previews, unknown
parts, and bytes that no part holds.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_benchbench.cohorts import CohortError

Container = Literal["JPEG", "PNG", "WEBP"]

ORIENTATION = 0x0112

_SHOWS = ""
"""The kind of a part that shows the picture."""

_MARKER = re.compile(rb"\xff([^\x00\xff\xd0-\xd7])")
"""A marker of JPEG, but for stuffed bytes and restarts, which stand inside a scan (ITU-T T.81, section B.1.1.2). The fill
bytes before it are left out: a pattern with them takes quadratic time where no marker follows."""

_START, _SCAN, _END, _COMMENT = 0xD8, 0xDA, 0xD9, 0xFE
_LONE = {_START, _END, 0x01}
_APP0, _APP15 = 0xE0, 0xEF

_HEAD_PARTS = 2
"""Parts before which nothing may stand: start and JFIF segment of a JPEG, signature and IHDR of a PNG."""

_JPEG_KINDS = {
    (0xE0, b"JFIF\0"): _SHOWS,
    (0xE1, b"Exif\0"): "exif",
    (0xE1, b"http://ns.adobe.com/xap/1.0/\0"): "xmp",
    (0xE1, b"http://ns.adobe.com/xmp/extension/\0"): "xmp",
    (0xE2, b"ICC_PROFILE\0"): _SHOWS,
    (0xE2, b"MPF\0"): "multi-picture",
    (0xED, b"Photoshop 3.0\0"): "iptc",
    (0xEE, b"Adobe"): _SHOWS,  # it decides how colours are decoded
}
"""What an application segment says, by its marker and how it begins."""

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_COLOURS = frozenset((b"iCCP", b"sRGB", b"gAMA", b"cHRM", b"cICP"))
_PNG_SHOWS = _PNG_COLOURS | frozenset(
    (b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"sBIT", b"mDCV", b"cLLI", b"bKGD", b"pHYs", b"acTL", b"fcTL", b"fdAT")
)
_PNG_KINDS = {b"eXIf": "exif", b"caBX": "c2pa", b"tEXt": "text", b"zTXt": "text", b"iTXt": "text", b"tIME": "time"}

_WEBP_SHOWS = frozenset((b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF", b"ICCP"))
_WEBP_KINDS = {b"EXIF": "exif", b"XMP ": "xmp", b"C2PA": "c2pa"}
_VP8X_EXIF, _VP8X_XMP, _VP8X_ICC = 0x08, 0x04, 0x20


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a file.

    Attributes:
        kind: What it says beside the picture, such as ``exif``; empty for what shows the picture.
        data: Its bytes, head and checksum included.
        colour: Whether it says what the colours of the samples mean: an ICC profile, or what a PNG has in its place.
    """

    kind: str
    data: bytes
    colour: bool = False

    @property
    def is_metadata(self) -> bool:
        """Whether it can be taken out without changing the picture."""
        return self.kind != _SHOWS


def parts_of(data: bytes, container: Container) -> list[Part]:
    """Take a file apart; joined in their order the parts give it back, padding that is missing at its end aside.

    Raises:
        CohortError: It contradicts itself where readers look away.
    """
    try:
        return list(_READERS[container](data))
    except (struct.error, IndexError):
        raise CohortError(f"the parts of the {container} file cannot be told apart") from None


def joined(parts: Iterable[Part], container: Container) -> bytes:
    """Put parts together to a file."""
    data = b"".join(part.data for part in parts)
    if container != "WEBP":
        return data
    return b"RIFF" + struct.pack("<I", len(data) + 4) + b"WEBP" + data


def orientation_part(orientation: int, container: Container) -> Part:
    """Make the smallest EXIF block that says how the picture is turned (1 to 8), and nothing else."""
    block = b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, ORIENTATION, 3, 1, orientation, 0, 0)
    if container == "PNG":
        return Part("exif", png_chunk(b"eXIf", block))
    if container == "WEBP":
        return Part("exif", webp_chunk(b"EXIF", block))
    return Part("exif", jpeg_segment(0xE1, b"Exif\0\0" + block))


def with_metadata(encoded: bytes, metadata: list[Part], container: Container, size: tuple[int, int]) -> bytes:
    """Put metadata, and what colours mean, into a freshly encoded file that has neither.

    Args:
        encoded: The file.
        metadata: Parts of another file of the same container, in its order.
        container: Of both.
        size: Width and height, which an extended WebP repeats.
    """
    parts = parts_of(encoded, container)
    if container == "WEBP":
        return joined(_extended(parts, metadata, size), container)
    return joined([*parts[:_HEAD_PARTS], *metadata, *parts[_HEAD_PARTS:]], container)


def webp_flags(parts: list[Part]) -> list[Part]:
    """Let the header of an extended WebP say what metadata its parts hold."""
    kinds = {part.kind for part in parts}
    flags = _VP8X_EXIF * ("exif" in kinds) | _VP8X_XMP * ("xmp" in kinds)
    return [_with_flags(part, flags) if part.data.startswith(b"VP8X") else part for part in parts]


def jpeg_segment(marker: int, content: bytes) -> bytes:
    """Write a marker segment of a JPEG."""
    return bytes((0xFF, marker)) + struct.pack(">H", len(content) + 2) + content


def png_chunk(kind: bytes, content: bytes) -> bytes:
    """Write a chunk of a PNG."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def webp_chunk(kind: bytes, content: bytes) -> bytes:
    """Write a chunk of a WebP."""
    return kind + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def _jpeg_parts(data: bytes) -> Iterator[Part]:
    """Walk the segments; what stands between them belongs to the scan before, or is stray."""
    has_c2pa = b"c2pa" in data  # only the first of several segments of one box says so
    position, scanning, ended = 0, False, False
    while (found := None if ended else _MARKER.search(data, position)) is not None:
        start = position + len(data[position : found.start()].rstrip(b"\xff"))
        if start > position:
            yield Part(_SHOWS if scanning else "stray bytes", data[position:start])
        marker, end, whole = found[1][0], found.end(), True
        if marker not in _LONE:
            length = int.from_bytes(data[end : end + 2], "big")
            whole = 2 <= length <= len(data) - end
            end += max(2, length)
        content = data[found.end() + 2 : end]
        kind = _jpeg_kind(marker, content, has_c2pa=has_c2pa)
        if not whole and (kind != _SHOWS or marker == 0xE2):
            kind = "stray bytes"  # elsewhere it would swallow what follows
        colour = kind == _SHOWS and marker == 0xE2
        yield Part(kind, data[start:end], colour=colour)
        ended = marker == _END and scanning  # readers pass over one that stands before the picture
        scanning = scanning or marker == _SCAN
        position = end
    if position < len(data):
        yield Part("trailing bytes", data[position:]) if ended else Part(_SHOWS, data[position:])


def _jpeg_kind(marker: int, content: bytes, *, has_c2pa: bool) -> str:
    if marker == _COMMENT:
        return "comment"
    if not _APP0 <= marker <= _APP15:
        return _SHOWS
    if marker == 0xEB and content.startswith(b"JP"):
        return "c2pa" if has_c2pa else "jumbf"
    return next(
        (kind for (of, begins), kind in _JPEG_KINDS.items() if of == marker and content.startswith(begins)),
        f"app{marker - _APP0}",
    )


def _png_parts(data: bytes) -> Iterator[Part]:
    yield Part(_SHOWS, data[: len(_PNG_SIGNATURE)])
    position, kind = len(_PNG_SIGNATURE), b""
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, position)
        end = position + 12 + length
        if end > len(data):
            raise IndexError(end)
        content = data[position + 8 : end - 4]
        xmp = kind == b"iTXt" and content.startswith(b"XML:com.adobe.xmp\0")
        said = _SHOWS if kind in _PNG_SHOWS else "xmp" if xmp else _PNG_KINDS.get(kind, _readable(kind))
        yield Part(said, data[position:end], colour=kind in _PNG_COLOURS)
        position = end
    if position < len(data):
        yield Part("trailing bytes", data[position:])


def _webp_parts(data: bytes) -> Iterator[Part]:
    (size,) = struct.unpack_from("<I", data, 4)
    position, end = 12, min(len(data), size + 8)
    while position + 8 <= end:
        kind, length = struct.unpack_from("<4sI", data, position)
        until = position + 8 + length
        if until > end:
            raise IndexError(until)
        said = _SHOWS if kind in _WEBP_SHOWS else _WEBP_KINDS.get(kind, _readable(kind))
        chunk = data[position:until] + b"\0" * (length % 2)
        yield Part(said, chunk, colour=kind == b"ICCP")
        position = until + length % 2
    if position < len(data):
        yield Part("trailing bytes", data[position:])


def _extended(parts: list[Part], metadata: list[Part], size: tuple[int, int]) -> list[Part]:
    """Order the chunks of an extended WebP: header, profile, samples, EXIF and the rest."""
    profile = [part for part in metadata if part.colour]
    rest = [part for part in metadata if not part.colour]
    sides = b"".join((side - 1).to_bytes(3, "little") for side in size)
    header = Part(_SHOWS, webp_chunk(b"VP8X", bytes((_VP8X_ICC * bool(profile), 0, 0, 0)) + sides))
    samples = [part for part in parts if not part.data.startswith(b"VP8X")]
    return webp_flags([header, *profile, *samples, *rest])


def _with_flags(header: Part, flags: int) -> Part:
    kept = header.data[8] & ~(_VP8X_EXIF | _VP8X_XMP)
    return Part(header.kind, header.data[:8] + bytes((kept | flags,)) + header.data[9:])


def _readable(kind: bytes) -> str:
    return f"chunk {kind.decode('latin-1')!r}"


_READERS: dict[Container, Callable[[bytes], Iterator[Part]]] = {
    "JPEG": _jpeg_parts,
    "PNG": _png_parts,
    "WEBP": _webp_parts,
}

"""What an image file's own bytes say before anything is decoded: is it whole, how deep are its samples, how many frames.

Pillow leaves these questions open: it forgets the bit depth of colour images deeper than 8 bits, accepts a PNG or GIF that
ends early as long as the pixels are there, and counts the pages of a TIFF in quadratic time.
"""

from __future__ import annotations

import re
import struct
import zlib

MAX_CHUNKS = 1_000_000
"""Chunks of a PNG or pages of a TIFF beyond which a file is refused: reading them would take longer than any image does."""

MAX_INFLATED_BYTES = 1 << 20
"""Size in bytes to which one compressed text or profile chunk of a PNG may unfold."""

_PNG_SIGNATURE_BYTES = 8
_PNG_LEAST_BYTES = {b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"pHYs": 9, b"acTL": 8, b"fcTL": 26, b"fdAT": 4}
_PNG_TRANSPARENCY_BYTES = {0: 2, 2: 6}
_PNG_COMPRESSED = {
    b"zTXt": re.compile(rb"[^\0]*\0.", re.DOTALL),
    b"iCCP": re.compile(rb"[^\0]*\0.", re.DOTALL),
    b"iTXt": re.compile(rb"[^\0]*\0\x01.[^\0]*\0[^\0]*\0", re.DOTALL),
}
"""What stands before the compressed bytes of a chunk."""

_J2K_START = b"\xff\x4f\xff\x51"
_J2K_END = b"\xff\xd9"


class BrokenImageError(Exception):
    """The file breaks off or contradicts itself."""


def png_bit_depth(data: bytes) -> int:
    """Check that a PNG is whole and give the bit depth of its samples; a palette's entries have 8 bits.

    Raises:
        BrokenImageError: The file breaks off, a checksum is wrong, a chunk is too short for its kind, or a compressed chunk
            unfolds beyond ``MAX_INFLATED_BYTES``.
    """
    view = memoryview(data)
    position = _PNG_SIGNATURE_BYTES
    depth = colour_type = -1
    pixels = False
    for number in range(MAX_CHUNKS):
        if position + 8 > len(data):
            raise BrokenImageError("the file is truncated: it ends without an IEND chunk")
        length, kind = struct.unpack_from(">I4s", data, position)
        end = position + 8 + length
        if not kind.isalpha():
            raise BrokenImageError(f"broken chunk name {kind!r}")
        if end + 4 > len(data):
            raise BrokenImageError(f"the file is truncated inside a chunk {kind.decode()}")
        if zlib.crc32(view[position + 4 : end]) != int.from_bytes(view[end : end + 4], "big"):
            raise BrokenImageError(f"wrong checksum of a chunk {kind.decode()}")
        if (kind == b"IHDR") != (number == 0) or (kind == b"IHDR" and length != 13):
            raise BrokenImageError("the IHDR chunk is not where and what it has to be")
        if kind == b"IHDR":
            depth, colour_type = data[position + 16], data[position + 17]
        elif kind == b"IDAT":
            pixels = True
        elif kind == b"IEND":
            if not pixels:
                raise BrokenImageError("no IDAT chunk")
            return 8 if colour_type == 3 else depth
        else:
            _check_png_chunk(kind, bytes(view[position + 8 : end]), colour_type)
        position = end + 4
    raise BrokenImageError(f"more than {MAX_CHUNKS} chunks")


def _check_png_chunk(kind: bytes, content: bytes, colour_type: int) -> None:
    least = _PNG_TRANSPARENCY_BYTES.get(colour_type, 0) if kind == b"tRNS" else _PNG_LEAST_BYTES.get(kind, 0)
    if len(content) < least:
        raise BrokenImageError(f"a chunk {kind.decode()} is too short")
    if kind in _PNG_COMPRESSED and (head := _PNG_COMPRESSED[kind].match(content)):
        inflater = zlib.decompressobj()
        try:
            inflater.decompress(content[head.end() :], MAX_INFLATED_BYTES)
        except zlib.error:
            return  # a damaged text says nothing about the pixels
        if inflater.unconsumed_tail:
            raise BrokenImageError(f"a chunk {kind.decode()} unfolds to more than {MAX_INFLATED_BYTES} bytes")


def gif_frames(data: bytes) -> int:
    """Count the frames of a GIF by walking its blocks to the trailer.

    Raises:
        BrokenImageError: The file ends before its trailer.
    """
    frames = 0
    try:
        position = 13 + _gif_colour_table_bytes(data[10])
        while (introducer := data[position]) != 0x3B:
            if introducer == 0x2C:
                frames += 1
                position += 11 + _gif_colour_table_bytes(data[position + 9])
            elif introducer == 0x21:
                position += 2
            else:  # stray bytes between blocks are skipped, as every decoder does
                position += 1
                continue
            while block := data[position]:
                position += block + 1
            position += 1
    except IndexError:
        raise BrokenImageError("the file is truncated: it ends before its trailer") from None
    return frames


def _gif_colour_table_bytes(flags: int) -> int:
    return 6 << (flags & 7) if flags & 0x80 else 0


def tiff_pages(data: bytes) -> int:
    """Count the pages of a TIFF or BigTIFF by following its chain of directories; a chain that closes on itself ends there.

    Raises:
        BrokenImageError: A directory lies outside the file, or there are more than ``MAX_CHUNKS``.
    """
    order = "<" if data[:2] == b"II" else ">"
    big = struct.unpack_from(order + "H", data, 2) == (43,)
    count, entry_bytes, link, first = ("Q", 20, "Q", 8) if big else ("H", 12, "I", 4)
    seen: set[int] = set()
    try:
        (offset,) = struct.unpack_from(order + link, data, first)
        while offset and offset not in seen and len(seen) < MAX_CHUNKS:
            seen.add(offset)
            (entries,) = struct.unpack_from(order + count, data, offset)
            offset += struct.calcsize(order + count) + entries * entry_bytes
            (offset,) = struct.unpack_from(order + link, data, offset)
    except (struct.error, IndexError, OverflowError):  # the last two for offsets beyond 63 bits
        raise BrokenImageError("the file is truncated: a directory lies beyond its end") from None
    if len(seen) == MAX_CHUNKS:
        raise BrokenImageError(f"{MAX_CHUNKS} pages or more")
    return len(seen)


def jpeg2000_size_and_depth(data: bytes) -> tuple[int, int, int]:
    """Give width, height and the largest bit depth that a JPEG 2000 codestream declares; checks that it has an end.

    The boxes around the codestream may declare something else; the decoder allocates what the codestream says.

    Raises:
        BrokenImageError: There is no complete codestream.
    """
    start = data.find(_J2K_START)
    if start < 0 or data.find(_J2K_END, start) < 0:  # packet bodies never hold a marker, so this one is the end
        raise BrokenImageError("the file is truncated: its codestream has no end")
    try:
        right, bottom, left, top = struct.unpack_from(">4I", data, start + 8)
        (components,) = struct.unpack_from(">H", data, start + 40)
        depth = max((data[start + 42 + 3 * index] & 0x7F) + 1 for index in range(components))
    except (struct.error, IndexError, ValueError):
        raise BrokenImageError("the codestream has no valid header") from None
    return right - left, bottom - top, depth


def avif_bit_depth(data: bytes) -> int:
    """Give the bit depth in the first AV1 configuration record: 8, 10 or 12 (AV1 in ISOBMFF 1.3, section 2.3.3).

    Raises:
        BrokenImageError: There is no such record.
    """
    start = data.find(b"av1C")
    if start < 0 or start + 7 > len(data):
        raise BrokenImageError("no AV1 configuration")
    flags = data[start + 6]
    if not flags & 0x40:
        return 8
    return 12 if flags & 0x20 else 10


def webp_size(data: bytes) -> tuple[int, int]:
    """Give width and height of a WebP's canvas, which its decoder allocates before anything else can be asked.

    Raises:
        BrokenImageError: The header is none of the three known ones.
    """
    kind, head = data[12:16], data[20:30]
    if kind == b"VP8X" and len(head) == 10:
        return int.from_bytes(head[4:7], "little") + 1, int.from_bytes(head[7:10], "little") + 1
    if kind == b"VP8 " and len(head) == 10:
        width, height = struct.unpack_from("<HH", head, 6)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L" and len(head) >= 5:
        bits = int.from_bytes(head[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    raise BrokenImageError("unknown WebP header")

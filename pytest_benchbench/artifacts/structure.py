"""What an image file's own bytes say before anything is decoded: is it whole, how deep are its samples, how many frames.

Pillow leaves these questions open: it forgets the bit depth of colour images deeper than 8 bits, accepts a PNG or GIF that
ends early as long as the pixels are there, and counts the pages of a TIFF in quadratic time.
"""

from __future__ import annotations

import math
import re
import struct
import zlib

MAX_CHUNKS = 1_000_000
"""Chunks of a PNG or pages of a TIFF beyond which a file is refused: reading them would take longer than any image does."""

MAX_INFLATED_BYTES = 1 << 20
"""Size in bytes to which one compressed text or profile chunk of a PNG may unfold."""

MAX_TEXT_BYTES = 64 << 20
"""Size in bytes to which all compressed text and profile chunks of a PNG may unfold together."""

MAX_SCANS = 100
"""Scans of a JPEG: each costs a pass over the whole picture, however short it is. Encoders write about a dozen."""

MAX_SEGMENTS = 100_000
"""Marker segments of a JPEG beyond which a file is refused."""

MAX_EXIF_SEGMENTS = 256
"""EXIF segments of a JPEG, which Pillow joins one by one: 16 MiB together."""

MAX_CODE_BLOCKS = 1 << 22
"""Code-blocks, precincts and tile components into which a JPEG 2000 codestream may divide a picture: its decoder allocates
some 300 bytes for each before it reads any. A picture of 200 million pixels has a fiftieth of it in blocks of 64x64."""

_PNG_SIGNATURE_BYTES = 8
_PNG_LEAST_BYTES = {b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"pHYs": 9, b"acTL": 8, b"fcTL": 26, b"fdAT": 4}
_PNG_TRANSPARENCY_BYTES = {0: 2, 2: 6}
_PNG_COMPRESSED = {
    b"zTXt": re.compile(rb"[^\0]*\0.", re.DOTALL),
    b"iCCP": re.compile(rb"[^\0]*\0.", re.DOTALL),
    b"iTXt": re.compile(rb"[^\0]*\0\x01.[^\0]*\0[^\0]*\0", re.DOTALL),
}
"""What stands before the compressed bytes of a chunk."""

_JPEG_MARKER = re.compile(rb"\xff([^\x00\xff\xd0-\xd7])")
"""A marker, but for stuffed bytes and restarts, which stand inside a scan (ITU-T T.81, section B.1.1.2). The fill bytes
before it are left out: a pattern with them takes quadratic time where no marker follows."""
_JPEG_START, _JPEG_END, _JPEG_SCAN, _JPEG_APP1, _JPEG_TEMPORARY = 0xD8, 0xD9, 0xDA, 0xE1, 0x01

_J2K_START = b"\xff\x4f\xff\x51"
_J2K_END = b"\xff\xd9"
_J2K_CODING, _J2K_COMPONENT_CODING, _J2K_TILE_PART, _J2K_DATA, _J2K_END_MARKER = 0xFF52, 0xFF53, 0xFF90, 0xFF93, 0xFFD9

_J2K_MOST_CODINGS = 1000
"""Different coding styles that a JPEG 2000 codestream may declare, for itself, its tiles and their components."""

_MOST_TAGS = 65_536
_TAG_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
"""Size of a value by its TIFF type; a tag of any other type is passed over by readers."""


class BrokenImageError(Exception):
    """The file breaks off or contradicts itself."""


def png_bit_depth(data: bytes) -> int:
    """Check that a PNG is whole and give the bit depth of its samples; a palette's entries have 8 bits.

    Raises:
        BrokenImageError: The file breaks off, a checksum is wrong, a chunk is too short for its kind, or compressed chunks
            unfold beyond ``MAX_INFLATED_BYTES`` or ``MAX_TEXT_BYTES``.
    """
    view = memoryview(data)
    unfolded = 0
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
            unfolded += _check_png_chunk(kind, bytes(view[position + 8 : end]), colour_type)
            if unfolded > MAX_TEXT_BYTES:
                raise BrokenImageError(f"its texts and profiles unfold to more than {MAX_TEXT_BYTES} bytes")
        position = end + 4
    raise BrokenImageError(f"more than {MAX_CHUNKS} chunks")


def png_chunk_kinds(data: bytes) -> set[bytes]:
    """Give the kinds of chunks in a PNG that ``png_bit_depth`` has found whole."""
    kinds: set[bytes] = set()
    position, kind = _PNG_SIGNATURE_BYTES, b""
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, position)
        kinds.add(kind)
        position += 12 + length
    return kinds


def _check_png_chunk(kind: bytes, content: bytes, colour_type: int) -> int:
    """Check a chunk beside the pixels, and give the bytes to which it unfolds; 0 for one that is not compressed."""
    least = _PNG_TRANSPARENCY_BYTES.get(colour_type, 0) if kind == b"tRNS" else _PNG_LEAST_BYTES.get(kind, 0)
    if len(content) < least:
        raise BrokenImageError(f"a chunk {kind.decode()} is too short")
    if kind in _PNG_COMPRESSED and (head := _PNG_COMPRESSED[kind].match(content)):
        inflater = zlib.decompressobj()
        try:
            unfolded = len(inflater.decompress(content[head.end() :], MAX_INFLATED_BYTES))
        except zlib.error:
            return MAX_INFLATED_BYTES  # a damaged text says nothing about the pixels; it may have unfolded as far as that
        if inflater.unconsumed_tail:
            raise BrokenImageError(f"a chunk {kind.decode()} unfolds to more than {MAX_INFLATED_BYTES} bytes")
        return unfolded
    return 0


def check_jpeg(data: bytes) -> None:
    """Check that a JPEG does not keep its decoder busy out of proportion; whether it is whole, the decoder says.

    Raises:
        BrokenImageError: It has more than ``MAX_SCANS``, ``MAX_SEGMENTS`` or ``MAX_EXIF_SEGMENTS``.
    """
    position, scans, exif = 2, 0, 0
    for _ in range(MAX_SEGMENTS):
        if (found := _JPEG_MARKER.search(data, position)) is None:
            return
        kind, position = found[1][0], found.end()
        if kind == _JPEG_END and scans:  # readers pass over one that stands before the picture
            return
        if kind in (_JPEG_START, _JPEG_END, _JPEG_TEMPORARY):
            continue
        scans += kind == _JPEG_SCAN
        exif += kind == _JPEG_APP1 and data.startswith(b"Exif\0\0", position + 2)
        if scans > MAX_SCANS:
            raise BrokenImageError(f"more than {MAX_SCANS} scans")
        if exif > MAX_EXIF_SEGMENTS:
            raise BrokenImageError(f"more than {MAX_EXIF_SEGMENTS} EXIF segments")
        position += max(2, int.from_bytes(data[position : position + 2], "big"))
    raise BrokenImageError(f"more than {MAX_SEGMENTS} segments")


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
        BrokenImageError: A directory lies outside the file, there are more than ``MAX_CHUNKS``, or the first one, which is
            read, names more bytes than there are.
    """
    order = "<" if data[:2] == b"II" else ">"
    big = struct.unpack_from(order + "H", data, 2) == (43,)
    count, entry_bytes, link, first = ("Q", 20, "Q", 8) if big else ("H", 12, "I", 4)
    seen: set[int] = set()
    try:
        (offset,) = struct.unpack_from(order + link, data, first)
        begin = offset
        while offset and offset not in seen and len(seen) < MAX_CHUNKS:
            seen.add(offset)
            (entries,) = struct.unpack_from(order + count, data, offset)
            offset += struct.calcsize(order + count) + entries * entry_bytes
            (offset,) = struct.unpack_from(order + link, data, offset)
    except (struct.error, IndexError, OverflowError):  # the last two for offsets beyond 63 bits
        raise BrokenImageError("the file is truncated: a directory lies beyond its end") from None
    if len(seen) == MAX_CHUNKS:
        raise BrokenImageError(f"{MAX_CHUNKS} pages or more")
    if begin and not tags_fit(data, begin, order, big=big):
        raise BrokenImageError("the values of its tags are larger than the file")
    return len(seen)


def tags_fit(data: bytes, offset: int, order: str, *, big: bool = False) -> bool:
    """Say whether the values of a TIFF directory's tags fit into the file together.

    A reader takes a copy of each that lies in the file: a directory whose tags all name the same bytes would multiply it.

    Args:
        data: The file, or an EXIF block.
        offset: Where the directory begins.
        order: ``<`` or ``>``.
        big: Whether it is a BigTIFF.

    Raises:
        struct.error: The directory is not inside ``data``.
    """
    count, entry, inline = ("Q", "HHQQ", 8) if big else ("H", "HHII", 4)
    (entries,) = struct.unpack_from(order + count, data, offset)
    begin, step = offset + struct.calcsize(order + count), 20 if big else 12
    if entries > _MOST_TAGS:
        return False
    total = 0
    for position in range(begin, begin + entries * step, step):
        _, kind, values, place = struct.unpack_from(order + entry, data, position)
        size = values * _TAG_BYTES.get(kind, 0)
        total += size if inline < size <= len(data) - place else 0
    return total <= len(data)


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


def check_jpeg2000_blocks(data: bytes) -> None:
    """Check that a JPEG 2000 codestream divides its picture into as many parts as its decoder can hold.

    Raises:
        BrokenImageError: There is no valid header, or more than ``MAX_CODE_BLOCKS`` are declared.
    """
    start = data.find(_J2K_START)
    try:
        right, bottom, left, top, tile_width, tile_height = struct.unpack_from(">6I", data, start + 8)
        (components,) = struct.unpack_from(">H", data, start + 40)
        tiles = math.ceil(right / tile_width) * math.ceil(bottom / tile_height)
        for coding in _jpeg2000_codings(data, start + 2, wide=components > 256):
            blocks = components * (_jpeg2000_blocks(right - left, bottom - top, coding) + tiles * (coding[0] + 1))
            if blocks > MAX_CODE_BLOCKS:
                raise BrokenImageError(f"the codestream is divided into more than {MAX_CODE_BLOCKS} blocks")
    except (struct.error, IndexError, ZeroDivisionError):
        raise BrokenImageError("the codestream has no valid header") from None


def _jpeg2000_codings(data: bytes, position: int, *, wide: bool) -> set[bytes]:
    """Find every coding style of a codestream, those of tile-parts too: the bytes from its number of levels on.

    Args:
        data: The file.
        position: Where the first marker after the start of the codestream stands.
        wide: Whether components are numbered by two bytes.

    Raises:
        BrokenImageError: There are more than ``_J2K_MOST_CODINGS``.
        struct.error: A marker is not where it has to be.
    """
    found: set[bytes] = set()
    tile_end = 0
    for _ in range(MAX_CHUNKS):
        marker, length = struct.unpack_from(">2H", data, position)
        if marker == _J2K_END_MARKER:
            break
        if marker == _J2K_DATA:
            if tile_end <= position or data.startswith(_J2K_END, tile_end):
                break  # the last tile-part may leave its length open
            position = tile_end
            continue
        body = data[position + 4 : position + 2 + length]
        if marker == _J2K_CODING:
            found.add(body[5:10] + (body[10:] if body[0] & 1 else b""))
        elif marker == _J2K_COMPONENT_CODING:
            body = body[wide:]
            found.add(body[2:7] + (body[7:] if body[1] & 1 else b""))
        elif marker == _J2K_TILE_PART:
            tile_end = position + struct.unpack_from(">I", body, 2)[0]
        if len(found) > _J2K_MOST_CODINGS:
            raise BrokenImageError(f"more than {_J2K_MOST_CODINGS} coding styles")
        position += 2 + length
    return found


def _jpeg2000_blocks(width: int, height: int, coding: bytes) -> int:
    """Count the precincts and code-blocks of one component, all resolutions together (ITU-T T.800, sections B.5 to B.7)."""
    levels = coding[0]
    total = 0
    for level in range(levels + 1):
        across, down = -(-width >> (levels - level)), -(-height >> (levels - level))
        size = coding[5 + level] if len(coding) > 5 else 0xFF
        precinct = (size & 15, size >> 4)
        block = [min(coding[1 + axis] + 2, max(0, precinct[axis] - (level > 0))) for axis in (0, 1)]
        for columns, rows in (precinct, block):
            total += (-(-across >> columns)) * (-(-down >> rows))
    return total


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

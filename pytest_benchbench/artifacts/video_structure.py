"""What a video file's own container says before anything is decoded: is it whole, and how many pictures does it list.

FFmpeg leaves these questions open: it reads on behind damage, and takes the end of the bytes for the end of the video.
"""

from __future__ import annotations

import struct
from collections import Counter

import numpy as np

from pytest_benchbench.artifacts.boxes import BrokenBoxError, kind_text, walk_boxes
from pytest_benchbench.artifacts.containers import VideoContainer

MAX_ELEMENTS = 10_000_000
"""Chunks or elements beyond which a file is refused: walking them would take longer than any video."""

_ENTERED_BOXES = frozenset((b"moov", b"trak", b"mdia", b"minf"))
"""Boxes of an MP4 on the way to its tables."""

_TS_PACKET_BYTES = 188
_TS_SYNC = b"\x47"

_SEGMENT = 0x18538067
_CLUSTER = 0x1F43B675
_TRACKS = 0x1654AE6B
_TRACK_ENTRY = 0xAE
_TRACK_NUMBER = 0xD7
_TRACK_TYPE = 0x83
_BLOCK_GROUP = 0xA0
_BLOCK = 0xA1
_SIMPLE_BLOCK = 0xA3
_ENTERED = frozenset((_SEGMENT, _CLUSTER, _TRACKS, _TRACK_ENTRY, _BLOCK_GROUP))
"""Elements of Matroska (RFC 9559, section 5) whose content is walked; any other one is stepped over."""

_VIDEO_TRACK = 1
_LACED = 0x06


class BrokenVideoError(Exception):
    """The file breaks off or contradicts itself."""


def listed_pictures(data: bytes, container: VideoContainer) -> int | None:
    """Check that a file is whole, and count the coded pictures that it lists where FFmpeg would not say.

    Returns:
        Matroska: the number of blocks of the first video track. Elsewhere ``None``: an MP4's or AVI's own count is read by
        FFmpeg, and an MPEG transport stream has none.

    Raises:
        BrokenVideoError: The file breaks off inside a box, chunk, element or packet, is fragmented, or declares more coded
            pictures than it can hold.
    """
    if container == "mp4":
        try:
            _check_boxes(data)
        except BrokenBoxError as error:
            raise BrokenVideoError(str(error)) from None
    elif container == "avi":
        _check_chunks(data)
    elif container == "matroska":
        return _counted_blocks(data)
    elif len(data) % _TS_PACKET_BYTES or data[::_TS_PACKET_BYTES].count(_TS_SYNC) != len(data) // _TS_PACKET_BYTES:
        raise BrokenVideoError("the file is truncated or damaged: it is no row of whole transport packets")
    return None


def _check_boxes(data: bytes) -> None:
    """Check that the boxes of an MP4 or QuickTime file are whole and that its tables declare no more than it can hold.

    FFmpeg unfolds the tables to an entry for each coded picture, so a few bytes could fill the memory.
    """
    opened = [(0, len(data))]
    has_index = False
    while opened:
        for kind, begin, end in walk_boxes(data, *opened.pop()):
            if kind in (b"moof", b"cmov"):
                what = "fragmented and does not say how long it is" if kind == b"moof" else "led by a compressed table"
                raise BrokenVideoError(f"the file is {what}; write it again in one piece (ffmpeg -i IN -c copy OUT.mp4)")
            has_index = has_index or kind == b"moov"
            if kind in _ENTERED_BOXES:
                opened.append((begin, end))
            elif kind == b"stbl":
                _check_table({inner: (start, stop) for inner, start, stop in walk_boxes(data, begin, end)}, data)
    if not has_index:
        raise BrokenVideoError("the file is truncated: it has no box moov")


def _check_table(table: dict[bytes, tuple[int, int]], data: bytes) -> None:
    """Check a track's numbers of samples (ISO/IEC 14496-12, sections 8.6.1 and 8.7.3)."""
    samples = 0
    for kind in (b"stsz", b"stz2"):
        if kind in table:
            begin, end = table[kind]
            if end - begin < 12:
                raise BrokenVideoError(f"the box {kind_text(kind)} is too short")
            (samples,) = struct.unpack_from(">I", data, begin + 8)
    if samples > len(data):
        raise BrokenVideoError(f"a track declares {samples} samples, more than the file can hold")
    for kind in (b"stts", b"ctts"):
        begin, end = table.get(kind, (0, 0))
        runs = np.frombuffer(data, ">u4", max((end - begin - 8) // 8, 0) * 2, begin + 8 if end else 0)
        if int(runs[::2].sum(dtype=np.uint64)) > samples:
            raise BrokenVideoError(f"the box {kind_text(kind)} times more than the {samples} samples of its track")


def _check_chunks(data: bytes) -> None:
    """Step over the outermost chunks of an AVI; a recording that was never finished says that they are empty."""
    position = 0
    for _ in range(MAX_ELEMENTS):
        if position >= len(data):  # the last chunk's padding may be missing
            return
        if position + 8 > len(data):
            raise BrokenVideoError("the file is truncated: it ends inside the header of a chunk")
        kind, size = struct.unpack_from("<4sI", data, position)
        if size > len(data) - position - 8 or (kind == b"RIFF" and size == 0):
            raise BrokenVideoError(f"the file is truncated or damaged: it ends inside a chunk {kind_text(kind)}")
        position += 8 + size + size % 2
    raise BrokenVideoError(f"more than {MAX_ELEMENTS} chunks")


def _counted_blocks(data: bytes) -> int:
    """Walk a Matroska or WebM file and count the frames in the blocks of its first video track."""
    tracks: list[dict[int, int]] = []
    blocks: Counter[int] = Counter()
    position = 0
    try:
        for _ in range(MAX_ELEMENTS):
            if position == len(data):
                break
            element, position = _number(data, position, longest=4, marker=True)
            size, position = _size(data, position)
            if size is None:
                if element not in (_SEGMENT, _CLUSTER):
                    raise BrokenVideoError("the file is damaged: an element has no length")
                continue
            if size > len(data) - position:
                raise BrokenVideoError("the file is truncated or damaged: it ends inside an element")
            if element == _TRACK_ENTRY:
                tracks.append({})
            elif element in (_TRACK_NUMBER, _TRACK_TYPE) and tracks:
                tracks[-1][element] = int.from_bytes(data[position : position + size], "big")
            elif element in (_BLOCK, _SIMPLE_BLOCK):
                track, content = _number(data, position, longest=8)
                laced = data[content + 2] & _LACED
                blocks[track] += data[content + 3] + 1 if laced else 1
            if element not in _ENTERED:
                position += size
        else:
            raise BrokenVideoError(f"more than {MAX_ELEMENTS} elements")
    except IndexError:
        raise BrokenVideoError("the file is truncated: it ends inside an element") from None
    for entry in tracks:
        if entry.get(_TRACK_TYPE) == _VIDEO_TRACK:
            return blocks[entry.get(_TRACK_NUMBER, 0)]
    raise BrokenVideoError("there is no video stream in the file")


def _number(data: bytes, position: int, *, longest: int, marker: bool = False) -> tuple[int, int]:
    """Read a number of variable length (RFC 8794, section 4); an element's name keeps its length marker.

    Returns:
        The number and the position behind it.
    """
    first = data[position]
    length = 9 - first.bit_length()
    end = position + length
    if length > longest:
        raise BrokenVideoError("the file is damaged: no element begins where one should")
    if end > len(data):
        raise IndexError
    number = int.from_bytes(data[position:end], "big")
    return number if marker else number & ((1 << 7 * length) - 1), end


def _size(data: bytes, position: int) -> tuple[int | None, int]:
    """Read an element's length; ``None`` if it says that the length is unknown, as a file written live does."""
    number, end = _number(data, position, longest=8)
    return None if number == (1 << 7 * (end - position)) - 1 else number, end

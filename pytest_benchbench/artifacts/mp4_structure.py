"""What the boxes of an MP4 or M4A file say about its sound before anything is decoded (ISO/IEC 14496-12).

FFmpeg rounds the length of an edit to the movie's clock, often milliseconds, and keeps the padding at the end; both are
settled here, from the sample table, which is exact.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pytest_benchbench.artifacts.boxes import BrokenBoxError, walk_boxes
from pytest_benchbench.artifacts.media import UndecodableArtifactError

MAX_SAMPLES = 1_000_000
"""Encoded samples of one track beyond which a file is refused: FFmpeg would keep a table entry of each."""

_ITUNES_GAPLESS = re.compile(rb"iTunSMPB.{0,8}data.{8} 0{8} ([0-9A-Fa-f]{8}) ([0-9A-Fa-f]{8}) ([0-9A-Fa-f]{16})", re.DOTALL)
"""Encoder delay, padding and length in samples, as iTunes writes them into the metadata."""


@dataclass(frozen=True, slots=True)
class AudioTrack:
    """The first audio track.

    Attributes:
        track: Its id.
        packets: Encoded samples in its table.
        start: Where the sound begins on the track's own clock, in seconds: the encoder delay.
        end: Where it ends.
        gapless: What says so: ``edit list``, ``iTunSMPB`` or ``none``.
        others: Further audio tracks.
    """

    track: int
    packets: int
    start: Fraction
    end: Fraction
    gapless: str
    others: int


def first_audio_track(data: bytes) -> AudioTrack:
    """Check that an MP4 file is whole, and say which part of its first audio track is the sound.

    Raises:
        UndecodableArtifactError: A box reaches beyond the end, the tables contradict each other or declare more than the
            file can hold, the file is fragmented, it has no audio track, or the track plays several pieces of itself.
    """
    try:
        return _first_audio_track(data)
    except BrokenBoxError as error:
        raise UndecodableArtifactError(str(error)) from None


def _first_audio_track(data: bytes) -> AudioTrack:
    top = _first(data, 0, len(data))
    if b"moof" in top:
        raise UndecodableArtifactError("the MP4 file is fragmented and tells no length; write it again in one piece")
    if b"moov" not in top:
        raise UndecodableArtifactError("the MP4 file is truncated: it has no moov box")
    moov = top[b"moov"]
    movie_scale = _clock(data, _first(data, *moov).get(b"mvhd"))
    sounds = []
    for box in walk_boxes(data, *moov):
        if box.kind != b"trak":
            continue
        boxes = _first(data, box.begin, box.end)
        media = _first(data, *_needed(boxes, b"mdia"))
        packets, length = _sample_table(data, media)
        begin, end = _needed(media, b"hdlr")
        if data[begin + 8 : min(begin + 12, end)] == b"soun":
            sounds.append((boxes, media, packets, length))
    if not sounds:
        raise UndecodableArtifactError("the MP4 file has no audio track")
    boxes, media, packets, length = sounds[0]
    scale = _clock(data, media.get(b"mdhd"))
    begin, end = _needed(boxes, b"tkhd")
    (track,) = _numbers(data, begin + (20 if data[begin] == 1 else 12), end, ">I")
    edited = _edit(data, boxes, movie_scale)
    gapless = "none"
    start = 0
    stop = length
    if edited is not None:
        gapless = "edit list"
        start, seconds = edited
        stop = start + _edit_length(length - start, seconds * scale, Fraction(scale, movie_scale))
    elif tag := _ITUNES_GAPLESS.search(data, *moov):
        gapless = "iTunSMPB"
        start, _, samples = (int(number, 16) for number in tag.groups())
        stop = start + samples
    if not 0 <= start < stop <= length:
        raise UndecodableArtifactError(f"the {gapless} of the MP4 file reaches beyond its {length} samples")
    return AudioTrack(track, packets, Fraction(start, scale), Fraction(stop, scale), gapless, len(sounds) - 1)


def _edit_length(rest: int, declared: Fraction, tick: Fraction) -> int:
    """Give the length of an edit in samples: the rest of the track if that differs by less than the movie's coarse clock."""
    if declared == 0 or abs(declared - rest) < tick:
        return rest
    return round(declared)


def _first(data: bytes, begin: int, end: int) -> dict[bytes, tuple[int, int]]:
    """Give the first box of each kind, which is the one that FFmpeg takes."""
    found: dict[bytes, tuple[int, int]] = {}
    for box in walk_boxes(data, begin, end):
        found.setdefault(box.kind, (box.begin, box.end))
    return found


def _needed(boxes: dict[bytes, tuple[int, int]], kind: bytes) -> tuple[int, int]:
    if kind not in boxes:
        raise UndecodableArtifactError(f"the MP4 file has no {kind.decode()} box where it needs one")
    return boxes[kind]


def _numbers(data: bytes, begin: int, end: int, layout: str) -> tuple[int, ...]:
    if begin + struct.calcsize(layout) > end:
        raise UndecodableArtifactError("a box of the MP4 file is too short")
    return struct.unpack_from(layout, data, begin)


def _clock(data: bytes, box: tuple[int, int] | None) -> int:
    """Give the units in a second of a movie or media header."""
    if box is None:
        raise UndecodableArtifactError("the MP4 file has no clock")
    begin, end = box
    (version,) = _numbers(data, begin, end, ">B")
    (scale,) = _numbers(data, begin + (20 if version == 1 else 12), end, ">I")
    if scale == 0:
        raise UndecodableArtifactError("the clock of the MP4 file stands still")
    return scale


def _sample_table(data: bytes, media: dict[bytes, tuple[int, int]]) -> tuple[int, int]:
    """Give the number of encoded samples of a track and their total length on its clock."""
    table = _first(data, *_needed(_first(data, *_needed(media, b"minf")), b"stbl"))
    if b"stsz" in table:
        begin, end = table[b"stsz"]
        each, count = _numbers(data, begin + 4, end, ">II")
        held = each * count if each else 0
        if each == 0 and count <= MAX_SAMPLES:
            _numbers(data, begin + 12, end, f">{4 * count}x")
            held = int(np.frombuffer(data, ">u4", count, begin + 12).sum(dtype=np.uint64))
    else:
        begin, end = _needed(table, b"stz2")
        _, count = _numbers(data, begin + 4, end, ">II")
        held = 0
    if count > MAX_SAMPLES or held > len(data):
        raise UndecodableArtifactError(f"a track of the MP4 file declares {count} samples, more than the file can hold")
    begin, end = _needed(table, b"stts")
    (entries,) = _numbers(data, begin + 4, end, ">I")
    if entries > MAX_SAMPLES:
        raise UndecodableArtifactError("a time table of the MP4 file is too long")
    _numbers(data, begin + 8, end, f">{8 * entries}x")
    times = np.frombuffer(data, ">u4", 2 * entries, begin + 8).reshape(-1, 2).astype(np.float64)
    if times[:, 0].sum() != count:
        raise UndecodableArtifactError("the tables of a track of the MP4 file contradict each other")
    length = float((times[:, 0] * times[:, 1]).sum())
    if length >= 1 << 53:
        raise UndecodableArtifactError("a track of the MP4 file declares an absurd length")
    return count, int(length)


def _edit(data: bytes, boxes: dict[bytes, tuple[int, int]], movie_scale: int) -> tuple[int, Fraction] | None:
    """Give where the one edit of a track begins, on its clock, and how long it is, in seconds.

    Empty edits before it, which delay the sound of a film, are passed over.
    """
    if b"edts" not in boxes or b"elst" not in (lists := _first(data, *boxes[b"edts"])):
        return None
    begin, end = lists[b"elst"]
    version, count = _numbers(data, begin, end, ">B3xI")
    if count > MAX_SAMPLES:
        raise UndecodableArtifactError("the edit list of the MP4 file is too long")
    layout = ">QqHH" if version == 1 else ">IiHH"
    edits = [_numbers(data, begin + 8 + number * struct.calcsize(layout), end, layout) for number in range(count)]
    shown = [edit for edit in edits if edit[1] != -1]
    if not shown:
        return None
    if len(shown) > 1 or shown[0][1] < 0 or shown[0][2:] != (1, 0) or edits[-1] != shown[0]:
        raise UndecodableArtifactError("the edit list of the MP4 file plays several pieces; write the file again as one")
    return shown[0][1], Fraction(shown[0][0], movie_scale)

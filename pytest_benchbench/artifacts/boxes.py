"""The boxes of an MP4, M4A or QuickTime file, walked one after another (ISO/IEC 14496-12, section 4.2)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

MAX_BOXES = 100_000
"""Boxes in one place beyond which a file is refused."""


class Box(NamedTuple):
    """A box: what it is, and where its content begins and ends."""

    kind: bytes
    begin: int
    end: int


class BrokenBoxError(Exception):
    """A box breaks off, reaches beyond what contains it, or there are too many."""


def walk_boxes(data: bytes, begin: int, end: int) -> Iterator[Box]:
    """Give every box between two positions.

    Raises:
        BrokenBoxError: They do not fill the place exactly, or are more than ``MAX_BOXES``.
    """
    for _ in range(MAX_BOXES):
        if begin == end:
            return
        if begin + 8 > end:
            raise BrokenBoxError("the file is truncated: it ends inside the header of a box")
        size, kind = struct.unpack_from(">I4s", data, begin)
        content = begin + 8
        if size == 1:
            if content + 8 > end:
                raise BrokenBoxError("the file is truncated: it ends inside the header of a box")
            (size,) = struct.unpack_from(">Q", data, content)
            content += 8
        elif size == 0:
            size = end - begin
        if size < content - begin or size > end - begin:
            raise BrokenBoxError(f"the file is truncated or damaged: a box {kind_text(kind)} reaches beyond its end")
        begin += size
        yield Box(kind, content, begin)
    raise BrokenBoxError(f"more than {MAX_BOXES} boxes in one place")


def kind_text(kind: bytes) -> str:
    """Write a four-character code for people."""
    return kind.decode("ascii") if kind.isalnum() else repr(kind)

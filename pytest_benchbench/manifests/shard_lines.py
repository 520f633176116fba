"""The lines of a manifest at which one shard looks: its own, told by as little of each line as shows its id.

Which shard a line belongs to must be the same in every process, and must be the shard of the row that the strict reader
sees. Two ways of finding an id keep to that:

1. By the beginning of the line: an object whose first members have plain texts, numbers or words as values, up to the
   member that is the id, nothing of it escaped. If the whole line is a sound row, no key stands twice, so that no other
   member can be the id.
2. By a decoder that passes over everything but the id, and takes the last of repeated keys. Again a sound row has only one.

A line whose id neither finds is no sound row, because the strict reader decodes it with the same decoder: it belongs to
every shard, and each of them says what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import msgspec

from pytest_benchbench.manifests.lines import Lines
from pytest_benchbench.manifests.sharding import Shard

MAX_MEMBERS_BEFORE_ID = 16
"""Members that may stand before the id for it to be found by the beginning of the line."""


class ShardLines:
    """Iterates over ``(number, offset, line)`` of a shard's lines, once; those that belong to every shard are among them.

    Args:
        lines: The lines of the file, not iterated over yet; they know digest and count when this iteration has ended.
        id_field: The member that is the id of a row.
        shard: The shard.
    """

    def __init__(self, lines: Lines, id_field: str, shard: Shard) -> None:
        self._lines = lines
        self._shard = shard
        self._match_beginning = _beginning(id_field).match
        head: Any = msgspec.defstruct("Head", [("id", str)], rename={"id": id_field})
        self._decode = msgspec.json.Decoder(head).decode
        self._beginning = b""

    def __iter__(self) -> Iterator[tuple[int, int, bytes]]:
        for block in self._lines.blocks():
            ids = self._ids_of_like_lines(block.lines)
            if places := self._shard.places_taken(map(self._id_of, block.lines) if ids is None else ids):
                offsets = list(block.offsets())
                for at in places:
                    yield block.number + at, offsets[at], block.lines[at].removesuffix(b"\r")

    def _ids_of_like_lines(self, lines: list[bytes]) -> list[bytes] | None:
        """Find the ids of lines that all begin like the last one that was looked at by itself; ``None`` if they do not."""
        beginning = self._beginning
        if not beginning or not all(map(bytes.startswith, lines, repeat(beginning))):
            return None
        begin = len(beginning)
        try:
            ids = [line[begin : line.index(b'"', begin)] for line in lines]
        except ValueError:
            return None
        return None if b"\\" in b"".join(ids) else ids

    def _id_of(self, line: bytes) -> bytes | None:
        """Find the id of a line, in UTF-8, and remember how it begins; ``None`` if the id cannot be read."""
        if (match := self._match_beginning(line)) is not None:
            self._beginning = line[: match.start(1)]
            return match[1]
        try:
            case_id: str = self._decode(line).id
        except (msgspec.DecodeError, RecursionError):
            return None
        return case_id.encode("utf-8", "surrogatepass")


def _beginning(id_field: str) -> re.Pattern[bytes]:
    """Make the pattern of a line up to the end of its id, which is the group; nothing in it can be matched in two ways."""
    space, text, key = rb"[ \t]*+", rb'"[^"\\]*+"', b'"' + re.escape(id_field.encode()) + b'"'
    value = rb"(?:" + text + rb"|[-+.0-9A-Za-z]++)"
    member = rb"(?!" + key + rb")" + text + space + b":" + space + value + space + b"," + space
    members = rb"(?:" + member + rb"){0,%d}+" % MAX_MEMBERS_BEFORE_ID
    return re.compile(rb"\{" + space + members + key + space + b":" + space + rb'"([^"\\]*+)"')

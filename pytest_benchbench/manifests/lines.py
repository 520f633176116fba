"""The lines of a file, streamed: their numbers, where they begin, and the digest of the whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import accumulate, chain, count as numbers
from typing import BinaryIO, NamedTuple

MAX_LINE_BYTES = 1024 * 1024
"""The longest line, without its end; a longer one is never held in memory."""

BLOCK_BYTES = 128 * 1024
"""What is read at once: lines that are still in the processor's cache decode faster."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_KEPT_BYTES = MAX_LINE_BYTES + 2
"""Of a line that is too long, as much is kept as shows that it is, whichever line end it has."""


class Block(NamedTuple):
    """Some lines, one after the other.

    Attributes:
        number: Number of the first one.
        offset: The byte at which it begins.
        dropped: Bytes of it that were left out because it is too long.
        lines: The lines without LF; CR may stand at their ends.
        has_cr: Whether a CR stands anywhere in them.
    """

    number: int
    offset: int
    dropped: int
    lines: list[bytes]
    has_cr: bool

    def offsets(self) -> Iterator[int]:
        """Give the byte at which each line begins, and the one behind the last line's end."""
        sizes = [len(line) + 1 for line in self.lines]
        sizes[0] += self.dropped
        return accumulate(sizes, initial=self.offset)

    def numbered(self) -> Iterator[tuple[int, int, bytes]]:
        """Give number, offset and text of each line, counted by iterators in C: a loop costs half as much as decoding."""
        lines = [line.removesuffix(b"\r") for line in self.lines] if self.has_cr else self.lines
        return zip(numbers(self.number), self.offsets(), lines, strict=False)


class Lines:
    """Iterates over ``(number, offset, line)`` of a binary file, once, from its beginning.

    A byte-order mark and the line ends LF and CRLF are taken off; ``offset`` is where the line itself begins. A line longer
    than ``MAX_LINE_BYTES`` comes cut off, but still longer than that.

    Args:
        file: A file at its beginning.

    Attributes:
        sha256: Digest of all bytes, known when the iteration has ended.
        count: How many lines there are, known when the iteration has ended.
        terminated: Whether the last line has an end: false from the moment when a last line without one is given.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = ""
        self.count = 0
        self.terminated = True

    def __iter__(self) -> Iterator[tuple[int, int, bytes]]:
        return chain.from_iterable(block.numbered() for block in self.blocks())

    def blocks(self) -> Iterator[Block]:
        """Yield the same lines, many at once; to be used instead of iterating."""
        digest = hashlib.sha256()
        number, offset, pending, dropped = 1, 0, b"", 0
        while text := self._file.read(BLOCK_BYTES):
            digest.update(text)
            if offset == 0 and not pending and text.startswith(BYTE_ORDER_MARK):
                offset, text = len(BYTE_ORDER_MARK), text[len(BYTE_ORDER_MARK) :]
            text = pending + text
            *lines, pending = text.split(b"\n")
            if lines:
                yield Block(number, offset, dropped, lines, b"\r" in text)
                number, offset, dropped = number + len(lines), offset + dropped + len(text) - len(pending), 0
            if len(pending) > _KEPT_BYTES:
                dropped += len(pending) - _KEPT_BYTES
                pending = pending[:_KEPT_BYTES]
        self.sha256 = digest.hexdigest()
        self.count = number - 1
        if pending:
            self.count, self.terminated = number, False
            yield Block(number, offset, dropped, [pending], pending.endswith(b"\r"))


def without_end(line: bytes) -> bytes:
    """Take LF or CRLF off a line."""
    return line.removesuffix(b"\n").removesuffix(b"\r")

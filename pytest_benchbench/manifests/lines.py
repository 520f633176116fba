"""The lines of a file, streamed: their numbers, where they begin, and the digest of the whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain
from typing import BinaryIO

MAX_LINE_BYTES = 1024 * 1024
"""The longest line, without its end; a longer one is never held in memory."""

BLOCK_BYTES = 128 * 1024
"""What is read at once: lines that are still in the processor's cache decode faster."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_KEPT_BYTES = MAX_LINE_BYTES + 2
"""Of a line that is too long, as much is kept as shows that it is, whichever line end it has."""


class Lines:
    """Iterates over ``(number, offset, line)`` of a binary file, once, from its beginning.

    A byte-order mark and the line ends LF and CRLF are taken off; ``offset`` is where the line itself begins. A line longer
    than ``MAX_LINE_BYTES`` comes cut off, but still longer than that.

    Args:
        file: A file at its beginning.

    Attributes:
        sha256: Digest of all bytes, known when the iteration has ended.
        terminated: Whether the last line has an end: false from the moment when a last line without one is given.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = ""
        self.terminated = True

    def __iter__(self) -> Iterator[tuple[int, int, bytes]]:
        return chain.from_iterable(self._batches())

    def _batches(self) -> Iterator[Iterable[tuple[int, int, bytes]]]:
        """Yield the lines of each block, counted by iterators in C: a loop here costs half as much as decoding the rows."""
        digest = hashlib.sha256()
        number, offset, pending, dropped = 1, 0, b"", 0
        while block := self._file.read(BLOCK_BYTES):
            digest.update(block)
            if offset == 0 and not pending and block.startswith(BYTE_ORDER_MARK):
                offset, block = len(BYTE_ORDER_MARK), block[len(BYTE_ORDER_MARK) :]
            block = pending + block
            *lines, pending = block.split(b"\n")
            if lines:
                sizes = [len(line) + 1 for line in lines]
                sizes[0] += dropped
                if b"\r" in block:
                    lines = [line.removesuffix(b"\r") for line in lines]
                numbers, offsets = range(number, number + len(lines)), accumulate(sizes, initial=offset)
                yield zip(numbers, offsets, lines, strict=False)  # there is one offset more: that of what follows
                number, offset, dropped = number + len(lines), offset + sum(sizes), 0
            if len(pending) > _KEPT_BYTES:
                dropped += len(pending) - _KEPT_BYTES
                pending = pending[:_KEPT_BYTES]
        self.sha256 = digest.hexdigest()
        if pending:
            self.terminated = False
            yield [(number, offset, pending.removesuffix(b"\r"))]


def without_end(line: bytes) -> bytes:
    """Take LF or CRLF off a line."""
    return line.removesuffix(b"\n").removesuffix(b"\r")

"""Digests one after the other, and which of them are equal: what a set of texts is where there are a million of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

TEXT_DIGEST_BYTES = 16
"""Texts are told apart by 128 bits of BLAKE2b. Equal texts always have equal digests; that any two of a million different
ones share theirs has a chance of 1.5e-27 (``n * n / 2 ** 129``), far below that of a memory error."""

_SHA256_DIGITS = 64


def text_digest(text: bytes) -> bytes:
    """Give the digest by which a text is told apart from others."""
    return blake2b(text, digest_size=TEXT_DIGEST_BYTES).digest()


def sha256_text_digest(text: str) -> bytes:
    """Give the digest by which a SHA-256, written as 64 hex digits, is told apart from other texts: its own first bytes.

    Any other text has that of ``text_digest``, which takes longer. It is never all zero bytes.
    """
    if len(text) == _SHA256_DIGITS:
        try:
            digest = bytes.fromhex(text)
        except ValueError:
            digest = b""
        if len(digest) == _SHA256_DIGITS // 2 and any(digest[:TEXT_DIGEST_BYTES]):  # spaces between digits are read over
            return digest[:TEXT_DIGEST_BYTES]
    return text_digest(text.encode())


def distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Give the different numbers, ascending. ``np.unique`` takes a hash table, which is slow where most of them differ."""
    ascending = np.sort(numbers)
    is_first = np.ones(len(ascending), dtype=np.bool_)
    is_first[1:] = ascending[1:] != ascending[:-1]
    different: NDArray[Any] = ascending[is_first]
    return different


@dataclass(frozen=True, slots=True)
class Groups:
    """The places of a column, equal digests side by side.

    Attributes:
        order: Places in the column, int of shape (n,); the places of one digest follow each other, ascending.
        starts: For each entry of ``order`` whether its digest differs from the one before, bool of shape (n,).
    """

    order: NDArray[np.intp]
    starts: NDArray[np.bool_]

    def __len__(self) -> int:
        """How many different digests there are."""
        return int(np.count_nonzero(self.starts))

    def numbers(self) -> NDArray[np.intp]:
        """Give for each place of the column the number of its group, 0 to ``len(self) - 1``."""
        numbers = np.empty(len(self.order), dtype=np.intp)
        numbers[self.order] = np.cumsum(self.starts) - 1
        return numbers

    def several(self) -> Iterator[NDArray[np.intp]]:
        """Yield the places of every digest that occurs more than once."""
        bounds = np.append(np.flatnonzero(self.starts), len(self.order))
        for number in np.flatnonzero(np.diff(bounds) > 1):
            yield self.order[bounds[number] : bounds[number + 1]]


class DigestColumn:
    """Digests of one width, in the order in which they came. Memory: their bytes; a text in a dict takes two hundred.

    Args:
        width: Bytes of a digest, a multiple of 8.
    """

    def __init__(self, width: int = TEXT_DIGEST_BYTES) -> None:
        self._width = width
        self._bytes = bytearray()

    def __len__(self) -> int:
        return len(self._bytes) // self._width

    def __getitem__(self, place: int) -> bytes:
        return bytes(self._bytes[place * self._width : (place + 1) * self._width])

    def append(self, digest: bytes) -> None:
        """Take the next digest, of exactly the column's width."""
        self._bytes += digest

    def words(self) -> NDArray[np.uint64]:
        """Give the digests as numbers of shape (n, width / 8); nothing can be appended while they are in use."""
        return np.frombuffer(self._bytes, dtype=np.uint64).reshape(-1, self._width // 8)

    def groups(self, codes: NDArray[np.uint32] | None = None) -> Groups:
        """Find the equal digests.

        Args:
            codes: A number for each digest, of shape (n,); entries are equal if both their digests and their numbers are.
        """
        words = self.words()
        minor: list[NDArray[Any]] = [] if codes is None else [codes]
        order = np.lexsort([*minor, words[:, 0]])
        starts, is_sorted = _starts(words[order], None if codes is None else codes[order])
        if not is_sorted:  # different digests that begin alike: hardly ever by chance
            order = np.lexsort([*minor, *words.T])
            starts, _ = _starts(words[order], None if codes is None else codes[order])
        return Groups(order, starts)


def _starts(words: NDArray[np.uint64], codes: NDArray[np.uint32] | None) -> tuple[NDArray[np.bool_], bool]:
    """Say which entries differ from the one before, and whether no two digests begin alike without being equal."""
    starts = np.zeros(len(words), dtype=np.bool_)
    starts[:1] = True
    begins_alike = words[1:, 0] == words[:-1, 0]
    is_equal = (words[1:] == words[:-1]).all(axis=1)
    starts[1:] = ~is_equal
    if codes is not None:
        starts[1:] |= codes[1:] != codes[:-1]
    return starts, bool((begins_alike == is_equal).all())

"""Which words of a text are among some known ones: exactly, and by whole arrays instead of word by word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Packed = NDArray[np.uint64]

_BYTES = 8
"""Of a word that are looked at at once."""

_PAIR = 2 * _BYTES
"""A word of no more bytes is told by two such parts; a longer one is looked up by itself."""

_SLOT_BITS = 18
_SPREAD = np.uint64(0x9E3779B97F4A7C15)

_NONE = -1
_SEVERAL = -2

_FIRST_BYTES = np.array([(1 << 8 * count) - 1 for count in range(_BYTES + 1)], np.uint64)
"""What keeps so many bytes of a part, the first of which is its lowest."""


@dataclass(frozen=True)
class FoundWords:
    """The words of a text.

    Attributes:
        numbers: Of each word its place among the known ones, ``len(known)`` for another word; shape (words,).
        starts: Of each word its first byte.
        spelt: The text in one spelling, as ``spelling`` gives it.
    """

    numbers: Numbers
    starts: Numbers
    spelt: bytes = field(repr=False)

    def __len__(self) -> int:
        return len(self.numbers)

    def lines(self, at: NDArray[np.intp]) -> Numbers:
        """Give the lines of words, 0 for the first, by their places in the text."""
        return np.searchsorted(self._line_ends, self.starts[at]).astype(np.int64)

    @cached_property
    def _line_ends(self) -> Numbers:
        return np.flatnonzero(np.frombuffer(self.spelt, np.uint8) == ord("\n"))


class KnownWords:
    """Words that are looked for.

    A word of 16 bytes or less is two numbers of 64 bits, which say all of it: no word is ever taken for another one.

    Args:
        known: The words, each once, in UTF-8; none has white space or NUL in it.
    """

    def __init__(self, known: Sequence[bytes]) -> None:
        self._count = len(known)
        parts = [_part(word, 0) for word in known]
        self._first = np.unique(np.array(parts, np.uint64))
        place = np.searchsorted(self._first, np.array(parts, np.uint64))
        self._slots = np.full(1 << _SLOT_BITS, _NONE, np.int32)
        slots, counts = np.unique(_slot(self._first), return_counts=True)
        self._slots[_slot(self._first)] = np.arange(len(self._first))
        self._slots[slots[counts > 1]] = _SEVERAL
        self._short = np.full(len(self._first) + 1, self._count, np.int64)
        """Of each first part, the word that it is all of."""
        middle: dict[tuple[int, int], int] = {}
        self._long: dict[bytes, int] = {}
        self._long_lengths: set[int] = set()
        for number, word in enumerate(known):
            if len(word) <= _BYTES:
                self._short[place[number]] = number
            elif len(word) <= _PAIR:
                middle[int(place[number]), _part(word, _BYTES)] = number
            else:
                self._long[word] = number
                self._long_lengths.add(len(word))
        firsts = np.array([pair[0] for pair in middle], np.int64)
        seconds = np.array([pair[1] for pair in middle], np.uint64)
        order = np.argsort(_pair_key(firsts, seconds))
        self._middle_first, self._middle_second = firsts[order], seconds[order]
        self._middle_keys = _pair_key(self._middle_first, self._middle_second)
        self._middle = np.array(list(middle.values()), np.int64)[order]

    def find(self, spelt: bytes) -> FoundWords:
        """Find the words of a text, as ``spelling`` gives it: what has white space around it."""
        padded = np.frombuffer(spelt + bytes(_PAIR + _BYTES), np.uint8)
        is_word = np.concatenate([[False], padded[: len(spelt) + 1] > ord(" ")])
        edges = np.flatnonzero(is_word[1:] != is_word[:-1])
        starts, lengths = edges[::2], edges[1::2] - edges[::2]
        parts = np.ndarray((len(spelt) + _PAIR,), np.dtype("<u8"), padded, strides=(1,))
        numbers = np.full(len(starts), self._count, np.int64)
        first = parts[starts] & _FIRST_BYTES[np.minimum(lengths, _BYTES)]
        slots = self._slots[_slot(first)]
        at = np.flatnonzero(slots != _NONE)
        places, first, of_length = slots[at].astype(np.int64), first[at], lengths[at]
        several = np.flatnonzero(places == _SEVERAL)
        places[several] = np.minimum(np.searchsorted(self._first, first[several]), len(self._first) - 1)
        is_known = self._first[places] == first if len(at) else np.zeros(0, np.bool_)
        is_short = is_known & (of_length <= _BYTES)
        numbers[at[is_short]] = self._short[places[is_short]]
        is_middle = is_known & (of_length > _BYTES) & (of_length <= _PAIR)
        self._find_middle(at[is_middle], places[is_middle], parts, starts, lengths, numbers)
        if self._long:
            for one in at[is_known & (of_length > _PAIR)].tolist():
                if (length := int(lengths[one])) in self._long_lengths:
                    begin = int(starts[one])
                    numbers[one] = self._long.get(spelt[begin : begin + length], self._count)
        return FoundWords(numbers, starts, spelt)

    def _find_middle(
        self, at: Numbers, places: Numbers, parts: Packed, starts: Numbers, lengths: Numbers, numbers: Numbers
    ) -> None:
        """Number the words of 9 to 16 bytes, whose first parts are known, by their second parts."""
        second = parts[starts[at] + _BYTES] & _FIRST_BYTES[lengths[at] - _BYTES]
        keys = _pair_key(places, second)
        found = np.searchsorted(self._middle_keys, keys)
        while len(at):  # more than once only where two pairs have one key
            left = found < len(self._middle_keys)
            left[left] = self._middle_keys[found[left]] == keys[left]
            at, places, second, keys, found = at[left], places[left], second[left], keys[left], found[left]
            hit = (self._middle_first[found] == places) & (self._middle_second[found] == second)
            numbers[at[hit]] = self._middle[found[hit]]
            at, places, second, keys, found = at[~hit], places[~hit], second[~hit], keys[~hit], found[~hit] + 1


def in_utf8(known: Iterable[str]) -> list[bytes]:
    """Give words as ``KnownWords`` takes them."""
    return [word.encode("utf-8", "surrogatepass") for word in known]


def _part(word: bytes, begin: int) -> int:
    return int.from_bytes(word[begin : begin + _BYTES], "little")


def _slot(parts: Packed) -> NDArray[np.intp]:
    return ((parts * _SPREAD) >> np.uint64(64 - _SLOT_BITS)).astype(np.intp)


def _pair_key(first: Numbers, second: Packed) -> Packed:
    return (second ^ (first.astype(np.uint64) * _SPREAD)) * _SPREAD

"""Pairs of hashes that differ in few bits, found by an index and not by comparing all with all.

A hash is cut into 16 pieces of 16 bits. Two hashes that differ in at most 31 bits agree in one of the pieces but for one bit
at most (M. Norouzi, A. Punjani and D. J. Fleet, "Fast Exact Search in Hamming Space with Multi-Index Hashing", 2014). So
hashes are sorted by one piece after the other, and compared only with those whose piece is the same or one bit away.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

MAX_DISTANCE: Final = 31
"""Bits of the 256; beyond it pieces would have to differ in two bits, and strangers begin to look alike."""

_PIECES = 16
_BITS = 16
_PAIRS_AT_ONCE = 1 << 19
"""Candidates that are looked at together: some 100 MB."""

Pairs = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]
"""Places of both, the first before the second, and the number of bits in which they differ."""


def near_pairs(hashes: NDArray[np.uint8], distance: int) -> Iterator[Pairs]:
    """Find every pair of hashes that differ in at most so many bits, each once.

    Args:
        hashes: Array of shape (n, 32).
        distance: Bits, 0 to ``MAX_DISTANCE``.

    Yields:
        Blocks of pairs, in no particular order.

    Raises:
        ValueError: The distance lies outside its range.
    """
    if not 0 <= distance <= MAX_DISTANCE:
        raise ValueError(f"distance must lie in [0, {MAX_DISTANCE}]: {distance!r}")
    words = np.ascontiguousarray(hashes).view(np.uint64)
    pieces = _pieces(hashes)
    radius = distance // _PIECES
    for piece in range(_PIECES):
        for first, second in _candidates(pieces[:, piece], radius):
            differing = np.bitwise_count(words[first] ^ words[second]).sum(axis=1, dtype=np.int64)
            near = differing <= distance
            first, second, differing = first[near], second[near], differing[near]
            new = ~_seen_before(pieces, first, second, piece, radius)
            if np.any(new):
                first, second = first[new], second[new]
                yield np.minimum(first, second), np.maximum(first, second), differing[new]


def _pieces(hashes: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Cut hashes along the diagonals of their square: each piece has low and high frequencies, none is the same in most."""
    bits = np.unpackbits(hashes, axis=1).reshape(-1, _PIECES, _BITS)
    numbers = np.arange(_PIECES)
    pieces = np.zeros((len(hashes), _PIECES), np.uint16)
    for bit in range(_BITS):
        pieces |= bits[:, bit, (numbers + bit) % _BITS].astype(np.uint16) << np.uint16(bit)
    return pieces


def _candidates(values: NDArray[np.uint16], radius: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Pair those whose piece is the same or, with a radius of 1, one bit away; each pair once."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(values, minlength=1 << _BITS))])
    places = np.arange(len(values))
    yield from _expanded(order, places + 1, starts[ordered.astype(np.int64) + 1])
    for bit in range(_BITS if radius else 0):
        others = ordered ^ np.uint16(1 << bit)
        begins = starts[others]
        ends = np.where(others > ordered, starts[others.astype(np.int64) + 1], begins)
        yield from _expanded(order, begins, ends)


def _expanded(
    order: NDArray[np.intp], begins: NDArray[np.intp], ends: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Pair each place of an order with the places from one to another, a bounded number of pairs at a time."""
    counts = ends - begins
    owners = np.flatnonzero(counts)
    totals = np.cumsum(counts[owners])
    at = 0
    while at < len(owners):
        done = totals[at - 1] if at else 0
        until = max(at + 1, int(np.searchsorted(totals, done + _PAIRS_AT_ONCE, side="right")))
        block = owners[at:until]
        sizes = counts[block]
        offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        yield order[np.repeat(block, sizes)], order[np.repeat(begins[block], sizes) + offsets]
        at = until


def _seen_before(
    pieces: NDArray[np.uint16], first: NDArray[np.intp], second: NDArray[np.intp], piece: int, radius: int
) -> NDArray[np.bool_]:
    """Say of which pairs an earlier piece has told already."""
    if not piece:
        return np.zeros(len(first), np.bool_)
    differing = np.bitwise_count(pieces[first, :piece] ^ pieces[second, :piece])
    seen: NDArray[np.bool_] = np.any(differing <= radius, axis=1)
    return seen

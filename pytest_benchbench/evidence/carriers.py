"""Bases of many rows at once: pairs that share an artifact were made from one carrier, and are one base."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.digest_column import distinct, text_digest
from pytest_benchbench.evidence.grouping import base
from pytest_benchbench.evidence.observation import EvidenceRow

BASE_BYTES = 8

_NONE = bytes(BASE_BYTES)


def base_digest(row: EvidenceRow) -> bytes:
    """Give ``BASE_BYTES`` bytes that tell the row's base from others.

    That any two of a million bases share theirs has a chance of 5e-8. The lowest bit of the first byte says whether the base
    was named by ``pair_id``; all bytes are 0 where the case names none.
    """
    name = base(row)
    if name is None:
        return _NONE
    digest = text_digest(name.encode("utf-8", "surrogatepass"))[:BASE_BYTES]
    is_pair = not isinstance(row.case.get("baseId"), str)
    return bytes([digest[0] | 1 if is_pair else digest[0] & 0xFE]) + digest[1:]


class BaseColumn:
    """The bases that rows name, in the order in which the rows came. Memory: 8 bytes a row."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._base_id: object = None
        self._pair_id: object = None
        self._last = _NONE

    def append(self, row: EvidenceRow) -> None:
        """Take the base of the next row."""
        told_of = row.case.get
        base_id, pair_id = told_of("baseId"), told_of("pair_id")
        if pair_id != self._pair_id or base_id != self._base_id:  # rows of one base mostly follow each other
            self._base_id, self._pair_id, self._last = base_id, pair_id, base_digest(row)
        self._bytes += self._last

    def digests(self) -> NDArray[np.uint64]:
        """Give what ``base_digest`` gives for each row, of shape (n,); no row can be taken while it is in use."""
        return np.frombuffer(self._bytes, dtype=np.uint64)


def bases_of(digests: NDArray[np.uint64], artifacts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number the bases of rows.

    A pair is told by its ``pair_id``, and a recipe may make several pairs from one carrier, such as one for each mark. The
    carrier itself is then an artifact of each of them: pairs that share an artifact are one base, at whatever distance. A
    ``baseId`` names the base itself and is taken at its word.

    Args:
        digests: Of the base of each row, as ``base_digest`` gives them, of shape (n,).
        artifacts: A number of the artifact of each row, of shape (n,); below 0 for rows that show none.

    Returns:
        A number for the base of each row, 0 to the number of bases less 1, and -1 where it has none; of shape (n,).
    """
    # 0, the row without a base, is the first name, whether or not it occurs
    names, numbers = np.unique(np.append(np.uint64(0), digests), return_inverse=True)
    named = numbers[1:] - 1
    is_pair = (np.ascontiguousarray(digests).view(np.uint8).reshape(-1, BASE_BYTES)[:, 0] & 1).astype(np.bool_)
    joinable = np.flatnonzero(is_pair & (named >= 0) & (artifacts >= 0))
    shown = distinct(artifacts[joinable] * len(names) + named[joinable])
    artifact, pair = shown // len(names), shown % len(names)
    shared = np.flatnonzero(artifact[1:] == artifact[:-1])
    if not len(shared):
        return named
    smallest = joined(len(names) - 1, zip(pair[shared].tolist(), pair[shared + 1].tolist(), strict=True))
    of_names = np.append(np.unique(smallest, return_inverse=True)[1], -1)  # the last one for rows without a base
    return of_names[named]


def joined(count: int, pairs: Iterable[tuple[int, int]]) -> NDArray[np.intp]:
    """Give for each of ``count`` numbers the smallest of those that pairs join it with, at whatever distance."""
    below = list(range(count))

    def smallest(number: int) -> int:
        while below[number] != number:
            below[number] = below[below[number]]
            number = below[number]
        return number

    for one, other in pairs:
        one, other = sorted((smallest(one), smallest(other)))
        below[other] = one
    return np.array([smallest(number) for number in range(count)], dtype=np.intp)

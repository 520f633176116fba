"""Which of many texts are nearly the same, found by the shingles that they share, in bounded time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.validation.shingles import Shingles, jaccard

NEAR: Final = 0.4
"""Jaccard similarity of shingles from which on texts are nearly the same; with every twelfth word replaced it is 0.41."""

MOST_PAIRS: Final = 10_000_000
"""Pairs of texts with a rare shingle in common that are listed."""

MOST_WORK: Final = 1_000_000_000
"""Shingles that are compared; a comparison counts ``_PAIR_WORK`` more, a look at a pair ``_LOOK_WORK``."""

_PAIR_WORK = 500

_LOOK_WORK = 20


@dataclass(frozen=True, slots=True)
class NearTexts:
    """Which texts are nearly the same, directly or through others.

    Attributes:
        groups: For each text the number of the least one of its group.
        finished: Whether every pair was compared that could be near and was not in one group already.
    """

    groups: NDArray[np.intp]
    finished: bool


class _Work:
    """How much may still be done; used up it stays so."""

    def __init__(self, most: int) -> None:
        self._left = most

    def spend(self, amount: int) -> bool:
        """Say whether so much more may be done, and count it."""
        self._left -= amount
        return self._left >= 0


def near_texts(
    texts: Sequence[Shingles],
    *,
    most_pairs: int = MOST_PAIRS,
    most_work: int = MOST_WORK,
) -> NearTexts:
    """Find texts whose shingles have a Jaccard similarity of at least ``NEAR``.

    Two such texts share one of the rarest of their shingles (prefix filtering: Chaudhuri, Ganti and Kaushik, "A primitive
    operator for similarity joins in data cleaning", 2006), so only texts that do are compared, and of those only the ones
    that are not in one group yet.

    Args:
        texts: The shingles of each text.
        most_pairs: How many pairs may be listed.
        most_work: How much may be compared, see ``MOST_WORK``.
    """
    parents = list(range(len(texts)))

    def root(number: int) -> int:
        while (above := parents[number]) != number:
            parents[number] = number = parents[above]
        return number

    def join(one: int, other: int) -> None:
        low, high = sorted((root(one), root(other)))
        parents[high] = low

    listed, crowds = _candidates(texts, most_pairs)
    work = _Work(most_work)
    finished = True
    for one, other in listed:
        if root(one) == root(other):
            continue
        if not work.spend(_PAIR_WORK + len(texts[one]) + len(texts[other])):
            finished = False
            break
        if jaccard(texts[one], texts[other]) >= NEAR:
            join(one, other)
    for crowd in crowds:
        finished = finished and _join_crowd(crowd.tolist(), texts, root, join, work)
    return NearTexts(np.array([root(number) for number in range(len(texts))], np.intp), finished)


def _candidates(texts: Sequence[Shingles], most_pairs: int) -> tuple[Iterator[tuple[int, int]], list[NDArray[np.intp]]]:
    """Give pairs of texts that share a rare shingle, and crowds of texts that do of which pairs would be too many."""
    number, owner = _rare_shingles(texts)
    begins = np.flatnonzero(np.diff(number, prepend=-1))
    sizes = np.diff(begins, append=len(number))
    order = np.argsort(sizes, kind="stable")
    order = order[sizes[order] > 1]
    pairs = np.cumsum(sizes[order] * (sizes[order] - 1) // 2)
    few = int(np.searchsorted(pairs, most_pairs, side="right"))
    codes = [np.empty(0, np.int64)]
    for size in np.unique(sizes[order[:few]]).tolist():
        places = begins[order[:few][sizes[order[:few]] == size]]
        members = owner[places[:, None] + np.arange(size)]
        left, right = np.triu_indices(size, 1)
        codes.append(np.unique((members[:, left] * len(texts) + members[:, right]).ravel()))
    distinct = np.unique(np.concatenate(codes))
    listed = ((code // len(texts), code % len(texts)) for code in distinct.tolist())
    crowds = [owner[begins[place] : begins[place] + sizes[place]] for place in order[few:].tolist()]
    return listed, crowds


def _rare_shingles(texts: Sequence[Shingles]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Give the shingles of each text's prefix that another text has too, as numbers, with the texts, ordered by both."""
    counts = np.array([len(text) for text in texts], np.int64)
    owner = np.repeat(np.arange(len(texts)), counts)
    together = np.concatenate([*texts, np.empty(0, np.uint64)])
    _, number, frequency = np.unique(together, return_inverse=True, return_counts=True)
    prefix = counts - np.ceil(NEAR * counts - 1e-9).astype(np.int64) + 1
    shared = frequency[number] > 1
    alone = counts - np.bincount(owner[shared], minlength=len(texts))
    left = prefix - alone  # shingles that no other text has are the rarest, and lead to nobody
    shared &= left[owner] > 0
    number, owner = number[shared], owner[shared]
    order = np.lexsort((number, frequency[number], owner))
    number, owner = number[order], owner[order]
    begins = np.flatnonzero(np.diff(owner, prepend=-1))
    rank = np.arange(len(owner)) - np.repeat(begins, np.diff(begins, append=len(owner)))
    kept = rank < left[owner]
    number, owner = number[kept], owner[kept]
    order = np.lexsort((owner, number))
    return number[order].astype(np.int64), owner[order]


def _join_crowd(
    crowd: list[int],
    texts: Sequence[Shingles],
    root: Callable[[int], int],
    join: Callable[[int, int], None],
    work: _Work,
) -> bool:
    """Compare texts that are many, each with those of other groups; says whether that came to an end."""
    parts: list[list[int]] = []
    for one in crowd:
        apart: list[list[int]] = []
        mine = [one]
        for part in parts:
            if not work.spend(_LOOK_WORK):
                return False
            if root(one) != root(part[0]):
                for other in part:
                    if not work.spend(_PAIR_WORK + len(texts[one]) + len(texts[other])):
                        return False
                    if jaccard(texts[one], texts[other]) >= NEAR:
                        join(one, other)
                        break
            if root(one) == root(part[0]):
                part.extend(mine)  # the first that was near stays the first
                mine = part
            else:
                apart.append(part)
        parts = [*apart, mine]
    return True

"""Things that belong together because of pairs that do: connected components, joined many pairs at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class DisjointSets:
    """Sets of the numbers 0 to ``size - 1``, each alone at first.

    Args:
        size: How many numbers.
    """

    def __init__(self, size: int) -> None:
        self._parents = np.arange(size)

    def join(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> None:
        """Join the sets of each pair; the order of pairs does not matter."""
        roots = self.roots()
        pairs = np.stack([roots[first], roots[second]], axis=1)
        parents = self._parents
        for one, other in np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).tolist():
            low, high = sorted((self._root(one), self._root(other)))
            parents[high] = low

    def join_equal(self, members: NDArray[np.intp], keys: NDArray[np.int64]) -> None:
        """Join the sets of members that have the same key."""
        order = np.argsort(keys, kind="stable")
        same = keys[order][1:] == keys[order][:-1]
        self.join(members[order][1:][same], members[order][:-1][same])

    def roots(self) -> NDArray[np.intp]:
        """Give for every number the least one of its set."""
        while True:
            above = self._parents[self._parents]
            if np.array_equal(above, self._parents):
                return above
            self._parents = above

    def _root(self, number: int) -> int:
        while (above := int(self._parents[number])) != number:
            number = above
        return number

"""Kinds of rows brought together by what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.reports.facets import Kind

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class KindGroups(Generic[K]):
    """Groups of kinds, in an order of their own.

    Attributes:
        keys: What the kinds of each group have in common, every group once.
        of_kinds: The group of each kind as a place in ``keys``, -1 for kinds in none, of shape (kinds,).
    """

    keys: Sequence[K]
    of_kinds: NDArray[np.intp]

    @classmethod
    def of(cls, kinds: Sequence[Kind], key: Callable[[Kind], K | None], order: Callable[[K], object]) -> KindGroups[K]:
        """Group kinds.

        Args:
            kinds: Each once.
            key: Gives the key of a kind; ``None`` for one that is left out.
            order: Orders the keys.
        """
        found = [key(kind) for kind in kinds]
        keys = sorted({each for each in found if each is not None}, key=order)  # type: ignore[arg-type]  # orders itself
        places = {each: place for place, each in enumerate(keys)}
        return cls(keys, np.array([-1 if each is None else places[each] for each in found], dtype=np.intp))

    def parts(self, of_rows: NDArray[np.uint32]) -> list[NDArray[np.intp]]:
        """Give for each group the entries of an array of kinds that belong to it, ascending.

        Args:
            of_rows: Kinds, as places, of shape (n,).
        """
        if not len(of_rows):
            return [np.zeros(0, dtype=np.intp) for _ in self.keys]
        groups = self.of_kinds[of_rows]
        order = np.argsort(groups, kind="stable")
        bounds = np.searchsorted(groups[order], np.arange(len(self.keys) + 1))
        return [order[begin:end] for begin, end in pairwise(bounds)]

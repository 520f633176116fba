"""Rows told apart by what a gate sees of them: a million rows are of some dozens of kinds."""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.grouping import Standing, facet
from pytest_benchbench.evidence.observation import Outcome
from pytest_benchbench.evidence.reading import SettledRow


class Kind(NamedTuple):
    """All that a gate sees of a row, beside its case and the unit that it belongs to.

    Attributes:
        facets: The properties that some rule slices by.
    """

    suite: str
    adapter: str
    params: str | None
    manifest: str
    manifest_sha256: str
    outcome: Outcome
    standing: Standing
    facets: tuple[str | None, ...]


class RowKinds:
    """Counts rows by kind, and keeps the kind of each. Memory: 4 bytes a row.

    Args:
        facets: Properties by which kinds are told apart.

    Attributes:
        kinds: Every kind that was seen.
        counts: How many rows are of it.
    """

    def __init__(self, facets: tuple[str, ...]) -> None:
        self._facets = facets
        self._numbers: dict[tuple[object, ...], int] = {}
        self._of_rows = array("I")
        self.kinds: list[Kind] = []
        self.counts: list[int] = []

    def add(self, settled: SettledRow, standing: Standing) -> None:
        """Take one row."""
        row = settled.row
        key, manifest = row.key, row.manifest
        facets = tuple([facet(row, name) for name in self._facets]) if self._facets else ()
        seen = (
            *(key.suite, key.adapter, key.params),
            *(manifest.name, manifest.sha256),
            *(settled.outcome, standing, facets),
        )
        number = self._numbers.get(seen)
        if number is None:
            number = self._numbers[seen] = len(self.kinds)
            self.kinds.append(Kind(*seen))
            self.counts.append(0)
        self.counts[number] += 1
        self._of_rows.append(number)

    def of_rows(self) -> NDArray[np.uint32]:
        """Give for every row its kind, as a place in ``kinds``."""
        return np.array(self._of_rows, dtype=np.uint32)

"""How far scores moved between two runs, apart from whether they crossed a threshold."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.reports.facets import Series
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.reports.paired_rows import ComparedRows, Pairs


class ScoreChanges:
    """The pairs whose rows both count with a score.

    Args:
        rows: All rows of both runs.
        pairs: Which of them are pairs.

    Attributes:
        moved: How many pairs have two different scores.
    """

    def __init__(self, rows: ComparedRows, pairs: Pairs) -> None:
        is_scored = np.array([kind.standing == "scored" for kind in rows.kinds], dtype=np.bool_)
        of_rows, scores = rows.of_rows(), rows.scores()
        self._old, self._new = scores[pairs.old], scores[pairs.new]
        both = is_scored[of_rows[pairs.old]] & is_scored[of_rows[pairs.new]] if len(rows.kinds) else np.zeros(0, np.bool_)
        self._places: NDArray[np.intp] = np.flatnonzero(both & ~np.isnan(self._old) & ~np.isnan(self._new))
        self._kinds = rows.kinds
        self._of_pairs = of_rows[pairs.new[self._places]]
        self._changes = self._new[self._places] - self._old[self._places]
        self.moved = int(np.count_nonzero(self._changes))

    def scores_of(self, pair: int) -> tuple[float, float]:
        """Give both scores of a pair, the first run's first."""
        return float(self._old[pair]), float(self._new[pair])

    def largest(self, most: int) -> NDArray[np.intp]:
        """Give the pairs that moved most, at most so many, as places."""
        order = np.argsort(-np.abs(self._changes), kind="stable")[: min(most, self.moved)]
        return self._places[order]

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield a line for each suite, parameters and adapter, sorted.

        ``n`` pairs have two scores, ``moved`` of them different ones; ``mean_change`` and ``largest_change`` are of the
        second run minus the first, the one over all ``n``, the other that of the largest size.
        """
        kinds: dict[Series, list[int]] = {}
        for number in np.unique(self._of_pairs).tolist():
            kinds.setdefault(self._kinds[number].series, []).append(number)
        for series in sorted(kinds, key=sort_key):
            changes = self._changes[np.isin(self._of_pairs, kinds[series])].tolist()
            lowest, highest = min(changes), max(changes)
            yield {
                **series._asdict(),
                "n": len(changes),
                "moved": len(changes) - changes.count(0.0),
                "mean_change": fsum(changes) / len(changes),
                "largest_change": highest if highest >= -lowest else lowest,
            }

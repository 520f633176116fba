"""What a decision about scores reports beside its rules: intervals of each resolution group, and the pixels alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytest_benchbench.gates.decided import Rate, Reported
from pytest_benchbench.gates.score_table import ScoreTable
from pytest_benchbench.statistics.intervals import wilson_interval
from pytest_benchbench.validation.stress_sets import Facets, coverage


def reported(table: ScoreTable) -> Iterator[Reported]:
    """Give rates over all bases and over those of each resolution group, for each adapter and each kind of score.

    The pixels alone are reported where any row has such a score; a row without one then fails its base as everywhere. Of an
    adapter that was asked about no row no rate is known.
    """
    groups = sorted({group for _, group in table.pairs if group is not None})
    for adapter in table.facet("adapter").values:
        rows = table.having("adapter", [adapter])
        counted = None if table.were_asked(rows) else np.empty(0, dtype=np.intp)
        for quantity in ("score", "pixelScore"):
            if quantity == "pixelScore" and np.isnan(table.scores(quantity)[rows]).all():
                continue
            for where in (None, *({"resolutionGroup": group} for group in groups)):
                units = table.units(adapter, quantity, "base", tuple((where or {}).items()))
                confusion = units.outcomes.confusion(counted)
                yield Reported(
                    adapter=adapter,
                    quantity=quantity,
                    slice=where,
                    real=_rate(confusion.real, confusion.fp),
                    ai=_rate(confusion.ai, confusion.fn),
                    balanced_accuracy=confusion.balanced_accuracy,
                )


def missing_stress_sets(table: ScoreTable) -> list[str]:
    """Name the stress sets of the release contract of which no row, or none of a class that it needs, has a score."""
    rows = np.flatnonzero(table.is_observed & ~np.isnan(table.scores("score")) & (table.label >= 0))
    facets = [table.facet(name) for name in ("contentGroup", "transform", "resolutionGroup")]
    cells = table.label[rows].astype(np.int64)
    for facet in facets:
        cells = cells * len(facet.values) + facet.codes[rows]
    found = []
    for cell in np.unique(cells).tolist():
        values: list[str | None] = []
        for facet in reversed(facets):
            cell, code = divmod(cell, len(facet.values))
            values.append(facet.values[code])
        found.append(Facets(cell, *reversed(values)))
    return [str(one) for one in coverage(found) if one.lacks is not None]


def _rate(n: int, failures: int) -> Rate:
    interval = wilson_interval(n - failures, n)
    low, high = (None, None) if interval is None else interval
    return Rate(n, failures, (n - failures) / n if n else None, low, high)

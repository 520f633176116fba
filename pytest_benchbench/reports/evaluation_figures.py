"""Figures of a classifier over groups of rows: per row, and one conservative outcome for each base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.score_row import TERMINAL
from pytest_benchbench.reports.rates import rate_of
from pytest_benchbench.statistics.classification import (
    AI,
    REAL,
    BaseOutcomes,
    Confusion,
    base_outcomes,
    called_ai,
)
from pytest_benchbench.statistics.intervals import clustered_interval

Line = dict[str, Any]

Codes = NDArray[np.int64]

CLASSES: Final = {"ai": ("ai_recall", "fn"), "real": ("real_recall", "fp")}
"""For each class the rate that says how many were right, and the count of those that were not."""


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """Rows of one series. Every array has the shape (rows,).

    Attributes:
        labels: 1 AI, 0 real.
        statuses: A place in ``status_names``.
        status_names: Every status that occurs.
        bases: The base of each row, 0 to ``base_count - 1``; -1 where a row names none.
        base_count: How many bases there are.
        pairs: Which required derivative each row is, from 0.
    """

    labels: NDArray[np.int8]
    statuses: Codes
    status_names: Sequence[str]
    bases: Codes
    base_count: int
    pairs: Codes


@dataclass(frozen=True, slots=True)
class Cells:
    """Bases of groups: what a base has in one group is one cell, and has one outcome there.

    Attributes:
        of_rows: The cell of each row, -1 for a row without base; of shape (rows,).
        groups: The group of each cell, ascending; of shape (cells,).
        required: How many derivatives are required in each cell, of shape (cells,).
        are_known: For each group whether all of its rows name a base.
    """

    of_rows: Codes
    groups: Codes
    required: NDArray[np.int64]
    are_known: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: LabelledRows, groups: Codes, required: NDArray[np.int64]) -> Cells:
        """Find the cells.

        Args:
            rows: The rows.
            groups: The group of each row, from 0; of shape (rows,).
            required: How many derivatives are required of a base in each group, of shape (groups,).
        """
        named = rows.bases >= 0
        keys, numbers = np.unique(groups[named] * max(rows.base_count, 1) + rows.bases[named], return_inverse=True)
        of_rows = np.full(len(groups), -1, dtype=np.int64)
        of_rows[named] = numbers
        of_cells = keys // max(rows.base_count, 1)
        return cls(of_rows, of_cells, required[of_cells], np.bincount(groups[~named], minlength=len(required)) == 0)


def figures(rows: LabelledRows, scores: NDArray[np.float64], groups: Codes, cells: Cells) -> list[Line]:
    """Compute all figures of every group.

    Args:
        rows: The rows.
        scores: In [0, 1], NaN where a row has none: its status is terminal, or it was not asked for this score.
        groups: The group of each row, from 0.
        cells: The bases of the groups.

    Returns:
        A line for each group.
    """
    count = len(cells.are_known)
    has_score = ~np.isnan(scores)
    outcomes = base_outcomes(
        cells.of_rows,
        rows.labels,
        scores,
        has_score,
        count=len(cells.groups),
        pairs=rows.pairs,
        required=cells.required,
    )
    is_right = has_score & (called_ai(scores) == (rows.labels == AI))
    bases = _bases(rows, outcomes, cells, has_score)
    clustered = {label: _clustered(rows.labels == label, has_score, is_right, cells) for label in (AI, REAL)}
    briers = _briers(rows.labels[has_score], scores[has_score], groups[has_score], count)
    lines = []
    for group, (counts, statuses, unscored) in enumerate(
        zip(
            _confusions(rows.labels[has_score], called_ai(scores[has_score]), groups[has_score], count),
            _statuses(rows, groups, count),
            np.bincount(groups[~has_score & _is_scored(rows)], minlength=count).tolist(),
            strict=True,
        )
    ):
        rates = _rates(counts)
        for name, label in (("ai_recall", AI), ("real_recall", REAL)):
            rates[name]["clustered95"] = clustered[label][group]
        lines.append(
            {
                "rows": sum(statuses.values()),
                "rows_with_score": counts.ai + counts.real,
                "rows_without_this_score": unscored,
                "terminal": {status: number for status, number in statuses.items() if status in TERMINAL},
                **rates,
                "brier": briers[group],
                "bases": bases[group],
            }
        )
    return lines


def error_rate(line: Line, of: str) -> tuple[str, Line]:
    """Give the share of a class that was called the other, or failed, of bases where they are known, else of rows.

    Args:
        line: Figures of a group.
        of: ``ai`` or ``real``.

    Returns:
        The unit, ``base`` or ``row``, and the rate.
    """
    recall, wrong = CLASSES[of]
    unit, told = ("row", line) if line["bases"] is None else ("base", line["bases"])
    return unit, rate_of(told["confusion"][wrong], told[recall]["n"])


def _rates(counts: Confusion) -> Line:
    return {
        "confusion": counts._asdict(),
        "ai_recall": rate_of(counts.tp, counts.ai),
        "real_recall": rate_of(counts.tn, counts.real),
        "false_positive_rate": rate_of(counts.fp, counts.real),
        "precision": rate_of(counts.tp, counts.tp + counts.fp),
        "balanced_accuracy": counts.balanced_accuracy,
    }


def _is_scored(rows: LabelledRows) -> NDArray[np.bool_]:
    return np.array([status == "scored" for status in rows.status_names], dtype=np.bool_)[rows.statuses]


def _statuses(rows: LabelledRows, groups: Codes, count: int) -> list[dict[str, int]]:
    names = rows.status_names
    cells = np.bincount(groups * len(names) + rows.statuses, minlength=count * len(names)).reshape(count, len(names))
    return [{name: number for name, number in zip(names, line, strict=True) if number} for line in cells.tolist()]


def _confusions(labels: NDArray[Any], is_ai: NDArray[np.bool_], groups: Codes, count: int) -> list[Confusion]:
    cells = np.bincount(groups * 4 + labels.astype(np.int64) * 2 + is_ai, minlength=count * 4).reshape(count, 4)
    return [Confusion(tp=tp, fn=fn, tn=tn, fp=fp) for tn, fp, fn, tp in cells.tolist()]


def _briers(labels: NDArray[np.int8], scores: NDArray[np.float64], groups: Codes, count: int) -> list[float | None]:
    order = np.argsort(groups, kind="stable")
    bounds = np.searchsorted(groups[order], np.arange(count + 1)).tolist()
    squares = ((scores - labels) ** 2)[order]
    return [fsum(squares[begin:end].tolist()) / (end - begin) if end > begin else None for begin, end in pairwise(bounds)]


def _bases(rows: LabelledRows, outcomes: BaseOutcomes, cells: Cells, has_score: NDArray[np.bool_]) -> list[Line | None]:
    count = len(cells.are_known)
    unscored = (cells.of_rows >= 0) & ~has_score
    lacks_score = np.bincount(cells.of_rows[unscored], minlength=len(cells.groups)) > 0
    without, missing = (
        np.bincount(cells.groups[which], minlength=count).tolist() for which in (lacks_score, outcomes.missing > 0)
    )
    called = outcomes.succeeded == (outcomes.labels == AI)  # a failed real base counts as called AI
    confusions = _confusions(outcomes.labels, called, cells.groups, count)
    return [
        {
            "count": counts.ai + counts.real,
            "without_a_score": without[group],
            "with_missing_derivatives": missing[group],
            **_rates(counts),
        }
        if cells.are_known[group]
        else None
        for group, counts in enumerate(confusions)
    ]


def _clustered(
    is_class: NDArray[np.bool_], has_score: NDArray[np.bool_], is_right: NDArray[np.bool_], cells: Cells
) -> list[Line | None]:
    """Give for each group the interval that allows for rows of one base; ``None`` where none shares its base."""
    counted = is_class & has_score & (cells.of_rows >= 0)
    size = len(cells.groups)
    trials = np.bincount(cells.of_rows[counted], minlength=size)
    successes = np.bincount(cells.of_rows[counted & is_right], minlength=size)
    bounds = np.searchsorted(cells.groups, np.arange(len(cells.are_known) + 1)).tolist()
    lines: list[Line | None] = []
    for (begin, end), is_known in zip(pairwise(bounds), cells.are_known.tolist(), strict=True):
        n, k = trials[begin:end], successes[begin:end]
        if not is_known or not (n > 1).any():
            lines.append(None)
            continue
        interval = clustered_interval(k.tolist(), n.tolist())
        lines.append(
            None
            if interval is None
            else {
                "low": interval.low,
                "high": interval.high,
                "effective_n": interval.effective_n,
                "design_effect": interval.design_effect,
            }
        )
    return lines

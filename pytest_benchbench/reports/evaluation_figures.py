"""Figures of a classifier over groups of rows: per row, and one conservative outcome for each base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.digest_column import distinct
from pytest_benchbench.evidence.score_row import TERMINAL, UNASKED
from pytest_benchbench.reports.rates import rate_of
from pytest_benchbench.statistics.classification import (
    AI,
    NO_LABEL,
    REAL,
    Confusion,
    base_outcomes,
    called_ai,
)
from pytest_benchbench.statistics.intervals import ClusteredInterval, clustered_interval

Line = dict[str, Any]

Codes = NDArray[np.int64]

CLASSES: Final = {"ai": ("ai_recall", "fn"), "real": ("real_recall", "fp")}
"""For each class the rate that says how many were right, and the count of those that were not."""


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """Rows of one series. Every array of which nothing else is said has the shape (rows,).

    Attributes:
        labels: 1 AI, 0 real.
        statuses: A place in ``status_names``.
        status_names: Every status that occurs.
        bases: The base of each row, 0 to ``base_count - 1``; -1 where a row names none.
        base_labels: The label of each base, of shape (bases,).
        pairs: Which required derivative each row is, from 0.
    """

    labels: NDArray[np.int8]
    statuses: Codes
    status_names: Sequence[str]
    bases: Codes
    base_labels: NDArray[np.int8]
    pairs: Codes

    @property
    def base_count(self) -> int:
        """How many bases there are."""
        return len(self.base_labels)

    @property
    def were_asked(self) -> bool:
        """Whether anybody was asked about any of them: where not, no base failed, and no rate is known."""
        return not set(self.status_names) <= set(UNASKED)

    @property
    def are_shared(self) -> bool:
        """Whether some rows have one base."""
        return int(np.count_nonzero(self.bases >= 0)) > self.base_count


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows by the values of some properties.

    A base is in a group as a whole, with all of its rows, if one of them has the group's values; only properties that tell
    derivatives apart narrow what it must have. So nothing that a row says moves a failure of its base into another group,
    and a base that lacks a derivative fails in the slice of that derivative too.

    Attributes:
        of_rows: The group of each row, from 0; of shape (rows,).
        parts: For each group its place in the slices by derivatives alone; of shape (groups,).
        members: The bases of each group, ascending.
        are_known: For each group whether all rows that bear on its bases name one.
    """

    of_rows: Codes
    parts: Codes
    members: Sequence[Codes]
    are_known: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: LabelledRows, of_rows: Codes, parts: Codes, wholes: Codes) -> Groups:
        """Find the groups.

        Args:
            rows: The rows.
            of_rows: The group of each row, from 0.
            parts: Its part by the properties among the group's that tell derivatives apart, from 0.
            wholes: Its number by the group's other properties, from 0.
        """
        count = int(of_rows.max()) + 1
        of_groups = np.zeros((2, count), dtype=np.int64)
        of_groups[0, of_rows], of_groups[1, of_rows] = parts, wholes
        named = rows.bases >= 0
        width = max(rows.base_count, 1)
        keys = distinct(wholes[named] * width + rows.bases[named])
        bounds = np.searchsorted(keys // width, np.arange(int(wholes.max()) + 2))
        bases = [keys[begin:end] % width for begin, end in pairwise(bounds.tolist())]
        known = np.bincount(wholes[~named], minlength=len(bases)) == 0
        return cls(of_rows, of_groups[0], [bases[whole] for whole in of_groups[1].tolist()], known[of_groups[1]])

    def __len__(self) -> int:
        """How many groups there are."""
        return len(self.parts)


@dataclass(frozen=True, slots=True)
class BaseParts:
    """One outcome of each base in each slice by derivatives. All arrays have the shape (parts, bases).

    Attributes:
        succeeded: Whether every derivative that is required there has a score on the right side.
        lacks_score: Whether a row of the base has none there.
        lacks_derivative: Whether there is no row at all of a derivative that is required there.
    """

    succeeded: NDArray[np.bool_]
    lacks_score: NDArray[np.bool_]
    lacks_derivative: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: LabelledRows, scores: NDArray[np.float64], parts: Codes, required: NDArray[np.int64]) -> BaseParts:
        """Find the outcomes.

        Args:
            rows: The rows.
            scores: In [0, 1], NaN where a row has none.
            parts: The slice of each row, from 0.
            required: How many derivatives are required of every base in each slice.

        Raises:
            TwoLabelsError: A base has both labels; its places are those of the rows only where there is one slice.
        """
        order = np.argsort(parts, kind="stable")
        bounds = np.searchsorted(parts[order], np.arange(len(required) + 1)).tolist()
        succeeded, lacks_score, lacks_derivative = np.zeros((3, len(required), rows.base_count), dtype=np.bool_)
        for part, (begin, end) in enumerate(pairwise(bounds)):
            places = order[begin:end]
            bases, has_score = rows.bases[places], ~np.isnan(scores[places])
            outcomes = base_outcomes(
                bases,
                rows.labels[places],
                scores[places],
                has_score,
                count=rows.base_count,
                pairs=rows.pairs[places],
                required=np.full(rows.base_count, required[part]),
            )
            succeeded[part] = outcomes.succeeded
            lacks_score[part, bases[(bases >= 0) & ~has_score]] = True
            lacks_derivative[part] = (outcomes.missing > 0) | (outcomes.labels == NO_LABEL)
        return cls(succeeded, lacks_score, lacks_derivative)


def figures(rows: LabelledRows, scores: NDArray[np.float64], groups: Groups, parts: BaseParts) -> list[Line]:
    """Compute all figures of every group.

    Args:
        rows: The rows.
        scores: In [0, 1], NaN where a row has none: its status is terminal, or it was not asked for this score.
        groups: The groups.
        parts: The outcomes of bases by the properties among the groups' that tell derivatives apart.

    Returns:
        A line for each group.
    """
    count = len(groups)
    has_score = ~np.isnan(scores)
    is_right = has_score & (called_ai(scores) == (rows.labels == AI))
    clustered = _clustered(rows, groups, has_score, is_right)
    labels, of_scored = rows.labels[has_score], groups.of_rows[has_score]
    briers = _briers(labels, scores[has_score], of_scored, count)
    confusions = _confusions(labels, called_ai(scores[has_score]), of_scored, count)
    statuses = _statuses(rows, groups.of_rows, count)
    unscored = np.bincount(groups.of_rows[~has_score & _is_scored(rows)], minlength=count).tolist()
    lines = []
    for group, (counts, of_status) in enumerate(zip(confusions, statuses, strict=True)):
        rates = _rates(counts)
        for name, label in (("ai_recall", AI), ("real_recall", REAL)):
            rates[name]["clustered95"] = clustered[label][group]
        lines.append(
            {
                "rows": sum(of_status.values()),
                "rows_with_score": counts.ai + counts.real,
                "rows_without_this_score": unscored[group],
                "terminal": {status: number for status, number in of_status.items() if status in TERMINAL},
                **rates,
                "brier": briers[group],
                "bases": _bases(rows, groups, parts, group) if groups.are_known[group] else None,
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


def _bases(rows: LabelledRows, groups: Groups, parts: BaseParts, group: int) -> Line:
    part, members = groups.parts[group], groups.members[group]
    counted = members if rows.were_asked else members[:0]
    is_ai, succeeded = rows.base_labels[counted] == AI, parts.succeeded[part, counted]
    # a failed real base counts as called AI
    (counts,) = _confusions(rows.base_labels[counted], succeeded == is_ai, np.zeros(len(counted), dtype=np.int64), 1)
    return {
        "count": len(members),
        "without_a_score": int(np.count_nonzero(parts.lacks_score[part, members])),
        "with_missing_derivatives": int(np.count_nonzero(parts.lacks_derivative[part, members])),
        **_rates(counts),
    }


def _clustered(
    rows: LabelledRows, groups: Groups, has_score: NDArray[np.bool_], is_right: NDArray[np.bool_]
) -> dict[int, list[Line | None]]:
    """Give for each class and group the interval that allows for rows of one base; ``None`` where none shares its base."""
    if not rows.are_shared:
        return {label: [None] * len(groups) for label in (AI, REAL)}
    counted = has_score & (rows.bases >= 0)
    width = max(rows.base_count, 1)
    cells, of_rows = np.unique(groups.of_rows[counted] * width + rows.bases[counted], return_inverse=True)
    trials = np.bincount(of_rows, minlength=len(cells))
    successes = np.bincount(of_rows[is_right[counted]], minlength=len(cells))
    labels, bounds = rows.base_labels[cells % width], np.searchsorted(cells // width, np.arange(len(groups) + 1)).tolist()
    found: dict[int, list[Line | None]] = {AI: [], REAL: []}
    for (begin, end), is_known in zip(pairwise(bounds), groups.are_known.tolist(), strict=True):
        for label, lines in found.items():
            of_class = labels[begin:end] == label
            n, k = trials[begin:end][of_class], successes[begin:end][of_class]
            interval = clustered_interval(k.tolist(), n.tolist()) if is_known and (n > 1).any() else None
            lines.append(None if interval is None else _interval(interval))
    return found


def _interval(interval: ClusteredInterval) -> Line:
    return {
        "low": interval.low,
        "high": interval.high,
        "effective_n": interval.effective_n,
        "design_effect": interval.design_effect,
    }

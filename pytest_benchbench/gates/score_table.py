"""Scores as a gate sees them: columns, the derivatives that every base must have, and one outcome for each base."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from heapq import nsmallest

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.score_columns import Facet, ScoreColumns
from pytest_benchbench.evidence.score_row import UNASKED
from pytest_benchbench.gates.decided import MAX_NAMED, Required
from pytest_benchbench.gates.metrics import DERIVATIVE_FACETS
from pytest_benchbench.gates.policy import Policy
from pytest_benchbench.statistics.classification import AI, NO_LABEL, REAL, BaseOutcomes, base_outcomes

Mask = NDArray[np.bool_]

Pair = tuple[str | None, str | None]
"""A transform and a resolution group; ``None`` where rows do not say."""


@dataclass(frozen=True, slots=True)
class Units:
    """Bases, or rows that each stand for themselves, in one slice by derivatives.

    Attributes:
        outcomes: For each unit; those that are not in the slice have no label.
        has_score: Whether a row of the unit in the slice has a score.
        is_terminal: Whether a row of the unit in the slice has none.
        worst_error: The largest squared error of a unit's scores in the slice, 1 where a required one is missing; of
            shape (units,), meaningless for units that are not in the slice.
    """

    outcomes: BaseOutcomes
    has_score: Mask
    is_terminal: Mask
    worst_error: NDArray[np.float64]

    def of_label(self, label: int) -> Mask:
        """Say which units are of a class."""
        is_of: Mask = self.outcomes.labels == label
        return is_of


class ScoreTable:
    """The columns at the moment of the decision.

    A base whose rows have different labels is of no class: the rule ``one_label_per_base`` refuses it by name.

    Args:
        columns: All rows, those among them that are missing from the evidence.
        policy: Threshold and required derivatives.
        observed: How many of the rows, the first ones, are evidence.

    Attributes:
        label: 1 AI, 0 real, -1 where a row does not say; of shape (rows,), as are the other columns.
        base: The base of each row, -1 where it names none.
        is_observed: Whether a row is evidence, and not one that is missing.
        base_names: Every base.
        bases: How many there are.
        pairs: The derivatives that are required of every base, sorted.
    """

    def __init__(self, columns: ScoreColumns, policy: Policy, observed: int) -> None:
        self._columns = columns
        self._threshold = policy.threshold
        self._scores: dict[str, NDArray[np.float64]] = {}
        self._facets: dict[str, Facet] = {}
        self._ids: list[str] | None = None
        self.label = columns.label
        self.base = columns.base
        self.is_observed: Mask = np.arange(len(columns)) < observed
        self.base_names = columns.base_names
        self.bases = len(self.base_names)
        self.pairs, self._pair_of_rows = self._required(policy)
        self._is_two_faced = self.disagreeing(self.label.astype(np.int64), self.label >= 0)
        self.units = cache(self._units)

    def __len__(self) -> int:
        return len(self.label)

    @property
    def required(self) -> Required:
        """The required derivatives, for the record."""
        encoded = msgspec.json.encode([list(pair) for pair in self.pairs])
        return Required(len(self.pairs), hashlib.sha256(encoded).hexdigest(), list(self.pairs[:MAX_NAMED]))

    def facet(self, name: str) -> Facet:
        """Give a property of all rows; see ``ScoreColumns.facet``."""
        if name not in self._facets:
            self._facets[name] = self._columns.facet(name)
        return self._facets[name]

    def scores(self, quantity: str) -> NDArray[np.float64]:
        """Give one of the scores, NaN where there is none."""
        if quantity not in self._scores:
            self._scores[quantity] = self._columns.quantity(quantity)
        return self._scores[quantity]

    def having(self, name: str, values: Iterable[str | None]) -> Mask:
        """Say which rows have one of some values of a property."""
        codes, known = self.facet(name)
        wanted = set(values)
        return np.array([value in wanted for value in known], dtype=np.bool_)[codes] if len(codes) else codes > 0

    def were_asked(self, rows: Mask) -> bool:
        """Say whether anybody was asked about any row of a mask."""
        return bool((rows & ~self.having("status", UNASKED)).any())

    def named(self, rows: Mask) -> list[str]:
        """Name the first rows of a mask by id, whatever order they came in; plain rows that are there also by line."""
        if self._ids is None:
            self._ids = [self._columns.id(row) for row in range(len(self))]
        ids = self._ids
        first = nsmallest(MAX_NAMED, np.flatnonzero(rows).tolist(), key=lambda row: (ids[row], row))
        has_line = self.is_observed if self._columns.file else np.zeros(len(self), dtype=np.bool_)
        return [f"{ids[row]} ({self._columns.place(row)})" if has_line[row] else ids[row] for row in first]

    def disagreeing(self, codes: NDArray[np.int64], told: Mask) -> Mask:
        """Say which bases have rows of different values.

        Args:
            codes: The value of each row, of shape (rows,).
            told: The rows that say one.

        Returns:
            Of shape (bases,).
        """
        rows = np.flatnonzero(told & (self.base >= 0))
        of_base = np.zeros(self.bases, dtype=np.int64)
        of_base[self.base[rows]] = codes[rows]
        differs = np.zeros(self.bases, dtype=np.bool_)
        differs[self.base[rows[of_base[self.base[rows]] != codes[rows]]]] = True
        return differs

    def sharing(self, codes: NDArray[np.intp]) -> Mask:
        """Say which bases have a value that another base has too.

        Args:
            codes: The value of each of the first rows, at least 0, and -1 where it says none; of shape (n,), n <= rows.

        Returns:
            Of shape (bases,).
        """
        rows = np.flatnonzero((codes >= 0) & (self.base[: len(codes)] >= 0))
        values, bases = codes[rows], self.base[rows]
        of_value = np.zeros(int(values.max(initial=-1)) + 1, dtype=np.int64)
        of_value[values] = bases
        has_several = np.zeros(len(of_value), dtype=np.bool_)
        has_several[values[of_value[values] != bases]] = True
        shares = np.zeros(self.bases, dtype=np.bool_)
        shares[bases[has_several[values]]] = True
        return shares

    def of_bases(self, bases: Mask) -> Mask:
        """Say which rows belong to some bases."""
        return np.append(bases, False)[self.base]

    def _required(self, policy: Policy) -> tuple[list[Pair], NDArray[np.int64]]:
        """Give the required derivatives, and for each row which of them it is; -1 for none."""
        transforms, groups = (self.facet(name) for name in DERIVATIVE_FACETS)
        width = max(len(groups.values), 1)
        cells = transforms.codes * width + groups.codes
        seen = np.unique(cells).tolist()
        pair_of_cell: dict[int, Pair] = {
            cell: (transforms.values[cell // width], groups.values[cell % width]) for cell in seen
        }
        if isinstance(policy.required_transforms, str):
            pairs = sorted(pair_of_cell.values(), key=_nulls_first)
        else:
            pairs = sorted((one.transform, one.resolutionGroup) for one in policy.required_transforms)
        places = {pair: place for place, pair in enumerate(pairs)}
        of_seen = np.array([places.get(pair_of_cell[cell], -1) for cell in seen], dtype=np.int64)
        return pairs, of_seen[np.searchsorted(seen, cells)] if seen else cells

    def _units(self, rows: str | None, quantity: str, unit: str, derivatives: tuple[tuple[str, str], ...]) -> Units:
        """Give the outcomes of units; arguments must be hashable.

        Args:
            rows: The adapter whose rows are looked at; ``None`` for plain rows.
            quantity: ``score`` or ``pixelScore``.
            unit: ``base`` or ``row``.
            derivatives: The derivatives of the slice, as pairs of property and value.
        """
        wanted = dict(derivatives)
        of_adapter = self.having("adapter", [rows])
        in_slice = of_adapter.copy()
        for name, value in derivatives:
            in_slice &= self.having(name, [value])
        scores = self.scores(quantity)
        is_scored = ~np.isnan(scores)
        if unit == "row":
            label = np.where(in_slice, self.label, np.int8(NO_LABEL))
            places = np.arange(len(self), dtype=np.int64)
            outcomes = base_outcomes(places, label, scores, is_scored, count=len(self), threshold=self._threshold)
            return self._told(outcomes, places, in_slice, in_slice, scores)
        kept = [place for place, pair in enumerate(self.pairs) if _matches(pair, wanted)]
        renumbered = np.full(len(self.pairs) + 1, -1, dtype=np.int64)  # the last one for rows that are no required pair
        renumbered[kept] = np.arange(len(kept))
        base = np.where(of_adapter & ~self.of_bases(self._is_two_faced), self.base, -1)
        outcomes = base_outcomes(
            base,
            self.label if kept else np.full(len(self), NO_LABEL, dtype=np.int8),
            scores,
            is_scored,
            count=self.bases,
            pairs=renumbered[self._pair_of_rows],
            required=len(kept),
            threshold=self._threshold,
        )
        in_slice &= base >= 0
        return self._told(outcomes, base, in_slice, in_slice & (self._pair_of_rows >= 0), scores)

    def _told(
        self, outcomes: BaseOutcomes, units: NDArray[np.int64], in_slice: Mask, counts: Mask, scores: NDArray[np.float64]
    ) -> Units:
        """Add what outcomes alone do not tell; ``counts`` are the rows of the slice that are required."""
        is_scored = ~np.isnan(scores)
        has_score, is_terminal = np.zeros((2, len(outcomes.labels)), dtype=np.bool_)
        has_score[units[counts & is_scored]] = True
        is_terminal[units[in_slice & ~is_scored]] = True
        worst = (outcomes.missing > 0).astype(np.float64)
        worst[units[counts & ~is_scored]] = 1.0
        told = np.flatnonzero(counts & is_scored & (self.label >= 0))
        np.maximum.at(worst, units[told], (scores[told] - self.label[told]) ** 2)
        return Units(outcomes, has_score, is_terminal, worst)


def _matches(pair: Pair, wanted: Mapping[str, str]) -> bool:
    return all(value == wanted.get(name, value) for name, value in zip(DERIVATIVE_FACETS, pair, strict=True))


def _nulls_first(pair: Pair) -> tuple[tuple[bool, str], ...]:
    return tuple((value is not None, value or "") for value in pair)


CLASS_NAMES = {REAL: "real", AI: "ai"}
"""How records call the classes."""

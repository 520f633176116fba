"""What score rows come to: how well AI images are told from real ones, overall and in every slice, worst first.

Adapters and splits are never pooled: each has a series of its own. So has each score: what the pixels alone say stands
beside what the scorer says with a file's metadata, and cannot be concealed by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.score_columns import FACETS, Facet, ScoreColumns, Value
from pytest_benchbench.evidence.score_manifest import ScoreManifest
from pytest_benchbench.evidence.score_row import QUANTITIES
from pytest_benchbench.reports.evaluation_figures import (
    CLASSES,
    BaseParts,
    Codes,
    Groups,
    LabelledRows,
    Line,
    error_rate,
    figures,
)
from pytest_benchbench.reports.evaluation_scores import score_distribution
from pytest_benchbench.reports.ordering import LISTED, sort_key
from pytest_benchbench.statistics.classification import NO_LABEL, TwoLabelsError

SLICES: Final = (
    "source",
    "generatorFamily",
    "generatorModel",
    "contentGroup",
    "transform",
    "resolutionGroup",
    "provider",
    "evaluationMode",
)
"""The slices of every evaluation; the split is told by the series."""

IDENTITY: Final = ("modelSha256", "calibratorSha256", "preprocessingVersion")
"""What the scored rows of a series must have in common: figures of two models are figures of neither."""

PAIR: Final = ("transform", "resolutionGroup")
"""What tells the derivatives of a base apart."""

WORST: Final = 20
"""How many slices are named as the worst."""

Pair = tuple[Value, Value]


class Series(NamedTuple):
    """Rows that may be counted together."""

    adapter: Value
    split: Value


class SliceError(ValueError):
    """A slice that cannot be made; one line."""


def slices_of(texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Read what ``--by`` was given: a facet, or several with commas between them, each a slice beside ``SLICES``.

    Raises:
        SliceError: One is no facet of a score row.
    """
    found = []
    for text in dict.fromkeys(texts):
        names = tuple(text.split(","))
        for name in names:
            if name not in FACETS:
                raise SliceError(f"{name!r} is no slice: they are {', '.join(FACETS)}, or several with commas between them")
        if len(set(names)) < len(names):
            raise SliceError(f"{text!r} names a slice twice")
        found.append(names)
    return tuple(found)


def evaluate(
    columns: ScoreColumns, *, manifest: ScoreManifest | None = None, by: Sequence[tuple[str, ...]] = ()
) -> list[Line]:
    """Compute the figures of every series.

    Args:
        columns: All rows.
        manifest: The manifest that they were joined with: its derivatives are required of every base of their split, and its
            rows that have no score row are told of. Without it every derivative that occurs in a series is required.
        by: Slices beside ``SLICES``; see ``slices_of``.

    Returns:
        A line for each adapter and split, sorted; no order of rows changes it. ``refused`` says why a series has no figures.
    """
    adapter, split = columns.facet("adapter"), columns.facet("split")
    keys = adapter.codes * max(len(split.values), 1) + split.codes
    lines = []
    for key in np.unique(keys).tolist():
        series = Series(adapter.values[key // len(split.values)], split.values[key % len(split.values)])
        places = np.flatnonzero(keys == key)
        lines.append(_SeriesOf(series, columns, places, manifest).line(by))
    return lines


class _SeriesOf:
    """One series.

    Args:
        series: Its names.
        columns: All rows.
        places: Which of them are its own, ascending.
        manifest: See ``evaluate``.
    """

    def __init__(
        self,
        series: Series,
        columns: ScoreColumns,
        places: NDArray[np.intp],
        manifest: ScoreManifest | None,
    ) -> None:
        self._series = series
        self._columns = columns
        self._places = places
        self._manifest = manifest
        self._status = self._facet("status")
        is_scored = [value == "scored" for value in self._status.values]
        self._is_scored = np.array(is_scored, dtype=np.bool_)[self._status.codes]
        bases = columns.base[places]
        names, numbers = np.unique(np.append(-1, bases), return_inverse=True)
        self._bases = numbers[1:].astype(np.int64) - 1
        self._base_labels = np.full(len(names) - 1, NO_LABEL, dtype=np.int8)
        self._base_labels[self._bases[self._bases >= 0]] = columns.label[places][self._bases >= 0]
        self._pair_codes, self._pairs = self._required()

    def line(self, by: Sequence[tuple[str, ...]]) -> Line:
        """Give everything about the series."""
        statuses = self._status
        counts = np.bincount(statuses.codes, minlength=len(statuses.values)).tolist()
        return {
            **self._series._asdict(),
            "rows": len(self._places),
            "statuses": {str(name): count for name, count in zip(statuses.values, counts, strict=True)},
            "identity": {name: self._said(name) for name in (*IDENTITY, "evaluationMode", "provider")},
            "required": [dict(zip(PAIR, pair, strict=True)) for pair in self._pairs],
            "absent": self._absent(),
            **self._figures(by),
        }

    def _figures(self, by: Sequence[tuple[str, ...]]) -> Line:
        refused = self._unlabelled() or self._mixed()
        found: dict[str, Line] = {}
        if refused is None:
            try:
                found = dict(self._tables(by))
            except TwoLabelsError as error:
                refused = self._two_labels(error)
        return {"refused": refused, "scores": found}

    def _tables(self, by: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, Line]]:
        status = self._status
        rows = LabelledRows(
            labels=self._columns.label[self._places],
            statuses=status.codes,
            status_names=[str(value) for value in status.values],
            bases=self._bases,
            base_labels=self._base_labels,
            pairs=self._pair_codes,
        )
        scores = {name: self._columns.quantity(name)[self._places] for name in QUANTITIES}
        scores = {name: values for name, values in scores.items() if not np.isnan(values).all()}
        if not scores:  # every row is terminal: the figures say so
            scores = {"score": self._columns.score[self._places]}
        wanted = [(name,) for name in SLICES if self._facet(name).values != (None,)]
        tables: dict[str, dict[str, list[Line]]] = {quantity: {} for quantity in scores}
        parts = {quantity: _Parts(self, rows, values) for quantity, values in scores.items()}
        for names in ((), *dict.fromkeys((*wanted, *by))):  # one after the other: each takes tens of bytes a row
            keys, of_rows = self.grouped(names)
            of_derivative = tuple(name for name in PAIR if name in names)
            others = [name for name in names if name not in PAIR]
            groups = Groups.of(rows, of_rows, self.grouped(of_derivative)[1], self.grouped(others)[1])
            for quantity, values in scores.items():
                found = figures(rows, values, groups, parts[quantity].of(of_derivative))
                lines = [
                    {"value": list(key) if len(key) > 1 else key[0] if key else None, **line}
                    for key, line in zip(keys, found, strict=True)
                ]
                tables[quantity][",".join(names)] = sorted(lines, key=_worst_first)
        for quantity, slices in tables.items():
            (overall,) = slices.pop("")
            del overall["value"]
            yield (
                quantity,
                {
                    "overall": overall,
                    **_worst(slices, overall),
                    "slices": slices,
                    **score_distribution(scores[quantity], rows.labels),
                },
            )

    def _facet(self, name: str) -> Facet:
        """Give a facet of the series, with the values that occur in it."""
        facet = self._columns.facet(name)
        found, codes = np.unique(facet.codes[self._places], return_inverse=True)
        return Facet(codes.astype(np.int64), tuple(facet.values[code] for code in found.tolist()))

    def grouped(self, names: Sequence[str]) -> tuple[list[tuple[Value, ...]], Codes]:
        """Give the values of every group of rows, and the group of each row."""
        groups = np.zeros(len(self._places), dtype=np.int64)
        keys: list[tuple[Value, ...]] = [()]
        for name in names:
            facet = self._facet(name)
            found, groups = np.unique(groups * len(facet.values) + facet.codes, return_inverse=True)
            keys = [(*keys[each // len(facet.values)], facet.values[each % len(facet.values)]) for each in found.tolist()]
        return keys, groups.astype(np.int64)

    def _required(self) -> tuple[Codes, list[Pair]]:
        """Give the derivative of each row, as a place in the list of those that are required, and that list."""
        keys, codes = self.grouped(PAIR)
        seen = [(transform, resolution) for transform, resolution in keys]
        wanted = set(seen)
        if self._manifest is not None:
            cases = (case.shared for _, case in self._manifest)
            wanted |= {(case.transform, case.resolutionGroup) for case in cases if case.split == self._series.split}
        pairs = sorted(wanted, key=sort_key)
        places = {pair: place for place, pair in enumerate(pairs)}
        return np.array([places[pair] for pair in seen], dtype=np.int64)[codes], pairs

    def required_in(self, of_derivative: Sequence[str]) -> NDArray[np.int64]:
        """Count the derivatives that are required of every base in each slice by some names of ``PAIR``."""
        told = [(at, PAIR.index(name)) for at, name in enumerate(of_derivative)]
        keys, _ = self.grouped(of_derivative)
        counts = [sum(all(key[at] == pair[place] for at, place in told) for pair in self._pairs) for key in keys]
        return np.array(counts, dtype=np.int64)

    def _said(self, name: str) -> list[Value]:
        """Give every value that scored rows have, ``None`` first where one has none."""
        facet = self._facet(name)
        return [facet.values[code] for code in np.unique(facet.codes[self._is_scored]).tolist()]

    def _absent(self) -> Line | None:
        """Name the rows of the manifest's split that have no score row; ``None`` without a manifest."""
        if self._manifest is None:
            return None
        present = {self._columns.id(place) for place in self._places.tolist()}
        cases = ((id_, case) for id_, case in self._manifest if case.shared.split == self._series.split)
        absent = sorted(id_ for id_, _ in cases if id_ not in present)
        return {"count": len(absent), "listed": absent[:LISTED]}

    def _unlabelled(self) -> str | None:
        places = self._places[self._columns.label[self._places] < 0]
        if not len(places):
            return None
        rows = "1 row has" if len(places) == 1 else f"{len(places)} rows have"
        return f"label: {rows} none, such as {self._named(places)}"

    def _mixed(self) -> str | None:
        for name in IDENTITY:
            facet, said = self._facet(name), self._said(name)
            if len(said) > 1:
                told = []
                for value in said[:2]:
                    of_value = self._is_scored & (facet.codes == facet.values.index(value))
                    told.append(f"{'none' if value is None else value} in {self._named(self._places[of_value])}")
                return f"{name}: rows differ in it ({', '.join(told)}): their figures would be those of neither"
        return None

    def _two_labels(self, error: TwoLabelsError) -> str:
        base = self._bases[error.first]
        labels = self._columns.label[self._places]
        ai, real = (self._named(self._places[(self._bases == base) & (labels == label)]) for label in (1, 0))
        name = self._columns.base_names[int(self._columns.base[self._places[error.first]])]
        return f"label: the base {name!r} is AI in {ai} and real in {real}"

    def _named(self, places: NDArray[np.intp]) -> str:
        """Name the row with the smallest id: which row comes first in a file must not show."""
        id_, place = min((self._columns.id(place), place) for place in places.tolist())
        return f"row {id_!r}" if self._columns.line[place] == 0 else f"row {id_!r} ({self._columns.place(place)})"


class _Parts:
    """Outcomes of bases for one kind of score, by the slices that tell derivatives apart: each is computed once.

    Args:
        series: The series.
        rows: Its rows.
        scores: Their scores.
    """

    def __init__(self, series: _SeriesOf, rows: LabelledRows, scores: NDArray[np.float64]) -> None:
        self._series = series
        self._rows = rows
        self._scores = scores
        self._found: dict[tuple[str, ...], BaseParts] = {}

    def of(self, of_derivative: tuple[str, ...]) -> BaseParts:
        """Give the outcomes in each slice by some names of ``PAIR``; by none of them there is one slice."""
        if of_derivative not in self._found:
            parts, required = self._series.grouped(of_derivative)[1], self._series.required_in(of_derivative)
            self._found[of_derivative] = BaseParts.of(self._rows, self._scores, parts, required)
        return self._found[of_derivative]


def _worst_first(line: Line) -> tuple[Any, ...]:
    rates = [error_rate(line, of)[1] for of in CLASSES]
    lowest = max(rate["wilson95_low"] or 0.0 for rate in rates)
    value = line["value"] if isinstance(line["value"], list) else [line["value"]]
    return (-lowest, -sum(rate["k"] for rate in rates), sort_key(value))


def _worst(tables: dict[str, list[Line]], overall: Line) -> Line:
    """Find the slices in which most goes wrong, each class apart: by the lower Wilson bound of what went wrong.

    A slice that holds the whole of a class says nothing about where it goes wrong, and is left out.
    """
    found = []
    whole = {of: error_rate(overall, of) for of in CLASSES}
    for name, lines in tables.items():
        for line in lines:
            for of in CLASSES:
                unit, wrong = error_rate(line, of)
                if wrong["k"] and not (unit == whole[of][0] and wrong["n"] == whole[of][1]["n"]):
                    found.append({"slice": name, "value": line["value"], "class": of, "unit": unit, "wrong": wrong})
    found.sort(key=_worst_of_all)
    return {"worst_slices": found[:WORST], "wrong_slices": len(found)}


def _worst_of_all(line: Line) -> tuple[Any, ...]:
    value = line["value"] if isinstance(line["value"], list) else [line["value"]]
    return (-line["wrong"]["wilson95_low"], -line["wrong"]["k"], line["slice"], sort_key(value), line["class"])

"""Rules about scores: counts, rates and means over bases, each adapter and each value of a slice apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import fsum

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.gates.decided import ClassRoom
from pytest_benchbench.gates.measurement import Measurement, compare, largest, rated, uncomputed
from pytest_benchbench.gates.metrics import DERIVATIVE_FACETS, EACH, METRICS
from pytest_benchbench.gates.policy import Rule
from pytest_benchbench.gates.score_table import CLASS_NAMES, ScoreTable, Units
from pytest_benchbench.manifests.spelling import different_names
from pytest_benchbench.statistics.classification import AI, REAL, Confusion

MAX_VALUES = 10_000
"""A slice with ``*`` that has more values than these is not decided."""

MAX_DERIVATIVES = 1000
"""Nor is one with more derivatives than these."""

MAX_OUTCOMES = 100_000_000
"""Nor is one with so many derivatives times bases: each derivative is a pass over all bases, and its outcomes are kept."""


@dataclass(frozen=True, slots=True)
class _Group:
    """The units that one finding is about.

    Attributes:
        where: Their slice.
        units: Their outcomes.
        members: Their places.
        rows: The rows of their adapter, of shape (rows,).
    """

    where: dict[str, str] | None
    units: Units
    members: NDArray[np.intp]
    rows: NDArray[np.bool_]

    @property
    def confusion(self) -> Confusion:
        return self.units.outcomes.confusion(self.members)

    def with_score(self, label: int) -> NDArray[np.intp]:
        """Give the places of the units of a class that have a score."""
        has_score: NDArray[np.bool_] = self.units.has_score[self.members] & self.units.of_label(label)[self.members]
        return self.members[has_score]


def measurements(rule: Rule, table: ScoreTable) -> Iterator[Measurement]:
    """Give what a rule finds, at least once: for each adapter and for each value of a slice with ``*``.

    Args:
        rule: About scores.
        table: The rows.
    """
    wanted = dict(rule.slice or {})
    chosen = wanted.pop("adapter", EACH)
    adapters = [name for name in table.facet("adapter").values if chosen in (EACH, name)]
    if not adapters:
        yield _nothing(rule)
    for adapter in adapters:
        for finding in _of_adapter(rule, table, adapter, wanted):
            where = finding.slice or {}
            if adapter is not None:
                where = {**where, "adapter": adapter}
            yield replace(finding, slice=where or None)


def _of_adapter(rule: Rule, table: ScoreTable, adapter: str | None, wanted: dict[str, str]) -> Iterator[Measurement]:
    derivatives = {name: value for name, value in wanted.items() if name in DERIVATIVE_FACETS}
    others = {name: value for name, value in wanted.items() if name not in DERIVATIVE_FACETS}
    found = 0
    apart = _concrete(derivatives, table)
    if len(apart) > 1 and (len(apart) > MAX_DERIVATIVES or len(apart) * table.bases > MAX_OUTCOMES):
        reason = f"{len(apart)} derivatives of {table.bases} bases: they are not decided apart"
        yield uncomputed(rule, wanted, 0, reason)
        return
    for concrete in apart:
        units = table.units(adapter, "score", rule.unit or METRICS[rule.metric].unit, tuple(sorted(concrete.items())))
        groups = _groups(rule, table, adapter, units, concrete, others)
        if groups is None or found > MAX_VALUES:
            yield uncomputed(rule, wanted, 0, f"more than {MAX_VALUES} values: they are not decided apart")
            return
        for group in groups:
            found += 1
            yield _measured(rule, table, group)
    if any(
        pair[place] is None
        for place, name in enumerate(DERIVATIVE_FACETS)
        if derivatives.get(name) == EACH
        for pair in table.pairs
    ):
        yield _unsaid(rule, wanted, 0)
    elif not found:
        yield _nothing(rule)


def _concrete(derivatives: dict[str, str], table: ScoreTable) -> list[dict[str, str]]:
    """Replace ``*`` by every value of the required derivatives."""
    choices: list[list[tuple[str, str]]] = []
    for place, name in enumerate(DERIVATIVE_FACETS):
        if (wanted := derivatives.get(name)) is not None:
            known = {value for pair in table.pairs if (value := pair[place]) is not None}
            choices.append([(name, value) for value in (sorted(known) if wanted == EACH else [wanted])])
    return [dict(chosen) for chosen in product(*choices)]


def _groups(
    rule: Rule, table: ScoreTable, adapter: str | None, units: Units, concrete: dict[str, str], others: dict[str, str]
) -> list[_Group] | None:
    """Give the units of each slice, those of ``*`` by value; ``None`` where there are too many values.

    A unit is in a slice if any of its rows has the value, and then with all its rows. Of a metric about one class only the
    values of that class occur.
    """
    label = METRICS[rule.metric].label
    is_unit = units.outcomes.labels >= 0 if label is None else units.of_label(label)
    each = sorted(name for name, value in others.items() if value == EACH)
    where = {**concrete, **others}
    of_adapter = table.having("adapter", [adapter])
    if not others:
        return [_Group(where or None, units, np.flatnonzero(is_unit), of_adapter)]
    rows = of_adapter.copy()
    for name, value in others.items():
        if value != EACH:
            rows &= table.having(name, [value])
    unit_of_row = np.arange(len(table), dtype=np.int64) if rule.unit == "row" else table.base
    rows &= np.append(is_unit, False)[unit_of_row]
    codes = np.zeros(len(table), dtype=np.int64)
    for name in each:
        facet = table.facet(name)
        codes = codes * len(facet.values) + facet.codes
    count = max(len(units.outcomes.labels), 1)
    cells = np.unique(codes[rows] * count + unit_of_row[rows])
    if not each:
        return [_Group(where, units, cells, of_adapter)]
    begins = np.flatnonzero(np.diff(cells // count, prepend=-1))
    if len(begins) > MAX_VALUES:
        return None
    groups = []
    for members in np.split(cells, begins[1:]) if len(cells) else ():
        values, code = {}, int(members[0] // count)
        for name in reversed(each):
            known = table.facet(name).values
            values[name], code = known[code % len(known)], code // len(known)
        groups.append(_Group(_told(where, values), units, members % count, of_adapter))
    return groups


def _told(where: dict[str, str], values: dict[str, str | None]) -> dict[str, str]:
    """Write a slice; where rows do not say a value it keeps its ``*``."""
    return {**where, **{name: EACH if value is None else value for name, value in values.items()}}


def _nothing(rule: Rule) -> Measurement:
    """Give the finding of a rule that is about no row: counts are 0."""
    return _counted(rule, rule.slice, 0) if METRICS[rule.metric].form == "count" else uncomputed(rule, rule.slice, 0)


def _unsaid(rule: Rule, where: dict[str, str], n: int) -> Measurement:
    return uncomputed(rule, where, n, "there are rows that do not say which value they have")


def _measured(rule: Rule, table: ScoreTable, group: _Group) -> Measurement:
    if group.where is not None and any(value == EACH for value in group.where.values()):
        return _unsaid(rule, group.where, len(group.members))
    if METRICS[rule.metric].form != "count" and len(group.members) and not table.were_asked(group.rows):
        return uncomputed(rule, group.where, 0, "nobody was asked: every row is unavailable or never ran")
    confusion = group.confusion
    match rule.metric:
        case "real_recall" | "false_positive_rate":
            return _rated(rule, group.where, confusion.real, confusion.fp)
        case "ai_recall":
            return _rated(rule, group.where, confusion.ai, confusion.fn)
        case "precision":
            return _rated(rule, group.where, confusion.tp + confusion.fp, confusion.fp)
        case "balanced_accuracy":
            return _balanced(rule, group.where, confusion)
        case "brier":
            return _brier(rule, group)
        case "terminal_count":
            return _counted(rule, group.where, int(np.count_nonzero(group.units.is_terminal[group.members])), group)
        case "real_count" | "ai_count":
            return _counted(rule, group.where, len(group.with_score(_label(rule))))
        case "real_source_count":
            return _counted(rule, group.where, _distinct(rule, table, group, "source"))
        case "generator_family_count":
            return _counted(rule, group.where, _distinct(rule, table, group, "generatorFamily"))
    raise ValueError(f"{rule.metric} is not about scores")


def _label(rule: Rule) -> int:
    return AI if METRICS[rule.metric].label == AI else REAL


def _rated(rule: Rule, where: dict[str, str] | None, n: int, failures: int) -> Measurement:
    return rated(rule, where, n, failures) if n else uncomputed(rule, where, 0)


def _counted(rule: Rule, where: dict[str, str] | None, count: int, group: _Group | None = None) -> Measurement:
    """Give the finding of a rule about a count. Where it counts what is wrong, that is the failures."""
    if group is None:
        return Measurement(where, count, count >= rule.min_n and compare(rule, count), count, None, None)
    n = len(group.members)
    passed = n >= rule.min_n and compare(rule, count)
    if rule.op not in {"<=", "<", "=="}:
        return Measurement(where, n, passed, count, None, None)
    return Measurement(where, n, passed, count, count, largest(rule, lambda failed: failed, n))


def _balanced(rule: Rule, where: dict[str, str] | None, confusion: Confusion) -> Measurement:
    n = confusion.real + confusion.ai
    value = confusion.balanced_accuracy
    if value is None:
        return uncomputed(rule, where, n, "a class is missing")
    ai_misses, false_positives = confusion.fn, confusion.fp
    classes = {
        CLASS_NAMES[REAL]: ClassRoom(
            confusion.real,
            false_positives,
            largest(rule, lambda failed: _if_failed(confusion, ai_misses, failed), confusion.real),
        ),
        CLASS_NAMES[AI]: ClassRoom(
            confusion.ai,
            ai_misses,
            largest(rule, lambda failed: _if_failed(confusion, failed, false_positives), confusion.ai),
        ),
    }
    passed = n >= rule.min_n and compare(rule, value)
    return Measurement(where, n, passed, value, None, None, classes)


def _if_failed(confusion: Confusion, misses: int, false_positives: int) -> float:
    """Give the balanced accuracy of as many AI and real units as there are, at least one each, if so many failed."""
    value = Confusion(confusion.ai - misses, misses, confusion.real - false_positives, false_positives).balanced_accuracy
    assert value is not None, "both classes are there"
    return value


def _brier(rule: Rule, group: _Group) -> Measurement:
    """Give the mean over units of their largest squared error; no order of rows shows, because the sum is exact."""
    n = len(group.members)
    if n == 0:
        return uncomputed(rule, group.where, 0)
    value = fsum(group.units.worst_error[group.members].tolist()) / n
    return Measurement(group.where, n, n >= rule.min_n and compare(rule, value), value, None, None)


def _distinct(rule: Rule, table: ScoreTable, group: _Group, name: str) -> int:
    """Count the values of a property that scored units of the metric's class have, however they are spelled."""
    is_member = np.zeros(len(group.units.outcomes.labels) + 1, dtype=np.bool_)
    is_member[group.with_score(_label(rule))] = True
    unit_of_row = np.arange(len(table), dtype=np.int64) if rule.unit == "row" else table.base
    facet = table.facet(name)
    codes = np.unique(facet.codes[group.rows & is_member[unit_of_row] & ~np.isnan(table.scores("score"))])
    values = (facet.values[code] for code in codes.tolist())
    return different_names(value for value in values if value is not None)

"""What a rule measures: counts and rates over settled rows, streamed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt
from typing import Literal, Protocol

from pytest_benchbench.evidence.grouping import Standing, base, facet
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.gates.policy import Rule
from pytest_benchbench.statistics.intervals import wilson_interval

_COMPARE: dict[str, Callable[[float, float], bool]] = {"<=": le, ">=": ge, "==": eq, "<": lt, ">": gt}


@dataclass(frozen=True, slots=True)
class Count:
    """A metric that counts rows.

    Attributes:
        counted: Whether a row is counted.
        failing: Whether the counted rows are the failures, the others are, or nobody can say.
    """

    counted: Callable[[SettledRow, Standing], bool]
    failing: Literal["counted", "others"] | None


COUNTS: dict[str, Count] = {
    "planned_count": Count(lambda _row, _standing: True, None),
    "match_count": Count(lambda row, _standing: row.outcome == "match", "others"),
    "mismatch_count": Count(lambda row, _standing: row.outcome == "mismatch", "counted"),
    "measured_count": Count(lambda row, _standing: row.outcome == "measured", None),
    "known_mismatch_count": Count(lambda row, _standing: row.outcome == "known_mismatch", "counted"),
    "error_count": Count(lambda _row, standing: standing == "error", "counted"),
    "unavailable_count": Count(lambda _row, standing: standing == "unavailable", "counted"),
    "unstable_count": Count(lambda _row, standing: standing == "unstable", "counted"),
}
"""An unstable row is a mismatch too: it is in both counts."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a rule found.

    Attributes:
        slice: The rows that it is about.
        n: Available units.
        passed: Whether the rule holds; ``None`` when there is nothing to compute it from.
        observed: The value that was compared; ``None`` with ``passed``, or when the minimum count alone decided.
        failures: Units that count against the rule; ``None`` where no unit does.
        max_failures: The largest number of failures with which the rule still holds at this ``n``; ``None`` when it
            cannot hold at this ``n``, or where no unit counts against it.
    """

    slice: dict[str, str] | None
    n: int
    passed: bool | None
    observed: float | None
    failures: int | None
    max_failures: int | None


class RuleTally(Protocol):
    """Sees every settled row once and then says whether its rule holds."""

    def add(self, settled: SettledRow, standing: Standing) -> None:
        """Take one row."""

    def measurements(self) -> Iterator[Measurement]:
        """Say what was found, at least once."""


def tally(rule: Rule) -> RuleTally:
    """Begin to measure a rule."""
    return _RateTally(rule) if rule.metric == "detection_rate" else _CountTally(rule, COUNTS[rule.metric])


class _CountTally:
    """Counts rows or bases. Memory: constant, or a name for each base.

    A base is counted when one of its rows is; where the counted ones are the good ones, when all of its rows are.
    """

    def __init__(self, rule: Rule, count: Count) -> None:
        self._rule = rule
        self._count = count
        self._n = 0
        self._counted = 0
        self._bases: dict[str | None, bool] = {}

    def add(self, settled: SettledRow, standing: Standing) -> None:
        if not _in_slice(self._rule, settled.row):
            return
        counted = self._count.counted(settled, standing)
        if self._rule.unit == "base":
            unit = base(settled.row)
            before = self._bases.get(unit, counted)
            self._bases[unit] = before and counted if self._count.failing == "others" else before or counted
        else:
            self._n += 1
            self._counted += counted

    def measurements(self) -> Iterator[Measurement]:
        rule, n, k = self._rule, self._n, self._counted
        if rule.unit == "base":
            n, k = len(self._bases), sum(self._bases.values())
        if None in self._bases or (n == 0 and rule.metric != "planned_count"):
            yield _uncomputed(rule, rule.slice, n)
            return
        failures = largest = None
        if self._count.failing == "counted" and rule.op in {"<=", "<", "=="}:
            failures, largest = k, _largest(rule, lambda failed: failed, n)
        elif self._count.failing == "others" and rule.op in {">=", ">", "=="}:
            failures, largest = n - k, _largest(rule, lambda failed: n - failed, n)
        yield Measurement(rule.slice, n, n >= rule.min_n and _holds(rule, k), k, failures, largest)


class _RateTally:
    """The share of units that were detected, each adapter apart: rates are never pooled over adapters.

    A unit is an artifact, so that repeating it cannot narrow an interval, or a base. A unit whose rows disagree, or that
    is unstable, counts against the rule: as not detected where a rate has to be high, as detected where it has to be low.
    Rows without a decision (errors, unavailable, scored) belong to no unit. Memory: a name and a flag for each unit.
    """

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._wants_high = rule.op in {">=", ">"}
        self._units: defaultdict[str, dict[str | None, bool]] = defaultdict(dict)

    def add(self, settled: SettledRow, standing: Standing) -> None:
        row = settled.row
        if not _in_slice(self._rule, row):
            return
        units = self._units[row.key.adapter]
        if standing not in {"detected", "not_detected", "unstable"}:
            return
        failed = standing != ("detected" if self._wants_high else "not_detected")
        unit = base(row) if self._rule.unit == "base" else row.artifact.sha256
        units[unit] = units.get(unit, False) or failed

    def measurements(self) -> Iterator[Measurement]:
        rule = self._rule
        if not self._units:
            yield _uncomputed(rule, rule.slice, 0)
        for adapter, units in sorted(self._units.items()):
            yield self._measure({**(rule.slice or {}), "adapter": adapter}, units)

    def _measure(self, where: dict[str, str], units: dict[str | None, bool]) -> Measurement:
        rule, n, failures = self._rule, len(units), sum(units.values())
        if n == 0 or None in units:
            return _uncomputed(rule, where, n)

        def value(failed: int) -> float:
            return _bounded_rate(n - failed if self._wants_high else failed, n, rule.bound)

        passed = n >= rule.min_n and _holds(rule, value(failures))
        return Measurement(where, n, passed, value(failures), failures, _largest(rule, value, n))


def _in_slice(rule: Rule, row: EvidenceRow) -> bool:
    return rule.slice is None or all(facet(row, name) == value for name, value in rule.slice.items())


def _holds(rule: Rule, value: float) -> bool:
    return _COMPARE[rule.op](value, rule.value)


def _uncomputed(rule: Rule, where: dict[str, str] | None, n: int) -> Measurement:
    """Give the finding of a rule without a value; it fails where fewer units than its minimum are the reason."""
    return Measurement(where, n, False if n < rule.min_n else None, None, None, None)


def _bounded_rate(k: int, n: int, bound: str) -> float:
    if bound == "observed":
        return k / n
    interval = wilson_interval(k, n)
    assert interval is not None, "n is at least 1"
    return interval[0 if bound == "wilson_lower" else 1]


def _largest(rule: Rule, value: Callable[[int], float], n: int) -> int | None:
    """Give the largest number of failures in [0, n] with which a rule holds, ``None`` if it cannot hold.

    Args:
        rule: The rule.
        value: The metric's value at a number of failures; it never moves towards the rule's side as failures grow.
        n: Units.
    """
    if rule.op == "==":
        return max((failed for failed in range(n + 1) if _holds(rule, value(failed))), default=None)
    if not _holds(rule, value(0)):
        return None
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _holds(rule, value(middle)) else (low, middle - 1)
    return low

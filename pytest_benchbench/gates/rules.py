"""What a rule measures: counts and rates over settled rows, streamed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.carriers import BaseColumn, bases_of
from pytest_benchbench.evidence.digest_column import DigestColumn, text_digest
from pytest_benchbench.evidence.grouping import Standing
from pytest_benchbench.evidence.observation import EvidenceRow, Outcome
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.gates.kinds import Kind, RowKinds
from pytest_benchbench.gates.policy import Rule
from pytest_benchbench.statistics.intervals import wilson_interval

_COMPARE: dict[str, Callable[[float, float], bool]] = {"<=": le, ">=": ge, "==": eq, "<": lt, ">": gt}

_DECIDED = frozenset({"detected", "not_detected", "unstable"})


@dataclass(frozen=True, slots=True)
class Count:
    """A metric that counts rows.

    Attributes:
        counted: Whether a row is counted.
        failing: Whether the counted rows are the failures, the others are, or nobody can say.
    """

    counted: Callable[[Outcome, Standing], bool]
    failing: Literal["counted", "others"] | None


COUNTS: dict[str, Count] = {
    "planned_count": Count(lambda _outcome, _standing: True, None),
    "match_count": Count(lambda outcome, _standing: outcome == "match", "others"),
    "mismatch_count": Count(lambda outcome, _standing: outcome == "mismatch", "counted"),
    "measured_count": Count(lambda outcome, _standing: outcome == "measured", None),
    "known_mismatch_count": Count(lambda outcome, _standing: outcome == "known_mismatch", "counted"),
    "error_count": Count(lambda _outcome, standing: standing == "error", "counted"),
    "unavailable_count": Count(lambda _outcome, standing: standing == "unavailable", "counted"),
    "unstable_count": Count(lambda _outcome, standing: standing == "unstable", "counted"),
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


class Tallies:
    """Sees every settled row once and then says whether rules hold.

    Memory: 4 bytes a row, 16 more where a rule counts artifacts or bases, and 8 more where one counts bases.

    Args:
        rules: What is measured.

    Attributes:
        kinds: The kinds of the rows.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._facets = tuple(sorted({name for rule in self._rules for name in rule.slice or ()}))
        self.kinds = RowKinds(self._facets)
        self._units = _Units({_unit(rule) for rule in self._rules} - {"row"})

    def add(self, settled: SettledRow, standing: Standing) -> None:
        """Take one row."""
        self.kinds.add(settled, standing)
        self._units.add(settled.row)

    def measurements(self) -> Iterator[tuple[Rule, Measurement]]:
        """Say for each rule what was found, at least once, in the order of the rules."""
        of_rows = self.kinds.of_rows()
        numbers = self._units.numbers()
        for rule in self._rules:
            takes = [self._takes(rule, kind) for kind in self.kinds.kinds]
            if _unit(rule) == "row":
                yield rule, self._of_rows(rule, takes)
            else:
                shown = _Shown(self.kinds.kinds, of_rows, numbers[_unit(rule)])
                findings = shown.rate(rule, takes) if rule.metric == "detection_rate" else [shown.bases(rule, takes)]
                for found in findings:
                    yield rule, found

    def _takes(self, rule: Rule, kind: Kind) -> bool:
        """Say whether rows of a kind are in the rule's slice."""
        values = dict(zip(self._facets, kind.facets, strict=True))
        return all(values[name] == value for name, value in (rule.slice or {}).items())

    def _of_rows(self, rule: Rule, takes: list[bool]) -> Measurement:
        count = COUNTS[rule.metric]
        n = k = 0
        for kind, rows, is_taken in zip(self.kinds.kinds, self.kinds.counts, takes, strict=True):
            if is_taken:
                n += rows
                k += rows * count.counted(kind.outcome, kind.standing)
        return _counted(rule, count, n, k)


def _unit(rule: Rule) -> Literal["row", "artifact", "base"]:
    """Say what a rule counts: a rate is about artifacts where a count is about rows."""
    if rule.unit == "base":
        return "base"
    return "artifact" if rule.metric == "detection_rate" else "row"


class _Units:
    """The artifact and the base that each row belongs to, as far as rules count them."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._artifacts = DigestColumn() if wanted else None  # bases are told by artifacts too
        self._bases = BaseColumn() if "base" in wanted else None

    def add(self, row: EvidenceRow) -> None:
        """Take the next row."""
        if self._artifacts is not None:
            self._artifacts.append(text_digest(row.artifact.sha256.encode()))
        if self._bases is not None:
            self._bases.append(row)

    def numbers(self) -> dict[str, NDArray[np.intp]]:
        """Give for every row the number of its unit, from 0, and -1 where it belongs to none; by the name of the unit."""
        if self._artifacts is None:
            return {}
        numbers = {"artifact": self._artifacts.groups().numbers()}
        if self._bases is not None:
            numbers["base"] = bases_of(self._bases.digests(), numbers["artifact"])
        return numbers


class _Shown:
    """Rows by kind and unit, of which rules count the units.

    Args:
        kinds: All kinds.
        rows: The kind of each row, as a place in ``kinds``.
        units: The number of each row's unit, -1 where it belongs to none.
    """

    def __init__(self, kinds: list[Kind], rows: NDArray[np.uint32], units: NDArray[np.intp]) -> None:
        self._kinds = kinds
        self._rows = rows
        self._numbers = units

    def bases(self, rule: Rule, takes: list[bool]) -> Measurement:
        """Count bases: those of which a row is counted; where counted rows are the good ones, those without any other."""
        count = COUNTS[rule.metric]
        counts = [count.counted(kind.outcome, kind.standing) for kind in self._kinds]
        n, is_complete = self._count(takes)
        if not is_complete:
            return _uncomputed(rule, rule.slice, n)
        yes, _ = self._count([taken and counted for taken, counted in zip(takes, counts, strict=True)])
        no, _ = self._count([taken and not counted for taken, counted in zip(takes, counts, strict=True)])
        return _counted(rule, count, n, n - no if count.failing == "others" else yes)

    def rate(self, rule: Rule, takes: list[bool]) -> Iterator[Measurement]:
        """Give the share of units that were detected, each adapter apart: rates are never pooled over adapters.

        A unit is an artifact, so that repeating it cannot narrow an interval, or a base. A unit whose rows disagree, or that
        is unstable, counts against the rule: as not detected where a rate has to be high, as detected where it has to be
        low. Rows without a decision (errors, unavailable, scored) belong to no unit.
        """
        wanted = "detected" if _wants_high(rule) else "not_detected"
        adapters = sorted({kind.adapter for kind, taken in zip(self._kinds, takes, strict=True) if taken})
        if not adapters:
            yield _uncomputed(rule, rule.slice, 0)
        for adapter in adapters:
            decided = [
                taken and kind.adapter == adapter and kind.standing in _DECIDED
                for kind, taken in zip(self._kinds, takes, strict=True)
            ]
            failed = [is_so and kind.standing != wanted for kind, is_so in zip(self._kinds, decided, strict=True)]
            n, is_complete = self._count(decided)
            where = {**(rule.slice or {}), "adapter": adapter}
            yield _rated(rule, where, n, self._count(failed)[0]) if n and is_complete else _uncomputed(rule, where, n)

    def _count(self, kinds: list[bool]) -> tuple[int, bool]:
        """Count the units that have a row of these kinds, and say whether every such row belongs to one."""
        rows = np.array(kinds, dtype=np.bool_)[self._rows] if kinds else np.zeros(0, dtype=np.bool_)
        numbers = self._numbers[rows]
        is_named = numbers >= 0
        return int(np.count_nonzero(np.bincount(numbers[is_named]))), bool(is_named.all())


def _wants_high(rule: Rule) -> bool:
    return rule.op in {">=", ">"}


def _rated(rule: Rule, where: dict[str, str], n: int, failures: int) -> Measurement:
    """Give the finding of a rule about a rate that ``failures`` of ``n`` units, at least one, count against it."""

    def value(failed: int) -> float:
        return _bounded_rate(n - failed if _wants_high(rule) else failed, n, rule.bound)

    passed = n >= rule.min_n and _holds(rule, value(failures))
    return Measurement(where, n, passed, value(failures), failures, _largest(rule, value, n))


def _counted(rule: Rule, count: Count, n: int, k: int) -> Measurement:
    """Give the finding of a rule that ``k`` of ``n`` available units are counted."""
    if n == 0 and rule.metric != "planned_count":
        return _uncomputed(rule, rule.slice, n)
    failures = largest = None
    if count.failing == "counted" and rule.op in {"<=", "<", "=="}:
        failures, largest = k, _largest(rule, lambda failed: failed, n)
    elif count.failing == "others" and rule.op in {">=", ">", "=="}:
        failures, largest = n - k, _largest(rule, lambda failed: n - failed, n)
    return Measurement(rule.slice, n, n >= rule.min_n and _holds(rule, k), k, failures, largest)


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

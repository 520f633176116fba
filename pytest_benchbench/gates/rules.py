"""What a rule measures: counts and rates over settled rows, streamed."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.digest_column import TEXT_DIGEST_BYTES, DigestColumn, text_digest
from pytest_benchbench.evidence.grouping import Standing, base, facet
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.gates.policy import Rule
from pytest_benchbench.statistics.intervals import wilson_interval

_COMPARE: dict[str, Callable[[float, float], bool]] = {"<=": le, ">=": ge, "==": eq, "<": lt, ">": gt}

_OUTSIDE, _UNDECIDED, _YES, _NO = range(4)
"""What a row is to a rule that counts units."""

_NAMELESS = bytes(TEXT_DIGEST_BYTES)


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


class Tallies:
    """Sees every settled row once and then says whether rules hold.

    Memory: a byte a row for each rule that counts units, and 20 bytes a row for each kind of unit that some rule counts:
    artifacts, or bases. A policy that counts rows alone takes none.

    Args:
        rules: What is measured.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._artifacts = _Units(lambda row: row.artifact.sha256)
        self._bases = _Units(base)
        self._tallies: list[tuple[Rule, _RowTally | _BaseTally | _RateTally]] = []
        for rule in rules:
            units = self._bases if rule.unit == "base" else self._artifacts
            if rule.metric == "detection_rate":
                self._tallies.append((rule, _RateTally(rule, units)))
            elif rule.unit == "base":
                self._tallies.append((rule, _BaseTally(rule, COUNTS[rule.metric], units)))
            else:
                self._tallies.append((rule, _RowTally(rule, COUNTS[rule.metric])))

    def add(self, settled: SettledRow, standing: Standing) -> None:
        """Take one row."""
        for units in (self._artifacts, self._bases):
            if units.wanted:
                units.add(settled.row)
        for rule, tally in self._tallies:
            tally.add(settled, standing, is_in_slice=_in_slice(rule, settled.row))

    def measurements(self) -> Iterator[tuple[Rule, Measurement]]:
        """Say for each rule what was found, at least once, in the order of the rules."""
        for rule, tally in self._tallies:
            for found in tally.measurements():
                yield rule, found


class _Units:
    """What rules count instead of rows: for every row the unit that it belongs to, and its adapter.

    Args:
        name: Gives the unit's name, or ``None`` for a row that belongs to none.
    """

    def __init__(self, name: Callable[[EvidenceRow], str | None]) -> None:
        self._name = name
        self._digests = DigestColumn()
        self._adapters = array("I")
        self._numbers: NDArray[np.intp] | None = None
        self.adapter_codes: dict[str, int] = {}
        self.wanted = False

    def add(self, row: EvidenceRow) -> None:
        name = self._name(row)
        self._digests.append(_NAMELESS if name is None else text_digest(name.encode()))
        self._adapters.append(self.adapter_codes.setdefault(row.key.adapter, len(self.adapter_codes)))

    def of_adapter(self, code: int) -> NDArray[np.bool_]:
        """Say of every row whether it is the adapter's."""
        return np.frombuffer(self._adapters, dtype=np.uint32) == code

    def numbers(self) -> NDArray[np.intp]:
        """Give for every row the number of its unit."""
        if self._numbers is None or len(self._numbers) != len(self._digests):
            self._numbers = self._digests.groups().numbers()
        return self._numbers

    def nameless(self) -> NDArray[np.bool_]:
        """Say of every row whether it belongs to no unit."""
        return ~self._digests.words().any(axis=1)


class _RowTally:
    """Counts rows."""

    def __init__(self, rule: Rule, count: Count) -> None:
        self._rule = rule
        self._count = count
        self._n = 0
        self._counted = 0

    def add(self, settled: SettledRow, standing: Standing, *, is_in_slice: bool) -> None:
        if is_in_slice:
            self._n += 1
            self._counted += self._count.counted(settled, standing)

    def measurements(self) -> Iterator[Measurement]:
        yield _counted(self._rule, self._count, self._n, self._counted)


class _BaseTally:
    """Counts bases.

    A base is counted when one of its rows is; where the counted ones are the good ones, when all of its rows are.
    """

    def __init__(self, rule: Rule, count: Count, units: _Units) -> None:
        self._rule = rule
        self._count = count
        self._units = units
        self._rows = bytearray()
        units.wanted = True

    def add(self, settled: SettledRow, standing: Standing, *, is_in_slice: bool) -> None:
        self._rows.append(_OUTSIDE if not is_in_slice else _YES if self._count.counted(settled, standing) else _NO)

    def measurements(self) -> Iterator[Measurement]:
        rows = np.frombuffer(self._rows, dtype=np.uint8)
        units, nameless = self._units.numbers(), self._units.nameless()
        n = np.unique(units[rows != _OUTSIDE]).size
        if nameless[rows != _OUTSIDE].any():
            yield _uncomputed(self._rule, self._rule.slice, n)
            return
        with_yes, with_no = np.unique(units[rows == _YES]), np.unique(units[rows == _NO])
        counted = n - with_no.size if self._count.failing == "others" else with_yes.size
        yield _counted(self._rule, self._count, n, counted)


class _RateTally:
    """The share of units that were detected, each adapter apart: rates are never pooled over adapters.

    A unit is an artifact, so that repeating it cannot narrow an interval, or a base. A unit whose rows disagree, or that
    is unstable, counts against the rule: as not detected where a rate has to be high, as detected where it has to be low.
    Rows without a decision (errors, unavailable, scored) belong to no unit.
    """

    def __init__(self, rule: Rule, units: _Units) -> None:
        self._rule = rule
        self._wants_high = rule.op in {">=", ">"}
        self._units = units
        self._rows = bytearray()
        units.wanted = True

    def add(self, settled: SettledRow, standing: Standing, *, is_in_slice: bool) -> None:
        if not is_in_slice:
            self._rows.append(_OUTSIDE)
        elif standing not in {"detected", "not_detected", "unstable"}:
            self._rows.append(_UNDECIDED)
        else:
            failed = standing != ("detected" if self._wants_high else "not_detected")
            self._rows.append(_NO if failed else _YES)

    def measurements(self) -> Iterator[Measurement]:
        rows = np.frombuffer(self._rows, dtype=np.uint8)
        units, nameless = self._units.numbers(), self._units.nameless()
        is_empty = True
        for adapter, code in sorted(self._units.adapter_codes.items()):
            of_adapter = (rows != _OUTSIDE) & self._units.of_adapter(code)
            if not of_adapter.any():
                continue
            is_empty = False
            decided = of_adapter & (rows != _UNDECIDED)
            n, failures = np.unique(units[decided]).size, np.unique(units[decided & (rows == _NO)]).size
            where = {**(self._rule.slice or {}), "adapter": adapter}
            yield self._measure(where, n, failures, is_complete=not nameless[decided].any())
        if is_empty:
            yield _uncomputed(self._rule, self._rule.slice, 0)

    def _measure(self, where: dict[str, str], n: int, failures: int, *, is_complete: bool) -> Measurement:
        rule = self._rule
        if n == 0 or not is_complete:
            return _uncomputed(rule, where, n)

        def value(failed: int) -> float:
            return _bounded_rate(n - failed if self._wants_high else failed, n, rule.bound)

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

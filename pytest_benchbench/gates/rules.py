"""What a rule measures: counts and rates over settled rows, streamed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.carriers import BaseColumn, bases_of
from pytest_benchbench.evidence.digest_column import DigestColumn, sha256_text_digest
from pytest_benchbench.evidence.grouping import Standing
from pytest_benchbench.evidence.observation import EvidenceRow, Outcome
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.gates.kinds import Kind, RowKinds
from pytest_benchbench.gates.measurement import Measurement, compare, largest, rated, uncomputed
from pytest_benchbench.gates.metrics import EACH
from pytest_benchbench.gates.policy import Rule
from pytest_benchbench.statistics.power import wants_high

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
            for sliced in self._each(rule):
                takes = [self._takes(sliced, kind) for kind in self.kinds.kinds]
                if EACH in (sliced.slice or {}).values():
                    yield rule, uncomputed(sliced, sliced.slice, 0, "no row, or not every row, says which value it has")
                elif _unit(rule) == "row":
                    yield rule, self._of_rows(sliced, takes)
                else:
                    shown = _Shown(self.kinds.kinds, of_rows, numbers[_unit(rule)])
                    findings = shown.rate(sliced, takes) if rule.metric == "detection_rate" else [shown.bases(sliced, takes)]
                    for found in findings:
                        yield rule, found

    def _each(self, rule: Rule) -> Iterator[Rule]:
        """Give a rule for each value of its ``*``; where rows do not say one, or there are none, it keeps its ``*``."""
        each = [name for name, value in (rule.slice or {}).items() if value == EACH]
        if not each:
            yield rule
            return
        fixed = {name: value for name, value in (rule.slice or {}).items() if value != EACH}
        taken = [kind for kind in self.kinds.kinds if self._takes(msgspec.structs.replace(rule, slice=fixed), kind)]
        places = [self._facets.index(name) for name in each]
        for values in sorted(
            {tuple(kind.facets[place] or EACH for place in places) for kind in taken} or {(EACH,) * len(each)}
        ):
            yield msgspec.structs.replace(rule, slice={**fixed, **dict(zip(each, values, strict=True))})

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
            self._artifacts.append(sha256_text_digest(row.artifact.sha256))
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
            return uncomputed(rule, rule.slice, n)
        yes, _ = self._count([taken and counted for taken, counted in zip(takes, counts, strict=True)])
        no, _ = self._count([taken and not counted for taken, counted in zip(takes, counts, strict=True)])
        return _counted(rule, count, n, n - no if count.failing == "others" else yes)

    def rate(self, rule: Rule, takes: list[bool]) -> Iterator[Measurement]:
        """Give the share of units that were detected, each adapter apart: rates are never pooled over adapters.

        A unit is an artifact, so that repeating it cannot narrow an interval, or a base. A unit whose rows disagree, or that
        is unstable, counts against the rule: as not detected where a rate has to be high, as detected where it has to be
        low. Rows without a decision (errors, unavailable, scored) belong to no unit.
        """
        wanted = "detected" if wants_high(rule) else "not_detected"
        adapters = sorted({kind.adapter for kind, taken in zip(self._kinds, takes, strict=True) if taken})
        if not adapters:
            yield uncomputed(rule, rule.slice, 0)
        for adapter in adapters:
            decided = [
                taken and kind.adapter == adapter and kind.standing in _DECIDED
                for kind, taken in zip(self._kinds, takes, strict=True)
            ]
            failed = [is_so and kind.standing != wanted for kind, is_so in zip(self._kinds, decided, strict=True)]
            n, is_complete = self._count(decided)
            where = {**(rule.slice or {}), "adapter": adapter}
            yield rated(rule, where, n, self._count(failed)[0]) if n and is_complete else uncomputed(rule, where, n)

    def _count(self, kinds: list[bool]) -> tuple[int, bool]:
        """Count the units that have a row of these kinds, and say whether every such row belongs to one."""
        rows = np.array(kinds, dtype=np.bool_)[self._rows] if kinds else np.zeros(0, dtype=np.bool_)
        numbers = self._numbers[rows]
        is_named = numbers >= 0
        return int(np.count_nonzero(np.bincount(numbers[is_named]))), bool(is_named.all())


def _counted(rule: Rule, count: Count, n: int, k: int) -> Measurement:
    """Give the finding of a rule that ``k`` of ``n`` available units are counted."""
    if n == 0 and rule.metric != "planned_count":
        return uncomputed(rule, rule.slice, n)
    failures = most = None
    if count.failing == "counted" and rule.op in {"<=", "<", "=="}:
        failures, most = k, largest(rule, lambda failed: failed, n)
    elif count.failing == "others" and rule.op in {">=", ">", "=="}:
        failures, most = n - k, largest(rule, lambda failed: n - failed, n)
    return Measurement(rule.slice, n, n >= rule.min_n and compare(rule, k), k, failures, most)

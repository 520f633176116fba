"""Which rules cannot fail while another one holds: they demand less of the same failures."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from pytest_benchbench.gates.measurement import Measurement
from pytest_benchbench.gates.metrics import DERIVATIVE_FACETS, METRICS
from pytest_benchbench.gates.policy import Rule
from pytest_benchbench.statistics.power import wants_high

MAX_WIDENED = 6
"""Slices of more properties than these are compared with equal slices only."""

_Slice = frozenset[tuple[str, str]]


class _Demand(NamedTuple):
    """How strict a rule is: the smaller, the stricter; of equally strict ones the first counts.

    Attributes:
        bears: How many failures it bears, or how far below 1 a balanced accuracy may lie.
        place: Its place among the rules.
        name: Its id.
    """

    bears: float
    place: int
    name: str


def implications(measured: Sequence[tuple[Rule, Measurement]]) -> list[str | None]:
    """Name for each rule the strictest one that cannot hold without it.

    Rules that count the same failures among the same units differ only in how many of them they bear. So a false-positive
    rate of at most .02 is the same demand as a real recall of at least .98. A base that fails in a slice fails among all
    rows too, so a rule about scores is also implied by one about a wider slice that bears no more failures.
    """
    strictest: dict[Hashable, _Demand] = {}
    for place, (rule, found) in enumerate(measured):
        if (bears := _bears(rule, found)) is not None:
            demand = _Demand(bears, place, rule.id)
            key = (_failing(rule, found), _slice(found))
            strictest[key] = min(demand, strictest.get(key, demand))
    implied: list[str | None] = []
    for place, (rule, found) in enumerate(measured):
        bears = _bears(rule, found)
        if bears is None or found.n < rule.min_n:
            implied.append(None)
            continue
        mine = _slice(found)
        others = (
            other
            for wider in _wider(rule, mine)
            if (other := strictest.get((_failing(rule, found), wider))) is not None
            and (other < (bears, place) if wider == mine else other.bears <= bears)
        )
        best = min(others, default=None)
        implied.append(None if best is None else best.name)
    return implied


def _bears(rule: Rule, found: Measurement) -> float | None:
    """Say how much a rule bears; ``None`` for one that bears nothing, or of which more is not worse."""
    if rule.op == "==":
        return None
    if rule.metric == "balanced_accuracy":
        return None if found.classes is None or rule.op != ">=" else 1.0 - rule.value
    return found.max_failures


def _failing(rule: Rule, found: Measurement) -> Hashable:
    """Say which failures a rule counts. Rules about outcomes are compared where they are about as many units, too."""
    metric = METRICS[rule.metric]
    unit = rule.unit or metric.unit
    if metric.about != "scores":
        return rule.metric, wants_high(rule), unit, found.n
    if metric.label == 0 and metric.form == "rate":
        return "real units that fail", unit
    return rule.metric, unit


def _slice(found: Measurement) -> _Slice:
    return frozenset((found.slice or {}).items())


def _wider(rule: Rule, mine: _Slice) -> Iterator[_Slice]:
    """Give the slices in which whatever fails in a rule's slice fails too, its own first.

    The rates of a class alone are looked at in every wider slice of the same adapter. A balanced accuracy is one of as many
    units in another slice only if that differs by derivatives. Rows that stand for themselves fail in any wider slice.
    """
    yield mine
    if not rule.is_about_scores or len(mine) > MAX_WIDENED or rule.metric == "precision":
        return
    free = [one for one in mine if one[0] != "adapter"]
    if rule.metric == "balanced_accuracy":
        free = [one for one in free if one[0] in DERIVATIVE_FACETS and rule.unit != "row"]
    for count in range(1, len(free) + 1):
        for dropped in combinations(sorted(free), count):
            yield mine.difference(dropped)

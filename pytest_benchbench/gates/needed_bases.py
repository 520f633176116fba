"""How many bases a policy needs of a detector of known error rates, and which error rates pass with the bases at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from pytest_benchbench.gates.metrics import METRICS
from pytest_benchbench.gates.policy import Policy, Rule
from pytest_benchbench.gates.prospects import Bases, Demand, ErrorRates, demands_of, failures_of, pass_all
from pytest_benchbench.statistics.power import SampleSize, trials_needed

MAX_STEPS = 2000
"""How many numbers of bases are tried out beyond those that single rules need."""

_COUNTS = frozenset({"real_count", "ai_count"})

_BISECTIONS = 40
"""Halvings of [0, 1]: a rate is told to twelve digits."""


class NeededBases(msgspec.Struct, frozen=True):
    """How many bases pass one rule by itself with some probabilities.

    Attributes:
        id: The rule.
        of: What is counted: real bases or AI bases, in all or in each group.
        groups: How many groups the rule is about: sources, families, or 1.
        sizes: Smallest number, and number from which on all are enough, for each probability; ``None`` where none is.
    """

    id: str
    of: str
    groups: int
    sizes: list[SampleSize | None]


def bases_of_rules(policy: Policy, bases: Bases, rates: ErrorRates, probabilities: Sequence[float]) -> list[NeededBases]:
    """Say for each rule about a rate of one class how many bases pass it by itself.

    A rule about several groups is passed in all of them; the bases of one group are told.

    Args:
        policy: The rules. A rule that demands a number of bases is kept by the rules about the same bases.
        bases: What is to be measured; the numbers of bases themselves do not matter.
        rates: How often the detector is wrong about one derivative.
        probabilities: To pass, each strictly between 0 and 1.
    """
    failing = rates.of_bases(bases.derivatives)
    demands = demands_of(policy, bases)
    needed = []
    for demand in demands:
        if demand.kind not in ("real", "ai"):
            continue
        groups = len(demand.sizes)
        rate = failing.false_positive if demand.kind == "real" else failing.miss
        of = f"{'real' if demand.kind == 'real' else 'AI'} bases{_of_each(demand)}"
        shares = [probability ** (1 / groups) for probability in probabilities]
        sizes = trials_needed(demand.rule, rate, shares, at_least=_least(demand, demands))
        needed.append(NeededBases(demand.rule.id, of, groups, sizes))
    return needed


def bases_of_policy(
    policy: Policy, bases: Bases, rates: ErrorRates, probabilities: Sequence[float], needed: Sequence[NeededBases]
) -> list[int | None]:
    """Say how many bases of each class pass all rules together.

    Args:
        policy: The rules.
        bases: Sources, families and derivatives of what is to be measured.
        rates: How often the detector is wrong about one derivative.
        probabilities: To pass, each strictly between 0 and 1.
        needed: What ``bases_of_rules`` gives for the same.

    Returns:
        For each probability the smallest number of bases, the same of both classes, that passes with it. A few more may pass
        less often: see ``SampleSize``. ``None`` where no number that was tried out does.
    """
    counts = [each for each in demands_of(policy, bases) if each.kind == "count" and each.rule.metric in _COUNTS]
    fewest = [(_least_of(count.rule) - 1) * len(count.sizes) + 1 for count in counts]
    found: list[int | None] = []
    for place in range(len(probabilities)):
        sizes = [(each.sizes[place], each.groups) for each in needed]
        starts = [*fewest, *((size.first - 1) * groups + 1 for size, groups in sizes if size is not None)]
        within = all(size is not None for size, _ in sizes)
        found.append(_first(policy, bases, rates, probabilities[place], max(starts, default=1)) if within else None)
    return found


def least_bases(policy: Policy) -> tuple[int, int, int, int]:
    """Give the real bases, AI bases, sources and families that a policy demands at least; 1 where it does not say."""

    def least(metric: str) -> int:
        return max((_least_of(rule) for rule in policy.rules if rule.metric == metric and not rule.slice), default=1)

    return least("real_count"), least("ai_count"), least("real_source_count"), least("generator_family_count")


def tolerable_rates(
    policy: Policy, bases: Bases, kind: Literal["real", "ai"], probabilities: Sequence[float]
) -> list[float | None]:
    """Say which error rates of a derivative pass the rules about one class, at the bases at hand.

    Args:
        policy: The rules.
        bases: What is to be measured.
        kind: The class: ``real`` for false positives, ``ai`` for misses.
        probabilities: To pass, each strictly between 0 and 1.

    Returns:
        For each probability the largest rate, in [0, 1]; ``None`` where not even a detector without errors passes.
    """
    demands = demands_of(policy, bases)

    def passes(rate: float) -> float:
        return float(failures_of(demands, kind, bases, ErrorRates(rate, rate).of_bases(bases.derivatives)).sum())

    return [_largest(passes, probability) for probability in probabilities]


def _largest(passes: Callable[[float], float], probability: float) -> float | None:
    if passes(1.0) >= probability:
        return 1.0
    if passes(0.0) < probability:
        return None
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if passes(middle) >= probability else (low, middle)
    return low


def _first(policy: Policy, bases: Bases, rates: ErrorRates, probability: float, start: int) -> int | None:
    failing = rates.of_bases(bases.derivatives)
    start = max(start, bases.real_sources, bases.generator_families)
    for n in range(start, start + MAX_STEPS):
        tried = msgspec.structs.replace(bases, real=n, ai=n)
        if pass_all(demands_of(policy, tried), tried, failing) >= probability:
            return n
    return None


def _of_each(demand: Demand) -> str:
    if not demand.is_grouped:
        return ""
    return " of each source" if demand.kind == "real" else " of each family"


def _least(demand: Demand, demands: Sequence[Demand]) -> int:
    """Give how many bases a rule is about at least, because another rule demands them."""
    label = METRICS[demand.rule.metric].label
    counting = [
        other.rule
        for other in demands
        if other.rule.metric in _COUNTS
        and METRICS[other.rule.metric].label == label
        and (other.rule.slice or {}) == (demand.rule.slice or {})
    ]
    return max([1, demand.rule.min_n, *map(_least_of, counting)])


def _least_of(rule: Rule) -> int:
    """Give the smallest count from 1 on that a rule about a count allows; 1 where it sets no lower bound."""
    if rule.op not in (">=", ">", "=="):
        return 1
    return max(1, int(rule.value) + (rule.op == ">" or int(rule.value) < rule.value))

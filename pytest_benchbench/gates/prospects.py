"""What a policy would decide about a detector of known error rates, before anything is measured.

What is supposed: every base has a score for each of its derivatives. A real base fails with one probability and an AI base
with another, whatever the other bases do. Real bases are dealt evenly to their sources, AI bases to their families. A base
that fails is taken to fail in every group of derivatives (transform, resolution group) that a rule is about, which is the
worst case for such a rule. Under this the chance to pass is an exact sum of products of binomial probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.gates.metrics import DERIVATIVE_FACETS, EACH, METRICS
from pytest_benchbench.gates.policy import Policy, Rule
from pytest_benchbench.statistics.binomial import masses
from pytest_benchbench.statistics.classification import Confusion
from pytest_benchbench.statistics.power import base_failure_rate, holds, most_failures

_COMPARE: dict[str, Callable[[float, float], bool]] = {"<=": le, ">=": ge, "==": eq, "<": lt, ">": gt}

_GROUPED_BY = {0: "source", 1: "generatorFamily"}

Kind = Literal["real", "ai", "both", "count"]


class Bases(msgspec.Struct, frozen=True):
    """What is to be measured.

    Attributes:
        real: Real bases, at least 1.
        ai: AI bases, at least 1.
        real_sources: Sources of the real bases, 1 to ``real``.
        generator_families: Families of the AI bases, 1 to ``ai``.
        derivatives: Of each base, at least 1.
    """

    real: int
    ai: int
    real_sources: int
    generator_families: int
    derivatives: int = 1


class ErrorRates(msgspec.Struct, frozen=True):
    """How often a detector is wrong about one derivative.

    Attributes:
        false_positive: Probability that a real one is called AI, in [0, 1].
        miss: Probability that an AI one is called real, in [0, 1].
    """

    false_positive: float
    miss: float

    def of_bases(self, derivatives: int) -> ErrorRates:
        """Give how often one of several independent derivatives of a base is wrong, which makes the base fail."""
        return ErrorRates(base_failure_rate(self.false_positive, derivatives), base_failure_rate(self.miss, derivatives))


class RuleProspect(msgspec.Struct, frozen=True, kw_only=True):
    """One rule by itself.

    Attributes:
        id: The rule.
        slice: The rows that it is about.
        n: Bases that it is about, of the smallest group where it is about several; ``None`` where nothing is said of it.
        groups: How many groups it is about: sources, families, or 1.
        max_failures: The most failures with which it holds at ``n``; ``None`` where it cannot hold or counts no failures.
        probability: To pass it in all groups; ``None`` where nothing is said of it.
        counts: Whether it demands a number of bases, sources or families: then its probability is 0 or 1.
        left_out: Why nothing is said of it.
    """

    id: str
    slice: dict[str, str] | None
    n: int | None = None
    groups: int = 1
    max_failures: int | None = None
    probability: float | None = None
    counts: bool = False
    left_out: str | None = None


class Prospect(msgspec.Struct, frozen=True):
    """What a policy would decide.

    Attributes:
        probability: To pass all rules of which something is said, in [0, 1].
        real: To pass those about real bases alone.
        ai: To pass those about AI bases alone.
        rules: Each rule of the policy in its order.
    """

    probability: float
    real: float
    ai: float
    rules: list[RuleProspect]


@dataclass(frozen=True, slots=True)
class Demand:
    """A rule with the bases that it is about.

    Attributes:
        rule: The rule.
        kind: Whose failures it bounds, or that it counts bases; ``None`` where nothing is said of it.
        sizes: How many bases it is about, of each group: of all together, of each source, or of each family.
        left_out: Why nothing is said of it.
    """

    rule: Rule
    kind: Kind | None
    sizes: tuple[int, ...] = ()
    left_out: str | None = None

    @property
    def is_grouped(self) -> bool:
        """Whether it is about each source or each family by itself."""
        return bool({*_GROUPED_BY.values()} & {*(self.rule.slice or {})})

    def most(self, size: int) -> int | None:
        """Give the most failures that a group of a size may have."""
        return None if size < self.rule.min_n else most_failures(self.rule, size)


def prospect(policy: Policy, bases: Bases, rates: ErrorRates) -> Prospect:
    """Say how likely a policy is passed.

    Args:
        policy: The rules.
        bases: What is to be measured.
        rates: How often the detector is wrong about one derivative.
    """
    failing = rates.of_bases(bases.derivatives)
    demands = demands_of(policy, bases)
    return Prospect(
        probability=pass_all(demands, bases, failing),
        real=float(failures_of(demands, "real", bases, failing).sum()),
        ai=float(failures_of(demands, "ai", bases, failing).sum()),
        rules=[
            RuleProspect(
                id=demand.rule.id,
                slice=demand.rule.slice,
                n=min(demand.sizes, default=None),
                groups=max(len(demand.sizes), 1),
                max_failures=demand.most(min(demand.sizes)) if demand.kind in ("real", "ai") else None,
                probability=None if demand.kind is None else pass_all([demand], bases, failing),
                counts=demand.kind == "count",
                left_out=demand.left_out,
            )
            for demand in demands
        ],
    )


def demands_of(policy: Policy, bases: Bases) -> list[Demand]:
    """Say for each rule of a policy which bases it is about."""
    return [_demand(rule, bases) for rule in policy.rules]


def _demand(rule: Rule, bases: Bases) -> Demand:
    """Say which bases a rule is about."""
    metric = METRICS[rule.metric]
    if metric.about != "scores":
        return Demand(rule, None, left_out="it is not about scores")
    if rule.metric == "terminal_count":
        return Demand(rule, None, left_out="every row is taken to have a score")
    if rule.metric == "brier":
        return Demand(rule, None, left_out="it depends on the scores themselves")
    if rule.unit == "row" and bases.derivatives > 1:
        return Demand(rule, None, left_out="it counts rows, and those of one base depend on each other")
    named = {name: value for name, value in (rule.slice or {}).items() if name not in (*DERIVATIVE_FACETS, "adapter")}
    grouped_by = None if metric.label is None else _GROUPED_BY[metric.label]
    if named and named != {grouped_by: EACH}:
        return Demand(rule, None, left_out="nobody knows how many bases its slice has")
    if metric.label is None:
        return Demand(rule, "both", (min(bases.real, bases.ai),))
    n, groups = (bases.real, bases.real_sources) if metric.label == 0 else (bases.ai, bases.generator_families)
    sizes = _dealt(n, groups) if named else (n,)
    return Demand(rule, "count" if metric.form == "count" else "real" if metric.label == 0 else "ai", sizes)


def _dealt(n: int, groups: int) -> tuple[int, ...]:
    """Give the sizes of groups to which bases are dealt in turn."""
    return tuple(n // groups + (group < n % groups) for group in range(groups))


def _counted(demand: Demand, bases: Bases) -> bool:
    """Say whether a rule that counts holds."""
    rule = demand.rule
    several = {"real_source_count": bases.real_sources, "generator_family_count": bases.generator_families}
    counts = [several[rule.metric]] if rule.metric in several else demand.sizes
    return all(size >= rule.min_n for size in demand.sizes) and all(_COMPARE[rule.op](n, rule.value) for n in counts)


def pass_all(demands: Sequence[Demand], bases: Bases, failing: ErrorRates) -> float:
    """Give the probability to pass all demands of which something is said.

    Args:
        demands: What ``demands_of`` gives for the same bases, or some of it.
        bases: What is to be measured.
        failing: How often a base fails.
    """
    if not all(_counted(demand, bases) for demand in demands if demand.kind == "count"):
        return 0.0
    real, ai = failures_of(demands, "real", bases, failing), failures_of(demands, "ai", bases, failing)
    both = [demand.rule for demand in demands if demand.kind == "both"]
    up_to = np.concatenate([np.zeros(1), np.cumsum(ai)])
    return min(float(sum(p * up_to[_bearable(both, failed, len(ai), bases)] for failed, p in enumerate(real))), 1.0)


def failures_of(
    demands: Sequence[Demand], kind: Literal["real", "ai"], bases: Bases, failing: ErrorRates
) -> NDArray[np.float64]:
    """Give the probabilities that 0, 1, ... bases of a class fail while all demands on this class alone hold.

    Returns:
        Shape (failures + 1,), the last being the most that may fail; shape (0,) where the demands cannot hold. The sum is
        the probability to pass them.
    """
    n, groups, rate = (
        (bases.real, bases.real_sources, failing.false_positive)
        if kind == "real"
        else (bases.ai, bases.generator_families, failing.miss)
    )
    sizes = _dealt(n, groups)
    most = {size: size for size in (n, *sizes)}  # that all bases, and that groups of a size may have
    for demand in demands:
        for size in set(demand.sizes) if demand.kind == kind else ():
            borne = demand.most(size)
            if borne is None:
                return np.zeros(0)
            most[size] = min(most[size], borne)
    joined = np.ones(1)
    for size in sizes:
        joined = np.convolve(joined, _binomial(size, rate, most[size]))[: most[n] + 1]
    return joined


def _binomial(n: int, rate: float, most: int) -> NDArray[np.float64]:
    """Give the probabilities of 0 to ``most`` failures among ``n`` bases."""
    probabilities = np.zeros(n + 1)
    if rate in (0.0, 1.0):
        probabilities[n if rate else 0] = 1.0
    else:
        first, of = masses(n, rate)
        probabilities[first : first + len(of)] = of
    return probabilities[: most + 1]


def _bearable(both: Sequence[Rule], failed: int, most: int, bases: Bases) -> int:
    """Count the numbers of failing AI bases, from 0 on and below ``most``, with which rules about both classes hold."""
    low, high = 0, most
    while low < high:  # more misses never make a rule hold
        middle = (low + high) // 2
        low, high = (middle + 1, high) if all(_both_hold(rule, failed, middle, bases) for rule in both) else (low, middle)
    return low


def _both_hold(rule: Rule, false_positives: int, misses: int, bases: Bases) -> bool:
    confusion = Confusion(bases.ai - misses, misses, bases.real - false_positives, false_positives)
    if rule.metric == "precision":
        called = confusion.tp + confusion.fp
        return called >= max(rule.min_n, 1) and holds(rule, confusion.fp, called)
    accuracy = confusion.balanced_accuracy
    return accuracy is not None and bases.real + bases.ai >= rule.min_n and _COMPARE[rule.op](accuracy, rule.value)

"""When a series of runs is a regression: paired on the same samples, large enough, beyond chance, and twice in a row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

from pytest_benchbench.statistics.binomial import fair_tail
from pytest_benchbench.statistics.paired import mcnemar_exact
from pytest_benchbench.statistics.transitions import Transitions

ALPHA = 0.05
"""Shared by the detectors of a run (Bonferroni)."""

LEAST_POINTS = 5
"""Percentage points by which a rate must move on the paired samples; fewer are no effect, however sure they are."""

LEAST_SHARE = 90
"""Percent of the baseline's samples that a run must have scored to be called ``ok``, and to be the baseline of others."""

Metric = Literal["accuracy", "tpr", "fpr", "humanizerBypass"]

HIGHER_IS_BETTER: Mapping[Metric, bool] = {"accuracy": True, "tpr": True, "fpr": False, "humanizerBypass": True}
"""The direction of each watched metric. Bypass is read as who humanizes texts reads it: that fewer pass is a loss."""

Direction = Literal["better", "worse", "same"]

Verdict = Literal["ok", "watch", "alert", "untested"]

Sample = TypeVar("Sample", bound=Hashable)


def paired_outcomes(before: Mapping[Sample, bool], after: Mapping[Sample, bool]) -> Transitions:
    """Count what became of each sample's outcome.

    Args:
        before: For each sample whether the metric counts it, such as "was called AI" for a false-positive rate.
        after: The same of a later run. Samples that only one of the two has are in no pair.
    """
    pairs = [(was, after[sample]) for sample, was in before.items() if sample in after]
    kept, lost, gained = (pairs.count(pair) for pair in ((True, True), (True, False), (False, True)))
    return Transitions(kept, lost, gained, len(pairs) - kept - lost - gained)


@dataclass(frozen=True, slots=True)
class Step:
    """A run against an earlier one, on the samples of both.

    Attributes:
        transitions: The pairs; what is "detected" there is what the metric counts.
        higher_is_better: The direction of the metric.
        alpha: The level of the test, in (0, 1]; already divided by the number of detectors.
    """

    transitions: Transitions
    higher_is_better: bool
    alpha: float

    def __post_init__(self) -> None:
        """Refuse a level that is none.

        Raises:
            ValueError: ``alpha`` lies outside (0, 1].
        """
        if not 0.0 < self.alpha <= 1.0:
            raise ValueError(f"alpha must lie in (0, 1]: {self.alpha!r}")

    @property
    def points(self) -> float | None:
        """The rate after minus the rate before, in percentage points, [-100, 100]; ``None`` without a pair."""
        pairs = self.transitions.pairs
        return 100.0 * (self.transitions.gained - self.transitions.lost) / pairs if pairs else None

    @property
    def p(self) -> float | None:
        """The exact two-sided McNemar p-value, ``None`` when no sample changed."""
        return self.transitions.mcnemar_p

    @property
    def direction(self) -> Direction:
        """Whether the rate moved towards the better or the worse, by however little."""
        moved = self.transitions.gained - self.transitions.lost
        if moved == 0:
            return "same"
        return "better" if (moved > 0) == self.higher_is_better else "worse"

    @property
    def is_large(self) -> bool:
        """Whether the rate moved by at least ``LEAST_POINTS``, told in whole numbers: exactly as many are enough."""
        moved = abs(self.transitions.gained - self.transitions.lost)
        return moved > 0 and 100 * moved >= LEAST_POINTS * self.transitions.pairs

    @property
    def is_flagged(self) -> bool:
        """Whether the change is large and beyond chance, in either direction."""
        p = self.p
        return self.is_large and p is not None and p < self.alpha


class SeriesRun(NamedTuple):
    """What one run says of one detector and one metric.

    Attributes:
        outcomes: For each sample that was scored whether the metric counts it. Empty where nothing was scored.
        asked: The samples that were to be scored, those of ``outcomes`` among them.
        alpha: ``ALPHA`` divided by the number of detectors of the run.
        is_accepted: Whether somebody has declared this run to be a baseline, whatever came before.
    """

    outcomes: Mapping[str, bool]
    asked: Set[str]
    alpha: float
    is_accepted: bool = False


class Judgement(NamedTuple):
    """What a run of a series is.

    Attributes:
        verdict: ``ok``; ``watch`` for one flagged run; ``alert`` for the second and each further one in a row that is
            flagged as worse; ``untested`` where too few samples pair with the baseline to say that nothing happened.
        baseline: Place of the run that it is held against; ``None`` for one that begins a series.
        step: The comparison; ``None`` without a baseline or a pair.
        is_sustained: Whether the run before was flagged in the same direction against the same baseline.
    """

    verdict: Verdict
    baseline: int | None = None
    step: Step | None = None
    is_sustained: bool = False


def judge_series(runs: Sequence[SeriesRun], *, higher_is_better: bool) -> list[Judgement]:
    """Judge each run of one detector and metric by those before it.

    A run is flagged when its rate differs from the baseline's by at least ``LEAST_POINTS`` on the same samples and the exact
    paired McNemar p-value is below its alpha. The baseline is the last run that was not flagged, so a fall is measured from
    where it began, and a bad run never lowers the bar. One flagged run is ``watch``. The second in a row in the same
    direction is an ``alert`` if it is worse; if it is better it is ``ok``, and the baseline of what follows: a rate that has
    risen for good is what a later fall is measured from, while a single lucky run raises no bar.

    A run that is not flagged, but has no score for more than a tenth of the baseline's samples that it was asked about, is
    ``untested``: it is no baseline, or an outage would end the watch, and it does not part the runs around it. A run that
    was asked about none of the baseline's samples begins anew.

    Args:
        runs: In the order of time.
        higher_is_better: The direction of the metric.

    Returns:
        One judgement a run. It depends on that run and those before it alone.

    Raises:
        ValueError: An alpha lies outside (0, 1].
    """
    judgements: list[Judgement] = []
    baseline: int | None = None
    flagged: Direction = "same"  # of the last run that was tested
    for place, run in enumerate(runs):
        if not run.outcomes:
            judgements.append(Judgement("untested", baseline))
            continue
        if baseline is None or run.is_accepted:
            judgements.append(Judgement("ok"))
            baseline, flagged = place, "same"
            continue
        before = runs[baseline].outcomes
        expected = len(before.keys() & run.asked)
        if not expected:
            judgements.append(Judgement("ok"))
            baseline, flagged = place, "same"
            continue
        step = Step(paired_outcomes(before, run.outcomes), higher_is_better, run.alpha)
        if not step.is_flagged and 100 * step.transitions.pairs < LEAST_SHARE * expected:
            judgements.append(Judgement("untested", baseline, step if step.transitions.pairs else None))
            continue
        if not step.is_flagged:
            judgements.append(Judgement("ok", baseline, step))
            baseline, flagged = place, "same"
            continue
        is_sustained = flagged == step.direction
        if is_sustained and step.direction == "better":
            judgements.append(Judgement("ok", baseline, step, is_sustained))
            baseline, flagged = place, "same"
            continue
        judgements.append(Judgement("alert" if is_sustained else "watch", baseline, step, is_sustained))
        flagged = step.direction
    return judgements


def flips_needed(alpha: float) -> int:
    """Give how many samples must change, all in one direction, for McNemar's exact p-value to be below alpha.

    6 for .05, 8 for .05 / 4.

    Args:
        alpha: In (0, 1].

    Raises:
        ValueError: ``alpha`` lies outside its range.
    """
    if not 0.0 < alpha <= 1.0:
        raise ValueError(f"alpha must lie in (0, 1]: {alpha!r}")
    flips = 1
    while (p := mcnemar_exact(0, flips)) is None or p >= alpha:
        flips += 1
    return flips


def chance_of_shift(transitions: Transitions) -> float:
    """Give how likely so many changed samples lean one given way by at least ``LEAST_POINTS`` if neither way is likelier.

    The number of samples that changed is taken as it is; each is as likely to have changed either way, as in McNemar's test.

    Returns:
        A probability: 0.0 where too few samples changed, or there is no pair.
    """
    changed = transitions.lost + transitions.gained
    surplus = -(-LEAST_POINTS * transitions.pairs // 100)  # changes one way less changes the other way, rounded up
    one_way = -(-(changed + surplus) // 2)
    if not changed or one_way > changed:
        return 0.0
    return fair_tail(one_way, changed).p

"""Choosing a mapping: the identity, unless another is better on bases that it was not fitted on, and worse in nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.statistics.calibration import Floats, NoFitError, Scored, fit
from pytest_benchbench.statistics.classification import AI, REAL, RELEASE_THRESHOLD, Confusion, base_outcomes, confusion
from pytest_benchbench.statistics.score_mapping import METHODS, Method, ScoreMapping

TIE = 1e-12
"""Brier scores that differ by no more are equal: their difference is rounding."""


@dataclass(frozen=True, slots=True)
class CalibrationSet:
    """What a mapping is chosen on.

    Attributes:
        scored: The rows, in an order that does not depend on how they were given: sums then do not either.
        folds: The fold of each base, 0 to ``count - 1``, of shape (bases,).
        count: How many folds there are.
        failed: Bases that fail whatever the scores are, since a row of theirs has none; of shape (bases,).
    """

    scored: Scored
    folds: NDArray[np.int64]
    count: int
    failed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """How a mapping does on bases that it was not fitted on.

    Attributes:
        brier: Brier score, each base weighing 1.
        gain: How much lower it is than the identity's: the mean difference over bases.
        gain_se: Standard error of that mean.
        bases: Bases at the threshold, one conservative outcome for each.
        rows: Rows at the threshold.
    """

    brier: float
    gain: float
    gain_se: float
    bases: Confusion
    rows: Confusion


@dataclass(frozen=True, slots=True)
class Assessment:
    """A mapping that was considered.

    Attributes:
        mapping: Fitted on all rows; ``None`` where there is no usable fit.
        brier: On all rows, each base weighing 1; ``None`` without a mapping.
        out_of_fold: ``None`` without a mapping, where a fold has none, or where there are too few bases for folds.
        eligible: Whether it may be chosen.
        reason: Why, or why not.
    """

    mapping: ScoreMapping | None
    brier: float | None
    out_of_fold: OutOfFold | None
    eligible: bool
    reason: str


def assess(given: CalibrationSet, threshold: float = RELEASE_THRESHOLD) -> dict[Method, Assessment]:
    """Fit every mapping, and find out which are eligible.

    Each fold's probabilities come from a fit on the bases of the other folds. A mapping other than the identity is eligible
    when out of fold

    - its Brier score is lower than the identity's by more than one standard error of the difference, paired by base, and
    - at the threshold its balanced accuracy is not lower and its false-positive rate not higher, neither over bases, each
      of which has one conservative outcome, nor over rows. Bases are what a release is decided by; rows can only forbid: a
      mapping may raise further derivatives of a base that failed already.

    Args:
        given: The rows with their folds; at least one.
        threshold: From which probability on a row is called AI.
    """
    identity = _out_of_fold(given, [ScoreMapping("identity")] * given.count, None, threshold)
    assessments = {}
    for method in METHODS:
        assessments[method] = _assess(method, given, identity, threshold)
    return assessments


def choose(assessments: Mapping[Method, Assessment]) -> Method:
    """Choose the eligible mapping with the lowest Brier score out of fold, of equals the one with the fewest parameters.

    The identity is taken where no other is eligible, and only there: an eligible one is better by more than chance.
    """
    chosen: Method = "identity"
    lowest = math.inf
    for method in METHODS[1:]:
        assessment = assessments[method]
        if assessment.eligible and assessment.out_of_fold is not None and assessment.out_of_fold.brier < lowest - TIE:
            chosen, lowest = method, assessment.out_of_fold.brier
    return chosen


def _assess(method: Method, given: CalibrationSet, identity: tuple[OutOfFold, Floats], threshold: float) -> Assessment:
    try:
        mapping = fit(method, given.scored)
    except NoFitError as error:
        return Assessment(None, None, None, eligible=False, reason=str(error))
    briers = _base_briers(given.scored, mapping.apply_all(given.scored.raws))
    brier = math.fsum(briers.tolist()) / len(briers)
    if method == "identity":
        return Assessment(mapping, brier, identity[0], eligible=True, reason="taken where no other mapping is eligible")
    fewest = min(given.scored.bases_of(label) for label in (REAL, AI))
    if fewest < given.count:
        reason = f"a class has {fewest} bases, too few for {given.count} folds"
        return Assessment(mapping, brier, None, eligible=False, reason=reason)
    fits = []
    for fold in range(given.count):
        try:
            fits.append(fit(method, given.scored.part(given.folds[given.scored.bases] != fold)))
        except NoFitError as error:
            reason = f"without fold {fold} there is no usable fit: {error}"
            return Assessment(mapping, brier, None, eligible=False, reason=reason)
    found, _ = _out_of_fold(given, fits, identity[1], threshold)
    fault = _fault(found, identity[0])
    return Assessment(mapping, brier, found, eligible=fault is None, reason=fault or _merit(found))


def _out_of_fold(
    given: CalibrationSet, fits: list[ScoreMapping], identity: Floats | None, threshold: float
) -> tuple[OutOfFold, Floats]:
    """Apply to each fold its own mapping; also give the Brier score of each base."""
    scored, count = given.scored, len(given.folds)
    probabilities = np.empty(len(scored.raws))
    for fold, mapping in enumerate(fits):
        held_out = given.folds[scored.bases] == fold
        probabilities[held_out] = mapping.apply_all(scored.raws[held_out])
    briers = _base_briers(scored, probabilities)
    gains = (np.zeros(count) if identity is None else identity - briers).tolist()
    gain = math.fsum(gains) / count
    squares = math.fsum((each - gain) ** 2 for each in gains)
    outcomes = base_outcomes(
        scored.bases, scored.labels, probabilities, np.ones(len(probabilities), dtype=bool), count=count, threshold=threshold
    )
    bases = _with_failed(outcomes.labels, outcomes.succeeded & ~given.failed)
    found = OutOfFold(
        brier=math.fsum(briers.tolist()) / count,
        gain=gain,
        gain_se=math.sqrt(squares / (count - 1) / count) if count > 1 else 0.0,
        bases=bases,
        rows=confusion(scored.labels, probabilities, threshold),
    )
    return found, briers


def _with_failed(labels: NDArray[np.int8], succeeded: NDArray[np.bool_]) -> Confusion:
    tp, tn = (int(np.count_nonzero(succeeded & (labels == label))) for label in (AI, REAL))
    ai, real = (int(np.count_nonzero(labels == label)) for label in (AI, REAL))
    return Confusion(tp=tp, fn=ai - tp, tn=tn, fp=real - tn)


def _base_briers(scored: Scored, probabilities: Floats) -> Floats:
    """Give the mean squared error of each base's rows, of shape (bases,)."""
    errors = (probabilities - scored.labels) ** 2
    means: Floats = np.bincount(scored.bases, errors) / np.bincount(scored.bases)
    return means


def _fault(found: OutOfFold, identity: OutOfFold) -> str | None:
    """Say which demand a mapping does not meet."""
    if not (found.gain > found.gain_se and found.gain > TIE):
        return f"out of fold the Brier score is not lower by more than one standard error ({_gain(found)})"
    for unit, ours, theirs in (("bases", found.bases, identity.bases), ("rows", found.rows, identity.rows)):
        # in whole numbers, so that equal rates are equal
        if ours.tp * ours.real + ours.tn * ours.ai < theirs.tp * theirs.real + theirs.tn * theirs.ai:
            return (
                f"out of fold the balanced accuracy over {unit} falls "
                f"from {theirs.balanced_accuracy:.6g} to {ours.balanced_accuracy:.6g}"
            )
        if ours.fp > theirs.fp:
            return f"out of fold the false positives over {unit} rise from {theirs.fp} to {ours.fp} of {ours.real}"
    return None


def _merit(found: OutOfFold) -> str:
    return f"out of fold the Brier score is lower by more than one standard error ({_gain(found)}), and nothing is worse"


def _gain(found: OutOfFold) -> str:
    change = f"{abs(found.gain):.3g} {'lower' if found.gain >= 0 else 'higher'}"
    return f"{change}, standard error {found.gain_se:.3g}"

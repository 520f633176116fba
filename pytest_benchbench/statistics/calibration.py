"""Fitting mappings of raw scores: a temperature and regularised Platt scaling, every base weighing the same.

Both losses are convex, and both searches find their minimum from any data that have one; data that have none are named.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.statistics.classification import AI, REAL
from pytest_benchbench.statistics.logistic import logit
from pytest_benchbench.statistics.score_mapping import Method, ScoreMapping

Floats = NDArray[np.float64]

_LEAST_SPREAD = 1e-9
"""Logits that differ by less are called the same: the slope between them would be made of rounding."""

_LEAST_SLOPE = 1e-9
"""The smallest slope, per standard deviation of the logits, that is called positive; below, its sign is rounding."""

_LEAST_DECREMENT = 1e-24
"""Where twice the loss that Newton's next step would still save, per base, is less, that step is the last."""

_MAX_STEPS = 200
"""No data were found that need more than 60."""


class NoFitError(Exception):
    """The data have no usable fit; the message says why."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Rows with a raw score.

    Attributes:
        raws: In [0, 1], of shape (n,), as are the others.
        logits: Of the raw scores, clipped to [CLIP, 1 - CLIP].
        labels: 1 AI, 0 real.
        bases: The base of each row, as a number from 0 on.
    """

    raws: Floats
    logits: Floats
    labels: NDArray[np.int8]
    bases: NDArray[np.int64]

    @classmethod
    def of(cls, raws: Floats, labels: NDArray[np.int8], bases: NDArray[np.int64]) -> Scored:
        """Take the logits of the raw scores.

        Raises:
            ValueError: A raw score is no number in [0, 1].
        """
        return cls(raws, np.fromiter(map(logit, raws.tolist()), dtype=np.float64), labels, bases)

    def part(self, rows: NDArray[np.bool_]) -> Scored:
        """Give the rows of a mask."""
        return Scored(self.raws[rows], self.logits[rows], self.labels[rows], self.bases[rows])

    @property
    def weights(self) -> Floats:
        """One over the number of rows of a row's base: the rows of a base share weight 1."""
        weights: Floats = 1.0 / np.bincount(self.bases)[self.bases]
        return weights

    def bases_of(self, label: int) -> int:
        """Count the bases of a class."""
        return len(np.unique(self.bases[self.labels == label]))


def fit(method: Method, scored: Scored) -> ScoreMapping:
    """Fit a mapping; the identity needs no data.

    Raises:
        NoFitError: There is no usable fit.
    """
    if method == "identity":
        return ScoreMapping("identity")
    logits = scored.logits
    if REAL not in scored.labels or AI not in scored.labels:
        raise NoFitError("there is only one class" if len(logits) else "there is no row")
    if logits.max() - logits.min() < _LEAST_SPREAD:
        raise NoFitError("all raw scores are the same")
    return (_fit_temperature if method == "temperature" else _fit_platt)(logits, scored)


def _fit_temperature(logits: Floats, scored: Scored) -> ScoreMapping:
    """Find the slope b that minimises the weighted sum of ``log(1 + exp(-b s))``, s being the logit, negated for real rows.

    The derivative grows with b. It is negative at 0 where the logits lean to the right side on average, and positive at last
    where any lies on the wrong side of 0: exactly then there is a root above 0, between bounds that close in on it by
    Newton's step where that is short enough, by halves where not. The labels are taken as they are: C. Guo et al., "On
    Calibration of Modern Neural Networks", ICML 2017, section 4.2.
    """
    weights, s = scored.weights, np.where(scored.labels == AI, logits, -logits)
    if float(np.sum(weights * s)) <= _LEAST_SLOPE * float(np.sum(weights * np.abs(s))):
        raise NoFitError("a higher raw score does not speak for AI: the slope would not be positive")
    if not (s < 0).any():
        raise NoFitError("0.5 separates the classes: every steeper slope fits better")

    def derivatives(slope: float) -> tuple[float, float]:
        wrong = _expit(-slope * s)
        return -float(np.sum(weights * s * wrong)), float(np.sum(weights * s * s * wrong * (1.0 - wrong)))

    low, high = 0.0, 1.0
    while derivatives(high)[0] < 0.0:  # ends: what is right vanishes with growing slopes, what is wrong does not
        low, high = high, 2.0 * high
    slope, step = 0.5 * (low + high), high - low
    for _ in range(_MAX_STEPS):
        first, second = derivatives(slope)
        low, high = (slope, high) if first < 0.0 else (low, slope)
        halved, newton = 0.5 * (low + high), slope - first / second if second > 0.0 else math.inf
        is_short = low < newton < high and abs(newton - slope) < 0.5 * abs(step)
        following = newton if is_short else halved
        step, slope = following - slope, following
        if abs(step) <= 1e-15 * slope:
            break
    return ScoreMapping("temperature", slope=slope)


def _fit_platt(logits: Floats, scored: Scored) -> ScoreMapping:
    """Minimise the weighted cross entropy of targets that are a little within 0 and 1, by Newton's method with halving.

    The targets are (n + 1) / (n + 2) for AI and 1 / (n + 2) for real, n being the bases of the class: J. C. Platt 1999,
    section 2.2. Since they lie within, the loss has one minimum, whether or not the classes are separable, and its curvature
    has no zero on the way there: H.-T. Lin, C.-J. Lin and R. C. Weng, "A note on Platt's probabilistic outputs for support
    vector machines", Machine Learning 68 (2007) 267-276. Logits are standardised meanwhile, for steps of one size.
    """
    weights = scored.weights
    whole = float(np.sum(weights))
    ai, real = scored.bases_of(AI), scored.bases_of(REAL)
    targets = np.where(scored.labels == AI, (ai + 1.0) / (ai + 2.0), 1.0 / (real + 2.0))
    mean = float(np.sum(weights * logits)) / whole
    spread = math.sqrt(float(np.sum(weights * (logits - mean) ** 2)) / whole)
    x = (logits - mean) / spread

    def loss(slope: float, intercept: float) -> float:
        z = slope * x + intercept
        return float(np.sum(weights * (np.logaddexp(0.0, z) - targets * z)))

    base_rate = float(np.sum(weights * targets)) / whole
    slope, intercept = 0.0, math.log(base_rate / (1.0 - base_rate))
    value = loss(slope, intercept)
    for _ in range(_MAX_STEPS):
        p = _expit(slope * x + intercept)
        residual, curvature = weights * (p - targets), weights * p * (1.0 - p)
        by_slope, by_intercept = float(np.sum(residual * x)), float(np.sum(residual))
        ss, si, ii = (float(np.sum(part)) for part in (curvature * x * x, curvature * x, curvature))
        determinant = ss * ii - si * si
        d_slope = (ii * by_slope - si * by_intercept) / determinant
        d_intercept = (ss * by_intercept - si * by_slope) / determinant
        decrement = by_slope * d_slope + by_intercept * d_intercept
        if decrement <= _LEAST_DECREMENT * whole:
            slope, intercept = slope - d_slope, intercept - d_intercept
            break
        share = 1.0
        slack = 1e-12 * value  # near the minimum a step saves less than the rounding of the loss
        while (reached := loss(slope - share * d_slope, intercept - share * d_intercept)) > (
            value - 1e-4 * share * decrement + slack
        ):
            share *= 0.5
        slope, intercept, value = slope - share * d_slope, intercept - share * d_intercept, reached
    if slope < _LEAST_SLOPE:
        raise NoFitError("a higher raw score does not speak for AI: the slope would not be positive")
    return ScoreMapping("platt", slope=slope / spread, intercept=intercept - slope * mean / spread)


def _expit(z: Floats) -> Floats:
    """Give ``1 / (1 + exp(-z))``, exact to the last digits on both sides."""
    probabilities: Floats = np.exp(-np.logaddexp(0.0, -z))
    return probabilities

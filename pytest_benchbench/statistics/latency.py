"""How long calls took: percentiles that were observed, never interpolated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from pytest_benchbench.statistics.binomial import masses


def nearest_rank(ascending: Sequence[float], p: float) -> float:
    """Give the nearest-rank percentile: the smallest observed value that at least ``p`` percent of the values do not exceed.

    Args:
        ascending: At least one value, sorted.
        p: Percent, above 0 and at most 100.

    Returns:
        The value of rank ``percentile_rank(n, p)``.

    Raises:
        ValueError: ``p`` lies outside its range or there is no value.
    """
    return ascending[percentile_rank(len(ascending), p) - 1]


def percentile_rank(n: int, p: float) -> int:
    """Give the rank of the nearest-rank percentile, counted from 1 for the smallest value.

    It is ``ceil(p / 100 * n)``, the inverse of the empirical distribution function: definition 1 of R. J. Hyndman and
    Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996) 361-365. It is computed exactly
    from ``p`` as it is written, so that 99.9 of 1,000 values is rank 999.

    Args:
        n: Number of values, at least 1.
        p: Percent, above 0 and at most 100.

    Raises:
        ValueError: ``p`` lies outside its range or there is no value.
    """
    if not 0 < p <= 100:
        raise ValueError(f"a percentile lies above 0 and at most at 100: {p!r}")
    if n < 1:
        raise ValueError("no value has no percentile")
    return math.ceil(Fraction(str(p)) * n / 100)


class RankInterval(NamedTuple):
    """The ranks between which a percentile lies, counted from 1 for the smallest value.

    Attributes:
        low_rank: Of the lower bound.
        high_rank: Of the upper bound.
        coverage: How likely the interval holds the percentile, at least the confidence asked for.
    """

    low_rank: int
    high_rank: int
    coverage: float


def rank_interval(n: int, p: float, confidence: float = 0.95) -> RankInterval | None:
    """Give the ranks of the observed values that hold a percentile of what they were drawn from, whatever its distribution.

    The number of values below the percentile is binomial (n, p / 100). The lower rank is the largest and the upper rank the
    smallest with which each side misses with a probability of at most ``(1 - confidence) / 2``. Source: H. A. David and
    H. N. Nagaraja, Order Statistics, 3rd ed. 2003, section 7.1. It presumes independent values of a continuous
    distribution; with ties the coverage is higher.

    Args:
        n: Number of values, at least 0.
        p: Percent, strictly between 0 and 100.
        confidence: Coverage, strictly between 0 and 1.

    Returns:
        ``1 <= low_rank < high_rank <= n``, for 100 values and p = 95 the ranks 90 to 100. ``None`` when no observed value
        bounds the percentile: there are too few values (for 95 % confidence: 6 at p = 50, 36 at 90, 72 at 95).

    Raises:
        ValueError: An argument lies outside its range.
    """
    if n < 0 or not 0 < p < 100 or not 0 < confidence < 1:
        raise ValueError(f"no interval of ranks: n = {n!r}, p = {p!r}, confidence = {confidence!r}")
    miss = (1.0 - confidence) / 2.0
    first, probabilities = masses(n, p / 100)
    up_to = list(accumulate(probabilities))  # P(X <= first), P(X <= first + 1), ...
    low = first + sum(below <= miss for below in up_to)  # P(X < low) <= miss
    from_here = list(accumulate(reversed(probabilities)))  # P(X >= last), P(X >= last - 1), ...
    high = first + len(probabilities) - sum(above <= miss for above in from_here)  # P(X >= high) <= miss
    if low < 1 or high > n:
        return None
    return RankInterval(low, high, math.fsum(probabilities[max(low - first, 0) : high - first]))


@dataclass(frozen=True, slots=True)
class Latency:
    """What a set of calls took, in milliseconds.

    Attributes:
        n: Number of calls.
        p50_ms: Nearest-rank median.
        p90_ms: Nearest-rank 90th percentile; with fewer than 10 calls it is the maximum.
        p95_ms: Nearest-rank 95th percentile; with fewer than 20 calls it is the maximum.
        max_ms: The slowest call.
    """

    n: int
    p50_ms: float
    p90_ms: float
    p95_ms: float
    max_ms: float

    @classmethod
    def of(cls, milliseconds: Iterable[float]) -> Latency | None:
        """Summarise calls in any order; ``None`` when there was none."""
        ascending = sorted(milliseconds)
        if not ascending:
            return None
        p50, p90, p95 = (nearest_rank(ascending, p) for p in (50, 90, 95))
        return cls(len(ascending), p50, p90, p95, ascending[-1])

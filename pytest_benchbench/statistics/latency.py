"""How long calls took: percentiles that were observed, never interpolated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction


def nearest_rank(ascending: Sequence[float], p: float) -> float:
    """Give the nearest-rank percentile: the smallest observed value that at least ``p`` percent of the values do not exceed.

    It is the value of rank ``ceil(p / 100 * n)``, the inverse of the empirical distribution function: definition 1 of
    R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996) 361-365.
    The rank is computed exactly from ``p`` as it is written, so that 99.9 of 1,000 values is rank 999.

    Args:
        ascending: At least one value, sorted.
        p: Percent, above 0 and at most 100.

    Returns:
        One of the values.

    Raises:
        ValueError: ``p`` lies outside its range or there is no value.
    """
    if not 0 < p <= 100:
        raise ValueError(f"a percentile lies above 0 and at most at 100: {p!r}")
    if not ascending:
        raise ValueError("no value has no percentile")
    return ascending[math.ceil(Fraction(str(p)) * len(ascending) / 100) - 1]


@dataclass(frozen=True, slots=True)
class Latency:
    """What a set of calls took, in milliseconds.

    Attributes:
        n: Number of calls.
        p50_ms: Nearest-rank median.
        p90_ms: Nearest-rank 90th percentile; with fewer than 10 calls it is the maximum.
        max_ms: The slowest call.
    """

    n: int
    p50_ms: float
    p90_ms: float
    max_ms: float

    @classmethod
    def of(cls, milliseconds: Iterable[float]) -> Latency | None:
        """Summarise calls in any order; ``None`` when there was none."""
        ascending = sorted(milliseconds)
        if not ascending:
            return None
        return cls(len(ascending), nearest_rank(ascending, 50), nearest_rank(ascending, 90), ascending[-1])

"""Intervals for a proportion."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=4096)
def wilson_interval(k: int, n: int, confidence: float = 0.95) -> tuple[float, float] | None:
    """Give the two-sided Wilson score interval of a proportion, without continuity correction.

    The interval holds the proportions p with ``|k/n - p| <= z * sqrt(p * (1 - p) / n)``, z being the normal quantile of
    ``(1 + confidence) / 2``. Source: E. B. Wilson, JASA 22 (1927) 209-212, computed by ``scipy.stats.binomtest``.

    ``scipy.stats`` is imported by the first call: it costs over a second of processor time, and each new pair ``(k, n)``
    over a millisecond, because ``binomtest`` computes a p-value too. Answers are therefore kept.

    Args:
        k: Successes, 0 to ``n``.
        n: Trials, at least 0.
        confidence: Coverage, strictly between 0 and 1.

    Returns:
        ``(low, high)`` with ``0 <= low <= k/n <= high <= 1``; low is exactly 0 for ``k == 0`` and high exactly 1 for
        ``k == n``. ``None`` for ``n == 0``: no trial says nothing.

    Raises:
        ValueError: An argument lies outside its range.
    """
    if not 0 <= k <= n:
        raise ValueError(f"k must lie in [0, n]: k = {k!r}, n = {n!r}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie strictly between 0 and 1: {confidence!r}")
    if n == 0:
        return None
    from scipy.stats import binomtest

    interval = binomtest(k, n).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)

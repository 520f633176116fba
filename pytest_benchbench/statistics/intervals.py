"""Intervals for a proportion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple


class ClusteredInterval(NamedTuple):
    """The interval of a proportion whose trials come in clusters.

    Attributes:
        effective_n: How many independent trials tell as much, above 0 and at most the number of trials.
        design_effect: Trials divided by ``effective_n``, at least 1.
        low: Lower bound.
        high: Upper bound.
    """

    effective_n: float
    design_effect: float
    low: float
    high: float


def wilson_interval(k: int, n: int, confidence: float = 0.95, *, repeats: int = 1) -> tuple[float, float] | None:
    """Give the two-sided Wilson score interval of a proportion, without continuity correction.

    The interval holds the proportions p with ``|k/n - p| <= z * sqrt(p * (1 - p) / n)``, z being the normal quantile of
    ``(1 + confidence) / 2``. Source: E. B. Wilson, JASA 22 (1927) 209-212.

    The formula stands here instead of a call of ``scipy.stats``, whose import would cost every run of a benchbench more
    than all of its tables; the tests hold it against statsmodels and published numbers.

    Args:
        k: Successes, 0 to ``n``.
        n: Trials, at least 0.
        confidence: Coverage, strictly between 0 and 1.
        repeats: How often each trial was made, at least 1: trials made again tell nothing new, so the bounds are those of
            ``n / repeats`` of the same rate.

    Returns:
        ``(low, high)`` with ``0 <= low <= k/n <= high <= 1``; low is exactly 0 for ``k == 0`` and high exactly 1 for
        ``k == n``. ``None`` for ``n == 0``: no trial says nothing.

    Raises:
        ValueError: An argument lies outside its range.
    """
    if not 0 <= k <= n:
        raise ValueError(f"k must lie in [0, n]: k = {k!r}, n = {n!r}")
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1: {repeats!r}")
    _check_confidence(confidence)
    if n == 0:
        return None
    low, high = _wilson(k / n, n / repeats, confidence)
    return 0.0 if k == 0 else low, 1.0 if k == n else high


def clustered_interval(
    successes: Sequence[int], trials: Sequence[int], confidence: float = 0.95
) -> ClusteredInterval | None:
    """Give the Wilson interval of a proportion whose trials are not independent: several of them share a cluster.

    The proportion is that of all trials, ``p = sum(successes) / sum(trials)``. Its variance is that of a ratio between C
    clusters drawn at random, ``V = C / (C - 1) * sum((successes_i - p * trials_i)^2) / N^2`` (W. G. Cochran, Sampling
    Techniques, 3rd ed. 1977, section 3.12; the cluster-robust variance of a mean). ``design_effect = V / (p (1 - p) / N)``,
    ``effective_n = N / design_effect``, and the bounds are Wilson's for p and that many trials (E. L. Korn and B. I.
    Graubard, Survey Methodology 24 (1998) 193-201, with Wilson in place of the exact interval, and without their correction
    for few clusters: with less than some 10 clusters it is too narrow).

    Two decisions keep it from claiming more than was seen. Clusters that seem to be more alike than chance give no more than
    independent trials would: a design effect below 1 counts as 1. Where the variance cannot be seen, because all trials
    agree or there is one cluster only, each cluster counts as one trial: 0 of 40 carriers with 5 files each is 0 of 40.

    Args:
        successes: For each cluster, 0 to its number of trials.
        trials: For each cluster, at least 0; a cluster without a trial is passed over.
        confidence: Coverage, strictly between 0 and 1.

    Returns:
        The interval; ``None`` when there is no trial. Only sums over clusters enter it, so their order does not matter.

    Raises:
        ValueError: An argument lies outside its range, or the sequences differ in length.
    """
    _check_confidence(confidence)
    alike = Counter(zip(successes, trials, strict=True))  # of many clusters few are different
    del alike[0, 0]
    pairs = [(int(k), int(n), count) for (k, n), count in alike.items()]
    for k, n, _ in pairs:
        if not 0 <= k <= n:
            raise ValueError(f"the successes of a cluster must lie in [0, trials]: {k!r} of {n!r}")
    k, n = sum(k * count for k, _, count in pairs), sum(n * count for _, n, count in pairs)
    clusters = alike.total()
    if n == 0:
        return None
    if k in (0, n) or clusters == 1:
        effective = float(clusters)
    else:
        # whole numbers up to here, so that no digit is lost: N^2 times the sum of squares
        squares = sum((n * k_i - k * n_i) ** 2 * count for k_i, n_i, count in pairs)
        variance = clusters / (clusters - 1) * (squares / n**4)
        effective = n / max(variance * n / (k / n * (1 - k / n)), 1.0)
    low, high = _wilson(k / n, effective, confidence)
    return ClusteredInterval(effective, n / effective, 0.0 if k == 0 else low, 1.0 if k == n else high)


def resolvable_rate(n: int, confidence: float = 0.95) -> float | None:
    """Give the smallest rate that ``n`` trials could have told from 0: the upper Wilson bound when none succeeded.

    With 100 negatives and no false positive, nothing below ``z^2 / (n + z^2) = 3.7 %`` has been shown.

    Args:
        n: Trials, at least 0.
        confidence: Two-sided coverage, strictly between 0 and 1.

    Returns:
        A rate in (0, 1); ``None`` for ``n == 0``.

    Raises:
        ValueError: An argument lies outside its range.
    """
    interval = wilson_interval(0, n, confidence)
    return None if interval is None else interval[1]


def _check_confidence(confidence: float) -> None:
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie strictly between 0 and 1: {confidence!r}")


def _wilson(rate: float, n: float, confidence: float) -> tuple[float, float]:
    """Give Wilson's bounds for a rate of ``n`` trials, which need not be a whole number."""
    z = NormalDist().inv_cdf((1.0 + confidence) / 2.0)
    centre = (n * rate + z * z / 2.0) / (n + z * z)
    half = z / (n + z * z) * sqrt(n * rate * (1.0 - rate) + z * z / 4.0)
    return min(max(centre - half, 0.0), rate), max(min(centre + half, 1.0), rate)

"""Sums of binomial probabilities, without the import of scipy that would cost every run more than all of its tables."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, fsum, lgamma, log, log1p, log10
from typing import NamedTuple

_EXACT_UP_TO = 1024
"""Throws up to which tails are summed in whole numbers."""

_NEGLIGIBLE = 1e-20
"""Terms from this share of the largest on change no digit of the sum: they fall faster and faster."""


class Tail(NamedTuple):
    """A tail probability.

    Attributes:
        p: In [0, 1]; 0.0 where it is smaller than any positive floating-point number.
        log10_p: Its decimal logarithm, finite and at most 0 even where ``p`` is 0.0.
    """

    p: float
    log10_p: float


def fair_tail(k: int, n: int) -> Tail:
    """Give the probability of at least ``k`` heads among ``n`` throws of a fair coin, P(X >= k).

    Up to 1,024 throws it is a quotient of whole numbers, right to the last digit. Beyond, the largest term is taken from the
    logarithm of the gamma function and the others from their ratios; up to a million throws the relative error stays below
    1e-7.

    Args:
        k: Heads, 0 to ``n``.
        n: Throws, at least 0.

    Raises:
        ValueError: ``k`` lies outside [0, n].
    """
    if not 0 <= k <= n:
        raise ValueError(f"k must lie in [0, n]: k = {k!r}, n = {n!r}")
    if k == 0:
        return Tail(1.0, 0.0)
    if 2 * k <= n:  # at least a half: by what is missing to 1, so that the logarithm keeps its digits
        missing = fair_tail(n - k + 1, n).p
        return Tail(1.0 - missing, log1p(-missing) / log(10.0))
    if n <= _EXACT_UP_TO:
        ways = term = 1  # of n heads, then of one head less each time
        for heads in range(n, k, -1):
            term = term * heads // (n - heads + 1)
            ways += term
        return Tail(ways / (1 << n), log10(ways) - n * log10(2.0))
    log_first = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2.0)
    log_p = log_first + log(fsum(_upwards(k, n, 1.0)))
    return Tail(exp(log_p), log_p / log(10.0))


def masses(n: int, p: float) -> tuple[int, list[float]]:
    """Give the probabilities of all numbers of successes that are not out of the question.

    They are computed from the ratios of neighbours, beginning with the most probable number, and sum to 1.

    Args:
        n: Trials, at least 0.
        p: Probability of success, strictly between 0 and 1.

    Returns:
        The smallest such number of successes, and the probabilities of it and of those that follow. What is left out has a
        probability below 1e-15 altogether. Some ``18 * sqrt(n)`` numbers at most.
    """
    if n < 0 or not 0.0 < p < 1.0:
        raise ValueError(f"n must be at least 0 and p lie strictly between 0 and 1: n = {n!r}, p = {p!r}")
    mode = min(int((n + 1) * p), n)
    odds = p / (1.0 - p)
    below = list(_upwards(n - mode, n, 1.0 / odds))[:0:-1]  # failures instead of successes, without the mode itself
    weights = [*below, *_upwards(mode, n, odds)]
    total = fsum(weights)
    return mode - len(below), [weight / total for weight in weights]


def _upwards(k: int, n: int, odds: float) -> Iterator[float]:
    """Yield P(X = k), P(X = k + 1) and so on as multiples of the first; ``k`` is at least the most probable number."""
    term = 1.0
    while term > _NEGLIGIBLE:
        yield term
        term *= (n - k) / (k + 1) * odds  # 0 after n successes
        k += 1

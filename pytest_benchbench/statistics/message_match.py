"""How likely a message would match by chance."""

from __future__ import annotations

from functools import lru_cache

from pytest_benchbench.statistics.binomial import Tail, fair_tail


@lru_cache(maxsize=4096)
def match_tail(k: int, n: int) -> Tail:
    """Give the probability that at least ``k`` of ``n`` bits are right when every bit is guessed by a fair coin.

    ``P(X >= k) = sum of C(n, i) / 2^n for i from k to n``: the p-value of a one-sided exact binomial test of "no mark of
    this message". It holds for one look at one message of independent bits; a detector that tries several positions, scales
    or messages has as many chances.

    Args:
        k: Bits that are right, 0 to ``n``.
        n: Bits of the message, at least 0. No bits match for certain, which says nothing.

    Returns:
        The probability and its decimal logarithm, which is finite even where the probability is too small for a number
        (256 of 256 bits: -77.06).

    Raises:
        ValueError: ``k`` lies outside [0, n].
    """
    return fair_tail(k, n)

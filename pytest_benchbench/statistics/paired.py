"""Two answers about the same things: whether they differ by more than chance, and by how much."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from pytest_benchbench.statistics.binomial import fair_tail
from pytest_benchbench.statistics.intervals import wilson_interval


class Difference(NamedTuple):
    """A difference of two proportions with its interval, all in [-1, 1]."""

    difference: float
    low: float
    high: float


def mcnemar_exact(only_first: int, only_second: int) -> float | None:
    """Give the two-sided p-value of McNemar's exact test, conditional on the number of pairs that differ.

    If neither is better, each pair that differs is as likely to differ either way; the p-value is twice the smaller binomial
    tail, at most 1. Source: Q. McNemar, Psychometrika 12 (1947) 153-157, in its exact (binomial) form. No mid-p, no
    continuity correction.

    Args:
        only_first: Pairs of which the first alone succeeded, at least 0.
        only_second: Pairs of which the second alone succeeded, at least 0.

    Returns:
        The p-value, above 0 and at most 1 (0.0 where it is too small for a number); ``None`` when no pair differs: nothing
        was tested.

    Raises:
        ValueError: A count is negative.
    """
    if only_first < 0 or only_second < 0:
        raise ValueError(f"counts are at least 0: {only_first!r}, {only_second!r}")
    differing = only_first + only_second
    if differing == 0:
        return None
    return min(1.0, 2.0 * fair_tail(max(only_first, only_second), differing).p)


def paired_difference(
    both: int, only_first: int, only_second: int, neither: int, confidence: float = 0.95
) -> Difference | None:
    """Give the difference of two paired proportions, first minus second, with Newcombe's score interval.

    The interval joins the Wilson intervals of the two proportions, ``l1..u1`` and ``l2..u2``, by their correlation phi::

        low  = d - sqrt((p1 - l1)^2 - 2 phi (p1 - l1) (u2 - p2) + (u2 - p2)^2)
        high = d + sqrt((u1 - p1)^2 - 2 phi (u1 - p1) (p2 - l2) + (p2 - l2)^2)

    phi is that of the table of four counts, with a continuity correction: a positive ``both * neither - only_first *
    only_second`` is lowered by n / 2, not below 0; phi is 0 where a margin is empty. Source: method 10 of R. G. Newcombe,
    "Improved confidence intervals for the difference between binomial proportions based on paired data", Statistics in
    Medicine 17 (1998) 2635-2650. Unlike Wald's, it has a width even where no pair differs, and stays within [-1, 1].

    Args:
        both: Pairs of which both succeeded; all counts are at least 0.
        only_first: Pairs of which the first alone succeeded.
        only_second: Pairs of which the second alone succeeded.
        neither: Pairs of which none succeeded.
        confidence: Coverage, strictly between 0 and 1.

    Returns:
        ``low <= difference <= high``; ``None`` when there is no pair.

    Raises:
        ValueError: An argument lies outside its range.
    """
    counts = (both, only_first, only_second, neither)
    if min(counts) < 0:
        raise ValueError(f"counts are at least 0: {counts!r}")
    n = sum(counts)
    first = wilson_interval(both + only_first, n, confidence)
    second = wilson_interval(both + only_second, n, confidence)
    if first is None or second is None:
        return None
    rate_first, rate_second = (both + only_first) / n, (both + only_second) / n
    difference = (only_first - only_second) / n
    phi = _correlation(both, only_first, only_second, neither)
    below = _joined(rate_first - first[0], second[1] - rate_second, phi)
    above = _joined(first[1] - rate_first, rate_second - second[0], phi)
    return Difference(difference, max(difference - below, -1.0), min(difference + above, 1.0))


def _correlation(both: int, only_first: int, only_second: int, neither: int) -> float:
    margins = (both + only_first) * (only_second + neither) * (both + only_second) * (only_first + neither)
    if margins == 0:
        return 0.0
    surplus = both * neither - only_first * only_second
    if surplus > 0:
        return max(surplus - (both + only_first + only_second + neither) / 2, 0.0) / sqrt(margins)
    return surplus / sqrt(margins)


def _joined(one: float, other: float, phi: float) -> float:
    return sqrt(max(one * one - 2.0 * phi * one * other + other * other, 0.0))

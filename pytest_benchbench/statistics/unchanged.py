"""How often detectors that have not changed look as if they had, and how often a change that is there is seen."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from math import ceil, floor, fsum

from pytest_benchbench.statistics.binomial import masses
from pytest_benchbench.statistics.paired import mcnemar_exact


def drop_chance(n: int, rate: float, points: float) -> float:
    """Give the probability that the second of two unchanged runs lies at least so many points below the first.

    Both count successes among ``n`` trials of the same rate, drawn anew each time. A detector that gives the same text the
    same score twice moves less, one that never wavers not at all.

    Args:
        n: Samples, at least 1.
        rate: How often each run succeeds, in [0, 1].
        points: Percentage points, above 0 and at most 100; the decimal number as it is written.

    Returns:
        A probability; its absolute error is below 1e-12 up to 10,000 samples.

    Raises:
        ValueError: An argument lies outside its range.
    """
    _check(n, rate)
    if not 0.0 < points <= 100.0:
        raise ValueError(f"points must lie in (0, 100]: {points!r}")
    return _lower_by(n, rate, ceil(_samples(points, n)))


def difference_chance(n: int, rate: float, points: float) -> float:
    """Give the probability that two unchanged runs lie more than so many points apart, either way; see ``drop_chance``.

    Args:
        n: Samples, at least 1.
        rate: How often each run succeeds, in [0, 1].
        points: Percentage points, 0 to 100; the decimal number as it is written.

    Raises:
        ValueError: An argument lies outside its range.
    """
    _check(n, rate)
    if not 0.0 <= points <= 100.0:
        raise ValueError(f"points must lie in [0, 100]: {points!r}")
    return min(2.0 * _lower_by(n, rate, floor(_samples(points, n)) + 1), 1.0)


def at_least(count: int, chances: Sequence[float]) -> float:
    """Give the probability that at least ``count`` of several events happen, if none has to do with another.

    Args:
        count: At least 0.
        chances: The probability of each event, in [0, 1].

    Raises:
        ValueError: An argument lies outside its range.
    """
    if count < 0:
        raise ValueError(f"a count is at least 0: {count!r}")
    happened = [1.0]  # the probabilities of 0, 1, 2 ... of the events so far
    for chance in chances:
        if not 0.0 <= chance <= 1.0:
            raise ValueError(f"a probability lies in [0, 1]: {chance!r}")
        happened = [
            stay * (1.0 - chance) + come * chance for stay, come in zip([*happened, 0.0], [0.0, *happened], strict=True)
        ]
    return min(fsum(happened[count:]), 1.0)


def flag_power(n: int, lost: float, gained: float, alpha: float, least_points: float = 0.0) -> float:
    """Give the probability that a true fall is seen in one run: by McNemar's exact test, and large enough.

    Args:
        n: Paired samples, at least 1.
        lost: The share of samples that change for the worse in truth, in [0, 1].
        gained: The share that changes for the better; both together at most 1.
        alpha: Level of the test, in (0, 1].
        least_points: Percentage points by which the rate must have fallen too.

    Raises:
        ValueError: An argument lies outside its range.
    """
    changing = lost + gained
    _check(n, changing)
    if min(lost, gained) < 0.0 or not 0.0 < alpha <= 1.0:
        raise ValueError(f"not rates and a level: {lost!r}, {gained!r}, {alpha!r}")
    fewest = max(ceil(_samples(least_points, n)), 1)
    terms = []
    for changed, weight in _masses(n, changing):
        if not changed:
            continue
        flagged = bisect_left(range(changed + 1), True, key=partial(_is_fall, changed, fewest, alpha))
        terms += [weight * share for worse, share in _masses(changed, lost / changing) if worse >= flagged]
    return min(fsum(terms), 1.0)


def _is_fall(changed: int, fewest: int, alpha: float, worse: int) -> bool:
    """Say whether so many changes for the worse are flagged; if they are, more of them are too."""
    if 2 * worse - changed < fewest:
        return False
    p = mcnemar_exact(worse, changed - worse)
    return p is not None and p < alpha


def _lower_by(n: int, rate: float, samples: int) -> float:
    """Give P(Y <= X - samples) of two binomial numbers X and Y; ``samples`` is at least 1."""
    counts = list(_masses(n, rate))
    first = counts[0][0]
    below = [0.0]  # below[i]: the probability of fewer than first + i successes
    for _, mass in counts:
        below.append(below[-1] + mass)
    terms = (mass * below[min(max(count - samples - first + 1, 0), len(counts))] for count, mass in counts)
    return min(fsum(terms), 1.0)


def _samples(points: float, n: int) -> Fraction:
    return Fraction(repr(float(points))) * n / 100


def _masses(n: int, rate: float) -> list[tuple[int, float]]:
    if rate <= 0.0 or rate >= 1.0:
        return [(0 if rate <= 0.0 else n, 1.0)]
    first, probabilities = masses(n, rate)
    return list(enumerate(probabilities, first))


def _check(n: int, rate: float) -> None:
    if n < 1:
        raise ValueError(f"samples must be at least 1: {n!r}")
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"a rate must lie in [0, 1]: {rate!r}")

"""How likely a rule about a rate is to be passed: by chance at a given error rate, and how many trials that takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import expm1, fsum, log1p
from typing import NamedTuple, Protocol

from pytest_benchbench.statistics.binomial import masses
from pytest_benchbench.statistics.intervals import wilson_interval

MAX_TRIALS = 50_000
"""How many trials are tried out where a sample size is looked for."""

_BISECTIONS = 60
"""Halvings of [0, 1] after which floating-point numbers have nothing in between that matters."""


class RateRule(Protocol):
    """A demand on a rate, of which each trial is a success or a failure; a rule of a policy is one.

    With ``>=`` or ``>`` the rate is that of the successes, as a recall is; with ``<=`` or ``<`` it is that of the failures,
    as a false-positive rate is.
    """

    @property
    def bound(self) -> str:
        """``observed``, ``wilson_lower`` or ``wilson_upper``: what is compared, of a two-sided 95 % interval."""

    @property
    def op(self) -> str:
        """``<=``, ``<``, ``>=`` or ``>``."""

    @property
    def value(self) -> float:
        """What is compared with, in [0, 1]."""


class SampleSize(NamedTuple):
    """How many trials pass a rule with some probability.

    The probability rises and falls with the number of trials: one failure more is allowed at certain numbers only, and each
    trial in between is a further chance to fail.

    Attributes:
        first: The smallest number that reaches the probability.
        always_from: The smallest number from which on every number up to ``MAX_TRIALS`` reaches it; ``None`` if none is.
    """

    first: int
    always_from: int | None


def wants_high(rule: RateRule) -> bool:
    """Say whether a rule demands a high rate, so that its failures are what the rate does not count."""
    return rule.op in {">=", ">"}


def rate_with(rule: RateRule, failures: int, n: int) -> float:
    """Give what a rule compares when ``failures`` of ``n`` trials count against it.

    Args:
        rule: The rule.
        failures: 0 to ``n``.
        n: Trials, at least 1.

    Returns:
        The observed rate or the bound of its 95 % Wilson interval, in [0, 1].
    """
    k = n - failures if wants_high(rule) else failures
    if rule.bound == "observed":
        return k / n
    interval = wilson_interval(k, n)
    assert interval is not None, "n is at least 1"
    return interval[0 if rule.bound == "wilson_lower" else 1]


def holds(rule: RateRule, failures: int, n: int) -> bool:
    """Say whether a rule holds when ``failures`` of ``n`` trials, at least one, count against it."""
    rate = rate_with(rule, failures, n)
    match rule.op:
        case "<=":
            return rate <= rule.value
        case "<":
            return rate < rule.value
        case ">=":
            return rate >= rule.value
        case ">":
            return rate > rule.value
    raise ValueError(f"a rate is compared by <=, <, >= or >, not by {rule.op!r}")


def most_failures(rule: RateRule, n: int) -> int | None:
    """Give the largest number of failures with which a rule still holds at ``n`` trials, ``None`` if it cannot hold."""
    if n < 1 or not holds(rule, 0, n):
        return None
    low, high = 0, n
    while low < high:  # fewer failures never break a rule that more failures keep
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(rule, middle, n) else (low, middle - 1)
    return low


def smallest_n(rule: RateRule, failures: int) -> int | None:
    """Give the smallest number of trials of which ``failures`` may fail.

    With the upper Wilson bound of a false-positive rate held to .02: 189 for none, 280 for one, 361 for two.

    Returns:
        A number of at most ``MAX_TRIALS``, more than which keep the rule too; ``None`` if there is none.

    Raises:
        ValueError: ``failures`` is negative.
    """
    if failures < 0:
        raise ValueError(f"failures must be at least 0: {failures!r}")
    low, high = max(failures, 1), MAX_TRIALS
    if low > high or not holds(rule, failures, high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(rule, failures, middle) else (middle + 1, high)
    return low


def pass_probability(n: int, max_failures: int | None, rate: float) -> float:
    """Give the probability that at most ``max_failures`` of ``n`` independent trials fail: the lower binomial tail.

    The absolute error is below 1e-12 up to 100,000 trials.

    Args:
        n: Trials, at least 0.
        max_failures: What the rule bears; ``None`` where it cannot hold, which gives 0.
        rate: The probability that a trial fails, in [0, 1].

    Raises:
        ValueError: ``n`` is negative or ``rate`` is no probability.
    """
    _check(n, rate)
    if max_failures is None or max_failures < 0:
        return 0.0
    if max_failures >= n or rate == 0.0:
        return 1.0
    if rate == 1.0:
        return 0.0
    first, probabilities = masses(n, rate)
    within = max_failures - first + 1
    if within <= 0:
        return 0.0
    if 2 * within > len(probabilities):  # the smaller tail keeps its digits
        return max(1.0 - fsum(probabilities[within:]), 0.0)
    return min(fsum(probabilities[:within]), 1.0)


def tolerable_rate(n: int, max_failures: int | None, probability: float) -> float | None:
    """Give the largest failure rate with which at most ``max_failures`` of ``n`` trials fail with some probability.

    500 trials of which 3 may fail pass with probability .8 up to a rate of .0046.

    Args:
        n: Trials, at least 0.
        max_failures: What the rule bears; ``None`` where it cannot hold.
        probability: What passing is to have at least, strictly between 0 and 1.

    Returns:
        A rate in [0, 1]; ``None`` where no rate passes.

    Raises:
        ValueError: ``probability`` lies outside its range.
    """
    _check_probability(probability)
    if max_failures is None:
        return None
    if pass_probability(n, max_failures, 1.0) >= probability:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if pass_probability(n, max_failures, middle) >= probability else (low, middle)
    return low


def trials_needed(rule: RateRule, rate: float, probabilities: Sequence[float], at_least: int = 1) -> list[SampleSize | None]:
    """Give how many trials pass a rule with some probabilities, at a known failure rate.

    Args:
        rule: The rule.
        rate: The probability that a trial fails, in [0, 1].
        probabilities: What passing is to have at least, each strictly between 0 and 1.
        at_least: Fewer trials than these do not pass, whatever fails.

    Returns:
        The numbers for each probability; ``None`` where no number up to ``MAX_TRIALS`` reaches it.

    Raises:
        ValueError: An argument lies outside its range.
    """
    _check(at_least, rate)
    for probability in probabilities:
        _check_probability(probability)
    first: list[int | None] = [None] * len(probabilities)
    always = [at_least] * len(probabilities)
    for n, passes in _pass_probabilities(rule, rate):
        if n < at_least:
            continue
        for place, probability in enumerate(probabilities):
            if passes < probability:
                always[place] = n + 1
            elif first[place] is None:
                first[place] = n
    return [
        None if low is None else SampleSize(low, high if high <= MAX_TRIALS else None)
        for low, high in zip(first, always, strict=True)
    ]


def base_failure_rate(rate: float, derivatives: int) -> float:
    """Give the rate of bases of which any derivative fails: ``1 - (1 - rate) ** derivatives``.

    Args:
        rate: The probability that a derivative fails, in [0, 1], whatever the others of its base do. Derivatives of one
            picture tend to fail together, and then fewer bases fail.
        derivatives: Of each base, at least 1.

    Raises:
        ValueError: An argument lies outside its range.
    """
    _check(derivatives - 1, rate)
    return 1.0 if rate == 1.0 else -expm1(derivatives * log1p(-rate))


def passes_once(probability: float, attempts: int) -> float:
    """Give the probability to pass at least once in ``attempts`` independent attempts: ``1 - (1 - P) ** attempts``.

    Args:
        probability: Of one attempt on fresh bases, in [0, 1].
        attempts: At least 1.

    Raises:
        ValueError: An argument lies outside its range.
    """
    return base_failure_rate(probability, attempts)


def _check(n: int, rate: float) -> None:
    if n < 0:
        raise ValueError(f"a number is too small: {n!r}")
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"a rate must lie in [0, 1]: {rate!r}")


def _check_probability(probability: float) -> None:
    if not 0.0 < probability < 1.0:
        raise ValueError(f"probability must lie strictly between 0 and 1: {probability!r}")


def _pass_probabilities(rule: RateRule, rate: float) -> Iterator[tuple[int, float]]:
    """Yield for 1, 2, ... ``MAX_TRIALS`` trials the probability to pass a rule.

    From one number of trials to the next, and from one allowed failure to the next, the tail changes by one term:
    ``P(X <= k | n + 1) = P(X <= k | n) - rate * P(X = k | n)``. So all numbers take the time of a few.
    """
    k, term, tail = -1, 0.0, 0.0  # of n trials: k may fail; P(X = k); P(X <= k)
    for n in range(1, MAX_TRIALS + 1):
        if k >= 0:
            tail = max(tail - rate * term, 0.0)
            term *= n / (n - k) * (1.0 - rate)
        while k < n and holds(rule, k + 1, n):
            k += 1
            if k == 0:
                term = (1.0 - rate) ** n
            elif rate < 1.0 and term > 0.0:
                term *= (n - k + 1) / k * (rate / (1.0 - rate))
            else:
                term = float(k == n) * rate**n
            tail = min(tail + term, 1.0)
        yield n, 1.0 if k == n else tail

"""What a rule found, whatever it measures, and how much room it leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt

from pytest_benchbench.gates.decided import ClassRoom
from pytest_benchbench.gates.policy import Rule
from pytest_benchbench.statistics.power import holds, most_failures, rate_with

_COMPARE: dict[str, Callable[[float, float], bool]] = {"<=": le, ">=": ge, "==": eq, "<": lt, ">": gt}


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a rule found.

    Attributes:
        slice: The rows that it is about.
        n: Available units.
        passed: Whether the rule holds; ``None`` when there is nothing to compute it from.
        observed: The value that was compared; ``None`` with ``passed``, or when the minimum count alone decided.
        failures: Units that count against the rule; ``None`` where no unit does.
        max_failures: The largest number of failures with which the rule still holds at this ``n``; ``None`` when it
            cannot hold at this ``n``, or where no unit counts against it.
        classes: For a rule about both classes, how much room each leaves.
        reason: What else people should know.
    """

    slice: dict[str, str] | None
    n: int
    passed: bool | None
    observed: float | None
    failures: int | None
    max_failures: int | None
    classes: dict[str, ClassRoom] | None = None
    reason: str | None = None


def compare(rule: Rule, value: float) -> bool:
    """Say whether a rule holds at a value of its metric, the minimum of units aside."""
    return _COMPARE[rule.op](value, rule.value)


def largest(rule: Rule, value: Callable[[int], float], n: int) -> int | None:
    """Give the largest number of failures in [0, n] with which a rule holds, ``None`` if it cannot hold.

    Args:
        rule: The rule.
        value: The metric's value at a number of failures; it never moves towards the rule's side as failures grow.
        n: Units.
    """
    if rule.op == "==":
        return max((failed for failed in range(n + 1) if compare(rule, value(failed))), default=None)
    if not compare(rule, value(0)):
        return None
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if compare(rule, value(middle)) else (low, middle - 1)
    return low


def rated(rule: Rule, where: dict[str, str] | None, n: int, failures: int) -> Measurement:
    """Give the finding of a rule about a rate that ``failures`` of ``n`` units, at least one, count against."""
    passed = n >= rule.min_n and holds(rule, failures, n)
    return Measurement(where, n, passed, rate_with(rule, failures, n), failures, most_failures(rule, n))


def uncomputed(rule: Rule, where: dict[str, str] | None, n: int, reason: str | None = None) -> Measurement:
    """Give the finding of a rule without a value; it fails where fewer units than its minimum are the reason."""
    return Measurement(where, n, False if n < rule.min_n else None, None, None, None, reason=reason)

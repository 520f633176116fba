"""Rules in words: one line about what became of each."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_benchbench.gates.decided import DecidedRule


def describe_rule(rule: DecidedRule) -> str:
    """Say in one line what became of a rule: ``no_mismatch: 3, required <= 0 (n 46; 3 failures, at most 0 pass)``.

    Rows and values come from others' files: what shows the line makes it harmless.
    """
    where = "".join(f" [{name}={value}]" for name, value in sorted((rule.slice or {}).items()))
    value = "cannot be computed" if rule.observed is None else _short(rule.observed)
    bound = f" ({rule.bound})" if rule.bound and rule.bound != "observed" else ""
    details = "; ".join(_details(rule))
    return f"{rule.id}{where}: {value}{bound}, required {rule.required}{f' ({details})' if details else ''}"


def _details(rule: DecidedRule) -> Iterator[str]:
    if rule.n is not None:
        yield f"n {rule.n}"
    if rule.failures is not None:
        yield _room(rule.failures, rule.max_failures)
    yield from class_room(rule)
    if rule.implied_by is not None:
        yield f"implied by {rule.implied_by}"
    if rule.power is not None:
        yield f"power {rule.power:.3f}"
    if rule.reason:
        yield rule.reason
    if rule.rows:
        more = " ..." if rule.failures is not None and rule.failures > len(rule.rows) else ""
        yield f"rows: {', '.join(rule.rows)}{more}"


def class_room(rule: DecidedRule) -> list[str]:
    """Say how much room each class leaves in a rule about both; empty for other rules."""
    return [f"{name} n {room.n}, {_room(room.failures, room.max_failures)}" for name, room in (rule.classes or {}).items()]


def _room(failures: int, most: int | None) -> str:
    told = "cannot pass" if most is None else f"at most {most} pass"
    return f"{failures} failure{'' if failures == 1 else 's'}, {told}"


def _short(value: float | str) -> str:
    """Write a value that was found: ten digits tell it from any bound that people write."""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def number(value: float | str) -> str:
    """Write a number as people do, whole ones without a fraction."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

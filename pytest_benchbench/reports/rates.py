"""A rate as every table of a report writes it: with its counts and its interval."""

from __future__ import annotations

from typing import Any

from pytest_benchbench.statistics.intervals import wilson_interval


def rate_of(k: int, n: int, *, repeats: int = 1) -> dict[str, Any]:
    """Give the share ``k`` of ``n`` with its two-sided 95 % Wilson interval; rate and interval are null for ``n == 0``.

    Of what several runs asked again (``repeats``) the interval is that of one run: asking again makes no more cases.

    Raises:
        ValueError: ``k`` lies outside [0, n].
    """
    low, high = wilson_interval(k, n, repeats=repeats) or (None, None)
    return {"k": k, "n": n, "rate": k / n if n else None, "wilson95_low": low, "wilson95_high": high}

"""What was expected against what was observed, in rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, Final

from pytest_benchbench.reports.columns import Rows
from pytest_benchbench.reports.facets import Kind, Series
from pytest_benchbench.reports.ordering import sort_key

EXPECTED: Final = ("detected", "not_detected")

_OTHER: Final = {"detected": "not_detected", "not_detected": "detected"}


def asserted(kind: Kind) -> str | None:
    """Give the verdict that rows of a kind were held against.

    Where there is a verdict and an outcome, these two tell it: a list of known mismatches may assert something of a row
    whose case asserts nothing. Without a verdict only the case tells.

    Returns:
        One of ``EXPECTED``; ``None`` where nothing was asserted.
    """
    if kind.standing in _OTHER:
        if kind.outcome == "match":
            return kind.standing
        return None if kind.outcome == "measured" else _OTHER[kind.standing]
    return kind.facets.expected if kind.facets.expected in EXPECTED else None


def confusion(rows: Rows) -> list[dict[str, Any]]:
    """Count rows by what was asserted of them and what was observed.

    Returns:
        A line for each series and asserted verdict that occurs, sorted. ``no_verdict`` counts rows that had an error, were
        unavailable, not run or unstable. Rows of which nothing was asserted are in no line.
    """
    found: defaultdict[tuple[Series, str], Counter[str]] = defaultdict(Counter)
    for kind, count in zip(rows.kinds, rows.counts().tolist(), strict=True):
        if (expected := asserted(kind)) is not None:
            found[kind.series, expected][kind.standing if kind.standing in EXPECTED else "no_verdict"] += count
    return [
        {
            **series._asdict(),
            "expected": expected,
            **{observed: found[series, expected][observed] for observed in (*EXPECTED, "no_verdict")},
        }
        for series, expected in sorted(found, key=lambda key: sort_key((*key[0], key[1])))
    ]

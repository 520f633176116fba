"""Tables of Markdown, and how numbers, rates and ranges are written in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_benchbench.reports.escaping import cell

Line = dict[str, Any]


def pipe_table(header: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """Write a table with pipes.

    Args:
        header: Names of the columns; underscores become spaces, and a leading ``rows_`` is left out.
        lines: JSON values for each column; text in them is escaped.
    """
    rows = [[name.removeprefix("rows_").replace("_", " ") for name in header], ["---"] * len(header)]
    rows += [[cell(text_of(value)) for value in line] for line in lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def text_of(value: Any) -> str:
    """Write a JSON value for people: six digits, lists and objects without brackets, a dash for nothing."""
    if value is None or value in ("", [], {}):
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return ", ".join(text_of(inner) for inner in value)
    if isinstance(value, Mapping):
        return " ".join(f"{name}={text_of(inner)}" for name, inner in value.items())
    return str(value)


def values_of(line: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    """Give the values of a line in the order of the columns."""
    return [line[name] for name in names]


def rate_cells(rate: Line) -> tuple[str | None, str | None]:
    """Write a rate with its counts, and its interval; both ``None`` where nothing was counted."""
    if rate["rate"] is None:
        return None, None
    interval = f"{rate['wilson95_low']:.4f} to {rate['wilson95_high']:.4f}"
    return f"{rate['rate']:.4f} ({rate['k']}/{rate['n']})", interval


def range_text(value: Line | None) -> str | None:
    """Write the smallest, the middle and the largest value; ``None`` where there is none."""
    return None if value is None else " / ".join(text_of(value[name]) for name in ("min", "median", "max"))

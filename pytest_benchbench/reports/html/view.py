"""What templates draw: sections of notes, plots and tables, whose cells are text that is escaped when it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.reports.pipe_tables import text_of

if TYPE_CHECKING:
    from pytest_benchbench.reports.html.plots import Plots

NOTHING = "—"

Line = Mapping[str, Any]

LINES = 400
"""Lines of one table that a page shows."""

MAX_TEXT = 600
"""Characters of a cell."""


class Range(NamedTuple):
    """An interval inside [0, 1] and the value it is about, in hundredths of the drawn width."""

    low: str
    high: str
    at: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: What it shows.
        sort: The value that it is sorted by, where that is not its text.
        css: ``n`` for numbers, ``t`` for long text.
        range: Drawn beside the text.
    """

    text: str
    sort: str | None = None
    css: str = ""
    range: Range | None = None


class Column(NamedTuple):
    """The head of a column."""

    title: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a heading.

    Attributes:
        id: Its anchor.
        left_out: Lines that are not shown.
    """

    id: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    left_out: int = 0

    def cut(self, most: int) -> Table:
        """Give the table with at most so many lines."""
        return replace(self, rows=self.rows[:most], left_out=self.left_out + max(0, len(self.rows) - most))


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: notes, plots, tables."""

    id: str
    title: str
    notes: Sequence[str] = ()
    plots: Plots | None = None
    tables: Sequence[Table] = ()

    def cut(self, most: int) -> Section:
        """Give the section with at most so many lines in each table."""
        return replace(self, tables=[table.cut(most) for table in self.tables])


class Field(NamedTuple):
    """A column and where its cells come from.

    Attributes:
        title: The head of the column.
        cell: Makes a line's cell.
        is_optional: Whether the column is left out where no line has anything in it.
    """

    title: str
    cell: Callable[[Line], Cell]
    is_optional: bool = False


def shown(value: Any) -> str:
    """Write a JSON value for people, on one line and not without end; nothing is a dash."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = text_of(value)
    text = NOTHING if text == "-" and value != "-" else plain(text)
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def cell(value: Any) -> Cell:
    """Make the cell of a JSON value."""
    if isinstance(value, float):
        return Cell(shown(value), sort=repr(value), css="n")
    if isinstance(value, int) and not isinstance(value, bool):
        return Cell(str(value), css="n")
    text = shown(value)
    return Cell(text, css="t" if len(text) > 24 else "")


def value_field(name: str, title: str | None = None, *, is_optional: bool = False) -> Field:
    """Show a member of each line; a leading ``rows_`` is no part of the title."""
    title = title if title is not None else name.removeprefix("rows_").replace("_", " ")
    return Field(title, lambda line: cell(line.get(name)), is_optional)


def rate_fields(
    name: str, title: str = "rate (k/n)", interval: str = "95 % interval", *, is_optional: bool = False
) -> list[Field]:
    """Show a rate with its counts, and its Wilson interval with a picture of it."""

    def rate_of(line: Line) -> Line:
        rate: Line = line.get(name) or {}
        return rate

    def rate_cell(line: Line) -> Cell:
        rate = rate_of(line)
        if rate.get("rate") is None:
            return Cell(NOTHING, css="n")
        return Cell(f"{rate['rate']:.4f} ({rate['k']}/{rate['n']})", sort=repr(rate["rate"]), css="n")

    def interval_cell(line: Line) -> Cell:
        rate = rate_of(line)
        return interval_of(rate.get("wilson95_low"), rate.get("wilson95_high"), rate.get("rate"))

    return [Field(title, rate_cell, is_optional), Field(interval, interval_cell, is_optional)]


def interval_of(low: float | None, high: float | None, at: float | None) -> Cell:
    """Make the cell of an interval inside [0, 1], with a picture of it around ``at``; sorted by its lower bound."""
    if low is None or high is None:
        return Cell(NOTHING, css="n")
    drawn = None if at is None else Range(f"{100 * low:.1f}", f"{100 * high:.1f}", f"{100 * at - 1:.1f}")
    return Cell(f"{low:.4f} to {high:.4f}", sort=repr(low), css="n", range=drawn)


def table_of(
    id_: str,
    title: str,
    lines: Sequence[Line],
    fields: Iterable[Field],
    *,
    note: str = "",
    left_out: int = 0,
    most: int = LINES,
) -> Table:
    """Make a table.

    Args:
        id_: Its anchor, unique on the page.
        title: Its heading.
        lines: What it shows, at most ``most`` of them.
        fields: Its columns; an optional one in which every cell is empty, 0 or no is left out.
        note: A sentence above it.
        left_out: How many lines are missing in ``lines`` already.
        most: How many lines are shown.
    """
    drawn = lines[:most]
    columns, cells = [], []
    for one in fields:
        column = [one.cell(line) for line in drawn]
        if one.is_optional and all(made.text in (NOTHING, "0", "no") for made in column):
            continue
        columns.append(Column(one.title, any(made.css == "n" for made in column)))
        cells.append(column)
    rows = list(zip(*cells, strict=True))
    return Table(id_, title, columns, rows, note, left_out + len(lines) - len(drawn))

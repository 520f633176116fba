"""Plots of counts: what was observed of what was expected, and what became of detections inside pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from pytest_benchbench.reports.html.axes import LINE
from pytest_benchbench.reports.html.svg import WIDTH, Drawing, count, counted, percent

TRANSFORMS = 20
"""How many transforms a plot of transitions shows; the others are counted."""

Line = Mapping[str, Any]

_OBSERVED = ("detected", "not_detected", "no_verdict")

_LATER = {
    "kept": "kept: detected before and after",
    "lost": "lost: detected before, not after",
    "gained": "gained: not before, but after",
    "absent": "absent: neither before nor after",
    "undecided": "undecided: no verdict, or several, about one of the two",
}

_PALE = frozenset({"absent", "undecided"})

_CELL_LEFT = 118.0
_CELL = (WIDTH - _CELL_LEFT) / 3
_CELL_HEIGHT = 66.0
_BAR = 16.0


def confusion_svg(lines: Sequence[Line], name: str) -> Markup:
    """Draw what was observed of what was expected.

    Args:
        lines: Of ``results.confusion``, those of one series: at most one for each expected verdict.
        name: What to call the series.

    Returns:
        A plot of counts of rows; empty where there is no row.
    """
    lines = [line for line in lines if _rows(line)]
    if not lines:
        return Markup()
    top = 2 * LINE + 8
    drawing = Drawing("confusion", top + len(lines) * _CELL_HEIGHT + 2)
    drawing.text(_CELL_LEFT + 1.5 * _CELL, LINE - 2, "observed (rows)", "bb-axis", anchor="middle")
    for column, observed in enumerate(_OBSERVED):
        drawing.text(_CELL_LEFT + (column + 0.5) * _CELL, 2 * LINE, _words(observed), "bb-tick", anchor="middle")
    told = []
    for row, line in enumerate(lines):
        y = top + row * _CELL_HEIGHT
        rows = _rows(line)
        drawing.text(0, y + 22, "expected", "bb-axis")
        drawing.text(0, y + 22 + LINE, _words(line["expected"]), "bb-label")
        drawing.text(0, y + 22 + 2 * LINE, counted(rows, "row"), "bb-tick", room=_CELL_LEFT)
        for column, observed in enumerate(_OBSERVED):
            kind, judged = _judged(line["expected"], observed)
            x = _CELL_LEFT + column * _CELL
            drawing.rect(x + 2, y + 2, _CELL - 4, _CELL_HEIGHT - 4, f"bb-cell bb-{kind}")
            texts = (count(line[observed]), percent(line[observed], rows), judged)
            for place, text in enumerate(texts):
                css = "bb-tick" if place else "bb-value"
                drawing.text(x + _CELL / 2, y + 22 + place * LINE, text, css, anchor="middle", room=_CELL - 6)
        seen = ", ".join(f"{count(line[observed])} {_words(observed)}" for observed in _OBSERVED)
        told.append(f"Of {count(rows)} rows with {_words(line['expected'])} expected: {seen}.")
    return drawing.markup(f"Expected and observed verdicts: {name}", " ".join(told))


def _rows(line: Line) -> int:
    return sum(line[observed] for observed in _OBSERVED)


def _judged(expected: str, observed: str) -> tuple[str, str]:
    if observed == "no_verdict":
        return "none", ""
    return ("right", "as expected") if observed == expected else ("wrong", "otherwise")


def _words(status: str) -> str:
    return status.replace("_", " ")


def transitions_svg(lines: Sequence[Line], name: str) -> Markup:
    """Draw what became of detections inside pairs, a bar for each transform.

    Args:
        lines: Of ``results.transitions``, those of one series and one pair of states.
        name: What to call the series.

    Returns:
        A plot of counts of pairs; empty where there is no pair.
    """
    lines = [line for line in lines if line["pairs"]]
    if not lines:
        return Markup()
    shown = lines[:TRANSFORMS]
    states = f"{lines[0]['from']} to {lines[0]['to']}"
    block = 2 * LINE + _BAR + 10
    height = LINE + len(shown) * block + (len(_LATER) + (len(lines) > len(shown))) * LINE + 8
    drawing = Drawing("transitions", height)
    drawing.text(0, LINE - 3, f"share of pairs, from {states}", "bb-axis", room=WIDTH)
    told = []
    y = LINE
    for line in shown:
        transform = line["transform"] or "no transform"
        n = counted(line["pairs"], "pair")
        drawing.text(0, y + LINE, transform, "bb-label", room=WIDTH - 8.0 * len(n))
        drawing.text(WIDTH, y + LINE, n, "bb-tick", anchor="end")
        _bar(drawing, line, y + LINE + 4)
        numbers = ", ".join(f"{count(line[part])} {part}" for part in _LATER if line[part])
        drawing.text(0, y + 2 * LINE + _BAR + 3, numbers, "bb-tick", room=WIDTH)
        told.append(f"{transform}: of {count(line['pairs'])} pairs {numbers}.")
        y += block
    y += LINE + 2
    if len(lines) > len(shown):
        drawing.text(0, y, f"{len(lines) - len(shown)} more transforms are in the table.", "bb-tick")
        y += LINE
    for part, meaning in _LATER.items():
        drawing.rect(2, y - 10, 12, 10, f"bb-part bb-{part}")
        drawing.text(20, y, meaning, "bb-tick", room=WIDTH - 20)
        y += LINE
    return drawing.markup(f"Detections inside pairs, {states}: {name}", " ".join(told))


def _bar(drawing: Drawing, line: Line, y: float) -> None:
    """Draw a bar of parts, each with its first letter where there is room."""
    x = 0.0
    for part in _LATER:
        width = line[part] / line["pairs"] * WIDTH
        drawing.rect(x, y, width - 1 if width > 2 else width, _BAR, f"bb-part bb-{part}")
        if width >= 14:
            css = "bb-letter bb-on-pale" if part in _PALE else "bb-letter"
            drawing.text(x + width / 2, y + _BAR - 4, part[0].upper(), css, anchor="middle")
        x += width

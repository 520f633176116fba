"""Plots of distributions: how numbers are spread by state, and whether scores mean what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from pytest_benchbench.reports.html.axes import LEFT, LINE, RIGHT, Ground, count_axis
from pytest_benchbench.reports.html.svg import WIDTH, Drawing, count, counted, number
from pytest_benchbench.statistics.intervals import wilson_interval

Line = Mapping[str, Any]

_QUANTITIES = {"score": "score", "message_bit_accuracy": "share of message bits that are right"}

_PANEL = 64.0

STATES = 12
"""How many states a histogram shows; the others are counted."""


def histogram_svg(lines: Sequence[Line], name: str) -> Markup:
    """Draw how one number is spread, a panel for each state over one common axis.

    Args:
        lines: Of ``results.histograms``, those of one series and one quantity.
        name: What to call the series.

    Returns:
        A plot of counts of rows; empty where there is no row.
    """
    lines = [line for line in lines if sum(line["counts"])]
    if not lines:
        return Markup()
    quantity = str(_QUANTITIES.get(lines[0]["quantity"]) or lines[0]["quantity"])
    left_out, lines = len(lines[STATES:]), lines[:STATES]
    low, high = min(line["edges"][0] for line in lines), max(line["edges"][-1] for line in lines)
    panel = _PANEL + LINE + 12
    drawing = Drawing("histogram", LINE + len(lines) * panel + (2 + (left_out > 0)) * LINE)
    drawing.text(0, LINE - 3, "rows", "bb-axis")
    told = []
    for place, line in enumerate(lines):
        top = LINE + place * panel + LINE + 4
        most, named = count_axis(max(line["counts"]))
        ground = Ground(drawing, top, top + _PANEL, low, high, most)
        rows = sum(line["counts"])
        state = line["state"] or "no state"
        drawing.text(LEFT, top - 5, state, "bb-label", room=RIGHT - LEFT - 100)
        drawing.text(RIGHT, top - 5, counted(rows, "row"), "bb-tick", anchor="end")
        ground.horizontals(named)
        _bars(ground, line)
        told.append(f"{state}: {count(rows)} rows, {_fullest(line)}.")
    ground.verticals(quantity)
    if left_out:
        ground.title_below(f"{left_out} more states are in report.json", ground.bottom + 3 * LINE + 2)
    return drawing.markup(f"Spread of the {quantity}: {name}", " ".join(told))


def _bars(ground: Ground, line: Line) -> None:
    for low, high, rows in zip(line["edges"][:-1], line["edges"][1:], line["counts"], strict=True):
        if rows:
            left, right = ground.x(low), ground.x(high)
            # a single row among millions stays visible
            height = max(ground.bottom - ground.y(rows), 1.0)
            ground.drawing.rect(left + 0.5, ground.bottom - height, max(right - left - 1, 1.0), height, "bb-bar")


def _fullest(line: Line) -> str:
    most = max(line["counts"])
    place = line["counts"].index(most)
    return f"most of them, {count(most)}, from {number(line['edges'][place])} to {number(line['edges'][place + 1])}"


def reliability_svg(line: Line, name: str) -> Markup:
    """Draw, for each tenth of the scores, how many of the rows should have been detected, with a 95 % Wilson interval.

    Args:
        line: Of ``results.reliability``.
        name: What to call the series.

    Returns:
        A plot of shares; empty where there is no row.
    """
    bins = [each for each in line["bins"] if each["n"]]
    if not bins:
        return Markup()
    drawing = Drawing("reliability", 290 + LINE)
    ground = Ground(drawing, 2 * LINE + 24, 254)
    drawing.text(0, LINE - 3, "share of rows that should be detected; line: 95 % interval", "bb-axis", room=WIDTH)
    ground.horizontals([0, 0.2, 0.4, 0.6, 0.8, 1])
    drawing.line((ground.x(0), ground.y(0)), (ground.x(1), ground.y(1)), "bb-ideal")
    drawing.text(LEFT - 5, ground.top - 10, "rows", "bb-tick", anchor="end")
    told = []
    for each in bins:
        k, n = each["detected_expected"], each["n"]
        x, y = ground.x(each["mean_score"]), ground.y(k / n)
        interval = wilson_interval(k, n)
        assert interval is not None
        drawing.line((x, ground.y(interval[0])), (x, ground.y(interval[1])), "bb-interval")
        said = f"mean score {number(each['mean_score'])}: {count(k)} of {count(n)} rows should be detected"
        drawing.mark("circle", x, y, "bb-first", said)
        centre = ground.x(each["low"] / 2 + each["high"] / 2)
        drawing.text(centre, ground.top - 10, _short(n), "bb-tick", anchor="middle", room=(RIGHT - LEFT) / 10)
        told.append(f"{said}.".capitalize())
    ground.verticals("mean score; dotted: scores mean what they say")
    rows = sum(each["n"] for each in bins)
    return drawing.markup(f"Reliability of the scores: {name}", f"{count(rows)} rows. {' '.join(told)}")


def _short(rows: int) -> str:
    """Write a number of rows in five characters."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if rows >= 10 * size:
            return f"{rows // size}{unit}" if rows < 10**13 else number(float(rows))
    return str(rows)

"""Plots of what is measured along something: robustness over the strength of an attack, and the time of calls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from pytest_benchbench.reports.html.axes import LEFT, LINE, RIGHT, Ground, legend
from pytest_benchbench.reports.html.svg import WIDTH, Drawing, Point, count, counted, number

POINTS = 40
"""How many points of a curve are drawn."""

Line = Mapping[str, Any]

_RATE, _BITS = "detected_rate_of_artifacts", "message_bit_accuracy"

_PERCENTILES = {"p50_ms": ("circle", "p50"), "p90_ms": ("square", "p90"), "p95_ms": ("diamond", "p95")}

_LABEL = 34.0
"""Units that the label of a point has at least."""


def robustness_svg(line: Line, name: str) -> Markup:
    """Draw how often a mark is recognised, and how many bits of its message, along the strength of an attack.

    Points stand at equal distances in the order of the report: strengths of many attacks have no common unit.

    Args:
        line: Of ``results.robustness``.
        name: What to call the series.

    Returns:
        A curve with its 95 % band, which allows for several artifacts of one base where there are such, and median, least
        and greatest bit accuracy; empty where nothing was measured.
    """
    measured = [point for point in line["points"] if point[_RATE]["n"] or (point[_BITS] or {}).get("n")]
    if not measured:
        return Markup()
    points = measured[:POINTS]
    has_bits = any(point[_BITS] and point[_BITS]["n"] for point in points)
    drawing = Drawing("robustness", 250 + (4 + has_bits) * LINE)
    ground = Ground(drawing, 2 * LINE, 220, -0.5, len(points) - 0.5)
    drawing.text(0, LINE - 3, "share, 0 to 1", "bb-axis")
    ground.horizontals([0, 0.2, 0.4, 0.6, 0.8, 1])
    _rates(ground, points)
    if has_bits:
        _bits(ground, points)
    _point_labels(ground, points)
    order = "weak to strong" if line["strength_order"] == "weak_to_strong" else "by number"
    left_out = f"; {len(measured) - POINTS} more in report.json" if len(measured) > POINTS else ""
    title = f"strength of {line['family']}, {order}, not to scale{left_out}"
    ground.title_below(title, ground.bottom + 3 * LINE + 6)
    entries = [("circle", "bb-first", "detected share of artifacts; band: 95 % interval")]
    if has_bits:
        entries.append(("square", "bb-second", "median share of right bits; lines: least to greatest"))
    legend(drawing, ground.bottom + 4 * LINE + 14, entries)
    carriers = line["carriers"]
    told = [f"{point['attack'] or 'Marked'}: {_told(point)}." for point in points]
    carried = f"{count(carriers)} carrier{'' if carriers == 1 else 's'}"
    return drawing.markup(f"Robustness against {line['family']}, {carried}: {name}", " ".join(told))


def _rates(ground: Ground, points: Sequence[Line]) -> None:
    """Draw band, line, intervals and marks; where a point has no rate the curve is interrupted."""
    for run in _runs(points, lambda point: point[_RATE]["n"] > 0):
        bounds = [(ground.x(place), *_interval(points[place])) for place in run]
        lows = [(x, ground.y(low)) for x, low, _ in bounds]
        highs = [(x, ground.y(high)) for x, _, high in bounds]
        middle = [(ground.x(place), ground.y(points[place][_RATE]["rate"])) for place in run]
        if len(run) > 1:
            ground.drawing.polygon([*highs, *reversed(lows)], "bb-band")
            ground.drawing.polyline(middle, "bb-curve bb-first")
        for low, high in zip(lows, highs, strict=True):
            ground.drawing.line(low, high, "bb-interval")
        for place, (x, y) in zip(run, middle, strict=True):
            ground.drawing.mark("circle", x, y, "bb-first", f"{_strength(points[place])}: {_told(points[place])}")


def _interval(point: Line) -> tuple[float, float]:
    """Give the bounds of a point's rate: those that allow for several artifacts of one base where there are such."""
    if clustered := point.get("clustered95"):
        return clustered["low"], clustered["high"]
    return point[_RATE]["wilson95_low"], point[_RATE]["wilson95_high"]


def _bits(ground: Ground, points: Sequence[Line]) -> None:
    for run in _runs(points, lambda point: bool(point[_BITS] and point[_BITS]["n"])):
        middle: list[Point] = []
        for place in run:
            bits = points[place][_BITS]
            x = ground.x(place) + 3  # beside the interval of the rate
            ground.drawing.line((x, ground.y(bits["min"])), (x, ground.y(bits["max"])), "bb-range")
            middle.append((x, ground.y(bits["median"])))
        if len(run) > 1:
            ground.drawing.polyline(middle, "bb-curve bb-second")
        for place, (x, y) in zip(run, middle, strict=True):
            ground.drawing.mark("square", x, y, "bb-second", f"{_strength(points[place])}: {_told(points[place])}")


def _runs(points: Sequence[Line], holds: Any) -> list[list[int]]:
    """Give the places of neighbouring points of which something holds."""
    runs: list[list[int]] = [[]]
    for place, point in enumerate(points):
        if holds(point):
            runs[-1].append(place)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _point_labels(ground: Ground, points: Sequence[Line]) -> None:
    """Write strength and number of artifacts below points, below each if there is room."""
    distance = (RIGHT - LEFT) / len(points)
    every = math.ceil(_LABEL / distance)
    ground.drawing.text(LEFT - 22, ground.bottom + 2 * LINE, "n", "bb-tick", anchor="end")
    for place in range(0, len(points), every):
        room = distance * every - 4
        ground.below(ground.x(place), _strength(points[place]), room)
        artifacts = count(points[place][_RATE]["n"])
        ground.drawing.text(ground.x(place), ground.bottom + 2 * LINE, artifacts, "bb-tick", anchor="middle", room=room)


def _strength(point: Line) -> str:
    return "none" if point["strength"] is None else number(point["strength"])


def _told(point: Line) -> str:
    rate, bits = point[_RATE], point[_BITS]
    said = f"{count(rate['k'])} of {count(rate['n'])} artifacts detected"
    return f"{said}, median share of right bits {number(bits['median'])}" if bits and bits["n"] else said


def latency_svg(line: Line, name: str) -> Markup:
    """Draw what cold and warm calls took, on one logarithmic axis.

    Args:
        line: Of ``timing``: ``cold`` and ``warm``, either may be null.
        name: What to call the adapter.

    Returns:
        Percentiles with the times between which 95 % intervals lie, and the greatest; empty where there was no call.
    """
    calls = {call: line[call] for call in ("cold", "warm") if line.get(call) and line[call]["n"]}
    if not calls:
        return Markup()
    low, high = _bounds([time for summary in calls.values() for time in _times(summary)])
    block = 3 * LINE + 12
    drawing = Drawing("latency", LINE + len(calls) * block + 7 * LINE + 4)
    ground = Ground(drawing, LINE, LINE + len(calls) * block, math.log10(low), math.log10(high))
    drawing.text(0, LINE - 3, "calls of the adapter", "bb-axis")
    told = []
    for place, (call, summary) in enumerate(calls.items()):
        y = ground.top + place * block + LINE
        numbers = ", ".join(f"{name_} {number(summary[key])} ms" for key, name_ in _names())
        drawing.text(0, y, call, "bb-label")
        drawing.text(WIDTH, y, counted(summary["n"], "call"), "bb-tick", anchor="end")
        _row(ground, summary, y + LINE - 1, low)
        drawing.text(0, y + 2 * LINE + 4, numbers, "bb-tick", room=WIDTH)
        told.append(f"{call}, {count(summary['n'])} calls: {numbers}.".capitalize())
    for value in _decades(low, high):
        ground.below(ground.x(math.log10(value)), number(value))
    ground.title_below("wall time of a call in ms (logarithmic)", ground.bottom + 2 * LINE + 2)
    marks = [(shape, "bb-first", said) for shape, said in _PERCENTILES.values()]
    entries = [
        *((shape, css, f"{said}; line: 95 % interval") for shape, css, said in marks),
        ("triangle", "bb-second", "max"),
    ]
    legend(drawing, ground.bottom + 3 * LINE + 6, entries)
    return drawing.markup(f"Time of calls: {name}", " ".join(told))


def _names() -> list[tuple[str, str]]:
    return [*((key, said) for key, (_, said) in _PERCENTILES.items()), ("max_ms", "max")]


def _row(ground: Ground, summary: Line, y: float, low: float) -> None:
    ground.drawing.line((LEFT, y), (RIGHT, y), "bb-grid")

    def x(time: float) -> float:
        return ground.x(math.log10(max(time, low)))

    for key in _PERCENTILES:
        if interval := (summary.get("intervals") or {}).get(key):
            ground.drawing.line((x(interval["low_ms"]), y), (x(interval["high_ms"]), y), "bb-interval")
    for key, (shape, said) in _PERCENTILES.items():
        ground.drawing.mark(shape, x(summary[key]), y, "bb-first", f"{said}: {number(summary[key])} ms")
    ground.drawing.mark("triangle", x(summary["max_ms"]), y, "bb-second", f"max: {number(summary['max_ms'])} ms")


def _times(summary: Line) -> list[float]:
    intervals = [interval for interval in (summary.get("intervals") or {}).values() if interval]
    bounds = [interval[end] for interval in intervals for end in ("low_ms", "high_ms")]
    return [summary[key] for key, _ in _names()] + bounds


def _bounds(times: Sequence[float]) -> tuple[float, float]:
    """Give positive bounds of a logarithmic axis that hold all positive times; what took no time stands at the lower one."""
    positive = [time for time in times if time > 0] or [1.0]
    low, high = min(positive), max(positive)
    return (low, high) if low < high else (max(low / 2, 5e-324), min(high * 2, 1.7e308))


def _decades(low: float, high: float) -> list[float]:
    """Choose at most seven powers of ten, and the bounds where there are less than two."""
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    every = max(1, math.ceil((last - first) / 6))
    powers = [10.0**power for power in range(first, last + 1, every) if 10.0**power > 0]
    return powers if len(powers) > 1 else [low, high]

"""The operating characteristic of a gate as an SVG file of its own: the chance to pass over the true error rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_benchbench.reports.html.axes import LINE, Ground, legend
from pytest_benchbench.reports.html.plots import plots_css
from pytest_benchbench.reports.html.svg import WIDTH, Drawing, number

Point = Mapping[str, float]

_PANEL = 170.0

_ROOM = 1.03
"""How far the ground goes beyond the last rate, whose label would be cut otherwise."""

_CURVES = {"pass_class": ("circle", "bb-first"), "pass_all": ("square", "bb-second")}


def power_svg(document: Mapping[str, Any]) -> str:
    """Draw both curves of each class.

    Args:
        document: What ``power_document`` gave.

    Returns:
        A whole SVG file, with its own style, legible in light and dark.
    """
    curves, bases, rates = document["characteristic"], document["bases"], document["rates"]
    panels = [
        ("false_positive", "false-positive rate", "real", f"miss rate {rates['miss']:g}"),
        ("miss", "miss rate", "AI", f"false-positive rate {rates['false_positive']:g}"),
    ]
    block = _PANEL + 7 * LINE
    drawing = Drawing("power", len(panels) * block + 2 * LINE)
    name = f"Policy {document['policy']['name']}, {bases['real']} real and {bases['ai']} AI bases"
    drawing.text(0, LINE, name, room=WIDTH)
    told = []
    for place, (key, title, about, other) in enumerate(panels):
        points: Sequence[Point] = curves[key]
        top = place * block + 3.5 * LINE
        ground = Ground(drawing, top, top + _PANEL, 0.0, points[-1]["rate"] * _ROOM)
        ground.horizontals([0, 0.2, 0.4, 0.6, 0.8, 1], "chance to pass")
        for which, (shape, css) in _CURVES.items():
            _curve(ground, points, which, shape, css)
        ground.verticals(f"true {title} of a derivative")
        entries = [("circle", "bb-first", f"rules about {about} bases"), ("square", "bb-second", f"all rules, {other}")]
        legend(drawing, ground.bottom + 3 * LINE + 8, entries)
        told.append(f"{title}: " + ", ".join(f"{number(point['rate'])}: {point['pass_all']:.4f}" for point in points) + ".")
    return str(drawing.markup(f"Chance to pass: {name}", " ".join(told), style=_style())) + "\n"


def _curve(ground: Ground, points: Sequence[Point], key: str, shape: str, css: str) -> None:
    places = [(ground.x(point["rate"]), ground.y(point[key])) for point in points]
    ground.drawing.polyline(places, f"bb-curve {css}")
    for point, (x, y) in zip(points, places, strict=True):
        ground.drawing.mark(shape, x, y, css, f"{number(point['rate'])}: {point[key]:.4f}")


def _style() -> str:
    """Give the page's colours and the look of plots, and the ground of a file that stands alone."""
    page = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    alone = f".bb-plot {{ background: var(--bg); font-family: sans-serif; max-width: {WIDTH * 2}px; }}"
    return f"{page[: page.index('* {')]}{plots_css()}{alone}"

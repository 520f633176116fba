"""The elements of a plot as SVG that is part of the page: no colours, no ids, no numbers that are not finite.

Own SVG and no plotting library, for what a page needs: matplotlib (3.10, its SVG backend) writes 10 to 20 KB for a curve of
eight points, with colours inside that neither dark mode nor a printer can change, letters as paths that nobody can select or
have read aloud or else in its own font, and other ids each time; it takes 35 MB besides what it needs. These plots take 2 to
8 KB, are styled by ``plots.css`` alone and depend on the report alone.

What may be seen is told by classes, all beginning with ``bb-``; ``plots.css`` says which there are and gives each a look.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from pytest_benchbench.reports.escaping import plain

WIDTH = 420
"""Units of a plot's width; text has 12, so that it can be read where a plot is 340 pixels wide."""

_CHARACTER, _BOLD_CHARACTER = 6.4, 7.2
"""Units of a character's width, on average, in a sans-serif font of 12."""

_BOLD = frozenset({"bb-label", "bb-value"})

Point = tuple[float, float]


class Drawing:
    """A plot that grows element by element, in the order in which they are painted.

    Args:
        kind: What it is, for the class ``bb-plot-KIND``.
        height: Units of its height.
    """

    def __init__(self, kind: str, height: float) -> None:
        self._kind = kind
        self._height = height
        self._elements: list[Markup] = []

    def text(
        self, x: float, y: float, content: str, css: str = "bb-label", *, anchor: str = "start", room: float = 0
    ) -> None:
        """Write text on a base line.

        Args:
            x: Where it begins, ends or has its middle.
            y: Its base line.
            content: What it says; foreign text is made harmless.
            css: Its classes.
            anchor: ``start``, ``middle`` or ``end``.
            room: Units that it may take; what is longer is cut, and told whole to who points at it. 0 for no bound.
        """
        whole = plain(content)
        shown = shortened(whole, room, _BOLD_CHARACTER if css in _BOLD else _CHARACTER) if room else whole
        title = Markup("<title>{}</title>").format(whole) if shown != whole else Markup()
        element = Markup('<text class="{}" x="{}" y="{}" text-anchor="{}">{}{}</text>')
        self._elements.append(element.format(css, _unit(x), _unit(y), anchor, shown, title))

    def line(self, start: Point, end: Point, css: str) -> None:
        """Draw a line."""
        (x1, y1), (x2, y2) = start, end
        element = Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>')
        self._elements.append(element.format(css, _unit(x1), _unit(y1), _unit(x2), _unit(y2)))

    def rect(self, x: float, y: float, width: float, height: float, css: str) -> None:
        """Draw a rectangle; nothing where a side is 0."""
        if width > 0 and height > 0:
            element = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>')
            self._elements.append(element.format(css, _unit(x), _unit(y), _unit(width), _unit(height)))

    def polyline(self, points: Iterable[Point], css: str) -> None:
        """Draw lines from point to point."""
        self._elements.append(Markup('<polyline class="{}" points="{}"/>').format(css, _points(points)))

    def polygon(self, points: Iterable[Point], css: str) -> None:
        """Draw an area."""
        self._elements.append(Markup('<polygon class="{}" points="{}"/>').format(css, _points(points)))

    def mark(self, shape: str, x: float, y: float, css: str, told: str) -> None:
        """Put a mark on a point.

        Args:
            shape: ``circle``, ``square``, ``diamond`` or ``triangle``.
            x: The point.
            y: The point.
            css: Its classes, besides ``bb-mark``.
            told: What is told to who points at it.
        """
        title = Markup("<title>{}</title>").format(plain(told))
        if shape == "circle":
            element = Markup('<circle class="bb-mark {}" cx="{}" cy="{}" r="4">{}</circle>')
            self._elements.append(element.format(css, _unit(x), _unit(y), title))
        else:
            corners = [(x + dx, y + dy) for dx, dy in _CORNERS[shape]]
            element = Markup('<polygon class="bb-mark {}" points="{}">{}</polygon>')
            self._elements.append(element.format(css, _points(corners), title))

    def markup(self, title: str, description: str, style: str = "") -> Markup:
        """Give the whole plot.

        Args:
            title: Its name, for who cannot see it.
            description: What it shows, in numbers, for who cannot see it.
            style: A style sheet of this package, for a plot that is no part of a page.
        """
        element = Markup(
            '<svg xmlns="http://www.w3.org/2000/svg" class="bb-plot bb-plot-{}" viewBox="0 0 {} {}" role="img">'
            "<title>{}</title><desc>{}</desc>{}</svg>"
        )
        inside = [Markup(f"<style>{style}</style>"), *self._elements] if style else self._elements  # noqa: S704 - our own file
        return element.format(
            self._kind, WIDTH, _unit(self._height), plain(title), plain(description), Markup().join(inside)
        )


_CORNERS: dict[str, Sequence[Point]] = {
    "square": ((-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)),
    "diamond": ((0, -5), (5, 0), (0, 5), (-5, 0)),
    "triangle": ((0, -5), (4.5, 3.5), (-4.5, 3.5)),
}


def shortened(text: str, room: float, character: float) -> str:
    """Cut a text that is wider than its room, an ellipsis at its end.

    Args:
        text: The text.
        room: Units that it may take.
        character: Units that a character takes, on average; one of a wide script takes two of them.
    """
    width, fitting = 0.0, 0
    for place, each in enumerate(text, 1):
        width += character * (2.0 if unicodedata.east_asian_width(each) in "WF" else 1.0)
        if width + character <= room:
            fitting = place
    return text if width <= room else f"{text[:fitting]}…"


def number(value: float) -> str:
    """Write a finite number as short as four digits allow."""
    if value == 0:
        return "0"
    return f"{value:.4g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def count(value: int) -> str:
    """Write a whole number, its thousands apart."""
    return f"{value:,}"


def counted(value: int, of: str) -> str:
    """Say how many of something there are: ``n = 2 rows``."""
    return f"n = {count(value)} {of}{'' if value == 1 else 's'}"


def percent(part: int, whole: int) -> str:
    """Write a share; nobody may read 0 % or 100 % where it is not exactly that."""
    if part in (0, whole):
        return "0 %" if not part else "100 %"
    share = 100 * part / whole
    return "< 0.1 %" if share < 0.1 else "> 99.9 %" if share > 99.9 else f"{share:.1f} %"


def position(value: float, low: float, high: float) -> float:
    """Say where a value lies between two others: 0 at ``low``, 1 at ``high``, no farther on either side.

    Halves are taken first, because the difference of two floats may be more than a float holds.
    """
    span = high / 2 - low / 2
    if span <= 0:
        return 0.5
    return min(max((value / 2 - low / 2) / span, 0.0), 1.0)


def ticks(low: float, high: float) -> list[float]:
    """Choose three to six round numbers within bounds; the bounds themselves where floats have nothing round between."""
    span = high / 2 - low / 2
    if not (math.isfinite(span) and span > 0):
        return [low]
    magnitude = 10.0 ** math.floor(math.log10(span))
    for step in (magnitude * factor for factor in (0.2, 0.5, 1.0, 2.0, 5.0)):
        if not 0 < step < math.inf:
            continue
        first, last = math.ceil(low / step), math.floor(high / step)
        if 2 <= last - first <= 5:
            # the division keeps 0.3 from being written 0.30000000000000004
            return [round(place * step, 12) if 1e-6 < step < 1e6 else place * step for place in range(first, last + 1)]
    return [low, high]


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{_unit(x)},{_unit(y)}" for x, y in points)


def _unit(value: float) -> str:
    """Write a length; a tenth of a unit is finer than a screen shows."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text

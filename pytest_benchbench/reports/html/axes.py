"""The ground of a plot: where values lie, the lines that say so, and the words beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_benchbench.reports.html.svg import WIDTH, Drawing, number, position, ticks

LEFT, RIGHT = 44.0, WIDTH - 10.0
"""Where the ground of a plot begins and ends."""

LINE = 15.0
"""Units from one line of text to the next."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A rectangle in which values have places.

    Attributes:
        drawing: What is painted on.
        top: Its upper edge.
        bottom: Its lower edge.
        low: What lies at its left edge.
        high: What lies at its right edge.
        most: What lies at its upper edge; 0 lies at the lower one.
    """

    drawing: Drawing
    top: float
    bottom: float
    low: float = 0.0
    high: float = 1.0
    most: float = 1.0

    def x(self, value: float) -> float:
        """Give the place of a value between left and right."""
        return LEFT + position(value, self.low, self.high) * (RIGHT - LEFT)

    def y(self, value: float) -> float:
        """Give the place of a value between bottom and top."""
        return self.bottom - position(value, 0.0, self.most) * (self.bottom - self.top)

    def horizontals(self, values: Iterable[float], title: str = "") -> None:
        """Draw a line for each value, the value at its left, and above them what they are."""
        for value in values:
            y = self.y(value)
            self.drawing.line((LEFT, y), (RIGHT, y), "bb-grid")
            self.drawing.text(LEFT - 5, y + 4, number(value), "bb-tick", anchor="end", room=LEFT - 5)
        if title:
            self.drawing.text(0, self.top - 9, title, "bb-axis", room=WIDTH)

    def verticals(self, title: str) -> None:
        """Write round values below the ground, and under them what they are."""
        for value in ticks(self.low, self.high):
            self.below(self.x(value), number(value))
        self.title_below(title, self.bottom + 2 * LINE + 2)

    def below(self, x: float, label: str, room: float = 0) -> None:
        """Write one label below the ground, with a stroke that leads to it."""
        self.drawing.line((x, self.bottom), (x, self.bottom + 4), "bb-grid")
        self.drawing.text(x, self.bottom + LINE, label, "bb-tick", anchor="middle", room=room)

    def title_below(self, title: str, y: float) -> None:
        """Write what lies along the ground."""
        self.drawing.text((LEFT + RIGHT) / 2, y, title, "bb-axis", anchor="middle", room=RIGHT - LEFT)


def legend(drawing: Drawing, y: float, entries: Sequence[tuple[str, str, str]]) -> float:
    """Explain marks, one a line.

    Args:
        drawing: What is painted on.
        y: The first base line.
        entries: Shape, classes and meaning of each.

    Returns:
        The base line after the last.
    """
    for shape, css, meaning in entries:
        drawing.mark(shape, 8, y - 4, css, meaning)
        drawing.text(20, y, meaning, "bb-tick", room=WIDTH - 20)
        y += LINE
    return y


def count_axis(most: int) -> tuple[float, list[int]]:
    """Choose the upper end of an axis of counts, and the counts that it names."""
    return float(max(most, 1)), [0, max(most, 1)]

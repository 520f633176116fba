"""All plots of a report: ``report_plots(document)`` gives them by section; the functions draw one each.

A plot is SVG inside the page, see ``svg``; ``plots.css`` (``plots_css()``) gives it its look, from the page's own colours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import groupby
from typing import Any

from markupsafe import Markup

from pytest_benchbench.reports.html.count_plots import confusion_svg as confusion_svg, transitions_svg as transitions_svg
from pytest_benchbench.reports.html.curve_plots import latency_svg as latency_svg, robustness_svg as robustness_svg
from pytest_benchbench.reports.html.distribution_plots import (
    histogram_svg as histogram_svg,
    reliability_svg as reliability_svg,
)
from pytest_benchbench.reports.ordering import sort_key

LIMIT = 24
"""How many plots of a section a page shows; the others are counted."""

Line = Mapping[str, Any]

_SERIES = ("suite", "params", "adapter")


@dataclass(frozen=True, slots=True)
class Plots:
    """The plots of one section.

    Attributes:
        shown: At most ``LIMIT``, in the order of the report; each says by itself what it is about.
        left_out: How many groups of lines are not drawn.
    """

    shown: tuple[Plot, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot.

    Attributes:
        caption: What it is about: the adapter, and what else tells it from the others of its section. Plain text.
        svg: The plot.
    """

    caption: str
    svg: Markup


def report_plots(document: Mapping[str, Any]) -> dict[str, Plots]:
    """Draw the plots of a report.

    Args:
        document: ``report.json``. A section that it does not have is one without lines.

    Returns:
        By section: ``confusion``, ``transitions``, ``robustness``, ``histograms``, ``reliability``, ``timing`` and
        ``batch_timing``, in this order; a section without a plot is absent.
    """
    results = document["results"]
    plots = {}
    for name, section in _SECTIONS.items():
        if found := _limited(_of_groups(results.get(name) or [], section)):
            plots[name] = found
    calls = (document.get("timing") or {}).items()
    if found := _limited((adapter, partial(latency_svg, line)) for adapter, line in calls):
        plots["timing"] = found
    shared = (document.get("batch_timing") or {}).items()
    if found := _limited((f"{adapter}, whole batches", partial(latency_svg, _per_batch(line))) for adapter, line in shared):
        plots["batch_timing"] = found
    return plots


def _per_batch(line: Line) -> Line:
    return {call: batches and batches["per_batch"] for call, batches in line.items()}


def plots_css() -> str:
    """Give the style sheet of the plots."""
    return files(__package__).joinpath("plots.css").read_text(encoding="utf-8")


def _limited(groups: Iterator[tuple[str, Callable[[str], Markup]]]) -> Plots | None:
    """Draw groups of lines, each under its caption, until there are enough plots."""
    shown: list[Plot] = []
    left_out = 0
    for caption, draw in groups:
        if len(shown) == LIMIT:
            left_out += 1
        elif svg := draw(caption):
            shown.append(Plot(caption, svg))
    return Plots(tuple(shown), left_out) if shown else None


def _of_groups(lines: Sequence[Line], section: _Section) -> Iterator[tuple[str, Callable[[str], Markup]]]:
    """Give what belongs together, the lines of one series that agree in some properties: its caption, and what draws it."""
    has_suites = len({line["suite"] for line in lines}) > 1
    by = (*_SERIES, *section.facets)
    # sorting is stable: the order of the report stays inside each group
    ordered = sorted(lines, key=lambda line: sort_key(line[name] for name in by))
    for _, group in groupby(ordered, key=lambda line: tuple(line[name] for name in by)):
        belonging = list(group)
        told = section.told.format_map(belonging[0]).replace("_", " ")
        yield f"{_series_name(belonging[0], has_suites=has_suites)}{told}", partial(section.draw, belonging)


def _series_name(line: Line, *, has_suites: bool) -> str:
    params = f"[{line['params']}]" if line["params"] else ""
    suite = f"{line['suite']}::" if has_suites else ""
    return f"{suite}{line['adapter']}{params}"


def _alone(draw: Callable[[Line, str], Markup]) -> Callable[[list[Line], str], Markup]:
    """Draw each line of a report by itself: there is one for each group."""
    return lambda lines, name: draw(lines[0], name)


@dataclass(frozen=True, slots=True)
class _Section:
    """What a section's plots are.

    Attributes:
        facets: What tells them apart, besides the series.
        told: How a caption tells it.
        draw: Draws one.
    """

    facets: tuple[str, ...]
    told: str
    draw: Callable[[list[Line], str], Markup]


_SECTIONS = {
    "confusion": _Section((), "", confusion_svg),
    "transitions": _Section(("from", "to"), ", {from} to {to}", transitions_svg),
    "robustness": _Section(("media_type", "family"), ", {family} ({media_type})", _alone(robustness_svg)),
    "histograms": _Section(("quantity",), ", {quantity}", histogram_svg),
    "reliability": _Section((), "", _alone(reliability_svg)),
}

"""A reproduction as plain lines for a terminal. Nothing is computed here: every number is in the document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from pytest_benchbench.reports.detector_figures import Identity
from pytest_benchbench.reports.detector_outcomes import identity_text
from pytest_benchbench.reports.escaping import plain


def reproduction_lines(document: Mapping[str, Any]) -> list[str]:
    """Say whether two runs agree.

    Args:
        document: What ``reproduction`` gave.

    Returns:
        Lines without line ends and without control characters.
    """
    return [plain(line) for line in _lines(document)]


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    if document["banner"] is not None:
        yield document["banner"]
    golden = document["goldenSet"]
    yield f"{golden['name']} {golden['version']} {golden['sha256'][:12]}, {document['split']}"
    for side in ("published", "mine"):
        run = document[side]
        commit = "no commit" if run["commit"] is None else f"commit {run['commit'][:12]}"
        yield f"  {side}: {run['id']}, {run['started']}, {commit}"
    for detector in document["detectors"]:
        yield from _detector(detector, document["tolerance"])
    yield from (f"not compared: {each['reason']}" for each in document["notCompared"])
    yield from (f"note: {note}" for note in document["notes"])
    if outside := document["outside"]:
        listed = ", ".join(f"{each['alias']} {each['metric']}" for each in outside)
        yield f"outside {document['tolerance']:g} points: {listed}"
    else:
        yield f"all figures agree within {document['tolerance']:g} points"


def _detector(detector: Mapping[str, Any], tolerance: float) -> Iterator[str]:
    mine = "" if detector["mine"] == detector["published"] else f" (yours: {detector['mine']})"
    yield f"{detector['published']}{mine}: {identity_text(msgspec.convert(detector['identity'], Identity))}"
    for metric, figures in detector["metrics"].items():
        yield f"  {metric}: {_figures(figures, tolerance)}"


def _figures(figures: Mapping[str, Any], tolerance: float) -> str:
    sides = " -> ".join(_rate(figures[side]) for side in ("published", "mine"))
    if figures["pairs"] is None:
        return f"{sides}; no such sample was scored by both"
    verdict = "within" if figures["within"] else "OUTSIDE"
    pairs = figures["pairs"]
    bounds = f"95 % {figures['pointsLower']:+.1f} to {figures['pointsUpper']:+.1f}"
    told = f"{figures['points']:+.1f} points on {pairs['n']} samples of both ({bounds}), {verdict} {tolerance:g}"
    return f"{sides}; {told}; {_chance(figures, tolerance)}"


def _chance(figures: Mapping[str, Any], tolerance: float) -> str:
    pairs = figures["pairs"]
    anew = (
        f"an unchanged detector that answers anew each time lies further apart than {tolerance:g} points "
        f"with probability {figures['byChance']:.2g}"
    )
    if figures["p"] is None:
        return f"no sample differs; {anew}"
    told = "chance alone may explain it" if figures["chance"] else "more than chance"
    return f"{pairs['lost']} lost, {pairs['gained']} gained, p {figures['p']:.2g}: {told}; {anew}"


def _rate(rate: Mapping[str, Any]) -> str:
    return "-" if rate["value"] is None else f"{rate['k']} of {rate['n']} = {rate['value']:.3f}"

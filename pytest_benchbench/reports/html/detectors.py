"""Figures of text detectors as sections of a page: one for each golden set and run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_benchbench.reports.detector_figures import BUCKETS
from pytest_benchbench.reports.detector_lines import (
    BUCKET_NAMES,
    CELLS,
    COUNT_NAMES,
    COUNTS,
    RATES,
    RULE,
    TIMES,
    golden_sets_of,
    identity_fields,
    percentile_text,
    set_name,
    table_rate,
    threshold_text,
)
from pytest_benchbench.reports.html.view import (
    Field,
    Line,
    Section,
    Table,
    cell,
    rate_fields,
    shown,
    table_of,
    value_field,
)

if TYPE_CHECKING:
    from pytest_benchbench.reports.html.plots import Plots

_TITLES = {"fpr": "false-positive rate", "tpr": "true-positive rate", "humanizerBypass": "humanizer bypass"}


def detector_sections(document: Line) -> Iterator[Section]:
    """Give a section for each golden set that a report has.

    Args:
        document: The report.
    """
    sets = zip(golden_sets_of(document["results"]), document.get("detector_timing") or (), strict=True)
    for number, (found, timing) in enumerate(sets):
        name = shown(set_name(found))
        notes = [f"{shown(found['banner'])}."] if found.get("banner") else []
        tables = list(_tables(f"detectors-{number}", found, timing["detectors"]))
        yield Section(f"detectors-{number}", f"Text detectors: {name}", [*notes, RULE], _plots(found), tables)


def _tables(id_: str, found: Line, times: Line) -> Iterator[Table]:
    detectors: Sequence[Line] = found["detectors"]
    named = [{"detector": line["alias"], **identity_fields(line["identity"])} for line in detectors]
    who = [value_field(name, is_optional=name != "detector") for name in (named[0] if named else ())]
    yield table_of(f"{id_}-who", "What answered", named, who)
    yield table_of(f"{id_}-figures", "At the threshold", detectors, [_ALIAS, *_counts(), *_figures(RATES)])
    categories = [
        {"alias": line["alias"], "category": category, **figures}
        for line in detectors
        for category, figures in line["byCategory"].items()
    ]
    of_category = [_ALIAS, value_field("category"), value_field("n", "samples"), value_field("scored"), *_cells()]
    yield table_of(f"{id_}-categories", "By category", categories, [*of_category, *_figures(("accuracy", "recall", "fpr"))])
    buckets = [
        Field(name, lambda line, place=place: cell(line["histogram"][place]))  # type: ignore[misc]
        for place, name in enumerate(BUCKET_NAMES)
    ]
    note = "Each bucket holds its lower bound, and the last one 100 too."
    yield table_of(f"{id_}-scores", "Scores by bucket", detectors, [_ALIAS, *buckets], note=note)
    yield _times(id_, times)
    yield from _tpr_at_fpr(id_, detectors)
    yield from _common(id_, found["commonSubset"])
    yield from _pairs(id_, found["pairs"])


_ALIAS = value_field("alias", "detector")


def _counts() -> list[Field]:
    return [*(value_field(name, title) for name, title in zip(COUNTS, COUNT_NAMES, strict=True)), *_cells()]


def _cells() -> list[Field]:
    return [Field(name, lambda line, name=name: cell(line["confusion"][name])) for name in CELLS]  # type: ignore[misc]


def _figures(names: Sequence[str]) -> list[Field]:
    rates = [field for name in (*names, "humanizerBypass") for field in _rate(name, _TITLES.get(name, name))]
    return [*rates, Field("F1", lambda line: cell(line["f1"]["value"]))]


def _rate(name: str, title: str, split: str | None = None) -> Iterator[Field]:
    """Show a rate, of a part of the line if ``split`` is given."""
    for field in rate_fields(name, title, f"{title}: 95 % interval"):

        def make(line: Line, field: Field = field) -> Any:
            return field.cell({name: table_rate((line if split is None else line[split])[name])})

        yield Field(field.title, make)


def _times(id_: str, times: Line) -> Table:
    lines = [
        {
            "detector": alias,
            "calls": calls["n"],
            "recorded": calls["recorded"],
            "p50 ms": percentile_text(calls["p50"]),
            "p95 ms": percentile_text(calls["p95"]),
            "cold ms": calls["cold"],
            "time unknown": calls["unknown"],
        }
        for alias, calls in times.items()
    ]
    fields = [value_field(name) for name in (lines[0] if lines else ())]
    return table_of(f"{id_}-times", "What calls took", lines, fields, note=TIMES)


def _tpr_at_fpr(id_: str, detectors: Sequence[Line]) -> Iterator[Table]:
    lines = [{"alias": line["alias"], **line["tprAtFpr"]} for line in detectors if "tprAtFpr" in line]
    if lines:
        rates = [
            field
            for split, of in (("tune", "on the tune split"), ("reported", "on this split"))
            for name in ("fpr", "tpr")
            for field in _rate(name, f"{_TITLES[name]} {of}", split)
        ]
        threshold = Field("threshold", lambda line: cell(threshold_text(line)))
        note = f"The threshold is from the tune split: run {shown(lines[0]['tuneRunId'])}."
        title = f"At a false-positive rate of {lines[0]['targetFpr']:g}"
        yield table_of(f"{id_}-tpr", title, lines, [_ALIAS, threshold, *rates], note=note)


def _common(id_: str, common: Line) -> Iterator[Table]:
    if len(common["detectors"]) < 2:
        return
    title = f"On the {common['n']} samples that all detectors scored"
    silent = f"Left out, since they scored nothing: {shown(', '.join(common['silent']))}." if common["silent"] else ""
    yield table_of(f"{id_}-common", title, common["detectors"], [_ALIAS, *_cells(), *_figures(RATES)], note=silent)
    if common["excluded"]:
        fields = [value_field("id", "sample"), value_field("detectors", "no score of")]
        yield table_of(f"{id_}-excluded", "Samples that not all detectors scored", common["excluded"], fields)


def _pairs(id_: str, pairs: Sequence[Line]) -> Iterator[Table]:
    if pairs:
        names: Mapping[str, str] = {
            "a": "A",
            "b": "B",
            "n": "samples",
            "both": "both right",
            "onlyA": "only A",
            "onlyB": "only B",
            "neither": "neither",
            "difference": "accuracy A - B",
            "lower": "lower",
            "upper": "upper",
            "p": "p (McNemar)",
            "adjustedP": "adjusted p (Holm)",
        }
        yield table_of(f"{id_}-pairs", "Declared pairs", pairs, [value_field(name, title) for name, title in names.items()])


def _plots(found: Line) -> Plots | None:
    from pytest_benchbench.reports.html.plots import Plot, Plots, histogram_svg

    edges = [10 * place for place in range(BUCKETS + 1)]
    lines = [
        {"quantity": "score", "state": line["alias"], "edges": edges, "counts": line["histogram"]}
        for line in found["detectors"]
    ]
    svg = histogram_svg(lines, set_name(found))
    return Plots((Plot(set_name(found), svg),), 0) if svg else None

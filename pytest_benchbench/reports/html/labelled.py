"""Figures of labelled rows as sections of a page: one for each adapter and split."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_benchbench.reports.evaluation_markdown import (
    QUANTITIES,
    WARNINGS,
    derivative,
    lacking_bases,
    scores_of,
    told_series,
)
from pytest_benchbench.reports.html.view import (
    Cell,
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

_NOTE = (
    "An image is called AI when its score is at least the threshold. Rows without a score are counted apart. A base has one "
    "outcome: it succeeds when every required derivative has a score on the right side, so that one that is missing or "
    "failed fails it, real or AI alike. The worst slices come first."
)


def evaluation_sections(results: Line) -> Iterator[Section]:
    """Give a section for each series of labelled rows that a report has.

    Args:
        results: The section ``results`` of a report.
    """
    evaluation: Line = results.get("evaluation") or {"series": ()}
    series = evaluation["series"]
    for number, line in enumerate(series):
        name = told_series(line, series)
        notes = [f"{_NOTE} The threshold is {evaluation['threshold']}."]
        if line["refused"] is not None:
            notes.append(f"No figures: {shown(line['refused'])}.")
        notes += [
            f"{QUANTITIES[quantity]}: {WARNINGS[warning]}; its figures say little."
            for quantity, found in scores_of(line)
            for warning in found["distribution"]["warnings"]
        ]
        notes += [
            f"{QUANTITIES[quantity]}: {lacking}."
            for quantity, found in scores_of(line)
            if (lacking := lacking_bases(found["overall"])) is not None
        ]
        yield Section(
            f"labelled-{number}",
            f"AI images told from real ones: {shown(name)}",
            notes,
            _plots(line, name),
            list(_tables(f"labelled-{number}", line)),
        )


def _tables(id_: str, line: Line) -> Iterator[Table]:
    about = [
        {"what": "rows", "value": line["rows"]},
        *({"what": f"rows {status}", "value": count} for status, count in line["statuses"].items()),
        *({"what": name, "value": values} for name, values in line["identity"].items()),
        {"what": "derivatives required of each base", "value": [derivative(pair) for pair in line["required"]]},
    ]
    yield table_of(f"{id_}-about", "What was scored", about, [value_field("what"), value_field("value")])
    for quantity, found in scores_of(line):
        title = QUANTITIES[quantity]
        overall = [{"of": "rows", **found["overall"]}]
        if (bases := found["overall"]["bases"]) is not None:
            overall.append({"of": "bases", **bases})
        yield table_of(f"{id_}-{quantity}", title, overall, [value_field("of"), *_figures()])
        if found["worst_slices"]:
            names = ("slice", "value", "class", "unit")
            yield table_of(
                f"{id_}-{quantity}-worst",
                f"{title}: worst slices",
                found["worst_slices"],
                [*(value_field(name) for name in names), *rate_fields("wrong", "wrong (k/n)")],
                left_out=found["wrong_slices"] - len(found["worst_slices"]),
            )
        for name, lines in found["slices"].items():
            yield table_of(f"{id_}-{quantity}-{name}", f"{title}: by {shown(name)}", lines, _slice())


def _figures() -> list[Field]:
    return [
        *(Field(name, lambda line, name=name: cell(line["confusion"][name])) for name in ("tp", "fn", "tn", "fp")),  # type: ignore[misc]
        *rate_fields("ai_recall", "AI recall", "AI recall: 95 % interval"),
        *rate_fields("real_recall", "real recall", "real recall: 95 % interval"),
        value_field("balanced_accuracy"),
        value_field("brier", is_optional=True),
        *rate_fields("false_positive_rate", "false-positive rate", "false-positive rate: 95 % interval"),
        *rate_fields("precision", "precision", "precision: 95 % interval"),
    ]


def _slice() -> list[Field]:
    return [
        value_field("value"),
        value_field("rows"),
        Field("without a score", lambda line: cell(sum(line["terminal"].values())), is_optional=True),
        *rate_fields("ai_recall", "AI recall", "AI recall: 95 % interval"),
        *rate_fields("real_recall", "real recall", "real recall: 95 % interval"),
        value_field("balanced_accuracy"),
        value_field("brier"),
        Field("bases", lambda line: _of_bases(line, "count"), is_optional=True),
        *_base_rates("ai_recall", "AI recall of bases"),
        *_base_rates("real_recall", "real recall of bases"),
    ]


def _of_bases(line: Line, name: str) -> Cell:
    return cell((line["bases"] or {}).get(name))


def _base_rates(name: str, title: str) -> Iterator[Field]:
    for field in rate_fields(name, title, f"{title}: 95 % interval"):
        yield Field(field.title, lambda line, make=field.cell: make(line["bases"] or {}), is_optional=True)  # type: ignore[misc]


def _plots(line: Line, name: str) -> Plots | None:
    from pytest_benchbench.reports.html.plots import Plot, Plots, histogram_svg, reliability_svg

    plots = []
    for quantity, found in scores_of(line):
        bins = found["histogram"]
        states = [{"quantity": quantity, "state": of, "edges": bins["edges"], "counts": bins[of]} for of in ("ai", "real")]
        if svg := histogram_svg(states, name):
            plots.append(Plot(f"{name}, {quantity}", svg))
        if found["reliability"] is not None and (svg := reliability_svg({"bins": found["reliability"]}, name)):
            plots.append(Plot(f"{name}, {quantity}", svg))
    return Plots(tuple(plots), 0) if plots else None

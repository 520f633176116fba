"""Figures of scores written as Markdown. Nothing is computed here beside what is worst: every number is in the document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_benchbench.reports.escaping import cell, plain
from pytest_benchbench.reports.pipe_tables import pipe_table, rate_cells, text_of

Line = dict[str, Any]

LINES: Final = 50
"""How many lines of a table are shown; the document has all."""

QUANTITIES: Final = {
    "score": "Score: calibrated, metadata included",
    "pixelScore": "Pixels only",
    "rawScore": "Raw score of the model, not calibrated",
}

WARNINGS: Final = {
    "all-equal": "all scores are equal",
    "few-values": "there are hardly any different scores",
    "saturated": "at least half of the scores are exactly 0 or 1",
    "one-sided": "every row is called the same, although both classes occur",
}

_RECALLS: Final = (("AI recall", "ai_recall"), ("real", "real_recall"))

_RATES: Final = ("ai_recall", "real_recall", "false_positive_rate", "precision")


def evaluation_section(results: Line) -> Iterator[str]:
    """Write the figures of a report's labelled rows, where it has any.

    Args:
        results: The section ``results`` of a report.
    """
    if evaluation := results.get("evaluation"):
        yield "## How well AI images are told from real ones"
        yield from evaluation_blocks(evaluation["series"], evaluation["threshold"])


def evaluation_lines(results: Line) -> list[str]:
    """Say in one plain line for each series and score of a report how many were right, where it has labelled rows."""
    lines = []
    series = (results.get("evaluation") or {"series": ()})["series"]
    for line in series:
        name = plain(told_series(line, series))
        if line["refused"] is not None:
            lines.append(f"{name}: no figures: {plain(line['refused'])}")
        for quantity, found in scores_of(line):
            if quantity == "rawScore" and "score" in line["scores"]:
                continue
            overall = found["overall"]
            told = overall if overall["bases"] is None else overall["bases"]
            unit = "rows" if overall["bases"] is None else "bases"
            recalls = [f"{of} {_recall(told[name])}" for of, name in _RECALLS]
            terminal = sum(overall["terminal"].values())
            without = f", {terminal} row{'' if terminal == 1 else 's'} without a score" if terminal else ""
            lacking = f"; {told_lack}" if (told_lack := lacking_bases(overall)) is not None else ""
            lines.append(f"{name}: {quantity}: {', '.join(recalls)} of {unit}{without}{lacking}")
    return lines


def lacking_bases(overall: Line) -> str | None:
    """Say how many bases failed because rows of them are missing, as in one shard of several; ``None`` without any."""
    bases = overall["bases"]
    if bases is None or not any(bases["confusion"].values()) or not (lacking := bases["with_missing_derivatives"]):
        return None
    rows = ", ".join(f"{of} {overall[name]['k']}/{overall[name]['n']}" for of, name in _RECALLS)
    return f"{lacking} of {bases['count']} bases lack rows of required derivatives and count as failed (of rows: {rows})"


def _recall(rate: Line) -> str:
    if rate["rate"] is None:
        return "-"
    return f"{rate['rate']:.4f} ({rate['k']}/{rate['n']}, at least {rate['wilson95_low']:.4f})"


def series_name(line: Mapping[str, Any]) -> str:
    """Name a series: the adapter and the split, as far as they are told."""
    named = [line[name] for name in ("adapter", "split") if line[name] is not None]
    return ", ".join(named) or "all rows"


def evaluation_blocks(series: Sequence[Line], threshold: float) -> Iterator[str]:
    """Write every series.

    Args:
        series: What ``evaluation.evaluate`` gave; a line may have more members, such as a run.
        threshold: From which score on an image is called AI.

    Yields:
        Blocks of Markdown; all text that came from manifests or scorers is escaped.
    """
    yield (
        f"An image is called AI when its score is at least {threshold}; AI is positive. Rates of rows are of those with "
        "a score, and the others are counted beside them. A base has one outcome: it succeeds when every required "
        "derivative has a score on the right side, so that a missing or failed one fails it, real or AI alike. Where a "
        "class is missing a figure is a dash. Intervals are Wilson's, of 95 %; *clustered* allows for rows of one base. In "
        "each table the worst slices come first: by the lower bound of what went wrong, of bases where they are known."
    )
    for line in series:
        yield f"### {cell(told_series(line, series))}"
        yield _about(line)
        if line["refused"] is not None:
            yield f"No figures: {cell(line['refused'])}."
        for quantity, found in scores_of(line):
            yield f"#### {QUANTITIES[quantity]}"
            yield from _tables(found)


def told_series(line: Mapping[str, Any], series: Sequence[Mapping[str, Any]]) -> str:
    """Name a series with what else tells it from the others: suite, parameters and run, where they differ."""
    differing = [name for name in ("suite", "params", "run") if len({each.get(name) for each in series}) > 1]
    return ", ".join([series_name(line), *(f"{name} {line[name]}" for name in differing if line[name] is not None)])


def scores_of(line: Mapping[str, Any]) -> list[tuple[str, Line]]:
    """Give the kinds of scores that a series has, in their order for people."""
    return [(quantity, line["scores"][quantity]) for quantity in QUANTITIES if quantity in line["scores"]]


def derivative(pair: Mapping[str, str | None]) -> str:
    """Name a derivative by what rows say of it."""
    return " ".join(f"{name}={value}" for name, value in pair.items() if value is not None) or "the one there is"


def _about(line: Line) -> str:
    rows = f"{line['rows']} row{'' if line['rows'] == 1 else 's'}"
    statuses = ", ".join(f"{count} {name}" for name, count in line["statuses"].items())
    told = [f"- {rows}: {statuses}"]
    told += [f"- {name}: {cell(text_of(values))}" for name, values in line["identity"].items() if values not in ([], [None])]
    told.append(f"- derivatives required of each base: {cell(_derivatives(line['required']))}")
    if line["absent"] is not None and line["absent"]["count"]:
        told.append(f"- rows of the manifest without a score row: {line['absent']['count']}")
    return "\n".join(told)


def _derivatives(required: Sequence[Line]) -> str:
    named = [derivative(pair) for pair in required[:LINES]]
    return ", ".join(named) + (f" and {len(required) - LINES} more" if len(required) > LINES else "")


def _tables(found: Line) -> Iterator[str]:
    for warning in found["distribution"]["warnings"]:
        yield f"**Warning:** {WARNINGS[warning]}; the figures below say little."
    overall = found["overall"]
    yield pipe_table(
        ("of", "n", "tp", "fn", "tn", "fp", *_RATES, "balanced accuracy", "brier"),
        [_overall("rows", overall), *([] if overall["bases"] is None else [_overall("bases", overall["bases"])])],
    )
    yield pipe_table(
        ("of", *(f"{name}, 95 % interval" for name in _RATES)),
        [["rows", *_intervals(overall)], *([] if overall["bases"] is None else [["bases", *_intervals(overall["bases"])]])],
    )
    yield from _clustered(overall)
    if (lacking := lacking_bases(overall)) is not None:
        yield f"{lacking}."
    if found["worst_slices"]:
        yield "Worst slices:"
        yield pipe_table(
            ("slice", "value", "class", "unit", "wrong (k/n)", "95 % interval"),
            ([*_place(line), line["class"], line["unit"], *rate_cells(line["wrong"])] for line in found["worst_slices"]),
        )
    for name, lines in found["slices"].items():
        yield from _slice(name, lines)


def _overall(of: str, line: Line) -> list[Any]:
    counts = line["confusion"]
    return [
        of,
        sum(counts.values()),
        *(counts[name] for name in ("tp", "fn", "tn", "fp")),
        *(rate_cells(line[name])[0] for name in _RATES),
        line["balanced_accuracy"],
        line.get("brier"),
    ]


def _intervals(line: Line) -> list[str | None]:
    return [rate_cells(line[name])[1] for name in _RATES]


def _clustered(overall: Line) -> Iterator[str]:
    told = [
        f"{name.replace('_', ' ')} {interval['low']:.4f} to {interval['high']:.4f}"
        for name in ("ai_recall", "real_recall")
        if (interval := overall[name]["clustered95"]) is not None
    ]
    if told:
        yield f"Clustered by base: {', '.join(told)}."


def _place(line: Line) -> list[Any]:
    return [line["slice"], line["value"]]


def _slice(name: str, lines: Sequence[Line]) -> Iterator[str]:
    has_bases = any(line["bases"] is not None for line in lines)
    header = [name, "rows", "terminal", "ai recall", "real recall", "balanced accuracy", "brier"]
    if has_bases:
        header += [
            "bases",
            "ai recall of bases",
            "95 % interval",
            "real recall of bases",
            "95 % interval",
            "balanced accuracy",
        ]
    yield f"By {cell(name)}:"
    yield pipe_table(header, (_slice_cells(line, has_bases=has_bases) for line in lines[:LINES]))
    if len(lines) > LINES:
        yield f"{len(lines) - LINES} more lines are in the document."


def _slice_cells(line: Line, *, has_bases: bool) -> list[Any]:
    cells = [
        line["value"],
        line["rows"],
        sum(line["terminal"].values()),
        *(rate_cells(line[name])[0] for name in ("ai_recall", "real_recall")),
        line["balanced_accuracy"],
        line["brier"],
    ]
    if has_bases:
        bases = line["bases"]
        if bases is None:
            return [*cells, *[None] * 6]
        cells += [
            bases["count"],
            *rate_cells(bases["ai_recall"]),
            *rate_cells(bases["real_recall"]),
            bases["balanced_accuracy"],
        ]
    return cells

"""Figures of text detectors written as Markdown. Nothing is computed here: every number is in the document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_benchbench.reports.detector_lines import (
    BUCKET_NAMES,
    CELLS,
    COUNT_NAMES,
    COUNTS,
    RATES,
    RULE,
    TIMES,
    banners,
    golden_sets_of,
    identity_fields,
    percentile_text,
    set_name,
    table_rate,
    threshold_text,
)
from pytest_benchbench.reports.escaping import cell
from pytest_benchbench.reports.pipe_tables import pipe_table, rate_cells

Line = Mapping[str, Any]

CATEGORIES: Final = 200
"""How many lines the table of categories has; the document has all."""

LISTED: Final = 100
"""How many samples outside the common subset are named; the document has all."""


def banner_blocks(results: Line) -> Iterator[str]:
    """Write what has to stand over the report."""
    yield from (f"**{cell(banner)}**" for banner in banners(results))


def detector_sections(document: Line) -> Iterator[str]:
    """Write the figures of each golden set that a report has.

    Args:
        document: The report.

    Yields:
        Blocks of Markdown; all text that came from sets or detectors is escaped.
    """
    for found, timing in zip(golden_sets_of(document["results"]), document.get("detector_timing", ()), strict=True):
        yield f"## Text detectors: {cell(set_name(found))}"
        yield from ([f"**{cell(found['banner'])}**"] if found.get("banner") else [])
        yield RULE
        yield from _identities(found["detectors"])
        yield pipe_table(
            ("detector", *COUNT_NAMES, *CELLS),
            ([d["alias"], *_values(d, COUNTS), *_values(d["confusion"], CELLS)] for d in found["detectors"]),
        )
        yield _figures(found["detectors"])
        yield from _categories(found["detectors"])
        yield "Scores by bucket; each holds its lower bound, and the last one 100 too:"
        yield pipe_table(("detector", *BUCKET_NAMES), ([d["alias"], *d["histogram"]] for d in found["detectors"]))
        yield from _times(timing["detectors"])
        yield from _tpr_at_fpr(found["detectors"])
        yield from _common(found["commonSubset"])
        yield from _pairs(found["pairs"])


def _values(line: Line, names: Sequence[str]) -> list[Any]:
    return [line[name] for name in names]


def _identities(detectors: Sequence[Line]) -> Iterator[str]:
    fields = [identity_fields(detector["identity"]) for detector in detectors]
    names = [name for name in (fields[0] if fields else ()) if any(field[name] for field in fields)]
    yield pipe_table(
        ("detector", *names),
        ([detector["alias"], *_values(field, names)] for detector, field in zip(detectors, fields, strict=True)),
    )


def _figures(lines: Sequence[Line]) -> str:
    header = ["detector"]
    for name in (*RATES, "humanizer bypass"):
        header += [name, "95 % interval"]
    return pipe_table(
        [*header, "F1"], ([line["alias"], *_rates(line, (*RATES, "humanizerBypass")), line["f1"]["value"]] for line in lines)
    )


def _rates(line: Line, names: Sequence[str]) -> Iterator[str | None]:
    for name in names:
        yield from rate_cells(table_rate(line[name]))


def _categories(detectors: Sequence[Line]) -> Iterator[str]:
    lines = [
        [
            *(detector["alias"], category, line["n"], line["scored"], *_values(line["confusion"], CELLS)),
            *(*_rates(line, ("accuracy", "recall", "fpr")), line["f1"]["value"]),
        ]
        for detector in detectors
        for category, line in detector["byCategory"].items()
    ]
    if lines:
        yield "By category:"
        rates = [title for name in ("accuracy", "recall", "fpr") for title in (name, "95 % interval")]
        yield pipe_table(("detector", "category", "samples", "scored", *CELLS, *rates, "F1"), lines[:CATEGORIES])
        if len(lines) > CATEGORIES:
            yield f"{len(lines) - CATEGORIES} more lines are in the document."


def _times(detectors: Line) -> Iterator[str]:
    yield TIMES
    yield pipe_table(
        ("detector", "calls", "recorded", "p50", "p95", "cold", "time unknown"),
        (
            [
                alias,
                *_values(calls, ("n", "recorded")),
                *(percentile_text(calls[p]) for p in ("p50", "p95")),
                ", ".join(f"{milliseconds:.6g}" for milliseconds in calls["cold"]),
                calls["unknown"],
            ]
            for alias, calls in detectors.items()
        ),
    )


def _tpr_at_fpr(detectors: Sequence[Line]) -> Iterator[str]:
    found = [(detector["alias"], detector["tprAtFpr"]) for detector in detectors if "tprAtFpr" in detector]
    if not found:
        return
    first = found[0][1]
    yield (
        f"True-positive rate at a declared false-positive rate of {first['targetFpr']:g}. The threshold is the lowest score "
        "of the tune split that keeps to it there; equal scores are on one side. Tune run: "
        f"{cell(first['tuneRunId'])}, evidence {first['tuneEvidenceSha256'][:12]}."
    )
    split_rates = [f"{rate}, {split}" for split in ("tune", "this split") for rate in ("fpr", "tpr")]
    header = [title for name in split_rates for title in (name, "95 % interval")]
    yield pipe_table(
        ("detector", "threshold", *header),
        ([alias, threshold_text(line), *_both(line)] for alias, line in found),
    )


def _both(line: Line) -> Iterator[str | None]:
    for split in ("tune", "reported"):
        yield from _rates(line[split], ("fpr", "tpr"))


def _common(common: Line) -> Iterator[str]:
    if len(common["detectors"]) < 2:
        return
    yield f"### Common subset: {common['n']} samples that all detectors scored"
    if common["silent"]:
        yield f"Left out, since they scored nothing: {cell(', '.join(common['silent']))}."
    if common["n"]:
        yield _figures(common["detectors"])
    if excluded := common["excluded"]:
        yield "Not in it:"
        yield pipe_table(
            ("sample", "no score of"), ([line["id"], ", ".join(line["detectors"])] for line in excluded[:LISTED])
        )
        if len(excluded) > LISTED:
            yield f"{len(excluded) - LISTED} more are in the document."


def _pairs(pairs: Sequence[Line]) -> Iterator[str]:
    if not pairs:
        return
    yield "### Declared pairs"
    yield (
        "Two detectors on the samples that both scored. p is McNemar's exact test of the samples that one of them alone "
        "called what they are; adjusted by Holm over the declared pairs."
    )
    columns = ("a", "b", "n", "both", "onlyA", "onlyB", "neither", "difference", "lower", "upper", "p", "adjustedP")
    titles = (
        "A",
        "B",
        "samples",
        "both right",
        "only A",
        "only B",
        "neither",
        "accuracy A - B",
        "lower",
        "upper",
        "p",
        "adjusted p",
    )
    yield pipe_table(titles, (_values(pair, columns) for pair in pairs))

"""Sections of the Markdown report about what goes wrong most, pairs, curves and expectations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_benchbench.reports.escaping import cell
from pytest_benchbench.reports.pipe_tables import Line, pipe_table, range_text, rate_cells, text_of, values_of

SLICES: Final = 10
"""How many of the worst slices are shown; ``report.json`` has some more."""

CURVES: Final = 50
"""How many curves are shown; ``report.json`` has all."""

_FIXED: Final = frozenset(
    {"attack", "strength", "rows", "rows_without_verdict", "detected_rate_of_artifacts", "clustered95", "bases"}
)


def worst_slices_section(results: Line, identity: Sequence[str]) -> Iterator[str]:
    """Show where most rows were answered wrongly or not at all.

    Args:
        results: The section ``results`` of a report.
        identity: The names that tell series apart.
    """
    if not results["wrong_slices"]:
        return
    shown = results["worst_slices"][:SLICES]
    yield f"## Slices with mismatches or errors: {results['wrong_slices']}"
    yield (
        "The rate is the share of mismatches and errors among the rows that were run. The highest lower bound of its 95 % "
        "interval comes first. Of several runs the interval is as wide as that of one: asking again makes no more cases."
    )
    columns = (*identity, "state", "transform", "arm", "rows", "rows_mismatch", "rows_error", "rows_unstable")
    yield pipe_table(
        (*columns, "rate (k/n)", "95 % interval"),
        ([*values_of(line, columns), *rate_cells(line["wrong_rate_of_rows"])] for line in shown),
    )
    if results["wrong_slices"] > len(shown):
        yield f"{results['wrong_slices'] - len(shown)} more are not shown here."


def flow_sections(results: Line, identity: Sequence[str]) -> Iterator[str]:
    """Show what became of the marks of pairs, curves, and what was expected against what was observed.

    Args:
        results: The section ``results`` of a report.
        identity: The names that tell series apart.
    """
    yield from _transitions(results["transitions"], identity)
    yield from _robustness(results["robustness"], identity)
    yield from _confusion(results["confusion"], identity)
    yield from _reliability(results["reliability"], identity)


def _transitions(lines: Sequence[Line], identity: Sequence[str]) -> Iterator[str]:
    if not lines:
        return
    yield "## From marked to attacked and removed"
    yield (
        "Pairs by what was recognised before and after: *kept* both times, *lost* only before, *gained* only after, "
        "*absent* neither time. *Undecided* pairs lack a verdict or have several; *unpaired* artifacts have no marked one. "
        "The rate is the share of the kept among the pairs that were recognised before."
    )
    columns = (*identity, "to", "transform", "pairs", "kept", "lost", "gained", "absent", "undecided", "unpaired")
    yield pipe_table(
        (*columns, "kept rate (k/n)", "95 % interval", "McNemar p"),
        ([*values_of(line, columns), *rate_cells(line["kept_rate"]), line["mcnemar_p"]] for line in lines),
    )


def _robustness(curves: Sequence[Line], identity: Sequence[str]) -> Iterator[str]:
    if not curves:
        return
    yield "## Robustness"
    yield (
        "What was recognised at each strength of an attack; the line without a strength is the marked artifacts before it. "
        "The interval by base allows for several artifacts of one base. Other numbers are smallest / middle / largest over "
        "rows."
    )
    for curve in curves[:CURVES]:
        where = ", ".join(text_of(value) for value in values_of(curve, identity))
        bases = f"{curve['carriers']} base{'' if curve['carriers'] == 1 else 's'}"
        order = {"weak_to_strong": "weak to strong", "by_number": "by number"}[curve["strength_order"]]
        yield f"### {cell(where)}: {cell(curve['family'])} ({cell(text_of(curve['media_type']))}, {bases}, {order})"
        yield _points(curve["points"])
    if len(curves) > CURVES:
        yield f"{len(curves) - CURVES} more curves are not shown here."


def _points(points: Sequence[Line]) -> str:
    quantities = sorted({name for point in points for name in point if name not in _FIXED and point[name] is not None})
    columns = ("strength", "attack", "rows", "rows_without_verdict")
    return pipe_table(
        (*columns, "rate (k/n)", "95 % interval", "interval by base", *quantities),
        (
            [
                *values_of(point, columns),
                *rate_cells(point["detected_rate_of_artifacts"]),
                _bounds(point["clustered95"]),
                *(range_text(point.get(quantity)) for quantity in quantities),
            ]
            for point in points
        ),
    )


def _bounds(interval: Line | None) -> str | None:
    return None if interval is None else f"{interval['low']:.4f} to {interval['high']:.4f}"


def _confusion(lines: Sequence[Line], identity: Sequence[str]) -> Iterator[str]:
    if not lines:
        return
    yield "## Expected against observed"
    yield "Rows of which a verdict is asserted. *No verdict*: an error, unavailable, unstable or not run."
    columns = (*identity, "expected", "detected", "not_detected", "no_verdict")
    yield pipe_table(columns, (values_of(line, columns) for line in lines))


def _reliability(lines: Sequence[Line], identity: Sequence[str]) -> Iterator[str]:
    if not lines:
        return
    yield "## Scores against expected verdicts"
    yield "Of the rows with scores from *low* to *high*: their number, mean score, and how many are expected as detected."
    columns = ("low", "high", "n", "mean_score", "detected_expected")
    yield pipe_table(
        (*identity, *columns),
        ([*values_of(line, identity), *values_of(one, columns)] for line in lines for one in line["bins"] if one["n"]),
    )

"""Sections of the Markdown report about verdicts, message bits and time: what goes wrong most comes first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_benchbench.reports.detector_lines import beside_golden_sets
from pytest_benchbench.reports.escaping import cell
from pytest_benchbench.reports.pipe_tables import Line, pipe_table, range_text, rate_cells, text_of, values_of
from pytest_benchbench.reports.wording import tells_verdicts

LINES: Final = 100
"""How many lines of a table are shown; ``report.json`` has all."""

_TABLES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "adapter_state": ("By adapter and state", ("state",)),
    "adapter_state_transform": ("By adapter, state and transform", ("state", "transform")),
    "adapter_arm": ("By adapter and arm", ("arm",)),
    "adapter": ("By adapter", ()),
    "adapter_provider": ("By adapter and provider", ("provider",)),
    "adapter_content_stratum": ("By adapter and content stratum", ("content_stratum",)),
}

_COUNTS: Final = (
    *("rows_mismatch", "rows_known_mismatch", "rows_error", "rows_unstable", "rows_unavailable", "rows_not_run"),
    *("rows_detected", "rows_not_detected", "rows_scored", "artifacts", "artifacts_conflicting"),
)

_VERDICTS: Final = frozenset({"rows_detected", "rows_not_detected"})

_PERCENTILES: Final = ("p50_ms", "p90_ms", "p95_ms")


def verdict_sections(results: Line, identity: Sequence[str]) -> Iterator[str]:
    """Show what the detectors recognised, table by table; of golden sets only the tables that were asked for.

    Args:
        results: The section ``results`` of a report.
        identity: The names that tell series apart.
    """
    tables = {name: beside_golden_sets(results, results["tables"].get(name, ())) for name in _TABLES}
    absent = [line for line in results["absent_arms"] if line["absent"]]
    if not (any(tables.values()) or results["by"] or absent or not results["rows"]):
        return
    yield "## What the detectors recognised"
    yield (
        "Each line tells what one detector recognised of its own signal; *not detected* says no more than that. "
        "Counts are rows, a count that is 0 in every line is left out, and lines with mismatches or errors come first. The "
        "rate is the share of detected among the decided artifacts, each artifact counted once, with its 95 % Wilson "
        "interval; errors and rows that are unavailable, unstable or not run are in no rate."
    )
    if any(line["clustered95"] for line in results["tables"]["adapter"]):
        yield (
            "Several artifacts come from one base, and tell less than as many independent ones: the *clustered* interval "
            "allows for it, and *bases* have one outcome each, detected if any, or if all of their artifacts were."
        )
    for name, (title, facets) in _TABLES.items():
        if lines := tables[name]:
            yield f"### {title}"
            yield from _verdict_table(lines, (*identity, *facets))
    for path, lines in results["by"].items():
        yield f"### By {cell(path)}"
        yield from _verdict_table(lines, (*identity, "value"))
    if absent:
        yield "### Arms without any row"
        columns = (*identity, "absent")
        yield pipe_table(columns, (values_of(line, columns) for line in absent))


def _verdict_table(lines: Sequence[Line], identity: Sequence[str]) -> Iterator[str]:
    """Write a table: the columns that say something, the worst lines first, those alike in their order."""
    worst_first = sorted(lines, key=lambda line: -(line["rows_mismatch"] + line["rows_error"]))
    always = {"artifacts"} | (_VERDICTS if tells_verdicts(lines) else set())
    counts = [name for name in _COUNTS if name in always or any(line[name] for line in lines)]
    header = [name.removeprefix("artifacts_") for name in counts]
    further = _further_columns(lines)
    yield pipe_table(
        (*identity, "rows", *header, "rate (k/n)", "95 % interval", *further),
        (
            [*values_of(line, (*identity, "rows", *counts)), *rate_cells(line["detected_rate_of_artifacts"])]
            + [write(line) for write in further.values()]
            for line in worst_first[:LINES]
        ),
    )
    if len(lines) > LINES:
        yield f"{len(lines) - LINES} more lines are in report.json."


def _further_columns(lines: Sequence[Line]) -> dict[str, Any]:
    """Give the columns that only some tables need, each with what writes its cells."""
    columns: dict[str, Any] = {}
    if any(line["clustered95"] for line in lines):
        columns["clustered 95 % interval"] = lambda line: _clustered(line["clustered95"])
        columns["bases, any detected"] = lambda line: _share(line["bases"], "detected_in_any")
        columns["bases, all detected"] = lambda line: _share(line["bases"], "detected_in_all")
    if any(line["resolvable_false_positive_rate"] is not None for line in lines):
        columns["smallest false positive rate that n can resolve"] = lambda line: line["resolvable_false_positive_rate"]
    for quantity in ("message_bit_accuracy", "score"):
        if any(line.get(quantity) for line in lines):
            columns[quantity] = lambda line, quantity=quantity: range_text(line[quantity])
    return columns


def _clustered(interval: Line | None) -> str | None:
    return None if interval is None else f"{interval['low']:.4f} to {interval['high']:.4f}"


def _share(bases: Line | None, name: str) -> str | None:
    return None if bases is None else f"{bases[name]['k']}/{bases[name]['n']}"


def message_section(lines: Sequence[Line], identity: Sequence[str]) -> Iterator[str]:
    """Show how many bits of messages agreed, and how likely that is by chance.

    Args:
        lines: ``message_matches`` of a report.
        identity: The names that tell series apart.
    """
    known = [line for line in lines if line["bits"] is not None]
    if not known:
        return
    yield "## Message bits"
    yield (
        "How many bits agreed: fewest / middle / most. The chance is the probability that as many or more of the bits agree "
        "by fair coins, for the middle row and for the one with the fewest. A detector that looks for several messages has "
        "as many chances."
    )
    columns = (*identity, "state", "transform", "bits", "rows")
    yield pipe_table(
        (*columns, "equal bits", "chance, middle", "chance, fewest"),
        (
            [
                *values_of(line, columns),
                range_text(line["equal"]),
                _power_of_ten(line["log10_p"]["median"]),
                _power_of_ten(line["log10_p"]["max"]),
            ]
            for line in known[:LINES]
        ),
    )
    if len(known) > LINES:
        yield f"{len(known) - LINES} more lines are in report.json."
    if unknown := sum(line["rows"] for line in lines if line["bits"] is None):
        yield f"Of how many bits is not known for {unknown} more row{'' if unknown == 1 else 's'} with a bit accuracy."


def _power_of_ten(exponent: float) -> str:
    """Write ``10 ** exponent`` with two digits, however small it is."""
    whole = math.floor(exponent)
    digits = f"{10 ** (exponent - whole):.1f}"
    if digits == "10.0":
        whole, digits = whole + 1, "1.0"
    return f"{10**exponent:.2g}" if whole >= -3 else f"{digits}e{whole}"  # 0.001 reads well as it is


def timing_section(timing: Mapping[str, Any]) -> Iterator[str]:
    """Show what the calls of each adapter took.

    Args:
        timing: The section ``timing`` of a report.
    """
    if not timing:
        return
    yield "## Adapter time"
    yield (
        "Wall time of the adapter's call alone in milliseconds, nearest rank, in brackets from which call to which its 95 % "
        "interval reaches, where there are enough of them. A cold call is an instance's first and includes loading."
    )
    yield pipe_table(
        ("adapter", "call", "n", *_PERCENTILES, "max_ms"),
        (
            [adapter, call, latency["n"], *(_percentile(latency, name) for name in _PERCENTILES), latency["max_ms"]]
            for adapter, calls in timing.items()
            for call, latency in calls.items()
            if latency is not None
        ),
    )


def batch_timing_section(timing: Mapping[str, Any]) -> Iterator[str]:
    """Show what calls took that several rows shared.

    Args:
        timing: The section ``batch_timing`` of a report.
    """
    if not timing:
        return
    yield "## Batch time"
    yield (
        "Wall time of calls that several rows shared, in milliseconds, nearest rank over calls. No row was timed on its "
        "own: a *row's share* is the time of its batch divided by the number of rows in it, and says nothing of what one "
        "row takes alone."
    )
    yield pipe_table(
        ("adapter", "call", "batches", "rows in a batch", "time of", *_PERCENTILES, "max_ms"),
        (
            [
                *(adapter, call, latency["n"], range_text(batches["batch_size"]), of),
                *(_percentile(latency, name) for name in _PERCENTILES),
                latency["max_ms"],
            ]
            for adapter, calls in timing.items()
            for call, batches in calls.items()
            if batches is not None
            for of, latency in (("a batch", batches["per_batch"]), ("a row's share", batches["row_share"]))
        ),
    )


def _percentile(latency: Line, name: str) -> str:
    interval = latency["intervals"][name]
    if interval is None:
        return text_of(latency[name])
    return f"{text_of(latency[name])} ({text_of(interval['low_ms'])} to {text_of(interval['high_ms'])})"

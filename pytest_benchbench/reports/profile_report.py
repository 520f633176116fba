"""A profile written as Markdown and as lines for a terminal. Nothing is computed here: every number is in the document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_benchbench.reports.escaping import cell, plain
from pytest_benchbench.reports.pipe_tables import Line, pipe_table, values_of
from pytest_benchbench.reports.profile_document import BUSY_LOAD, WIDE_PEAK, WIDE_WALL

_COLUMNS = ("p50", "p90", "min", "max")

_UNITS = {"wall_ms": "wall, ms", "processor_ms": "processor, ms", "peak_mib": "peak RSS, MiB"}


def profile_lines(document: Line) -> list[str]:
    """Say what a profile found, for a terminal.

    Args:
        document: What ``build_profile`` gave.

    Returns:
        Lines without line ends and without control characters: warnings first, then a table.
    """
    texts = [["manifest", "adapter", "largest", "rows", "wall p50", "p90", "peak RSS p50", "p90"]]
    for line in document["manifests"]:
        wall, peak = (line["cost"].get(name) for name in ("wall_ms", "peak_mib"))
        texts.append(
            [
                *(plain(line["manifest"]), plain(line["adapter"]), largest_text(line["largest"]), str(line["rows"])),
                *([f"{wall['p50']:.0f} ms", f"{wall['p90']:.0f} ms"] if wall else ["-", "-"]),
                *([f"{peak['p50']:.1f} MiB", f"{peak['p90']:.1f} MiB"] if peak else ["-", "-"]),
            ]
        )
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    table = [
        "  ".join(
            text.ljust(width) if index < 3 else text.rjust(width)
            for index, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in texts
    ]
    return [*(f"warning: {plain(warning)}" for warning in document["warnings"]), *table]


def render_profile(document: Line) -> str:
    """Write a profile for people.

    Args:
        document: What ``build_profile`` gave, or ``profile.json`` read back.

    Returns:
        Markdown with pipe tables; text that came from files and detectors is escaped.
    """
    manifests = document["manifests"]
    blocks = ["# Process profile"]
    if document["warnings"]:
        blocks.append("\n".join(f"- Warning: {cell(warning)}" for warning in document["warnings"]))
    blocks += [_overview(manifests), document["never_divided"], "## Processes", _how(document), _costs(manifests)]
    blocks += ["### Each process", _repetitions(manifests), "## Status counts", _stability(manifests), _statuses(manifests)]
    blocks += ["## Noise", _noise_rule(document), "## Inputs", _inputs(manifests), _adapters(manifests)]
    blocks += ["## Machine", pipe_table(("what", "value"), _machine(document))]
    return "\n\n".join(blocks) + "\n"


def largest_text(largest: Mapping[str, Mapping[str, float]]) -> str:
    """Write the sizes of the largest artifacts: ``512x512``, ``640x480, 50 frames``, ``8 s``; ``-`` where none is known."""
    texts = []
    for size in largest.values():
        if "seconds" in size:
            texts.append(f"{size['seconds']:g} s")
        else:
            frames = f", {size['frames']} frames" if "frames" in size else ""
            texts.append(f"{size['width']}x{size['height']}{frames}")
    return "; ".join(texts) or "-"


def _overview(manifests: Sequence[Line]) -> str:
    def figures(line: Line, quantity: str, unit: str) -> list[str | None]:
        cost = line["cost"].get(quantity)
        return [None if cost is None else f"{cost[name]:,.2f} {unit}" for name in ("p50", "p90")]

    return pipe_table(
        ("adapter", "manifest", "largest artifact", "cases", "wall p50", "wall p90", "peak RSS p50", "peak RSS p90"),
        (
            [
                *(line["adapter"], line["manifest"], largest_text(line["largest"]), line["rows"]),
                *figures(line, "wall_ms", "ms"),
                *figures(line, "peak_mib", "MiB"),
            ]
            for line in manifests
        ),
    )


def _how(document: Line) -> str:
    parameters = document["parameters"]
    return (
        f"{parameters['repeat']} fresh processes for each manifest, one at a time, the manifests in turns. Wall time is "
        "observed by the parent, from the start of the process to its end. Peak RSS is the absolute largest resident set "
        "of the process, interpreter and libraries included, not what a case adds. Processor time is user and system time "
        "of all threads. Percentiles are nearest rank; with fewer than 10 processes the p90 is the maximum. Processes that "
        "died are in no figure."
    )


def _costs(manifests: Sequence[Line]) -> str:
    return pipe_table(
        ("manifest", "quantity", "n", *_COLUMNS, "spread"),
        (
            [
                *(line["manifest"], _UNITS[quantity], summary["n"]),
                *(f"{value:,.2f}" for value in values_of(summary, _COLUMNS)),
                f"{100 * summary['spread']:.1f} %",
            ]
            for line in manifests
            for quantity, summary in line["cost"].items()
        ),
    )


def _repetitions(manifests: Sequence[Line]) -> str:
    def figures(cost: Line | None) -> list[str | None]:
        if cost is None:
            return [None] * 4
        times = [f"{seconds * 1e3:,.2f}" for seconds in values_of(cost, ("wall_s", "user_s", "system_s"))]
        return [*times, f"{cost['peak_bytes'] / 2**20:,.2f}"]

    header = ("manifest", "repetition", "exit code", "wall, ms", "user, ms", "system, ms", "peak RSS, MiB", "run", "fault")
    return pipe_table(
        header,
        (
            [line["manifest"], one["repetition"], one["exit_status"], *figures(one["cost"]), one["directory"], one["fault"]]
            for line in manifests
            for one in line["repetitions"]
        ),
    )


def _stability(manifests: Sequence[Line]) -> str:
    stable = [line["statuses_stable"] for line in manifests]
    if False in stable:
        return "**Status counts differ between repetitions**: see the warnings and the table."
    return "Status counts were the same in all repetitions." if None not in stable else "Not every manifest ran twice."


def _statuses(manifests: Sequence[Line]) -> str:
    return pipe_table(
        ("manifest", "repetition", "cases", "statuses"),
        (
            [line["manifest"], one["repetition"], one["rows"], _counts(one["statuses"])]
            for line in manifests
            for one in line["repetitions"]
            if one["statuses"] is not None
        ),
    )


def _counts(statuses: Line) -> str:
    return ", ".join(f"{count} {name}" for name, count in statuses.items())


def _noise_rule(document: Line) -> str:
    load = document["load_before"]
    said = "not told by this system" if load is None else ", ".join(f"{value:.2f}" for value in load)
    return (
        f"Load average before the first process, over 1, 5 and 15 minutes: {said} "
        f"({document['machine']['processors']} processors). The report warns from {BUSY_LOAD:g} over the last minute on, "
        f"where wall times of a manifest spread over more than {100 * WIDE_WALL:.0f} % of their p50 (max - min), and where "
        f"peaks spread over more than {100 * WIDE_PEAK:.0f} %."
    )


def _inputs(manifests: Sequence[Line]) -> str:
    def code(line: Line) -> list[str | None]:
        told = line["code"] or {}
        return [told.get("commit"), "changed" if told.get("dirty") else None, told.get("kernel_sha256")]

    return pipe_table(
        ("manifest", "sha256", "project commit", "tracked files", "kernel sha256", "pytest"),
        ([line["manifest"], line["sha256"], *code(line), " ".join(line["arguments"] or [])] for line in manifests),
    )


def _adapters(manifests: Sequence[Line]) -> str:
    columns = ("name", "version", "source_sha256", "options", "weights")
    return pipe_table(
        ("manifest", "adapter", *columns[1:]),
        ([line["manifest"], *values_of(record, columns)] for line in manifests for record in line["adapters"]),
    )


def _machine(document: Line) -> Iterator[Sequence[Any]]:
    for section in ("machine", "versions"):
        yield from (item for item in document[section].items() if item[1] is not None)

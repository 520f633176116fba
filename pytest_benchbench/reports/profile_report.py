"""A profile written as Markdown and as lines for a terminal. Nothing is computed here: every number is in the document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_benchbench.reports.escaping import cell, plain
from pytest_benchbench.reports.profile_document import BUSY_LOAD, WIDE_PEAK, WIDE_WALL

Line = Mapping[str, Any]

_COLUMNS = ("p50", "p90", "min", "max")


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
    blocks += [_table(*_overview(manifests)), document["never_divided"]]
    blocks += [
        "## Processes",
        _how(document),
        _table(*_costs(manifests)),
        "### Each process",
        _table(*_repetitions(manifests)),
    ]
    blocks += ["## Status counts", _stability(manifests), _table(*_statuses(manifests))]
    blocks += ["## Noise", _noise_rule(document), "## Inputs", _table(*_inputs(manifests)), _table(*_adapters(manifests))]
    blocks += ["## Machine", _table(("what", "value"), _machine(document))]
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


def _overview(manifests: Sequence[Line]) -> tuple[Sequence[str], Iterator[Sequence[str]]]:
    header = ("adapter", "manifest", "largest artifact", "rows", "wall p50", "wall p90", "peak RSS p50", "peak RSS p90")

    def rows() -> Iterator[Sequence[str]]:
        for line in manifests:
            wall, peak = (line["cost"].get(name) for name in ("wall_ms", "peak_mib"))
            yield (
                *(cell(line["adapter"]), cell(line["manifest"]), largest_text(line["largest"]), f"{line['rows']}"),
                *(f"{wall[name]:,.2f} ms" if wall else "-" for name in ("p50", "p90")),
                *(f"{peak[name]:,.2f} MiB" if peak else "-" for name in ("p50", "p90")),
            )

    return header, rows()


def _how(document: Line) -> str:
    parameters = document["parameters"]
    return (
        f"{parameters['repeat']} fresh processes for each manifest, one at a time, the manifests in turns. Wall time is "
        "observed by the parent, from the start of the process to its end. Peak RSS is the absolute largest resident set "
        "of the process, interpreter and libraries included, not what a case adds. Processor time is user and system time "
        "of all threads. Percentiles are nearest rank; with fewer than 10 processes the p90 is the maximum. Processes that "
        "died are in no figure."
    )


def _costs(manifests: Sequence[Line]) -> tuple[Sequence[str], Iterator[Sequence[str]]]:
    units = {"wall_ms": ("wall", "ms"), "processor_ms": ("processor", "ms"), "peak_mib": ("peak RSS", "MiB")}
    return ("manifest", "quantity", "n", *_COLUMNS, "spread"), (
        (
            cell(line["manifest"]),
            f"{units[quantity][0]}, {units[quantity][1]}",
            str(summary["n"]),
            *(f"{summary[name]:,.2f}" for name in _COLUMNS),
            f"{100 * summary['spread']:.1f} %",
        )
        for line in manifests
        for quantity, summary in line["cost"].items()
    )


def _repetitions(manifests: Sequence[Line]) -> tuple[Sequence[str], Iterator[Sequence[str]]]:
    header = ("manifest", "repetition", "exit code", "wall, ms", "user, ms", "system, ms", "peak RSS, MiB", "run", "fault")

    def rows() -> Iterator[Sequence[str]]:
        for line in manifests:
            for one in line["repetitions"]:
                cost = one["cost"]
                figures: tuple[str, ...] = ("-",) * 4
                if cost is not None:
                    times = (f"{cost[name] * 1e3:,.2f}" for name in ("wall_s", "user_s", "system_s"))
                    figures = (*times, f"{cost['peak_bytes'] / 2**20:,.2f}")
                status = "-" if one["exit_status"] is None else str(one["exit_status"])
                fault = cell(one["fault"]) if one["fault"] else "-"
                yield (cell(line["manifest"]), str(one["repetition"]), status, *figures, cell(one["directory"]), fault)

    return header, rows()


def _stability(manifests: Sequence[Line]) -> str:
    stable = [line["statuses_stable"] for line in manifests]
    if False in stable:
        return "**Status counts differ between repetitions**: see the warnings and the table."
    return "Status counts were the same in all repetitions." if None not in stable else "Not every manifest ran twice."


def _statuses(manifests: Sequence[Line]) -> tuple[Sequence[str], Iterator[Sequence[str]]]:
    return ("manifest", "repetition", "rows", "statuses"), (
        (
            cell(line["manifest"]),
            str(one["repetition"]),
            str(one["rows"]),
            ", ".join(f"{count} {name}" for name, count in one["statuses"].items()),
        )
        for line in manifests
        for one in line["repetitions"]
        if one["statuses"] is not None
    )


def _noise_rule(document: Line) -> str:
    load = document["load_before"]
    said = "not told by this system" if load is None else ", ".join(f"{value:.2f}" for value in load)
    return (
        f"Load average before the first process, over 1, 5 and 15 minutes: {said} "
        f"({document['machine']['processors']} processors). The report warns from {BUSY_LOAD:g} over the last minute on, "
        f"where wall times of a manifest spread over more than {100 * WIDE_WALL:.0f} % of their p50 (max - min), and where "
        f"peaks spread over more than {100 * WIDE_PEAK:.0f} %."
    )


def _inputs(manifests: Sequence[Line]) -> tuple[Sequence[str], Iterator[Sequence[str]]]:
    header = ("manifest", "sha256", "project commit", "kernel sha256", "pytest")

    def rows() -> Iterator[Sequence[str]]:
        for line in manifests:
            code = line["code"] or {}
            commit = f"{code.get('commit') or '-'}{' (changed)' if code.get('dirty') else ''}"
            arguments = cell(" ".join(line["arguments"])) if line["arguments"] else "-"
            yield (cell(line["manifest"]), line["sha256"], cell(commit), code.get("kernel_sha256") or "-", arguments)

    return header, rows()


def _adapters(manifests: Sequence[Line]) -> tuple[Sequence[str], Iterator[Sequence[str]]]:
    return ("manifest", "adapter", "version", "source sha256", "options", "weights"), (
        (
            cell(line["manifest"]),
            cell(record["name"]),
            cell(record["version"] or "-"),
            record["source_sha256"] or "-",
            cell(" ".join(f"{name}={value}" for name, value in record["options"].items())) or "-",
            cell(", ".join(f"{weights['name']} {weights['sha256']}" for weights in record["weights"])) or "-",
        )
        for line in manifests
        for record in line["adapters"]
    )


def _machine(document: Line) -> Iterator[Sequence[str]]:
    for section in ("machine", "versions"):
        for name, value in document[section].items():
            if value is not None:
                yield cell(name), cell(str(value))


def _table(header: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows))

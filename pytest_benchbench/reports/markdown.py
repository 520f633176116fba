"""A report document written as Markdown. Nothing is computed here: every number is in the document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_benchbench.reports.detector_markdown import banner_blocks, detector_sections
from pytest_benchbench.reports.escaping import cell
from pytest_benchbench.reports.evaluation_markdown import evaluation_section
from pytest_benchbench.reports.leaves import leaves
from pytest_benchbench.reports.markdown_costs import costs_section
from pytest_benchbench.reports.markdown_flows import flow_sections, worst_slices_section
from pytest_benchbench.reports.markdown_runs import run_sections
from pytest_benchbench.reports.markdown_tables import batch_timing_section, message_section, timing_section, verdict_sections
from pytest_benchbench.reports.pipe_tables import Line, pipe_table, range_text, values_of
from pytest_benchbench.reports.wording import attempt_line, outcome_line, where

LISTED = 100
"""How many rows a list shows; ``report.json`` has more."""

_ANSWERS = ("expected", "observed", "reason")

_LISTS: dict[str, tuple[str, Sequence[str]]] = {
    "mismatches": ("Mismatches", _ANSWERS),
    "unstable": ("Unstable rows: attempts gave different verdicts", _ANSWERS),
    "known_mismatches": ("Known mismatches", _ANSWERS),
    "errors": ("Errors", ("status", "error_type")),
    "unavailable": ("Unavailable", ()),
    "not_run": ("Not run", ()),
}


def render_markdown(document: dict[str, Any]) -> str:
    """Write a report for people.

    Args:
        document: What ``build_report`` gave, or ``report.json`` read back.

    Returns:
        Markdown with pipe tables; all text that came from manifests, detectors or the machine is escaped.
    """
    results = document["results"]
    series = results["tables"]["adapter"]
    identity = ["adapter", *(name for name in ("suite", "params") if len({line[name] for line in series}) > 1)]
    blocks = ["# Benchmark report", *banner_blocks(results), outcome_line(results) + ".", *_gaps(document["environment"])]
    if (attempt := attempt_line(document["environment"])) is not None:
        blocks.append(cell(f"Opening: {attempt}."))
    if series and "suite" not in identity:
        blocks.append(f"Suite: {cell(series[0]['suite'])}")
    blocks += run_sections(document)
    blocks += worst_slices_section(results, identity)
    blocks += evaluation_section(results)
    blocks += detector_sections(document)
    for name, (title, columns) in _LISTS.items():
        blocks += _list(title, results[name], (*identity, *columns))
    if "unstable_across_runs" in results:
        blocks += _list("Rows about which the runs disagree", results["unstable_across_runs"], (*identity, "verdicts"))
    blocks += _conflicting(results["conflicting_artifacts"], identity)
    blocks += verdict_sections(results, identity)
    blocks += _removal(results["removal"], identity)
    blocks += flow_sections(results, identity)
    blocks += message_section(results["message_matches"], identity)
    blocks += _detection_ranges(results["detection_ranges"], identity)
    blocks += _fidelity(results["fidelity"], identity)
    blocks += timing_section(document["timing"])
    blocks += batch_timing_section(document.get("batch_timing") or {})
    blocks += costs_section(document["environment"])
    blocks += _attempts(document["attempts"])
    blocks += _inputs(document["inputs"])
    blocks += _environment(document["environment"])
    return "\n\n".join(blocks) + "\n"


def _gaps(environment: Mapping[str, Any]) -> Iterator[str]:
    """Say what a merged run lacks."""
    if gaps := environment.get("gaps"):
        yield "\n".join(f"- Gap: {cell(gap)}" for gap in gaps)


def _list(title: str, listing: Line, columns: Sequence[str]) -> Iterator[str]:
    if not listing["count"]:
        return
    shown = listing["listed"][:LISTED]
    columns = ("run", *columns) if "run" in shown[0] else columns  # of a report about several runs
    yield f"## {title}: {listing['count']}"
    yield pipe_table(
        ("manifest", "case", *columns), ([where(entry), entry["case_id"], *values_of(entry, columns)] for entry in shown)
    )
    if listing["count"] > len(shown):
        yield f"{listing['count'] - len(shown)} more are not shown here."


def _conflicting(listing: Line, identity: Sequence[str]) -> Iterator[str]:
    if not listing["count"]:
        return
    yield f"## Artifacts with conflicting verdicts: {listing['count']}"
    yield "One adapter answered differently about the same bytes. They are in no rate."
    columns = (*identity, "artifact_sha256", "states", "verdicts")
    yield pipe_table(columns, (values_of(entry, columns) for entry in listing["listed"][:LISTED]))


def _removal(lines: Sequence[Line], identity: Sequence[str]) -> Iterator[str]:
    if not lines:
        return
    yield "## After removal"
    yield "What the named detector still recognised in removed-state artifacts. It certifies nothing beyond this detector."
    columns = (*identity, "transform", "rows_no_signal", "rows_signal_remained", "rows_unknown")
    yield pipe_table(columns, (values_of(line, columns) for line in lines))


def _detection_ranges(lines: Sequence[Line], identity: Sequence[str]) -> Iterator[str]:
    if not lines:
        return
    yield "## What the detectors measured"
    yield "Smallest, middle (nearest rank) and largest value over the rows that have a verdict."
    states = ["state"] if any(line["state"] is not None for line in lines) else []
    columns = (*identity, *states, "quantity", "rows", "min", "median", "max")
    yield pipe_table(columns, (values_of(line, columns) for line in lines))


def _fidelity(lines: Sequence[Line], identity: Sequence[str]) -> Iterator[str]:
    if not any(line["measured"] or line["incomparable"] or line["error"] for line in lines):
        return
    columns = (*identity, "state", "transform", "measured", "unbounded_identical", "incomparable", "no_reference", "error")
    quantities = sorted({quantity for line in lines for quantity in line["ranges"]})
    yield "## Fidelity"
    yield (
        "Decoded artifacts against their references: smallest / middle / largest value over rows. "
        "It says nothing about whether an invisible mark remains."
    )
    yield pipe_table(
        (*columns, *quantities),
        (
            [*values_of(line, columns), *(range_text(line["ranges"].get(quantity)) for quantity in quantities)]
            for line in lines
        ),
    )


def _attempts(attempts: Line) -> Iterator[str]:
    yield "## Attempts"
    yield (
        f"{attempts['attempts']} attempts at {attempts['rows']} rows; "
        f"{attempts['rows_with_several_attempts']} rows were tried more than once."
    )
    yield from _list("Messages of rows without a verdict", attempts["messages"], ("adapter", "outcome", "message"))


def _inputs(inputs: Line) -> Iterator[str]:
    yield "## Inputs"
    evidence = inputs["evidence"] if isinstance(inputs["evidence"], list) else [inputs["evidence"]]
    files = [*(("evidence", file) for file in evidence), *(("manifest", manifest) for manifest in inputs["manifests"])]
    yield pipe_table(("file", "name", "sha256"), ([kind, *values_of(file, ("name", "sha256"))] for kind, file in files))
    adapters = ("alias", "name", "version", "rule", "options", "source_sha256", "weights", "rows")
    yield pipe_table(adapters, (values_of(entry, adapters) for entry in inputs["adapters"]))
    code = ("project_commit", "dirty", "kernel_sha256", "rows")
    yield pipe_table(code, (values_of(entry, code) for entry in inputs["code"]))


def _environment(environment: Mapping[str, Any]) -> Iterator[str]:
    if environment:
        yield "## Environment"
        yield from _decoding(environment.get("decoding", {}))
        yield pipe_table(
            ("what", "value"), leaves({k: v for k, v in environment.items() if k not in ("merged_from", "gaps", "notes")})
        )
        yield from _merged_from(environment.get("merged_from", []))


def _merged_from(parts: Sequence[Line]) -> Iterator[str]:
    if parts:
        yield "### Merged from"
        columns = ("run_id", "shard", "name", "exit_status", "evidence_lines", "evidence_sha256")
        yield pipe_table(columns, (values_of(part, columns) for part in parts))


def _decoding(counts: Mapping[str, int]) -> Iterator[str]:
    """Say how often decoding was spared because an artifact was still there from an earlier row."""
    decoded, found = counts.get("misses", 0), counts.get("hits", 0)
    if decoded + found:
        artifacts = "1 artifact was" if decoded == 1 else f"{decoded} artifacts were"
        uses = "1 more use" if found == 1 else f"{found} more uses"
        it = "it" if 1 in (decoded, found) else "them"
        yield f"Decoding: {artifacts} decoded, {uses} found {it} decoded already ({100 * found / (decoded + found):.0f} %)."

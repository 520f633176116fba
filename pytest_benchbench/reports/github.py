"""What GitHub Actions shows of a run: annotations at the lines of the manifest, and the summary of a job.

Source: docs.github.com, "Workflow commands for GitHub Actions": the escapes, at most 10 annotations of a kind in a step, and
at most 1 MiB of summary in a step.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchbench.gates.decision import describe_rule
from pytest_benchbench.reports.detector_lines import banners, beside_golden_sets, detector_lines
from pytest_benchbench.reports.escaping import cell, plain
from pytest_benchbench.reports.evaluation_markdown import evaluation_lines
from pytest_benchbench.reports.markdown_flows import worst_slices_section
from pytest_benchbench.reports.pipe_tables import Line, pipe_table, rate_cells, values_of
from pytest_benchbench.reports.wording import case_line, outcome_line, tells_verdicts, where

if TYPE_CHECKING:
    from pytest_benchbench.gates.decision import Decision

MOST_ANNOTATIONS = 10
"""Of one kind; GitHub drops the others without a word."""

MOST_SUMMARY_BYTES = 1024 * 1024
"""Of all that one step writes; of a longer one GitHub shows nothing."""

LISTED = 50
"""How many rows of a kind the summary names, and how many lines of a table it shows."""

MOST_MESSAGE_CHARACTERS = 1000

Environment = Mapping[str, str]

FindFile = Callable[[str], str | None]
"""Given the name of a manifest: its path from the root of the repository, ``None`` where nobody knows."""


@dataclass(frozen=True, slots=True)
class Told:
    """What GitHub Actions is told of a run.

    Attributes:
        commands: Workflow commands, to be printed as lines of their own.
        warning: Why the job has no summary of it; ``None`` if it has one, or none is wanted.
    """

    commands: tuple[str, ...] = ()
    warning: str | None = None


def tell_github(
    document: Mapping[str, Any], gate: Decision | None, environment: Environment, *, report: str, directory: Path | None
) -> Told:
    """Annotate the lines of the manifests and write the summary of the job, as far as the environment asks for it.

    Args:
        document: What ``build_report`` gave.
        gate: The decision, if a gate ran.
        environment: The process's: ``GITHUB_ACTIONS``, ``GITHUB_WORKSPACE`` and ``GITHUB_STEP_SUMMARY`` are looked at.
        report: Where the whole report is.
        directory: Where the command was given that named the manifests, if that is known.
    """
    find_file = manifest_finder(document["environment"].get("manifests", []), directory, environment)
    commands = annotation_commands(document, environment, find_file)
    return Told(tuple(commands), write_job_summary(document, gate, environment, report=report))


def annotation_commands(document: Mapping[str, Any], environment: Environment, find_file: FindFile) -> list[str]:
    """Write the workflow commands that annotate the first mismatches, then the first errors, at their lines.

    Args:
        document: What ``build_report`` gave.
        environment: The process's; without ``GITHUB_ACTIONS=true`` there are none.
        find_file: Finds the manifests.

    Returns:
        At most ``MOST_ANNOTATIONS`` lines; where there are more rows the last one says how many.
    """
    if environment.get("GITHUB_ACTIONS") != "true":
        return []
    results = document["results"]
    commands = [_command(title, entry, text, find_file) for title, entry, text in _wrong_rows(results)]
    wrong = results["mismatches"]["count"] + results["errors"]["count"]
    if wrong <= MOST_ANNOTATIONS:
        return commands
    more = wrong - (MOST_ANNOTATIONS - 1)
    return [*commands[: MOST_ANNOTATIONS - 1], f"::error title=benchbench::and {more} more mismatches and errors"]


def _wrong_rows(results: Mapping[str, Any]) -> Iterator[tuple[str, Line, str]]:
    """Yield the first rows with a title and what is said of them."""
    mismatches = results["mismatches"]["listed"][:MOST_ANNOTATIONS]
    for entry in mismatches:
        yield "mismatch", entry, case_line(entry)
    for entry in results["errors"]["listed"][: MOST_ANNOTATIONS - len(mismatches)]:
        said = entry["error_type"] or entry["status"]
        yield "error", entry, f"{where(entry)}: {entry['case_id']}: {entry['adapter']}: error: {said}"


def _command(title: str, entry: Line, text: str, find_file: FindFile) -> str:
    """Write one workflow command; a manifest that is not found, or that has no lines, is named in the message alone."""
    properties = {"title": f"{entry['adapter']}: {title}"}
    if (file := find_file(entry["manifest"])) is not None:
        properties = {"file": file, **({"line": str(entry["line"])} if entry["line"] is not None else {}), **properties}
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::error {written}::{_message(plain(text)[:MOST_MESSAGE_CHARACTERS])}"


def _message(text: str) -> str:
    """Escape the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape the value of a property of a workflow command."""
    return _message(plain(text)).replace(":", "%3A").replace(",", "%2C")


def manifest_finder(manifests: Sequence[Mapping[str, Any]], directory: Path | None, environment: Environment) -> FindFile:
    """Find manifests by what ``run.json`` says of them.

    Args:
        manifests: Its section of that name.
        directory: Where the command was given that named them, if that is known.
        environment: The process's; ``GITHUB_WORKSPACE`` is the root of the repository.

    Returns:
        A function that gives the path from the root, with ``/`` between the parts. ``None`` for a manifest that lies
        outside, and for a name that several manifests have.
    """
    found: dict[str, set[str | None]] = {}
    workspace = environment.get("GITHUB_WORKSPACE")
    for manifest in manifests:
        found.setdefault(manifest["name"], set()).add(_from_workspace(manifest["path"], directory, workspace))

    def find(name: str) -> str | None:
        places = found.get(name, set())
        return next(iter(places)) if len(places) == 1 else None

    return find


def _from_workspace(path: str | None, directory: Path | None, workspace: str | None) -> str | None:
    if path is None:  # of merged runs that named it by several paths
        return None
    if directory is not None and workspace:
        path = os.path.relpath(os.path.realpath(directory / path), os.path.realpath(workspace))
    path = os.path.normpath(path).replace(os.sep, "/")
    return None if os.path.isabs(path) or path == ".." or path.startswith("../") else path  # noqa: PTH117 - a text


def write_job_summary(
    document: Mapping[str, Any], gate: Decision | None, environment: Environment, *, report: str
) -> str | None:
    """Append a summary to the file that ``GITHUB_STEP_SUMMARY`` names, if it is set.

    What does not fit is shortened, first to the verdict alone.

    Args:
        document: What ``build_report`` gave.
        gate: The decision, if a gate ran.
        environment: The process's.
        report: Where the whole report is.

    Returns:
        Why nothing was written, as a line for people; ``None`` if it was, or is not wanted.
    """
    if not (path := environment.get("GITHUB_STEP_SUMMARY")):
        return None
    try:
        with open(path, "ab") as file:  # noqa: PTH123 - appended to, whatever it is
            room = MOST_SUMMARY_BYTES - file.seek(0, os.SEEK_END)
            for is_short in (False, True):
                text = f"{render_summary(document, gate, report=report, is_short=is_short)}\n".encode()
                if len(text) <= room:
                    file.write(text)
                    return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        return f"GITHUB_STEP_SUMMARY: the summary of the job cannot be written: {plain(str(reason))}"
    return f"GITHUB_STEP_SUMMARY: no room is left for a summary; GitHub shows at most {MOST_SUMMARY_BYTES} bytes of a step"


def render_summary(document: Mapping[str, Any], gate: Decision | None, *, report: str, is_short: bool = False) -> str:
    """Write the summary of a job: the verdict, what is worst, and where the whole report is.

    Args:
        document: What ``build_report`` gave.
        gate: The decision, if a gate ran.
        report: Where the whole report is.
        is_short: Leave it at the verdict.

    Returns:
        Markdown; text that came from manifests, detectors or the machine is escaped.
    """
    results = document["results"]
    blocks = [f"## {cell(_title(document['environment']))}", *_verdict(document, gate)]
    if not is_short:
        series = results["tables"]["adapter"]
        identity = ["adapter", *(name for name in ("suite", "params") if len({line[name] for line in series}) > 1)]
        if recalls := [*evaluation_lines(dict(results)), *detector_lines(results)][:LISTED]:
            blocks.append("\n".join(f"- {cell(line)}" for line in recalls))
        blocks += worst_slices_section(results, identity)
        answers, errors = ("expected", "observed", "reason"), ("status", "error_type")
        blocks += _list("Mismatches", results["mismatches"], (*identity, *answers))
        blocks += _list("Errors", results["errors"], (*identity, *errors))
        blocks += _list("Unavailable", results["unavailable"], identity)
        blocks += _states(beside_golden_sets(results, results["tables"]["adapter_state"]), (*identity, "state"))
    blocks.append(f"The whole report: {cell(report)}")
    return "\n\n".join(blocks).replace("\n## ", "\n### ") + "\n"


def _title(run: Mapping[str, Any]) -> str:
    """Name a run by its manifests and its shard: several may tell of themselves in one job."""
    names = [manifest["name"] for manifest in run.get("manifests", [])]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    shard = run.get("options", {}).get("shard")
    return "Benchmark" + (f" {shown}" if shown else "") + (f", shard {shard}" if shard else "")


def _verdict(document: Mapping[str, Any], gate: Decision | None) -> Iterator[str]:
    yield from (f"**{cell(banner)}**" for banner in banners(document["results"]))
    if gate is not None:
        yield f"**Gate {cell(gate.policy.name)}: {gate.decision}**"
        if failed := [f"- {cell(describe_rule(rule))}" for rule in gate.rules if rule.passed is not True]:
            yield "\n".join(failed[:LISTED])
    yield f"{outcome_line(document['results'])}."
    run = document["environment"]
    if gaps := run.get("gaps"):
        yield "\n".join(f"- Gap: {cell(gap)}" for gap in gaps[:LISTED])
    if lost := run.get("planned", {}).get("lost"):
        yield f"{lost} planned row{' was' if lost == 1 else 's were'} lost."


def _list(title: str, listing: Line, columns: Sequence[str]) -> Iterator[str]:
    if not listing["count"]:
        return
    shown = listing["listed"][:LISTED]
    yield f"### {title}: {listing['count']}"
    yield pipe_table(
        ("manifest", "case", *columns), ([where(entry), entry["case_id"], *values_of(entry, columns)] for entry in shown)
    )
    if listing["count"] > len(shown):
        yield f"{listing['count'] - len(shown)} more are not shown here."


def _states(lines: Sequence[Line], identity: Sequence[str]) -> Iterator[str]:
    if not lines:
        return
    verdicts = ("rows_detected", "rows_not_detected", "rows_mismatch") if tells_verdicts(lines) else ("rows_scored",)
    counts = ("rows", *verdicts, "rows_error", "rows_unavailable")
    yield "### What the detectors recognised, by state"
    yield pipe_table(
        (*identity, *counts, "rate (k/n)", "95 % interval"),
        (
            [*values_of(line, (*identity, *counts)), *rate_cells(line["detected_rate_of_artifacts"])]
            for line in lines[:LISTED]
        ),
    )
    if len(lines) > LISTED:
        yield f"{len(lines) - LISTED} more are not shown here."

"""What the Markdown report says of the runs that it is about, where ``benchbench report`` made it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_benchbench.reports.escaping import cell
from pytest_benchbench.reports.pipe_tables import pipe_table

_COLUMNS = ("run", "name", "run_id", "rows", "started", "finished", "commit", "dirty", "sources", "evidence_sha256")


def run_sections(document: dict[str, Any]) -> Iterator[str]:
    """Give the blocks about the runs, none where the report says nothing of them.

    Args:
        document: What ``build_report`` or ``report_on`` gave.
    """
    runs = document.get("runs", [])
    if notes := document["environment"].get("notes"):
        yield "\n".join(f"- Note: {cell(note)}" for note in notes)
    if not runs:
        return
    yield f"## Runs: {len(runs)}"
    if "repetition" in document["results"]:
        shared = document["results"]["repetition"]
        yield (
            f"Each is a process of its own, and rows below are those of all runs. These are {shared['rows']} planned rows; "
            f"{shared['rows_in_every_run']} of them every run has. Artifacts count once, however many runs show them."
        )
    yield pipe_table(_COLUMNS, (_values(run) for run in runs))
    cold = [(run["run"], adapter, *calls.values()) for run in runs for adapter, calls in run["cold"].items()]
    if cold:
        yield "First calls of each run's instances, loading included, in milliseconds:"
        yield pipe_table(("run", "adapter", "n", "p50_ms", "max_ms"), cold)


def _values(run: dict[str, Any]) -> list[Any]:
    code = run["code"] or {}
    more = {"commit": code.get("project_commit"), "dirty": code.get("dirty"), "sources": code.get("kernel_sha256")}
    return [(run | more)[name] for name in _COLUMNS]

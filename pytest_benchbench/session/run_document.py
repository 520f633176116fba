"""What ``run.json`` says: which code ran what, with which options, where, and when it began."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest_benchbench
from pytest_benchbench.evidence.environment import machine, versions
from pytest_benchbench.evidence.joined_costs import COSTS

if TYPE_CHECKING:
    from pytest_benchbench.adapters.pool import AdapterChoice
    from pytest_benchbench.evidence.observation import CodeRecord
    from pytest_benchbench.session.options import Settings
    from pytest_benchbench.session.planning import Plan

WRITTEN_AT_THE_END = frozenset({COSTS, "planned", "decoding", "peak_bytes", "finished", "interrupted", "exit_status"})
"""Parts of ``run.json`` that a run which was killed has not."""


def run_document(
    plan: Plan,
    arguments: tuple[str | os.PathLike[str], ...],
    collected: Sequence[str],
    code: CodeRecord,
    run_id: str,
) -> dict[str, Any]:
    """Describe a run before its first row; the end adds what became of the rows.

    Args:
        plan: What runs.
        arguments: The command line; its secrets are hidden.
        collected: What pytest collects: files, directories and node ids.
        code: The code that runs.
        run_id: The run's name.
    """
    settings, expectations, secrets = plan.settings, plan.expectations, plan.pool.secrets
    return {
        "schema_version": 1,
        "run_id": run_id,
        "package": {
            "name": "pytest-benchbench",
            "version": pytest_benchbench.__version__,
            "kernel_sha256": code.kernel_sha256,
        },
        "project": {"commit": code.project_commit, "dirty": code.dirty},
        "manifests": [
            {
                "path": as_text(m.display),
                "name": as_text(m.name),
                "kind": m.kind,
                "sha256": m.sha256,
                "rows": m.total_rows,
                "shard_rows": m.rows,
                **({"about": dict(m.about)} if m.about else {}),
            }
            for m in plan.manifests
        ],
        "options": {
            "arguments": [secrets.argument(as_text(argument)) for argument in arguments],
            "collected": [_from_root(given, settings) for given in collected],
            "adapters": {_named(choice): secrets.shown(choice) for choice in settings.adapters},
            "split": settings.split if any(m.splits for m in plan.manifests) else None,
            "select": [f"{field}={value}" for field, value in settings.select],
            "shard": str(settings.shard) if settings.shard else None,
            "verify": settings.verify,
            "network": settings.network,
            "expectations": {"path": expectations.display, "sha256": expectations.sha256} if expectations else None,
            "require_available": settings.require_available,
            "crash_retries": settings.crash_retries,
            "row_timeout": settings.row_timeout,
            "max_pixels": settings.max_pixels,
            "budget": None if settings.budget is None else str(settings.budget),
            "gate": settings.gate,
            "artifact_roots": [as_text(shown_from(root, settings.invocation_dir)) for root in settings.artifact_roots],
            "measured": "xfail" if settings.measured_as_xfail else "measured",
        },
        "versions": versions(),
        "machine": machine(),
    }


def resumed_document(was: Mapping[str, Any], now: Mapping[str, Any], started: datetime) -> dict[str, Any]:
    """Describe a run that is gone on with: it keeps its name, its beginning and its first command line.

    Args:
        was: What ``run.json`` says.
        now: What it would say of this session alone.
        started: When this session began.
    """
    session = {"started": as_time(started), "arguments": now["options"]["arguments"]}
    first = {name: value for name, value in was.items() if name not in WRITTEN_AT_THE_END}
    options = {**now["options"], "arguments": was["options"].get("arguments", [])}
    return {**first, "options": options, "versions": now["versions"], "resumed": [*was.get("resumed", []), session]}


def _named(choice: AdapterChoice) -> str:
    """Name an adapter as the command line does."""
    return choice.name if choice.alias == choice.name else f"{choice.alias}={choice.name}"


def _from_root(given: str, settings: Settings) -> str:
    """Write what is collected so that it says the same wherever the command was given; other words than paths stay."""
    path, separator, rest = given.partition("::")
    place = os.path.normpath(settings.invocation_dir / path)
    if os.path.lexists(place):
        path = os.path.relpath(place, settings.root_dir).replace(os.sep, "/")
    return as_text(path + separator + rest)


def as_text(given: str | os.PathLike[str]) -> str:
    """Write an argument or a path so that JSON can carry it, whatever its bytes."""
    return os.fspath(given).encode("utf-8", "backslashreplace").decode("utf-8")


def as_time(moment: datetime) -> str:
    """Write a moment to the millisecond, with its zone."""
    return moment.isoformat(timespec="milliseconds")


def shown_from(path: Path, here: Path) -> str:
    """Write a path as one would from a directory, if it lies inside."""
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)

"""Sentences that the terminal and the Markdown report share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_benchbench.evidence.opened_split import opening_of

WORST_FIRST = ("error", "mismatch", "unavailable", "not_run", "known_mismatch", "match", "measured")


def outcome_line(results: dict[str, Any]) -> str:
    """Say how many rows had which outcome, in one line, the worst first."""
    rows, outcomes = results["rows"], results["outcomes"]
    counts = ", ".join(f"{outcomes[name]} {name.replace('_', ' ')}" for name in WORST_FIRST if outcomes[name])
    return f"{rows} row{'' if rows == 1 else 's'}" + (f": {counts}" if counts else "")


def attempt_line(run: Mapping[str, Any]) -> str | None:
    """Say which opening of a test split a run was; ``None`` for one that opened none.

    Args:
        run: The content of ``run.json``; the name of the ledger is as it came.
    """
    opening = opening_of(run)
    if opening is None:
        return None
    return f"attempt {opening.attempt} at this test split, by any model ({opening.ledger})"


def where(entry: dict[str, Any]) -> str:
    """Say where the case of a listed row stands: ``cases.jsonl:12``, or the pointer into a JSON manifest."""
    if entry["line"] is not None:
        return f"{entry['manifest']}:{entry['line']}"
    return entry["manifest"] if entry["pointer"] is None else f"{entry['manifest']}#{entry['pointer']}"


def tells_verdicts(lines: Iterable[Mapping[str, Any]]) -> bool:
    """Say whether counts of verdicts are worth a column: not where every answer is a score, which detects nothing."""
    lines = list(lines)
    is_scored = any(line.get("rows_scored") for line in lines)
    return not is_scored or any(line.get("rows_detected") or line.get("rows_not_detected") for line in lines)


def case_line(entry: dict[str, Any]) -> str:
    """Say in one line what a listed row expected and what was observed; foreign text is as it came."""
    observed = f"{entry['observed']}, other attempts otherwise" if entry["unstable"] else entry["observed"]
    reason = f" ({entry['reason']})" if entry["reason"] else ""
    parameters = f"[{entry['params']}]" if entry["params"] else ""
    run = f" in run {entry['run']}" if "run" in entry else ""
    case = f"{entry['case_id']}{parameters}: {entry['adapter']}{run}"
    expected = "" if entry["expected"] is None else f"expected {entry['expected']}, "  # of labelled images nothing is
    return f"{where(entry)}: {case}: {expected}observed {observed}{reason}"

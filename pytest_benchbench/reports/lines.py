"""The short report for a terminal: plain lines, the verdict first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchbench.gates.decision import Decision, describe_rule
from pytest_benchbench.reports.detector_lines import beside_golden_sets, detector_lines
from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.reports.evaluation_markdown import evaluation_lines
from pytest_benchbench.reports.wording import attempt_line, case_line, outcome_line, tells_verdicts

MISMATCHES = 10

RULES = 60
"""How many rules of a gate have a line."""

COUNTED = 40
"""How many adapters and states (and suites and parameters, where they differ) have a line."""

UNAVAILABLE = 10
"""How many different reasons why an adapter could not be asked have a line."""

SLICES = 3
"""How many of the worst slices have a line."""

_VERDICTS = ("detected", "not_detected")
_WHERE_ANY = ("scored", "unstable", "error", "unavailable", "not_run")


def terminal_lines(document: dict[str, Any], gate: Decision | None = None) -> list[str]:
    """Say how a run went.

    Args:
        document: What ``build_report`` gave.
        gate: The decision, if a gate ran.

    Returns:
        Lines without line ends and without control characters: the verdict (what makes the run incomplete, the gate with the
        rules that did not pass if there is one, and the outcomes), which attempt at a test split it was, rows by adapter and
        state, why adapters could not be asked, what labelled rows and samples come to, the worst slices where the mismatches
        alone do not tell, and the first mismatches.
    """
    results = document["results"]
    incomplete = _incomplete(document["environment"], results["outcomes"], has_gate=gate is not None)
    return [
        *incomplete,
        *_verdict(results, gate),
        *_attempt(document["environment"]),
        *_counts(results),
        *_unavailable(document["attempts"]["messages"]["listed"]),
        *evaluation_lines(results),
        *detector_lines(results),
        *_worst_slices(results),
        *_mismatches(results["mismatches"]),
    ]


def _incomplete(run: Mapping[str, Any], outcomes: Mapping[str, int], *, has_gate: bool) -> list[str]:
    """Say why a run is incomplete: whether it was interrupted, and in one line what is missing."""
    planned = run.get("planned", {})
    reasons = []
    if lost := planned.get("lost", 0):
        reasons.append(f"{_rows(lost)} lost")
    if outcomes["unavailable"] and outcomes["unavailable"] == sum(outcomes.values()):
        reasons.append("every row was unavailable")
    if has_gate and (left_out := planned.get("left_out", 0)):
        reasons.append(f"{_rows(left_out)} {'was' if left_out == 1 else 'were'} left out, and a gate decides on all")
    lines = ["interrupted"] if run.get("interrupted") else []
    return [*lines, f"incomplete: {'; '.join(reasons)}"] if reasons else lines


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _verdict(results: dict[str, Any], gate: Decision | None) -> list[str]:
    return [*(decision_lines(gate) if gate is not None else ()), outcome_line(results)]


def decision_lines(gate: Decision, *, passed: bool = False) -> list[str]:
    """Say what a gate decided, and by which rules it did not pass, the first ``RULES`` of them.

    Args:
        gate: The decision.
        passed: Whether rules that passed have a line too, as far as there is room.
    """
    amiss = [rule for rule in gate.rules if rule.passed is not True]
    lines = [f"  {plain(describe_rule(rule))}" for rule in amiss[:RULES]]
    if (more := len(amiss) - RULES) > 0:
        lines.append(f"  ... and {more} more rules that did not pass in gate.json")
    if passed:
        held = [rule for rule in gate.rules if rule.passed]
        lines += [f"  passed: {plain(describe_rule(rule))}" for rule in held[:RULES]]
        if (more := len(held) - RULES) > 0:
            lines.append(f"  ... and {more} more rules that passed in gate.json")
    return [f"gate {plain(gate.policy.name)}: {gate.decision}", *lines]


def _attempt(run: Mapping[str, Any]) -> list[str]:
    attempt = attempt_line(run)
    return [] if attempt is None else [plain(attempt)]


def _counts(results: dict[str, Any]) -> list[str]:
    """Align the rows of each adapter and state; a column that is 0 throughout is left out unless verdicts are told."""
    table = results["tables"]["adapter_state"]
    if not table:
        return []
    others = beside_golden_sets(results, table)
    names = [name for name in ("suite", "params") if len({line[name] for line in table}) > 1]
    names += ["adapter", *(["state"] if others else [])]
    columns = ["rows", *(_VERDICTS if others and tells_verdicts(table) else ())] + [
        name for name in _WHERE_ANY if any(line[f"rows_{name}"] for line in table)
    ]
    texts = [[*names, *(column.replace("_", " ") for column in columns)]]
    for line in table[:COUNTED]:
        counts = (line["rows" if column == "rows" else f"rows_{column}"] for column in columns)
        texts.append([*(plain(line[name] or "-") for name in names), *map(str, counts)])
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = [
        "  ".join(
            text.ljust(width) if index < len(names) else text.rjust(width)
            for index, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in texts
    ]
    return lines if len(table) <= COUNTED else [*lines, f"... and {len(table) - COUNTED} more in report.json"]


def _unavailable(messages: Sequence[dict[str, Any]]) -> list[str]:
    """Say once why each adapter could not be asked, and what to install: pytest tells of skipped rows with -rs only."""
    of_unavailable = (entry for entry in messages if entry["outcome"] == "unavailable")
    reasons = dict.fromkeys((entry["adapter"], entry["message"] or "no reason is known") for entry in of_unavailable)
    lines = [f"{plain(adapter)} is unavailable: {plain(message)}" for adapter, message in reasons]
    beyond = len(lines) - UNAVAILABLE
    return [*lines[:UNAVAILABLE], f"... and {beyond} more reasons in report.json"] if beyond > 0 else lines


def _worst_slices(results: dict[str, Any]) -> list[str]:
    """Name the slices in which most is wrong; a single one all of whose wrong rows are listed would say nothing new."""
    wrong = results["wrong_slices"]
    is_told = results["mismatches"]["count"] <= MISMATCHES and not results["errors"]["count"]
    if not wrong or (wrong == 1 and is_told):
        return []
    shown = results["worst_slices"][:SLICES]
    lines = []
    for line in shown:
        place = " ".join(plain(line[name] or "-") for name in ("adapter", "state", "transform", "arm"))
        counts = ", ".join(f"{line[f'rows_{name}']} {name}" for name in ("mismatch", "error") if line[f"rows_{name}"])
        rate = line["wrong_rate_of_rows"]
        lines.append(f"  {place}: {rate['k']} of {_rows(rate['n'])} wrong ({counts})")
    return [f"worst slices, {len(shown)} of {wrong}:" if wrong > len(shown) else "worst slices:", *lines]


def _mismatches(mismatches: dict[str, Any]) -> list[str]:
    listed = mismatches["listed"][:MISMATCHES]
    lines = [plain(case_line(entry)) for entry in listed]
    beyond = mismatches["count"] - len(listed)
    return [*lines, f"... and {beyond} more in report.json"] if beyond else lines

"""What a page says first: whether it went well, by which rules, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from pytest_benchbench.gates.decision import Decision
from pytest_benchbench.gates.describing import class_room
from pytest_benchbench.reports.detector_lines import banners, detector_lines, golden_sets_of
from pytest_benchbench.reports.evaluation_markdown import evaluation_lines
from pytest_benchbench.reports.html.view import Field, Table, cell, shown, table_of, value_field
from pytest_benchbench.reports.wording import WORST_FIRST, attempt_line, outcome_line

Mood = Literal["ok", "warn", "bad"]

RECALLS = 12
"""How many lines tell what labelled rows and samples come to."""

_MOODS: Mapping[str, Mood] = {"pass": "ok", "refused": "bad", "inconclusive": "warn"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The head of the page.

    Attributes:
        mood: What its edge is coloured by; the headline says the same in words.
        headline: The gate's decision, or without a gate whether rows failed.
        lines: What else is to be known at once.
        outcomes: Rows by outcome, the worst first, without those that no row has.
        gaps: Why the numbers are not about all that was to be measured.
        rules: The gate's rules, those that did not pass first; ``None`` without a gate.
    """

    mood: Mood
    headline: str
    lines: Sequence[str]
    outcomes: Sequence[tuple[str, int]]
    gaps: Sequence[str]
    rules: Table | None


def verdict_of(document: Mapping[str, Any], gate: Decision | None) -> Verdict:
    """Say how it went.

    Args:
        document: What ``build_report`` gave.
        gate: The decision, if a gate ran.
    """
    results = document["results"]
    outcomes, unstable = results["outcomes"], results["unstable"]["count"]
    gaps = list(_gaps(document["environment"], outcomes))
    failed = outcomes["mismatch"] + outcomes["error"]
    is_scored = _is_scored(results)
    mood: Mood
    if gate is not None:
        mood, headline = _MOODS[gate.decision], f"Gate {shown(gate.policy.name)}: {gate.decision}"
    elif not results["rows"]:
        mood, headline = "warn", "Nothing was measured"
    elif failed:
        what = "without a score" if is_scored else "wrong or an error"
        mood, headline = "bad", f"{failed} of {_rows(results['rows'])} {'is' if failed == 1 else 'are'} {what}"
    elif is_scored:
        missing = "; the evidence is incomplete" if gaps else ""
        mood, headline = "warn", f"{_rows(results['rows'])} scored, and no rule decided about them{missing}"
    elif gaps:
        mood, headline = "warn", "No mismatch and no error, but the evidence is incomplete"
    else:
        known = f", apart from {outcomes['known_mismatch']} known" if outcomes["known_mismatch"] else ""
        mood, headline = "ok", f"No mismatch and no error in {_rows(results['rows'])}{known}"
    lines = [*(f"{shown(banner)}." for banner in banners(results)), f"{outcome_line(results)}.", *_recalls(results)]
    if (attempt := attempt_line(document["environment"])) is not None:
        lines.append(f"Opening: {shown(attempt)}.")
    if gate is None:
        but = "an error" if is_scored else "wrong or an error"
        lines.append(f"No gate ran: whether this is good enough was decided by no rule but that no row may be {but}.")
    elif failed:
        lines.append("Mismatches and errors fail a run whatever the gate says.")
    if unstable:
        lines.append(f"{_rows(unstable)} unstable: attempts gave different verdicts.")
    if (across := results.get("unstable_across_runs")) and across["count"]:
        lines.append(f"The runs disagree about {_rows(across['count'])}.")
    return Verdict(
        mood="warn" if mood == "ok" and (gaps or failed) else mood,
        headline=headline,
        lines=lines,
        outcomes=[(name, outcomes[name]) for name in WORST_FIRST if outcomes[name]],
        gaps=gaps,
        rules=None if gate is None else _rules(gate),
    )


def _is_scored(results: Mapping[str, Any]) -> bool:
    """Say whether every row is a labelled one with a score, or with what stands in its place."""
    series = (results.get("evaluation") or {"series": ()})["series"]
    detectors = [detector for found in golden_sets_of(results) for detector in found["detectors"]]
    counted = sum(line["rows"] for line in series) + sum(detector["planned"] for detector in detectors)
    return bool(series or detectors) and counted == results["rows"]


def _recalls(results: Mapping[str, Any]) -> Iterator[str]:
    lines = [*evaluation_lines(dict(results)), *(line for line in detector_lines(results) if line not in banners(results))]
    yield from (f"{line}." for line in lines[:RECALLS])
    if (more := len(lines) - RECALLS) > 0:
        yield f"{more} more such lines are not shown here."


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _gaps(run: Mapping[str, Any], outcomes: Mapping[str, int]) -> Iterator[str]:
    planned = run.get("planned") or {}
    if run.get("interrupted"):
        yield "The run was interrupted."
    if lost := planned.get("lost", 0) or outcomes["not_run"]:
        yield f"{_rows(lost)} planned, never run to an end, and in no rate below."
    if left_out := planned.get("left_out", 0):
        yield f"{_rows(left_out)} left out by the user's choice (such as -k, --lf or -x)."
    if outcomes["unavailable"]:
        yield f"{_rows(outcomes['unavailable'])} without an answer: the adapter was unavailable."
    if outcomes["error"]:
        yield f"{_rows(outcomes['error'])} without a verdict: errors."
    for gap in run.get("gaps") or ():
        yield shown(gap)


def _rules(gate: Decision) -> Table:
    order = {False: 0, None: 1, True: 2}
    lines = [
        {
            **msgspec.to_builtins(rule),
            "room": "; ".join(class_room(rule)) or None,
            "rows": ", ".join(rule.rows or ()) or None,
        }
        for rule in sorted(gate.rules, key=lambda rule: order[rule.passed])
    ]
    words = {True: "passed", False: "failed", None: "cannot be computed"}
    fields = [
        value_field("id", "rule"),
        Field("result", lambda line: cell(words[line["passed"]])),
        value_field("slice", is_optional=True),
        value_field("observed"),
        value_field("bound", is_optional=True),
        value_field("required"),
        value_field("n"),
        value_field("failures"),
        value_field("max_failures", "most failures that pass"),
        value_field("room", "by class", is_optional=True),
        value_field("implied_by", "implied by", is_optional=True),
        value_field("power", is_optional=True),
        value_field("reason", is_optional=True),
        value_field("rows", is_optional=True),
    ]
    note = f"Policy {shown(gate.policy.name)}, SHA-256 {gate.policy.sha256}."
    return table_of("rules", "Rules, those that did not pass first", lines, fields, note=note)

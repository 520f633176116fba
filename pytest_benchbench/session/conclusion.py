"""The end of a run: every planned row accounted for, the report written, the gate asked, the exit code found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pytest_benchbench.evidence.reading import index_evidence
from pytest_benchbench.gates.policy import LoadedPolicy, PolicyError, load_policy
from pytest_benchbench.reports.lines import terminal_lines
from pytest_benchbench.reports.markdown import render_markdown
from pytest_benchbench.reports.reckoning import Reckoning, reckon
from pytest_benchbench.session.accounting import Account
from pytest_benchbench.session.exit_status import RunFacts, exit_status
from pytest_benchbench.session.planning import Plan
from pytest_benchbench.session.run_directory import RunDirectory


@dataclass(slots=True)
class Conclusion:
    """What a finished run comes to.

    Attributes:
        status: The exit code.
        lines: What the terminal says, worst first.
    """

    status: int
    lines: list[str] = field(default_factory=list)


def conclude(
    run: RunDirectory,
    document: dict[str, Any],
    rows: Account,
    policy: LoadedPolicy | None,
    *,
    lazy_verification: bool,
    pytest_status: int,
    failed_before: int = 0,
) -> Conclusion:
    """Sum up a run whose evidence is closed, and write ``report.json``, ``report.md``, ``gate.json`` and ``run.json``.

    Args:
        run: Its directory.
        document: What ``run.json`` says so far; what became of the rows is added.
        rows: What became of the planned rows.
        policy: What decides, if a gate was asked for.
        lazy_verification: Whether files were hashed only when their row came.
        pytest_status: What pytest would exit with.
        failed_before: Rows that failed in earlier sessions of the run, and that evidence alone does not tell of.

    Raises:
        RunDirectoryError: Something cannot be written.
    """
    document["planned"] = {
        "rows": rows.planned,
        "selected": rows.selected,
        "left_out": rows.left_out,
        "lost": rows.lost,
    }
    document["interrupted"] = pytest_status == pytest.ExitCode.INTERRUPTED
    reckoned = reckon(
        index_evidence(run.evidence),
        document,
        policy,
        lost=rows.lost,
        left_out=rows.left_out,
        lazy_verification=lazy_verification,
    )
    report, decision = reckoned.report, reckoned.decision
    facts = run_facts(reckoned, lost=rows.lost, left_out=rows.left_out)
    status = exit_status(pytest_status, replace(facts, failed_rows=facts.failed_rows + failed_before))
    document["exit_status"] = status
    if decision is not None:
        run.write_json("gate.json", decision)
    run.write_json("report.json", report)
    run.write_text("report.md", render_markdown(report))
    run.write_json("run.json", document)
    return Conclusion(status, terminal_lines(report, decision))


def run_facts(reckoned: Reckoning, *, lost: int, left_out: int) -> RunFacts:
    """Say what the exit code of a run depends on.

    Args:
        reckoned: What the evidence comes to.
        lost: Planned rows without an answer that nobody left out.
        left_out: Planned rows that the user left out.
    """
    results = reckoned.report["results"]
    outcomes = results["outcomes"]
    return RunFacts(
        lost=lost,
        left_out=left_out,
        nothing_measured=outcomes["unavailable"] > 0 and outcomes["unavailable"] == results["rows"],
        failed_rows=outcomes["error"] + results["unstable"]["count"],
        gate=reckoned.decision.decision if reckoned.decision else None,
    )


def policy_of(plan: Plan) -> LoadedPolicy | None:
    """Load the policy that a run is decided by; ``None`` without a gate.

    Raises:
        pytest.UsageError: The policy cannot be used.
    """
    if plan.settings.gate is None:
        return None
    try:
        return load_policy(plan.settings.gate, directory=plan.settings.gate_directory)
    except PolicyError as error:
        raise pytest.UsageError(f"--bench-gate: {error}") from None

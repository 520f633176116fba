"""The end of a run: every planned row accounted for, the report written, the gate asked, the exit code found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_benchbench.evidence.reading import settled_rows
from pytest_benchbench.gates.decision import Decision, EvidenceFacts, decide
from pytest_benchbench.gates.policy import LoadedPolicy, PolicyError, load_policy
from pytest_benchbench.reports.lines import terminal_lines
from pytest_benchbench.reports.markdown import render_markdown
from pytest_benchbench.reports.summary import build_report
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
) -> Conclusion:
    """Sum up a run whose evidence is closed, and write ``report.json``, ``report.md``, ``gate.json`` and ``run.json``.

    Args:
        run: Its directory.
        document: What ``run.json`` says so far; what became of the rows is added.
        rows: What became of the planned rows.
        policy: What decides, if a gate was asked for.
        lazy_verification: Whether files were hashed only when their row came.
        pytest_status: What pytest would exit with.
    """
    document["planned"] = {
        "rows": rows.planned,
        "selected": rows.selected,
        "left_out": rows.left_out,
        "lost": rows.lost,
    }
    document["interrupted"] = pytest_status == pytest.ExitCode.INTERRUPTED
    report = build_report(run.evidence, document)
    counts = report["results"]["outcomes"]
    decision = _decide(run, report["inputs"], rows, policy, lazy_verification=lazy_verification)
    status = exit_status(
        pytest_status,
        RunFacts(
            lost=rows.lost,
            left_out=rows.left_out,
            nothing_measured=counts["unavailable"] > 0 and counts["unavailable"] == sum(counts.values()),
            failed_rows=counts["error"] + report["results"]["unstable"]["count"],
            gate=decision.decision if decision else None,
        ),
    )
    document["exit_status"] = status
    run.write_json("report.json", report)
    run.write_text("report.md", render_markdown(report))
    run.write_json("run.json", document)
    return Conclusion(status, terminal_lines(report, decision))


def _decide(
    run: RunDirectory, inputs: dict[str, Any], rows: Account, policy: LoadedPolicy | None, *, lazy_verification: bool
) -> Decision | None:
    if policy is None:
        return None
    facts = EvidenceFacts(
        lost=rows.lost,
        left_out=rows.left_out,
        lazy_verification=lazy_verification,
        sha256={inputs["evidence"]["name"]: inputs["evidence"]["sha256"]},
    )
    decision = decide(policy, settled_rows(run.evidence), facts)
    run.write_json("gate.json", decision)
    return decision


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

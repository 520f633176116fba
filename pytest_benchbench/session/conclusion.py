"""The end of a run: every planned row accounted for, the report written, the gate asked, the exit code found."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.reading import index_evidence
from pytest_benchbench.evidence.score_manifest import ScoreManifest
from pytest_benchbench.gates.decided import missing_rows
from pytest_benchbench.gates.policy import LoadedPolicy, PolicyError, load_policy
from pytest_benchbench.manifests.faults import ManifestError
from pytest_benchbench.reports import html
from pytest_benchbench.reports.deployed_summary import SUMMARY
from pytest_benchbench.reports.detector_benchmark import BENCHMARK
from pytest_benchbench.reports.lines import terminal_lines
from pytest_benchbench.reports.markdown import render_markdown
from pytest_benchbench.reports.reckoning import Reckoning, reckon
from pytest_benchbench.session.accounting import Account
from pytest_benchbench.session.exit_status import RunFacts, exit_status
from pytest_benchbench.session.planning import Plan
from pytest_benchbench.session.run_directory import RunDirectory
from pytest_benchbench.session.run_document import shown_from

if TYPE_CHECKING:
    from pytest_benchbench.gates.decision import Decision
    from pytest_benchbench.reports.html.cases import Cases


@dataclass(slots=True)
class Conclusion:
    """What a finished run comes to.

    Attributes:
        status: The exit code.
        lines: What the terminal says, worst first.
        reports: Names of the reports for people in the run's directory.
        commands: Lines that GitHub Actions obeys.
    """

    status: int
    lines: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    commands: tuple[str, ...] = ()


def conclude(
    run: RunDirectory,
    document: dict[str, Any],
    rows: Account,
    policy: LoadedPolicy | None,
    plan: Plan,
    *,
    pytest_status: int,
    failed_before: int = 0,
) -> Conclusion:
    """Sum up a run whose evidence is closed, and write ``report.json``, ``report.md``, ``gate.json`` and ``run.json``.

    There is ``summary.json`` where rows are of a deployed scorer, and ``benchmark.json`` where they are of a golden set.
    With the extra ``html`` there is ``report.html`` too. A run whose page cannot be made is a run all the same.

    Args:
        run: Its directory.
        document: What ``run.json`` says so far; what became of the rows is added.
        rows: What became of the planned rows.
        policy: What decides, if a gate was asked for.
        plan: What the run ran.
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
    cases = html.new_cases() if plan.settings.page else None
    reckoned = reckon(
        index_evidence(run.evidence),
        document,
        policy,
        lost=rows.lost,
        left_out=rows.left_out,
        lazy_verification=plan.settings.verify == "lazy",
        manifests=_dataset_manifests(plan) if policy is not None and policy.policy.is_about_scores else (),
        also=[cases.add] if cases else [],
    )
    report, decision = reckoned.report, reckoned.decision
    facts = run_facts(reckoned, lost=rows.lost, left_out=rows.left_out)
    status = exit_status(pytest_status, replace(facts, failed_rows=facts.failed_rows + failed_before))
    document["exit_status"] = status
    if decision is not None:
        run.write_json("gate.json", decision)
    run.write_json("report.json", report)
    for name, content in ((SUMMARY, reckoned.deployed), (BENCHMARK, reckoned.benchmark)):
        if content is None:
            run.remove(name)  # of an earlier session: none of its rows counts any more
        else:
            run.write_json(name, content)
    run.write_text("report.md", render_markdown(report))
    run.write_json("run.json", document)
    concluded = Conclusion(status, terminal_lines(report, decision), ["report.md"])
    run.remove(html.REPORT_HTML)  # of an earlier session: it would tell of fewer rows
    if cases is not None:
        _write_page(run, report, cases, decision, plan, concluded)
    if "GITHUB_ACTIONS" in os.environ or "GITHUB_STEP_SUMMARY" in os.environ:
        _tell_github(run, report, decision, plan, concluded)
    return concluded


def _dataset_manifests(plan: Plan) -> list[ScoreManifest]:
    """Read what scores are held against; none where one is no longer what was validated, and then nothing is verified."""
    try:
        return [ScoreManifest(manifest.path) for manifest in plan.manifests if manifest.kind == "dataset"]
    except ManifestError:
        return []


def _tell_github(
    run: RunDirectory, report: dict[str, Any], decision: Decision | None, plan: Plan, concluded: Conclusion
) -> None:
    from pytest_benchbench.reports.github import tell_github

    here = plan.settings.invocation_dir
    told = tell_github(report, decision, os.environ, report=shown_from(run.path / "report.md", here), directory=here)
    concluded.commands = told.commands
    if told.warning is not None:
        concluded.lines.append(f"warning: {told.warning}")


def _write_page(
    run: RunDirectory, report: dict[str, Any], cases: Cases, decision: Decision | None, plan: Plan, concluded: Conclusion
) -> None:
    """Write the page last: it takes longest, and all that it shows is on the disk by now. Nothing about it ends a run."""
    from pytest_benchbench.reports.html.artifact_places import ArtifactPlaces
    from pytest_benchbench.reports.html.whole import report_page

    places = ArtifactPlaces.of_manifests(plan.manifests, plan.settings.artifact_roots)
    try:
        run.write_bytes(html.REPORT_HTML, report_page(report, cases, gate=decision, places=places))
    except Exception as error:
        concluded.lines.append(f"warning: {html.REPORT_HTML} cannot be made: {one_line(error)}")
    else:
        concluded.reports.insert(0, html.REPORT_HTML)


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
        lost=lost + (missing_rows(reckoned.decision) if reckoned.decision else 0),
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

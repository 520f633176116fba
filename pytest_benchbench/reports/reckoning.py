"""Report, summary of deployed scorers, benchmark of text detectors and gate from one pass over the evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_benchbench.evidence.opened_split import attempt_of
from pytest_benchbench.evidence.reading import IndexedEvidence, SettledRow
from pytest_benchbench.evidence.score_manifest import ScoreManifest
from pytest_benchbench.gates.decision import Decider, Decision, EvidenceFacts
from pytest_benchbench.gates.policy import LoadedPolicy
from pytest_benchbench.reports.benchmark_document import lacks_of
from pytest_benchbench.reports.deployed_summary import DeployedSummary
from pytest_benchbench.reports.detector_benchmark import DetectorBenchmark
from pytest_benchbench.reports.summary import Summary


@dataclass(frozen=True, slots=True)
class Reckoning:
    """What evidence comes to.

    Attributes:
        report: The content of ``report.json``; see ``build_report``.
        deployed: The content of ``summary.json``; ``None`` where no row is of a deployed scorer.
        benchmark: The content of ``benchmark.json``; ``None`` unless rows are of one golden set.
        decision: The content of ``gate.json``; ``None`` without a policy.
    """

    report: dict[str, Any]
    deployed: dict[str, Any] | None
    benchmark: DetectorBenchmark | None
    decision: Decision | None


def reckon(
    evidence: IndexedEvidence,
    run: Mapping[str, Any],
    policy: LoadedPolicy | None,
    *,
    lost: int,
    left_out: int,
    lazy_verification: bool,
    unaccounted: int = 0,
    manifests: Sequence[ScoreManifest] = (),
    held_out_unverified: bool = False,
    also: Sequence[Callable[[SettledRow], None]] = (),
) -> Reckoning:
    """Sum up evidence and apply a policy to it.

    Args:
        evidence: What was observed.
        run: The content of ``run.json``.
        policy: What decides, if a gate was asked for.
        lost: Planned rows without an answer that nobody left out.
        left_out: Planned rows that the user left out.
        lazy_verification: Whether files were hashed only when their row came.
        unaccounted: Parts of the whole of which nobody knows how many rows they lost.
        manifests: Dataset manifests that scores are held against.
        held_out_unverified: Whether the user takes it on trust that sources and families are held out.
        also: See every settled row too, before it is counted.

    Raises:
        EvidenceError: A line that counts is not a row of evidence, contradicts itself, or one of ``also`` refuses it.
    """
    summary, deployed = Summary(), DeployedSummary()
    decider = None if policy is None else Decider(policy)
    evidence.feed(*also, summary.add, deployed.add, *([decider.add] if decider else []))
    facts = EvidenceFacts(
        lost=lost,
        left_out=left_out,
        lazy_verification=lazy_verification,
        sha256={evidence.path.name: evidence.sha256},
        unaccounted=unaccounted,
        selected=bool((run.get("options") or {}).get("select")),
        attempt=attempt_of(run),
        manifests=manifests,
        held_out_unverified=held_out_unverified,
    )
    source = evidence.path.name, evidence.sha256
    decision = None if decider is None else decider.decision(facts)
    report = summary.report(*source, run)
    lacks = lacks_of(run, lost=lost, left_out=left_out, gaps=run.get("gaps", ()))
    benchmark = summary.golden_sets.benchmark(run, evidence.sha256, lacks)
    return Reckoning(report, deployed.document(source), benchmark, decision)

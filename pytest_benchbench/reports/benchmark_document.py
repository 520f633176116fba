"""``benchmark.json`` made from what was reckoned and from what the run says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.repeated_run import RepeatedRun
from pytest_benchbench.manifests.golden_set import HOLDOUT
from pytest_benchbench.reports.detector_benchmark import (
    SCHEMA_VERSION,
    DetectorBenchmark,
    RunRecord,
    SplitResults,
    VersionEntry,
)
from pytest_benchbench.reports.detector_figures import DetectorFigures
from pytest_benchbench.reports.detector_reckoning import calls_of
from pytest_benchbench.reports.detector_tally import AnsweredSplit


def benchmark_document(
    results: SplitResults, found: AnsweredSplit, run: Mapping[str, Any], evidence_sha256: str, lacks: Sequence[str]
) -> DetectorBenchmark:
    """Make the document of one run.

    Args:
        results: What was reckoned of its only golden set.
        found: The rows that it was reckoned of.
        run: The content of ``run.json``; empty where there is none.
        evidence_sha256: Of its evidence.
        lacks: What the run lacks to be complete, one line each; samples that were not asked about are found here.
    """
    not_run = sum(detector.notRun for detector in results.detectors)
    gaps = [*lacks, *([f"{not_run} answers were not asked for"] if not_run and not lacks else [])]
    record = _run(run, evidence_sha256, gaps)
    detectors = tuple(
        DetectorFigures(
            **{name: getattr(detector, name) for name in detector.__struct_fields__},
            latencyMs=calls_of(answered.calls, answered.untimed),
        )
        for detector, answered in zip(results.detectors, found.by_alias().values(), strict=True)
    )
    identities = tuple(detector.identity for detector in detectors if detector.scored)
    entries = []
    if record.complete and results.split == HOLDOUT and identities and record.started is not None:
        entries.append(
            VersionEntry(
                date=record.started,
                runId=record.id,
                commit=record.commit,
                dirty=record.dirty,
                split=results.split,
                evidenceSha256=evidence_sha256,
                detectors=identities,
            )
        )
    return DetectorBenchmark(
        schema_version=SCHEMA_VERSION,
        type="detector-benchmark",
        goldenSet=results.goldenSet,
        split=results.split,
        run=record,
        threshold=results.threshold,
        samples=results.samples,
        detectors=detectors,
        commonSubset=results.commonSubset,
        pairs=results.pairs,
        versionHistory=tuple(entries),
        banner=results.banner,
    )


def lacks_of(run: Mapping[str, Any], *, lost: int, left_out: int, gaps: Sequence[str]) -> list[str]:
    """Say why a run did not put every sample of the split to every detector, one line each.

    Args:
        run: The content of ``run.json``.
        lost: Planned rows that never ended.
        left_out: Those that the user left out.
        gaps: What else is known to be missing.
    """
    options = run.get("options") or {}
    told = [
        f"{count} {'row' if count == 1 else 'rows'} {what}"
        for count, what in ((lost, "lost"), (left_out, "left out"))
        if count
    ]
    lacks = list(gaps) or told
    if run.get("interrupted") and not lacks:
        lacks.append("the run was interrupted")
    if options.get("select"):
        lacks.append(f"samples were selected by {one_line(', '.join(map(str, options['select'])))}")
    if options.get("shard"):
        lacks.append(f"shard {one_line(options['shard'])} alone")
    return lacks


def recorded_lacks(run: RepeatedRun) -> list[str]:
    """Say the same of a run that was read back."""
    planned = run.planned
    lost, left_out = (0, 0) if planned is None else (planned.lost, planned.left_out)
    return lacks_of(run.document, lost=lost, left_out=left_out, gaps=run.gaps)


def _run(run: Mapping[str, Any], evidence_sha256: str, gaps: Sequence[str]) -> RunRecord:
    project, package = run.get("project") or {}, run.get("package") or {}
    return RunRecord(
        id=_text(run.get("run_id")) or evidence_sha256[:12],
        started=_text(run.get("started")),
        commit=_text(project.get("commit")),
        dirty=dirty if isinstance(dirty := project.get("dirty"), bool) else None,
        packageVersion=_text(package.get("version")),
        evidenceSha256=evidence_sha256,
        complete=not gaps,
        gaps=tuple(gaps),
    )


def _text(value: Any) -> str | None:
    """Give a text of ``run.json``, which may come from anywhere."""
    return one_line(value) if isinstance(value, str) else None

"""Run directories joined into the directory of one run: evidence, report, decision and exit code of the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchbench.evidence.joining import JoinedEvidence, OneDetector, Progress, join_evidence, pieces_of
from pytest_benchbench.evidence.merging import (
    MergeError,
    Whole,
    check_parts,
    check_together,
    merged_document,
    take_stock,
    version_notes,
)
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.evidence.recorded_run import EVIDENCE, REPORT, RUN, RecordedRun, read_run
from pytest_benchbench.evidence.writing import encode_document, write_atomically
from pytest_benchbench.manifests.new_folders import FolderExistsError, new_folder
from pytest_benchbench.reports import html
from pytest_benchbench.reports.deployed_summary import SUMMARY
from pytest_benchbench.reports.detector_benchmark import BENCHMARK
from pytest_benchbench.reports.lines import terminal_lines
from pytest_benchbench.reports.markdown import render_markdown
from pytest_benchbench.reports.reckoning import Reckoning, reckon
from pytest_benchbench.session.conclusion import run_facts
from pytest_benchbench.session.exit_status import FAILED, exit_status

if TYPE_CHECKING:
    from pytest_benchbench.evidence.score_manifest import ScoreManifest
    from pytest_benchbench.gates.policy import LoadedPolicy
    from pytest_benchbench.reports.html.cases import Cases

_TOLD_AFTER = 1000
"""Rows after which progress is told again."""


@dataclass(frozen=True, slots=True)
class MergedRun:
    """A merged run on disk.

    Attributes:
        path: Its directory.
        exit_status: The exit code that one run of all its rows would have had.
        document: Its ``run.json``.
        reckoning: What its evidence comes to.
        whole: What is missing.
        notes: What else people should know, one line each.
    """

    path: Path
    exit_status: int
    document: dict[str, Any]
    reckoning: Reckoning
    whole: Whole
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        """Say how it went, the gaps first."""
        gaps = [f"gap: {gap}" for gap in self.whole.gaps]
        return [*gaps, *terminal_lines(self.reckoning.report, self.reckoning.decision)]


def merge_runs(
    directories: Sequence[Path],
    output: Path,
    policy: LoadedPolicy | None = None,
    progress: Progress | None = None,
    *,
    manifests: Sequence[ScoreManifest] = (),
    held_out_unverified: bool = False,
) -> MergedRun:
    """Join the directories of runs, such as shards of one benchmark, or of runs that were merged before.

    The new directory is written beside its place and renamed in one step. It depends on the parts alone: not on the order
    of the directories, on their places or on the time; only ``report.html`` (extra ``html``) shows pictures of those
    artifacts that are at hand.

    Args:
        directories: At least one.
        output: Must not exist; its parents are made.
        policy: What decides about the whole, if a gate is asked for.
        progress: Is told how many more bytes of evidence were read; all are read twice.
        manifests: Dataset manifests that scores are held against.
        held_out_unverified: Whether the user takes it on trust that sources and families are held out.

    Raises:
        MergeError: The directories cannot be parts of one whole, or ``output`` exists or cannot be written.
        RecordedRunError: A directory holds no run.
        EvidenceError: Evidence is damaged, contradicts itself, or has a planned row twice.
    """
    runs = [read_run(directory) for directory in directories]
    try:
        with new_folder(output) as beside:
            check_together(runs)
            pieces = pieces_of(runs)
            check_parts(pieces)
            joined = join_evidence(pieces, beside / EVIDENCE, progress)
            whole = take_stock(joined.parts, runs)
            document = merged_document(runs, joined.parts, whole)
            detectors, cases = OneDetector(), html.new_cases()
            reckoning = reckon(
                joined.evidence,
                document,
                policy,
                lost=whole.planned.lost,
                left_out=whole.planned.left_out,
                lazy_verification=document["options"]["verify"] == "lazy",
                unaccounted=whole.unaccounted,
                manifests=manifests,
                held_out_unverified=held_out_unverified,
                also=(detectors.add, *([cases.add] if cases else []), *([_told(joined, progress)] if progress else [])),
            )
            status = document["exit_status"] = _exit_status(runs, whole, reckoning)
            _write(beside, document, reckoning)
            if cases is not None:
                write_atomically(beside / html.REPORT_HTML, _page(runs, cases, reckoning))
    except FolderExistsError:
        raise MergeError(f"{output}: exists already; a run never overwrites another") from None
    except OSError as error:
        raise MergeError(f"{error.filename or output}: {error.strerror or error}") from None
    return MergedRun(output, status, document, reckoning, whole, tuple(version_notes(runs)))


def _told(joined: JoinedEvidence, progress: Progress) -> Callable[[SettledRow], None]:
    """Tell how much of the joined evidence was read again, as rows pass."""
    rows = sum(part.ended for part in joined.parts)
    size = sum(part.part.evidence_bytes for part in joined.parts)
    seen = told = 0

    def tell(_: SettledRow) -> None:
        nonlocal seen, told
        seen += 1
        if seen % _TOLD_AFTER == 0 and seen <= rows:
            progress(size * seen // rows - told)
            told = size * seen // rows

    return tell


def _exit_status(runs: Sequence[RecordedRun], whole: Whole, reckoning: Reckoning) -> int:
    """Give the exit code that one run of all rows would have had, as far as its parts tell."""
    outcomes = reckoning.report["results"]["outcomes"]
    has_failed = (
        outcomes["mismatch"] > 0
        or outcomes["error"] > 0
        or (outcomes["unavailable"] > 0 and any(run.require_available for run in runs))
        or any(part.has_failed for run in runs for part in run.parts)
    )
    facts = run_facts(reckoning, lost=whole.planned.lost + whole.unaccounted, left_out=whole.planned.left_out)
    return exit_status(FAILED if has_failed else 0, facts)


def _page(runs: Sequence[RecordedRun], cases: Cases, reckoning: Reckoning) -> bytes:
    from pytest_benchbench.reports.html.artifact_places import ArtifactPlaces
    from pytest_benchbench.reports.html.whole import report_page

    places = ArtifactPlaces.of_runs([(run.path, run.document) for run in runs])
    return report_page(reckoning.report, cases, gate=reckoning.decision, places=places)


def _write(directory: Path, document: dict[str, Any], reckoning: Reckoning) -> None:
    if reckoning.decision is not None:
        write_atomically(directory / "gate.json", encode_document(reckoning.decision))
    write_atomically(directory / REPORT, encode_document(reckoning.report))
    for name, content in ((SUMMARY, reckoning.deployed), (BENCHMARK, reckoning.benchmark)):
        if content is not None:
            write_atomically(directory / name, encode_document(content))
    write_atomically(directory / "report.md", render_markdown(reckoning.report).encode())
    write_atomically(directory / RUN, encode_document(document))

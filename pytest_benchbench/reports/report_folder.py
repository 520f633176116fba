"""The folder that ``benchbench report`` makes: the report on one or several runs, for machines and people, and exports."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_benchbench.evidence.recorded_run import MAX_RUN_BYTES, REPORT, RecordedRunError
from pytest_benchbench.evidence.repeated_run import RepeatedRun
from pytest_benchbench.evidence.repeated_runs import RepeatedRuns
from pytest_benchbench.evidence.writing import encode_document, write_atomically
from pytest_benchbench.gates.decision import Decision
from pytest_benchbench.manifests.new_folders import FolderExistsError, new_folder
from pytest_benchbench.reports import html
from pytest_benchbench.reports.benchmark_document import recorded_lacks
from pytest_benchbench.reports.deployed_summary import SUMMARY, DeployedSummary
from pytest_benchbench.reports.detector_benchmark import BENCHMARK, DetectorBenchmark
from pytest_benchbench.reports.export import EXPORTS, Export
from pytest_benchbench.reports.markdown import render_markdown
from pytest_benchbench.reports.repeated import Progress, report_on
from pytest_benchbench.reports.split_results import NOTHING_MORE, Asked
from pytest_benchbench.reports.summary import Summary

if TYPE_CHECKING:
    from pytest_benchbench.reports.html.cases import Cases

MARKDOWN = "report.md"
GATE = "gate.json"


class ReportFolderError(Exception):
    """The folder cannot be made; one line."""


class MissingExtraError(Exception):
    """What was asked for needs an extra of this package that is not installed; one line that says how to install it."""


@dataclass(frozen=True, slots=True)
class ReportFolder:
    """A report on disk.

    Attributes:
        path: The folder.
        files: Names of the files in it, sorted.
        document: The content of ``report.json``.
        decision: What a gate had decided about the only run.
    """

    path: Path
    files: tuple[str, ...]
    document: dict[str, Any]
    decision: Decision | None


def write_report(
    paths: Sequence[Path],
    output: Path,
    *,
    by: Sequence[str] = (),
    asked: Asked = NOTHING_MORE,
    formats: Sequence[str] = (),
    page: bool | None = None,
    artifact_roots: Sequence[Path] = (),
    progress: Progress | None = None,
) -> ReportFolder:
    """Report on one or several runs in a new folder. It appears in one step when all is done, or not at all.

    Args:
        paths: Directories of runs or files of evidence, at least one.
        output: Must not exist; its parents are made.
        by: Properties of a case by which there are tables of their own; see ``Summary``.
        asked: What is reckoned of golden sets only where somebody asks for it.
        formats: Names of ``EXPORTS``: formats in which all settled rows are written.
        page: Whether ``report.html`` is written; by default if the extra ``html`` is installed.
        artifact_roots: Folders in which the page looks for the files of failing cases too.
        progress: Is told how many more bytes of evidence were read; all are read twice.

    Raises:
        MissingExtraError: A format or the page needs an extra that is not installed.
        RecordedRunError: A directory holds no run.
        EvidenceError: Evidence is damaged, or the runs cannot be counted together.
        ReportFolderError: ``output`` exists or cannot be written.
        UnknownPairError: A detector of a declared pair is not there.
        TuneRunError: The tune run is about something else than the reported one.
    """
    for name in formats:
        if (needed := EXPORTS[name].needs) is not None and find_spec(needed) is None:
            raise _missing(f"--format {name}", needed, EXPORTS[name].extra)
    if page and not html.is_available():
        raise _missing("--html", "Jinja2", "html")
    try:
        with new_folder(output) as beside:
            runs = RepeatedRuns.read(paths, progress)
            decision = _decision(runs.runs[0]) if len(runs.runs) == 1 else None
            cases = None if page is False else html.new_cases()
            document = _fill(beside, runs, Summary(by, asked), formats, cases, progress)
            if cases is not None:
                write_atomically(beside / html.REPORT_HTML, _page(runs, document, cases, decision, artifact_roots))
            files = tuple(sorted(file.name for file in beside.iterdir()))
    except FolderExistsError:
        raise ReportFolderError(f"{output}: exists already; a report never overwrites another") from None
    except OSError as error:
        raise ReportFolderError(f"{error.filename or output}: {error.strerror or error}") from None
    return ReportFolder(output, files, document, decision)


def _fill(
    folder: Path,
    runs: RepeatedRuns,
    summary: Summary,
    formats: Sequence[str],
    cases: Cases | None,
    progress: Progress | None,
) -> dict[str, Any]:
    with ExitStack() as stack:
        exports: list[Export] = []
        deployed = DeployedSummary()
        for name in dict.fromkeys(formats):
            exports.append(EXPORTS[name](folder / f"rows.{name}"))
            stack.callback(exports[-1].abandon)
        rows_for = () if cases is None else (cases.add,)
        document = report_on(runs, summary=summary, exports=[*exports, deployed], also=rows_for, progress=progress)
        for export in exports:
            export.close()
    write_atomically(folder / REPORT, encode_document(document))
    files = [(run.evidence.path.name, run.evidence.sha256) for run in runs.runs]
    for name, content in ((SUMMARY, deployed.document(*files)), (BENCHMARK, _benchmark(summary, runs.runs[0]))):
        if content is not None:
            write_atomically(folder / name, encode_document(content))
    write_atomically(folder / MARKDOWN, render_markdown(document).encode())
    return document


def _benchmark(summary: Summary, run: RepeatedRun) -> DetectorBenchmark | None:
    """Give the benchmark of the only run; ``None`` where there are several."""
    return summary.golden_sets.benchmark(run.document, run.evidence.sha256, recorded_lacks(run))


def _page(
    runs: RepeatedRuns, document: dict[str, Any], cases: Cases, decision: Decision | None, roots: Sequence[Path]
) -> bytes:
    from pytest_benchbench.reports.html.artifact_places import ArtifactPlaces
    from pytest_benchbench.reports.html.whole import report_page

    recorded = [(run.recorded.path, run.document) for run in runs.runs if run.recorded is not None]
    return report_page(document, cases, gate=decision, places=ArtifactPlaces.of_runs(recorded, roots))


def _decision(run: RepeatedRun) -> Decision | None:
    """Read what a gate had decided about a run; ``None`` where there was none, or it was about other evidence.

    Raises:
        RecordedRunError: It is damaged.
    """
    if run.recorded is None:
        return None
    file = run.recorded.path / GATE
    try:
        with file.open("rb") as opened:
            decision = msgspec.json.decode(opened.read(MAX_RUN_BYTES), type=Decision)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise RecordedRunError(f"{file}: not the decision of a gate: {error}") from None
    decided_about = {digest.sha256 for digest in decision.evidence.digests.evidence}
    return decision if run.evidence.sha256 in decided_about else None


def _missing(what: str, package: str, extra: str | None) -> MissingExtraError:
    return MissingExtraError(f"{what} needs {package}: pip install 'pytest-benchbench[{extra}]'")

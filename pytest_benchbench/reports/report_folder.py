"""The folder that ``benchbench report`` makes: the report on one or several runs, for machines and people, and exports."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_benchbench.evidence.recorded_run import REPORT
from pytest_benchbench.evidence.repeated_runs import RepeatedRuns
from pytest_benchbench.evidence.writing import encode_document, write_atomically
from pytest_benchbench.manifests.new_folders import FolderExistsError, new_folder
from pytest_benchbench.reports.export import EXPORTS, Export
from pytest_benchbench.reports.markdown import render_markdown
from pytest_benchbench.reports.repeated import Progress, report_on

MARKDOWN = "report.md"


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
    """

    path: Path
    files: tuple[str, ...]
    document: dict[str, Any]


def write_report(
    paths: Sequence[Path],
    output: Path,
    *,
    by: Sequence[str] = (),
    formats: Sequence[str] = (),
    progress: Progress | None = None,
) -> ReportFolder:
    """Report on one or several runs in a new folder. It appears in one step when all is done, or not at all.

    Args:
        paths: Directories of runs or files of evidence, at least one.
        output: Must not exist; its parents are made.
        by: Properties of a case by which there are tables of their own; see ``Summary``.
        formats: Names of ``EXPORTS``: formats in which all settled rows are written.
        progress: Is told how many more bytes of evidence were read; all are read twice.

    Raises:
        MissingExtraError: A format needs an extra that is not installed.
        RecordedRunError: A directory holds no run.
        EvidenceError: Evidence is damaged, or the runs cannot be counted together.
        ReportFolderError: ``output`` exists or cannot be written.
    """
    for name in formats:
        _demand(f"--format {name}", EXPORTS[name].extra, EXPORTS[name].needs)
    try:
        with new_folder(output) as beside:
            document = _fill(beside, paths, by, formats, progress)
            files = tuple(sorted(file.name for file in beside.iterdir()))
    except FolderExistsError:
        raise ReportFolderError(f"{output}: exists already; a report never overwrites another") from None
    except OSError as error:
        raise ReportFolderError(f"{error.filename or output}: {error.strerror or error}") from None
    return ReportFolder(output, files, document)


def _fill(
    folder: Path, paths: Sequence[Path], by: Sequence[str], formats: Sequence[str], progress: Progress | None
) -> dict[str, Any]:
    runs = RepeatedRuns.read(paths, progress)
    with ExitStack() as stack:
        exports: list[Export] = []
        for name in dict.fromkeys(formats):
            exports.append(EXPORTS[name](folder / f"rows.{name}"))
            stack.callback(exports[-1].abandon)
        document = report_on(runs, by=by, also=exports, progress=progress)
        for export in exports:
            export.close()
    write_atomically(folder / REPORT, encode_document(document))
    write_atomically(folder / MARKDOWN, render_markdown(document).encode())
    return document


def _demand(what: str, extra: str | None, package: str | None) -> None:
    if package is not None and find_spec(package) is None:
        raise MissingExtraError(f"{what} needs {package}: pip install 'pytest-benchbench[{extra}]'")

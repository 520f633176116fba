"""``benchbench report``: sum up one or several runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from pytest_benchbench.cli.finite_numbers import FiniteRange
from pytest_benchbench.cli.progress import evidence_progress
from pytest_benchbench.cli.schema_option import schema_option
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.recorded_run import RecordedRunError
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.reports.deployed_schema import deployed_summary_schema
from pytest_benchbench.reports.detector_benchmark import BENCHMARK
from pytest_benchbench.reports.detector_benchmark_schema import detector_benchmark_schema
from pytest_benchbench.reports.detector_lines import golden_sets_of
from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.reports.export import EXPORTS
from pytest_benchbench.reports.facets import CaseField
from pytest_benchbench.reports.html import REPORT_HTML
from pytest_benchbench.reports.lines import terminal_lines
from pytest_benchbench.reports.report_folder import (
    MARKDOWN,
    MissingExtraError,
    ReportFolder,
    ReportFolderError,
    write_report,
)
from pytest_benchbench.reports.report_schema import report_schema
from pytest_benchbench.reports.split_results import Asked, UnknownPairError
from pytest_benchbench.reports.tune_threshold import TuneRun, TuneRunError, read_tune_run


def _fields(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for path in value:
        try:
            CaseField(path)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return value


def _pairs(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for text in value:
        a, colon, b = text.partition(":")
        if not (a and colon and b) or ":" in b:
            raise click.BadParameter(f"{text!r}: expected two detectors as A:B")
        if a == b:
            raise click.BadParameter(f"{text!r}: the same detector twice")
        if (a, b) in pairs or (b, a) in pairs:
            raise click.BadParameter(f"{text!r}: this pair is declared twice")
        pairs.append((a, b))
    return tuple(pairs)


@click.command("report")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(exists=True, path_type=Path))
@click.option("--output-dir", required=True, type=click.Path(path_type=Path), help="New folder for the report.")
@click.option(
    "--by",
    multiple=True,
    metavar="FIELD",
    callback=_fields,
    help="A table by this field of the cases too, such as media_type or transform.parameters.attack.strength, or by several "
    "together, with commas between them; repeatable.",
)
@click.option("--format", "formats", multiple=True, type=click.Choice(sorted(EXPORTS)), help="Export all rows; repeatable.")
@click.option("--html/--no-html", "page", default=None, help="Write report.html too; by default if Jinja2 is installed.")
@click.option(
    "--artifact-root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Look here too for the files of failing cases, to show them in report.html; repeatable.",
)
@click.option(
    "--tune-run",
    type=click.Path(exists=True, path_type=Path),
    help="Of text detectors: a run of the tune split, to take the threshold of --target-fpr from.",
)
@click.option(
    "--target-fpr",
    type=FiniteRange(0, 1, max_open=True),
    help="Of text detectors: give the true-positive rate at this false-positive rate; needs --tune-run.",
)
@click.option(
    "--pair",
    "pairs",
    multiple=True,
    metavar="A:B",
    callback=_pairs,
    help="Of text detectors: compare these two, row by row; repeatable, p-values are adjusted over all pairs.",
)
@schema_option("--schema", report_schema, "report.json")
@schema_option("--summary-schema", deployed_summary_schema, "summary.json")
@schema_option("--benchmark-schema", detector_benchmark_schema, "benchmark.json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines for people.")
def command(
    runs: tuple[Path, ...],
    output_dir: Path,
    by: tuple[str, ...],
    formats: tuple[str, ...],
    page: bool | None,
    roots: tuple[Path, ...],
    tune_run: Path | None,
    target_fpr: float | None,
    pairs: tuple[tuple[str, str], ...],
    as_json: bool,
) -> None:
    """Sum up one or several runs in a new folder: report.json, report.md, report.html and the exports that are asked for.

    Where rows are of a deployed scorer, summary.json says what they took; benchmark.json of one run of a golden set has the
    figures of its detectors.

    A RUN is the directory of a run, merged ones included, or a file of evidence. Each is an independent process that ran the
    same cases; what they disagree about is listed. Runs in which a case id or an adapter's name means different things are
    refused.

    Exit codes: 0 done, whatever the runs observed; 1 a run is damaged, or the runs cannot be counted together (then nothing
    is written); 2 wrong use.
    """
    if (tune_run is None) != (target_fpr is None):
        raise click.UsageError("--tune-run and --target-fpr need each other")
    if len(runs) > 1 and (tune_run or pairs):
        raise click.UsageError("--tune-run, --target-fpr and --pair are for a report on one run")
    try:
        asked = Asked(pairs, _tune(tune_run, target_fpr))
        with evidence_progress(runs, "reading") as progress:
            report = write_report(
                runs, output_dir, by=by, asked=asked, formats=formats, page=page, artifact_roots=roots, progress=progress
            )
    except UnknownPairError as error:
        raise click.UsageError(str(error)) from None
    except MissingExtraError as error:
        raise click.UsageError(str(error)) from None
    except (RecordedRunError, EvidenceError, ReportFolderError, TuneRunError) as error:
        raise click.ClickException(str(error)) from None
    for note in _notes(report):
        click.echo(f"note: {plain(note)}", err=True)
    if as_json:
        click.echo(encode_document(_document(report)).decode(), nl=False)
        return
    for line in _lines(report):
        click.echo(line)


def _tune(run: Path | None, target: float | None) -> TuneRun | None:
    return None if run is None or target is None else read_tune_run(run, target)


def _lines(report: ReportFolder) -> Iterator[str]:
    yield from (f"gap: {plain(gap)}" for gap in report.document["environment"].get("gaps", []))
    yield from terminal_lines(report.document, report.decision)
    runs, unstable = len(report.document["runs"]), _unstable(report)
    if unstable:
        yield f"{unstable} row{'' if unstable == 1 else 's'} about which the runs disagree"
    told = "1 run" if runs == 1 else f"{runs} runs"
    shown = REPORT_HTML if REPORT_HTML in report.files else MARKDOWN
    yield f"reported on {told}: {report.path / shown}"


def _notes(report: ReportFolder) -> list[str]:
    by = report.document["results"]["by"]
    absent = [field for field, lines in by.items() if all(line["value"] is None for line in lines)]
    notes = [
        *report.document["environment"].get("notes", []),
        *(f"--by {field}: no case has this field" for field in absent),
    ]
    sets = len(golden_sets_of(report.document["results"]))
    if sets > 1 and BENCHMARK not in report.files:
        notes.append(
            f"no {BENCHMARK}: it is about one run of one golden set, and this report is about {sets} such; report.json has "
            "the figures of each under golden_sets, benchbench report RUN writes it of one run"
        )
    return notes


def _unstable(report: ReportFolder) -> int | None:
    listing = report.document["results"].get("unstable_across_runs")
    return None if listing is None else listing["count"]


def _document(report: ReportFolder) -> dict[str, Any]:
    results = report.document["results"]
    return {
        "output_dir": str(report.path),
        "files": report.files,
        "runs": [{name: run[name] for name in ("run", "name", "run_id", "rows", "gaps")} for run in report.document["runs"]],
        "rows": results["rows"],
        "outcomes": results["outcomes"],
        "unstable": results["unstable"]["count"],
        "unstable_across_runs": _unstable(report),
        "notes": _notes(report),
    }

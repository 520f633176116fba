"""``benchbench report``: sum up one or several runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from pytest_benchbench.cli.progress import evidence_progress
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.recorded_run import RecordedRunError
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.reports.deployed_schema import deployed_summary_schema
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


def _fields(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for path in value:
        try:
            CaseField(path)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return value


def _schema(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        schema = report_schema() if parameter.name == "schema" else deployed_summary_schema()
        click.echo(encode_document(schema).decode(), nl=False)
        context.exit()


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
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_schema,
    help="Print the JSON Schema of report.json, and do nothing else.",
)
@click.option(
    "--summary-schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_schema,
    help="Print the JSON Schema of summary.json, and do nothing else.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines for people.")
def command(
    runs: tuple[Path, ...],
    output_dir: Path,
    by: tuple[str, ...],
    formats: tuple[str, ...],
    page: bool | None,
    roots: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Sum up one or several runs in a new folder: report.json, report.md, report.html and the exports that are asked for.

    Where rows are of a deployed scorer, summary.json says what they took.

    A RUN is the directory of a run, merged ones included, or a file of evidence. Each is an independent process that ran the
    same cases; what they disagree about is listed. Runs in which a case id or an adapter's name means different things are
    refused.

    Exit codes: 0 done, whatever the runs observed; 1 a run is damaged, or the runs cannot be counted together (then nothing
    is written); 2 wrong use.
    """
    try:
        with evidence_progress(runs, "reading") as progress:
            report = write_report(
                runs, output_dir, by=by, formats=formats, page=page, artifact_roots=roots, progress=progress
            )
    except MissingExtraError as error:
        raise click.UsageError(str(error)) from None
    except (RecordedRunError, EvidenceError, ReportFolderError) as error:
        raise click.ClickException(str(error)) from None
    for note in _notes(report):
        click.echo(f"note: {plain(note)}", err=True)
    if as_json:
        click.echo(encode_document(_document(report)).decode(), nl=False)
        return
    for line in _lines(report):
        click.echo(line)


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
    return [*report.document["environment"].get("notes", []), *(f"--by {field}: no case has this field" for field in absent)]


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

"""``benchbench history``: the published series of a golden set, appended to and judged."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_benchbench.cli.progress import evidence_progress
from pytest_benchbench.cli.schema_option import schema_option
from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.recorded_run import RecordedRunError
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.reports.detector_finished_run import IncompleteRunError, UnfitRunError, finished_benchmark
from pytest_benchbench.reports.detector_history import history_document
from pytest_benchbench.reports.detector_history_lines import history_lines
from pytest_benchbench.reports.detector_series import Series, SeriesError, aliases, append_entry, entry_of, read_series
from pytest_benchbench.reports.detector_series_schema import detector_series_schema
from pytest_benchbench.reports.escaping import plain

INCOMPLETE = 21
"""The exit code where the run to append lacks rows."""


class _Refused(click.ClickException):
    """Shown as one line. The exit code is not 1, which says that a detector got worse."""

    exit_code = 2


class _Incomplete(click.ClickException):
    """Shown as one line."""

    exit_code = INCOMPLETE


@click.command("history")
@click.argument("series", type=click.Path(path_type=Path))
@click.option("--append", type=click.Path(exists=True, path_type=Path), metavar="RUN_DIR", help="Append this finished run.")
@click.option(
    "--new-baseline",
    multiple=True,
    metavar="ALIAS=REASON",
    help="With --append: this run is the detector's baseline, since its shift was looked into; repeatable.",
)
@schema_option("--schema", detector_series_schema, "the series file")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines for people.")
def command(series: Path, append: Path | None, new_baseline: tuple[str, ...], as_json: bool) -> None:
    """Say of SERIES, the published runs of a golden set's holdout split, whether a detector got worse.

    For each detector and metric: ok, watch (one run that moved) or alert (two runs in a row, for the worse). A run moved if
    it differs from the last one that had not by at least 5 points on the same samples, and McNemar's exact p is below .05
    divided by the number of detectors. With --append a finished run is put at the end first; what is there is never changed.

    Exit codes: 0 no alert, 1 an alert in the last run, 2 wrong use, a damaged series or a run that it does not take, 21 the
    run to append is not complete.
    """
    reasons = _reasons(new_baseline)
    if reasons and append is None:
        raise click.UsageError("--new-baseline says something of a run that is appended: give --append")
    try:
        read = read_series(series) if append is None else _append(series, append, reasons)
    except IncompleteRunError as error:
        raise _Incomplete(plain(str(error))) from None
    except (UnfitRunError, SeriesError, RecordedRunError, EvidenceError) as error:
        raise _Refused(plain(str(error))) from None
    document = history_document(read)
    if as_json:
        click.echo(encode_document(document).decode(), nl=False)
    else:
        for line in history_lines(document):
            click.echo(line)
    raise SystemExit(1 if document["alerts"] else 0)


def _reasons(given: tuple[str, ...]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for text in given:
        alias, equals, reason = text.partition("=")
        reason = one_line(reason)
        if not (alias and equals and reason):
            raise click.UsageError(f"--new-baseline {plain(text)}: give ALIAS=REASON")
        if alias in reasons:
            raise click.UsageError(f"--new-baseline {plain(alias)}: given twice")
        reasons[alias] = reason
    return reasons


def _append(path: Path, run: Path, reasons: dict[str, str]) -> Series:
    with evidence_progress([run], "reading") as progress:
        benchmark = finished_benchmark(run, None if progress is None else lambda count: progress(2 * count))
    if stranger := next((alias for alias in reasons if alias not in aliases(benchmark)), None):
        raise UnfitRunError(f"--new-baseline {stranger}: the run has {', '.join(aliases(benchmark))}")
    return append_entry(path, entry_of(benchmark, reasons))

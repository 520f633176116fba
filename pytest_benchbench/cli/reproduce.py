"""``benchbench reproduce``: whether one's own run of a golden set agrees with a published one."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_benchbench.cli.finite_numbers import FiniteRange
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.reports.detector_benchmark import BenchmarkFileError
from pytest_benchbench.reports.detector_reproduction import CannotReproduceError, benchmark_at, reproduction
from pytest_benchbench.reports.detector_reproduction_lines import reproduction_lines
from pytest_benchbench.reports.detector_series import SeriesError
from pytest_benchbench.reports.escaping import plain


class _Refused(click.ClickException):
    """Shown as one line. The exit code is not 1, which says that figures disagree."""

    exit_code = 2


@click.command("reproduce")
@click.argument("published", type=click.Path(exists=True, path_type=Path))
@click.argument("mine", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--tolerance",
    type=FiniteRange(0, 100),
    default=3.0,
    show_default=True,
    metavar="POINTS",
    help="Percentage points that a figure may differ by.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines for people.")
def command(published: Path, mine: Path, tolerance: float, as_json: bool) -> None:
    """Hold MINE against PUBLISHED: two runs of the same golden set by the same detectors.

    Each is the directory of a run, a benchmark.json or a series of benchbench history, of which the last run counts. For
    each detector and metric: both figures, their difference on the samples that both scored, and what chance alone explains.
    Another golden set, split or sample is refused; another plan, API version or requested model is another detector, and not
    compared.

    Exit codes: 0 all figures agree within the tolerance, 1 some do not, 2 wrong use, or the two cannot be compared.
    """
    try:
        document = reproduction(benchmark_at(published), benchmark_at(mine), tolerance)
    except (BenchmarkFileError, SeriesError, CannotReproduceError) as error:
        raise _Refused(plain(str(error))) from None
    if as_json:
        click.echo(encode_document(document).decode(), nl=False)
    else:
        for line in reproduction_lines(document):
            click.echo(line)
    raise SystemExit(1 if document["outside"] else 0)

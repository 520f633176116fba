"""``benchbench evaluate``: say how well scores tell AI images from real ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from pytest_benchbench.cli.new_output import refuse_output, write_output
from pytest_benchbench.cli.schema_option import schema_option
from pytest_benchbench.cli.score_options import joined_manifest
from pytest_benchbench.evidence.score_rows import ScoreError, read_scores
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.reports.evaluation import SliceError, slices_of
from pytest_benchbench.reports.evaluation_document import evaluation_document
from pytest_benchbench.reports.evaluation_markdown import evaluation_blocks, series_name
from pytest_benchbench.reports.evaluation_schema import evaluation_schema


def _slices(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    try:
        return slices_of(value)
    except SliceError as error:
        raise click.BadParameter(str(error)) from None


@click.command("evaluate")
@click.argument("scores", type=click.Path(exists=True, path_type=Path))
@joined_manifest(
    "Take from this dataset manifest, by id, what the rows do not say; its derivatives are required of every base."
)
@click.option("--adapter", help="Of evidence with several adapters: take this one's rows only, by its alias.")
@click.option(
    "--by",
    multiple=True,
    metavar="SLICE",
    callback=_slices,
    help="Slices beside the usual ones, such as preprocessingVersion or source,transform; repeatable.",
)
@click.option("--output", type=click.Path(path_type=Path), help="Write the JSON to this new file instead.")
@click.option(
    "--json/--table", "as_json", default=None, help="Print JSON, or tables for people. [JSON; with --output tables]"
)
@schema_option("--schema", evaluation_schema, "the JSON")
def command(
    scores: Path,
    manifest: Path | None,
    adapter: str | None,
    by: tuple[tuple[str, ...], ...],
    output: Path | None,
    as_json: bool | None,
) -> None:
    """Say how well SCORES tell AI images from real ones at the frozen rule: score >= 0.65.

    SCORES is the directory of a run, a file of evidence, or a file of score rows as JSON Lines. The report has confusion
    counts, recalls, balanced accuracy, false-positive rate, precision and Brier score, per row and per base, overall and in
    each slice. It is JSON on standard output unless tables are asked for.

    Exit codes: 0 done, whatever the figures are; 1 the scores are damaged, or contradict each other (then nothing is
    written); 2 wrong use.
    """
    if output is not None:
        refuse_output(output)
    try:
        document = evaluation_document(read_scores(scores, manifest=manifest, adapter=adapter), by=by)
    except ScoreError as error:
        raise click.ClickException(str(error)) from None
    refused = [line for line in document["results"]["series"] if line["refused"] is not None]
    if refused:
        told = (f"{scores}: {plain(series_name(line))}: {plain(line['refused'])}" for line in refused)
        raise click.ClickException("\n".join(told))
    written = encode_document(document)
    if output is not None:
        write_output(output, written)
    for gap in document["gaps"]:
        click.echo(f"gap: {plain(gap)}", err=True)
    if (output is None and as_json is not False) or as_json:
        click.echo(written.decode(), nl=False)
        return
    for block in _blocks(document):
        click.echo(f"{block}\n")


def _blocks(document: dict[str, Any]) -> Iterator[str]:
    yield f"# Evaluation of {plain(document['inputs']['scores']['name'])}"
    yield from evaluation_blocks(document["results"]["series"], document["threshold"])

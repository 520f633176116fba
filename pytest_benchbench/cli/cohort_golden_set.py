"""``benchbench cohort golden-set-example``: a small golden set to try things with."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.golden_set_example.recipe import NAME, build_golden_set_example


@click.command(NAME)
@click.option(
    "--output-dir",
    required=True,
    type=click.Path(path_type=Path),
    help="New folder for the golden set and its digest.",
)
def command(output_dir: Path) -> None:
    """A small golden set to try things with: passages in the public domain, and texts from templates.

    The texts labelled ai come from a template generator and a rewriter of this package, not from a language model, so no
    figure on them says how good a detector is.
    """
    try:
        built = build_golden_set_example(output_dir)
    except CohortError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{built.samples} samples: {built.golden_set}")

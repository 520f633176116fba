"""``benchbench power``: say how likely a gate is passed, and how many bases that takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pytest_benchbench.cli.finite_numbers import FiniteRange
from pytest_benchbench.cli.gate_options import read_policy
from pytest_benchbench.cli.new_output import refuse_output, write_output
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.gates.needed_bases import least_bases
from pytest_benchbench.gates.policy import LoadedPolicy
from pytest_benchbench.gates.prospects import Bases, ErrorRates
from pytest_benchbench.reports import html
from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.reports.power_document import power_document, power_lines

MAX_BASES = 100_000

MAX_GROUPS = 1000

_RATE = FiniteRange(0.0, 1.0)


@click.command("power")
@click.option(
    "--policy",
    "loaded",
    metavar="POLICY",
    default="release",
    show_default=True,
    callback=read_policy,
    help="Name or .yaml file.",
)
@click.option(
    "--false-positive-rate",
    type=_RATE,
    default=0.005,
    show_default=True,
    help="How often the detector calls a real derivative AI, in truth.",
)
@click.option(
    "--miss-rate", type=_RATE, default=0.1, show_default=True, help="How often it calls an AI derivative real, in truth."
)
@click.option("--real", type=click.IntRange(1, MAX_BASES), help="Real bases. [as many as the policy demands]")
@click.option("--ai", type=click.IntRange(1, MAX_BASES), help="AI bases. [as many as the policy demands]")
@click.option("--sources", type=click.IntRange(1, MAX_GROUPS), help="Sources of the real bases. [as the policy demands]")
@click.option("--families", type=click.IntRange(1, MAX_GROUPS), help="Families of the AI bases. [as the policy demands]")
@click.option("--derivatives", type=click.IntRange(1, 1000), default=1, show_default=True, help="Derivatives of each base.")
@click.option(
    "--attempts", type=click.IntRange(1, 1000), default=1, show_default=True, help="Attempts, each on a fresh test split."
)
@click.option("--output", type=click.Path(path_type=Path), help="Draw the operating characteristic into this new SVG file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables for people.")
def command(
    loaded: LoadedPolicy | None,
    false_positive_rate: float,
    miss_rate: float,
    real: int | None,
    ai: int | None,
    sources: int | None,
    families: int | None,
    derivatives: int,
    attempts: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Say how likely a detector of known error rates passes a gate, and how many bases that takes.

    For each rule of the policy and for all together: the chance to pass, the bases that are needed to pass with probability
    0.8, 0.9 and 0.95, the largest true error rates that pass with the bases at hand, and the operating characteristic. What
    is supposed for that is printed, and rules of which nothing can be said are named.

    Exit codes: 0 done, 1 the file cannot be written, 2 wrong use.
    """
    if loaded is None:
        raise click.UsageError("--policy off: there is nothing to pass")
    least = least_bases(loaded.policy)
    real, ai, sources, families = (
        given if given is not None else demanded
        for given, demanded in zip((real, ai, sources, families), least, strict=True)
    )
    for groups, bases, option in ((sources, real, "--sources"), (families, ai, "--families")):
        if groups > bases:
            raise click.UsageError(f"{option}: {groups} of them cannot have {bases} bases")
    _check_output(output)
    document = power_document(
        loaded, Bases(real, ai, sources, families, derivatives), ErrorRates(false_positive_rate, miss_rate), attempts
    )
    if output is not None:
        _draw(document, output)
    if as_json:
        click.echo(encode_document(document).decode(), nl=False)
        return
    for block in power_lines(document):
        click.echo("\n".join(map(plain, block.split("\n"))) + "\n")
    if output is not None:
        click.echo(f"drawn: {output}")


def _check_output(output: Path | None) -> None:
    if output is None:
        return
    if output.suffix.lower() != ".svg":
        raise click.UsageError(f"--output {output}: the plot is SVG; name a file that ends in .svg")
    refuse_output(output)
    if not html.is_available():
        raise click.UsageError("--output needs Jinja2: pip install 'pytest-benchbench[html]'")


def _draw(document: dict[str, Any], output: Path) -> None:
    from pytest_benchbench.reports.html.power_plots import power_svg

    write_output(output, power_svg(document).encode())

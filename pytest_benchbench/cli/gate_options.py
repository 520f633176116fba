"""Options of the commands that apply a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from pytest_benchbench.gates.decision import Decision
from pytest_benchbench.gates.metrics import METRICS
from pytest_benchbench.gates.policy import LoadedPolicy, PolicyError, load_policy


def read_policy(context: click.Context, parameter: click.Parameter, value: str | None) -> LoadedPolicy | None:
    """Read the policy that an option names; none for ``off``."""
    if value is None or value == "off":
        return None
    try:
        return load_policy(value)
    except PolicyError as error:
        raise click.BadParameter(str(error)) from None


def held_against(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what scores are held against."""
    command = click.option(
        "--held-out-unverified",
        is_flag=True,
        help="Without a manifest: take it on trust that no source and no generator family is in another split; recorded.",
    )(command)
    return click.option(
        "--manifest",
        "manifests",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="The dataset manifest: its rows must all be there, and what they hold out be in no other split; repeatable.",
    )(command)


def tell_trust(decisions: Iterable[Decision], held_out_unverified: bool) -> None:
    """Say on standard error what a decision took on trust because the user said so."""
    if held_out_unverified and any(decision.evidence.held_out == "unverified" for decision in decisions):
        click.echo(
            "note: no manifest shows that no source and no generator family is in another split; taken on trust "
            "(--held-out-unverified)",
            err=True,
        )


def metrics_help() -> str:
    """List what a rule of a policy can measure, one metric a line."""
    width = max(map(len, METRICS))
    lines = [f"  {name.ljust(width)}  {metric.text}" for name, metric in METRICS.items()]
    return "\n".join(["\b", "Metrics that rules of a policy measure:", *lines])

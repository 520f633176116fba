"""Options of the commands that read scores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def joined_manifest(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the option ``--manifest``: one dataset manifest whose fields are joined by id.

    Given twice it is refused: one alone would be joined, and nobody would see which.

    Args:
        text: What the command takes from it.
    """
    return click.option(
        "--manifest",
        multiple=True,
        callback=_only_one,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help=text,
    )


def _only_one(context: click.Context, parameter: click.Parameter, value: tuple[Path, ...]) -> Path | None:
    if len(value) > 1:
        given = " and ".join(map(str, value))
        raise click.BadParameter(f"given {len(value)} times: {given}; scores are joined with one manifest")
    return value[0] if value else None

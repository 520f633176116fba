"""The option by which a command prints the JSON Schema of what it writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from pytest_benchbench.evidence.writing import encode_document


def schema_option(
    name: str, schema: Callable[[], dict[str, Any]], of: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a flag that prints a schema and ends the command, whatever else is given or missing.

    Args:
        name: The flag, such as ``--schema``.
        schema: Gives the schema.
        of: What it is the schema of, for the help.
    """

    def tell(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value:
            click.echo(encode_document(schema()).decode(), nl=False)
            context.exit()

    return click.option(
        name,
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=tell,
        help=f"Print the JSON Schema of {of}, and do nothing else.",
    )

"""The new file that a command writes: refused before the work if it cannot be written, and never over another."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pytest_benchbench.manifests.new_files import new_file


def refuse_output(output: Path) -> None:
    """Say before any work is done that a file could not be written.

    Raises:
        click.ClickException: There is something at its place, or no folder for it.
    """
    if os.path.lexists(output):
        raise click.ClickException(_exists(output))
    if not output.parent.is_dir():
        raise click.ClickException(f"{output}: there is no folder {output.parent}; make it first")


def write_output(output: Path, data: bytes) -> None:
    """Write a new file, whole or not at all.

    Raises:
        click.ClickException: There is something at its place, or it cannot be written.
    """
    try:
        with new_file(output) as file:
            file.write(data)
    except FileExistsError:
        raise click.ClickException(_exists(output)) from None
    except OSError as error:
        raise click.ClickException(f"{output}: cannot be written: {error.strerror or error}") from None


def _exists(output: Path) -> str:
    return f"{output}: exists already; nothing is ever overwritten, name a new file"

"""How far evidence was read, for people at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from pytest_benchbench.evidence.recorded_run import EVIDENCE

Progress = Callable[[float], None]
"""Is told how many more bytes were read."""


@contextmanager
def evidence_progress(paths: Sequence[Path], label: str) -> Iterator[Progress | None]:
    """Show on a terminal how much of the evidence was read, all of which is read twice.

    Args:
        paths: Run directories or files of evidence.
        label: What is being done.

    Yields:
        What is told of the bytes; ``None`` where nobody looks.
    """
    if not sys.stderr.isatty():
        yield None
        return
    files = [path / EVIDENCE if path.is_dir() else path for path in paths]
    length = sum(file.stat().st_size for file in files if file.is_file())
    with click.progressbar(length=2 * length, label=label, file=sys.stderr) as bar:
        yield lambda count: bar.update(int(count))

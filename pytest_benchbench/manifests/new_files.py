"""A new file that appears whole or not at all, and never over another: manifests, calibrators, packages."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside its place, let it be written, and put it there in one step.

    If that fails, nothing stays behind.

    Args:
        path: Nothing may be there; its folder must exist.

    Yields:
        The file to write; it can be read and sought in.

    Raises:
        FileExistsError: There is something at ``path``, before or after the file was written.
        OSError: It cannot be written.
    """
    _refuse_existing(path)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}.partial")
    try:
        with beside.open("x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        put_new(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def put_new(beside: Path, path: Path) -> None:
    """Let a finished file appear at its place; its own name may stay.

    Raises:
        FileExistsError: There is something at ``path``.
        OSError: It cannot be put there.
    """
    try:
        os.link(beside, path)  # unlike renaming, this refuses an existing file
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        with path.open("xb"):  # of two processes that have looked before, one takes the place
            pass
        try:
            beside.replace(path)
        except OSError:
            path.unlink()
            raise


def _refuse_existing(path: Path) -> None:
    if os.path.lexists(path):
        raise FileExistsError(f"{path}: exists already")

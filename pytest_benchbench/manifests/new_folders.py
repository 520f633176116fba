"""A new folder that appears whole or not at all: cohorts, merged runs, runs that were sent from elsewhere."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class FolderExistsError(Exception):
    """Something is there already, and nothing is overwritten."""


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Make a folder beside its place, let it be filled, and move it there in one step.

    If that fails, nothing stays behind, missing parents included.

    Args:
        folder: Must not exist.

    Yields:
        The folder to fill.

    Raises:
        FolderExistsError: There is something at ``folder``, before or after it was filled.
        OSError: It cannot be made or moved.
    """
    _refuse_existing(folder)
    beside = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.partial")
    missing_parents = [parent for parent in folder.parents if not parent.exists()]
    try:
        _make(beside, folder)
        yield beside
        _refuse_existing(folder)  # renaming would replace an empty folder
        try:
            beside.rename(folder)
        except OSError:
            _refuse_existing(folder)
            raise
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        with suppress(OSError):  # a parent that is not empty has become someone else's too
            for parent in missing_parents:
                parent.rmdir()
        raise


def _make(beside: Path, folder: Path) -> None:
    """Make ``beside``; a fault of it is told as one of ``folder``, the name that people gave."""
    try:
        beside.mkdir(parents=True)
    except OSError as error:
        name = folder if error.filename == str(beside) else error.filename
        raise OSError(error.errno, error.strerror, str(name)) from None


def _refuse_existing(folder: Path) -> None:
    if os.path.lexists(folder):
        raise FolderExistsError(f"{folder}: exists already")

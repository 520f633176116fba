"""Opening a file that somebody named: a pipe, device or socket in its place is refused, not waited for."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_FLAGS = (
    os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
)  # opened in spite of a pipe that took its place just now


def open_regular(path: Path, *, buffering: int = -1) -> BinaryIO:
    """Open a regular file, or what a symbolic link to one names, for reading bytes.

    Args:
        path: The file.
        buffering: As for ``open``.

    Raises:
        OSError: There is none, something else is there, or the system refuses; ``strerror`` says which.
        ValueError: The path is none.
    """
    _demand_regular(path.stat(), path)  # looked at before opening, because opening a device can do things
    file = open(os.open(path, _FLAGS), "rb", buffering=buffering)  # noqa: PTH123, SIM115 - a descriptor; the caller closes it
    try:
        _demand_regular(os.fstat(file.fileno()), path)
    except BaseException:
        file.close()
        raise
    return file


def _demand_regular(status: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))

"""Files that several processes append lines to: one holds the lock at a time, and what it wrote is on the disk."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

LOCK_SECONDS = 30.0
"""How long another process may hold a file; it needs it for the time of one line."""

_LOCK_POLL_SECONDS = 0.02


class LockHeldError(Exception):
    """Another process has held the file for too long; one line."""


@contextmanager
def locked_file(path: Path, *, seconds: float | None = None) -> Iterator[int]:
    """Open a file, which is made if it is missing, and hold its lock, which the system releases when the process dies.

    What a checkout has put in its place while the lock was waited for is opened anew: lines in the old file would be lost.
    Where the system or the file system knows no such lock, there is none.

    Args:
        path: The file.
        seconds: How long to wait for who holds it; ``LOCK_SECONDS`` if that is not said.

    Yields:
        The descriptor, for reading and writing.

    Raises:
        LockHeldError: Another process did not let go of it.
        OSError: It cannot be opened.
    """
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            _lock(file, path, LOCK_SECONDS if seconds is None else seconds)
            if _is_still(file, path):
                yield file
                return
        finally:
            os.close(file)


def append_synced(file: int, end: int, line: bytes) -> None:
    """Write a line at the end, wholly or not at all, and sync it.

    Args:
        file: An open descriptor.
        end: Where the file ends.
        line: With its line end.

    Raises:
        OSError: It cannot be written; the file is as it was.
    """
    os.lseek(file, end, os.SEEK_SET)
    try:
        view = memoryview(line)
        while view:
            view = view[os.write(file, view) :]
        os.fsync(file)
    except BaseException:
        with suppress(OSError):
            os.ftruncate(file, end)
        raise


def sync_folder(folder: Path) -> None:
    """Sync the entry of a new file; where the system cannot sync folders, it does so by itself."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _is_still(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _lock(file: int, path: Path, seconds: float) -> None:
    if sys.platform == "win32":
        return
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise LockHeldError(f"{path}: another process has held the file for {seconds:g} s") from None
            time.sleep(_LOCK_POLL_SECONDS)
        except OSError:  # some network file systems know no locks
            return
        else:
            return

"""A file of lines that the threads and processes of a run append to; each knows what the others wrote before it writes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_benchbench.manifests.locked_files import append_synced, locked_file, sync_folder

MAX_BYTES = 256 * 1024 * 1024
"""A larger file is refused: it is no file of a run."""


class SharedLinesError(Exception):
    """The file is damaged; one line that names it."""


class SharedLines:
    """A file of lines, made with the first of them.

    A line is there once ``append`` has returned, whatever becomes of process and machine. What a killed process left behind
    the last line end was never acknowledged, and is cut off before the next line is written.

    Args:
        path: The file. Its folder is made too, but not the folder above.
        take: Is called once for each line that is there, in their order, with the line without its end; raises
            ``ValueError`` about one that it cannot read.
    """

    def __init__(self, path: Path, take: Callable[[bytes], None]) -> None:
        self.path = path
        self._take = take
        self._mutex = threading.RLock()
        self._end = 0
        self._number = 0

    def refresh(self) -> None:
        """Take the lines that were written meanwhile. A file that is missing has none, and is not made.

        Raises:
            SharedLinesError: A line cannot be read, or the file is too large.
            LockHeldError, OSError: The file cannot be read.
        """
        with self._mutex:
            if os.path.lexists(self.path):
                with locked_file(self.path) as file:
                    self._read(file)

    @contextmanager
    def appending(self) -> Iterator[Callable[[bytes], None]]:
        """Hold the file: what others wrote is taken, nobody else writes, and lines can be appended.

        Yields:
            What appends a line, given without its end, and takes it.

        Raises:
            SharedLinesError: A line cannot be read, or the file is too large.
            LockHeldError, OSError: The file cannot be read or written.
        """
        with self._mutex:
            is_new = not os.path.lexists(self.path)
            self.path.parent.mkdir(exist_ok=True)
            with locked_file(self.path) as file:
                self._read(file)

                def append(line: bytes) -> None:
                    os.ftruncate(file, self._end)
                    append_synced(file, self._end, line + b"\n")
                    self._end += len(line) + 1
                    self._number += 1
                    self._take(line)

                yield append
            if is_new:
                sync_folder(self.path.parent)
                sync_folder(self.path.parent.parent)

    def _read(self, file: int) -> None:
        size = os.fstat(file).st_size
        if size > MAX_BYTES:
            raise SharedLinesError(f"{self.path}: larger than {MAX_BYTES} bytes")
        if size < self._end:
            raise SharedLinesError(f"{self.path}: has become shorter since it was read")
        os.lseek(file, self._end, os.SEEK_SET)
        with os.fdopen(os.dup(file), "rb") as reader:
            data = reader.read(size - self._end)
        for line in data.split(b"\n")[:-1]:
            try:
                self._take(line)
            except ValueError as error:
                raise SharedLinesError(f"{self.path}:{self._number + 1}: {error}") from None
            self._end += len(line) + 1
            self._number += 1

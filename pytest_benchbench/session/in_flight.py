"""Which row a process is running at this moment, so that a row that kills its process is known afterwards."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

FILE = "in-flight"

MAX_BYTES = 64 * 1024
"""More than a node id can be; what lies behind is left from a longer one."""


@dataclass(frozen=True, slots=True)
class RowInFlight:
    """A row that was being run when its process died.

    Attributes:
        node: Its node id.
        attempt: The number of the try, 1 for the first.
    """

    node: str
    attempt: int


class InFlight:
    """A file that names the row being run: one small write in place for each row. It goes when the run ends by itself.

    The file only helps a later run. Where it cannot be written, this run goes on without it.

    Args:
        directory: The run directory.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        self._file: int | None = None

    def begin(self, row: RowInFlight) -> None:
        """Name the row that is run from now on."""
        with suppress(OSError):
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            self._write(json.dumps({"attempt": row.attempt, "node": row.node}).encode() + b"\n")

    def end(self) -> None:
        """Say that no row is run."""
        with suppress(OSError):
            self._write(b"\n")

    def remove(self) -> None:
        """Take the file away; an earlier process's too."""
        file, self._file = self._file, None
        with suppress(OSError):
            if file is not None:
                os.close(file)
        with suppress(OSError):
            self._path.unlink()

    def _write(self, line: bytes) -> None:
        # the line end is what makes a line whole, and what an earlier, longer line left behind it is not read
        if self._file is not None:
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, line)


def row_in_flight(directory: Path) -> RowInFlight | None:
    """Read which row a process that died was running; ``None`` where it ran none, or nothing can be made of the file."""
    try:
        with (directory / FILE).open("rb") as file:
            line, end, _ = file.read(MAX_BYTES).partition(b"\n")
    except OSError:
        return None
    if not line or not end:
        return None
    try:
        found = json.loads(line)
        node, attempt = found["node"], found["attempt"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not isinstance(node, str) or type(attempt) is not int or attempt < 1:
        return None
    return RowInFlight(node, attempt)

"""One line below everything that pytest writes to a terminal, gone before pytest writes again."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

ERASE = "\x1b[J"
"""Clears everything behind the cursor; that is always the end of what pytest wrote."""

LEAST_COLUMNS = 40
"""A narrower terminal shows no line."""


class StatusLine:
    """Draws a line below the cursor without moving it, and clears it before the next text.

    It stands in for the file to which pytest's terminal writer writes; whatever is written through it comes out as it is.
    Drawing goes to a copy of the file's descriptor, since pytest points the descriptor elsewhere while a test runs.

    Args:
        file: pytest's.
        width: Gives the width of the line that pytest is writing. Behind a full one nothing is drawn: a terminal that moves
            its cursor from there forgets that the next character belongs into the next line.
    """

    def __init__(self, file: Any, width: Callable[[], int]) -> None:
        self._file = file
        self._width = width
        self._descriptor = os.dup(file.fileno())
        self._lock = threading.RLock()  # a signal handler may write while the main thread writes
        self._is_drawn = False
        self._ended_line = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, text: str) -> Any:
        """Clear the line and write a text of pytest's."""
        with self._lock:
            self._erase()
            if text:
                self._ended_line = text.endswith("\n")
            return self._file.write(text)

    def draw(self, text: str) -> None:
        """Show a line, which takes the place of the one before.

        Args:
            text: Printable ASCII; cut to the width of the terminal.
        """
        columns = self._columns()
        if columns < LEAST_COLUMNS or ((width := self._width()) and width % columns == 0):
            return
        below = "\x1bD\x1b[A"  # scroll if the cursor is in the last line, so that there is one below
        with self._lock:
            self._put(f"{below}\x1b7\x1b[B\r{ERASE}{text[: columns - 1]}\x1b8")
            self._is_drawn = True

    def erase(self) -> None:
        """Clear the line, if one is drawn."""
        with self._lock:
            self._erase()

    def print(self, text: str) -> None:
        """Write a whole line of one's own among pytest's."""
        with self._lock:
            self._erase()
            self._put(f"{'' if self._ended_line else chr(10)}{text}\n")
            self._ended_line = True

    def close(self) -> Any:
        """Clear the line and let go of the terminal.

        Returns:
            The file that is pytest's.
        """
        with self._lock:
            self._erase()
            self._let_go()
        return self._file

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._descriptor).columns
        except OSError:
            return 0

    def _erase(self) -> None:
        if self._is_drawn:
            self._is_drawn = False
            self._put(ERASE)

    def _put(self, text: str) -> None:
        if self._descriptor >= 0:
            data = text.encode("ascii")
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:  # the terminal is gone; the run is none of its business
                self._let_go()

    def _let_go(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

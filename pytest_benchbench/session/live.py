"""What a run tells while it goes on: on a terminal a line about rows that take long, elsewhere nothing unless wanted."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchbench.session.progress import Progress
from pytest_benchbench.session.pytest_internals import set_terminal_file, terminal_file
from pytest_benchbench.session.status_line import StatusLine

if TYPE_CHECKING:
    from pytest_benchbench.session.options import Settings

SHOWN_AFTER_SECONDS = 3.0
"""How long a row has been run before a terminal tells of it; short rows are told by pytest's own dots."""

DRAWN_EVERY_SECONDS = 1.0


def live_display(
    config: pytest.Config, settings: Settings, *, is_row: Callable[[str], bool], remaining: Callable[[], int | None]
) -> Live | None:
    """Make the display of a session; ``None`` where there is nothing to show or nobody who sees it.

    Args:
        config: The session's.
        settings: Its options.
        is_row: Says whether a node id is one of the rows that were to run.
        remaining: Gives the number of rows that are still to be run; ``None`` before that is known.
    """
    if settings.progress == "off" or not config.pluginmanager.has_plugin("terminalreporter"):
        return None
    try:
        descriptor = terminal_file(config).fileno()
    except (
        AttributeError,
        OSError,
        ValueError,
    ):  # what stands in for a file of the system when pytest runs inside a program
        return None
    every = None if settings.progress == "auto" else settings.progress
    if (draws := os.isatty(descriptor) and _is_obedient(config)) or every is not None:
        return Live(config, is_row=is_row, remaining=remaining, lines_every=None if draws else every)
    return None


def _is_obedient(config: pytest.Config) -> bool:
    """Say whether a terminal may be drawn on: it knows how, and nothing that tests print gets there by itself."""
    if config.getoption("capture") == "no" or sys.platform == "win32":
        return False
    return not (os.environ.get("CI") or os.environ.get("BUILD_NUMBER") or os.environ.get("TERM", "dumb") == "dumb")


class Live:
    """Registered in the process that the user started. A thread wakes up once a second and looks whether a row takes long.

    Args:
        config: The session's.
        is_row: Says whether a node id is one of the rows that were to run.
        remaining: Gives the number of rows that are still to be run; ``None`` before that is known.
        lines_every: Seconds between plain lines; ``None`` draws on a terminal instead.
    """

    def __init__(
        self,
        config: pytest.Config,
        *,
        is_row: Callable[[str], bool],
        remaining: Callable[[], int | None],
        lines_every: float | None,
    ) -> None:
        self._config = config
        self._is_row = is_row
        self._remaining = remaining
        self._lines_every = lines_every
        self._progress = Progress()
        self._lock = threading.Lock()  # over the progress
        self._status: StatusLine | None = None
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()
        self._is_paused = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, Any, Any]:
        """Tell as long as rows are run."""
        if self._config.option.collectonly:
            return (yield)
        writer = self._config.get_terminal_writer()
        self._status = StatusLine(terminal_file(self._config), lambda: writer.width_of_current_line)
        set_terminal_file(self._config, self._status)
        _lives.append(self)
        self.begin()
        try:
            return (yield)
        finally:
            _lives.remove(self)
            self.end()
            set_terminal_file(self._config, self._status.close())

    def begin(self) -> None:
        """Start the thread that tells."""
        self._ended.clear()
        self._thread = threading.Thread(target=self._tell, name="benchbench-live", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Wait for the end of the thread."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Know that a row begins."""
        if self._is_row(nodeid):
            with self._lock:
                now = time.monotonic()
                if not self._progress.is_sampled:  # all rows count, those too that are over before the thread looks
                    self._count(now)
                self._progress.begin(nodeid, now)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Know that a row is over whose worker died, and that another try begins."""
        if report.when == "???" or report.outcome == "rerun":
            self.pytest_runtest_logfinish(report.nodeid)
            if report.outcome == "rerun" and report.when != "???":
                self.pytest_runtest_logstart(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Know that a row is over."""
        with self._lock:
            self._progress.end(nodeid)

    def pytest_enter_pdb(self) -> None:
        """Be silent while somebody debugs."""
        self._is_paused = True

    def pytest_leave_pdb(self) -> None:
        """Tell again."""
        self._is_paused = False

    def _count(self, now: float) -> None:
        if (remaining := self._remaining()) is not None:
            self._progress.sample(remaining, now)

    def _tell(self) -> None:
        """Look at the progress now and then until the run is over."""
        status = self._status
        assert status is not None
        while not self._ended.wait(self._lines_every or DRAWN_EVERY_SECONDS):
            with self._lock:
                now = time.monotonic()
                self._count(now)
                line, longest = self._progress.line(now), self._progress.longest(now)
            if self._is_paused:
                continue
            if self._lines_every is not None:
                status.print(line)
            elif longest >= SHOWN_AFTER_SECONDS:
                status.draw(line)
            else:
                status.erase()


_lives: list[Live] = []
"""Those that tell at this moment: several where a session runs inside another."""


def _pause() -> None:
    """End the threads before a detector forks: a copy of a process with threads may lock up, and Python warns of it."""
    for live in _lives:
        live.end()


def _go_on() -> None:
    for live in _lives:
        live.begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_pause, after_in_parent=_go_on, after_in_child=_lives.clear)

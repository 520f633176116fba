"""The longest that a row may take: Python code is interrupted, and code that cannot be interrupted ends the process."""

from __future__ import annotations

import faulthandler
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchbench.evidence.observation import ErrorRecord
from pytest_benchbench.session.collection import CaseItem
from pytest_benchbench.session.pytest_internals import is_in_phase, undo_fixture

if TYPE_CHECKING:
    from pytest_benchbench.session.planning import Plan

_EARLY_S = 1e-3
"""A timer may wake this much before the clock says so."""


class RowTimeout(BaseException):
    """A row took longer than ``--bench-row-timeout``. No ``Exception``: a detector must not make an answer of it."""


class _TeardownTimeout(RowTimeout, Exception):  # noqa: N818 - as its base
    """The same while fixtures are torn down: pytest goes on with the next fixture after an ``Exception`` only."""


def seconds_of_grace(limit: float) -> float:
    """Give the seconds between the interruption and the end of a process that does not heed it.

    They are for what an interrupted detector cleans up, and for native code that is slow and not stuck.
    """
    return 1.0 + limit / 2


def timeout_error(limit: float) -> ErrorRecord:
    """Write the error of a row that took longer than ``limit`` seconds."""
    return ErrorRecord(RowTimeout.__name__, f"the row took longer than {limit:g} s (--bench-row-timeout)")


class RowTimer:
    """The clock of one row at a time. Registered as a plugin, it times every row of the session in this process.

    The clock starts with the setup of each attempt. When it has run out, Python code of the setup, the call or the teardown
    is interrupted by ``RowTimeout``, again and again until it heeds it; nothing is raised while pytest itself works. A
    watchdog that needs no interpreter ends the process where that does not help. The teardown after an interruption has the
    limit once more, and the adapter's instance, whose state nobody knows, is let go.

    A handler and a timer for ``SIGALRM`` that were there before are served meanwhile and restored. Outside of the main
    thread, and on systems without ``SIGALRM``, there is the watchdog alone.

    Args:
        limit: Seconds for each row.
        plan: Has the adapters.
        stderr: File descriptor on which the watchdog says where each thread was; closed at the end.
    """

    def __init__(self, limit: float, plan: Plan, stderr: int) -> None:
        self.limit = limit
        self._plan = plan
        self._stderr = stderr
        self._deadline = math.inf
        self._expired = False
        self._interrupted = False
        self._interrupts: type[RowTimeout] | None = None
        self._handles_signal = False
        self._previous_handler: Any = None
        self._previous_due = math.inf
        self._previous_interval = 0.0

    # one row

    def restart(self, rows: int = 1) -> None:
        """Give the running row its limit from now on, as often as there are rows to answer about."""
        self._deadline = time.monotonic() + self.limit * rows
        self._expired = False
        self._set_timer()
        faulthandler.dump_traceback_later(self.limit * rows + seconds_of_grace(self.limit), exit=True, file=self._stderr)

    def stop(self) -> None:
        """Let the running row take as long as it wants."""
        self._deadline = math.inf
        self._set_timer()
        faulthandler.cancel_dump_traceback_later()

    @property
    def has_run_out(self) -> bool:
        """Whether the running row is over its limit."""
        return self._expired or time.monotonic() >= self._deadline

    @contextmanager
    def row(self) -> Iterator[None]:
        """Time a row; what was there before is as before afterwards."""
        self._take_signal()
        try:
            yield
        finally:
            self._interrupts = None
            self.stop()
            self._give_signal_back()

    @contextmanager
    def _interruptible(self, kind: type[RowTimeout]) -> Iterator[None]:
        """Let the timer interrupt what runs here.

        Raises:
            RowTimeout: The limit is over, whether the code that ran here heeded it or not.
        """
        if self.has_run_out:
            raise self._timeout(kind)
        self._interrupts = kind
        try:
            try:
                yield
            finally:
                self._interrupts = None
        except (RowTimeout, KeyboardInterrupt, pytest.exit.Exception, GeneratorExit):
            raise
        except BaseException as raised:
            if self.has_run_out:
                raise self._timeout(kind) from raised
            raise
        finally:
            self._interrupts = None  # again: the signal may have come just before the first
        if self.has_run_out:
            raise self._timeout(kind)

    def _timeout(self, kind: type[RowTimeout]) -> RowTimeout:
        self._interrupted = True
        return kind(timeout_error(self.limit).message)

    # the signal

    def _take_signal(self) -> None:
        self._handles_signal = (
            hasattr(signal, "SIGALRM")
            and threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGALRM) is not None  # one that was not installed from Python cannot be restored
        )
        if not self._handles_signal:
            return
        remaining, self._previous_interval = signal.setitimer(signal.ITIMER_REAL, 0)
        self._previous_due = time.monotonic() + remaining if remaining else math.inf
        self._previous_handler = signal.signal(signal.SIGALRM, self._wake)

    def _give_signal_back(self) -> None:
        if not self._handles_signal:
            return
        if signal.getsignal(signal.SIGALRM) != self._wake:
            return  # somebody has installed another one, to stay
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._previous_handler)
        if self._previous_due < math.inf:
            remaining = max(self._previous_due - time.monotonic(), 1e-6)
            signal.setitimer(signal.ITIMER_REAL, remaining, self._previous_interval)

    def _set_timer(self) -> None:
        """Wake for what comes first: the row's limit, then half-way to the end of the process, or the timer of before."""
        if not self._handles_signal:
            return
        due = min(self._deadline, self._previous_due)
        if due == math.inf:
            signal.setitimer(signal.ITIMER_REAL, 0)
        else:
            again = seconds_of_grace(self.limit) / 2
            signal.setitimer(signal.ITIMER_REAL, max(due - time.monotonic(), 1e-6), again)

    def _wake(self, signum: int, frame: FrameType | None) -> None:
        now = time.monotonic() + _EARLY_S
        if now >= self._deadline:
            self._expired = True
            if self._interrupts is not None and is_in_phase(frame):
                raise self._timeout(self._interrupts)
        if now >= self._previous_due:
            self._previous_due = now + self._previous_interval if self._previous_interval else math.inf
            self._set_timer()
            if callable(self._previous_handler):
                self._previous_handler(signum, frame)

    # the session

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Time the rows, and no other test."""
        if not isinstance(item, CaseItem):
            return (yield)
        with self.row():
            return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Start the clock of an attempt."""
        if not isinstance(item, CaseItem):
            return (yield)
        self._interrupted = False
        self.restart()
        with self._interruptible(RowTimeout):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        """Undo a fixture that was interrupted, so that the next row that shares it makes it anew."""
        try:
            return (yield)
        except RowTimeout:
            undo_fixture(fixturedef, request)
            raise

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Interrupt the call."""
        if not isinstance(item, CaseItem):
            return (yield)
        with self._interruptible(RowTimeout):
            return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Interrupt the teardown; after an interruption let go of the adapter, and begin anew."""
        if not isinstance(item, CaseItem):
            return (yield)
        if self._interrupted:
            self.restart()
            with suppress(RowTimeout), self._interruptible(RowTimeout):
                self._plan.pool.drop(item.group.name)
        if self.has_run_out:
            self.restart()
        with self._interruptible(_TeardownTimeout):
            return (yield)

    def pytest_enter_pdb(self) -> None:
        """Leave a row alone that somebody looks into."""
        self.stop()

    def pytest_unconfigure(self) -> None:
        """Close the copy of stderr."""
        os.close(self._stderr)


TIMER = pytest.StashKey[RowTimer]()
"""Where a session with a limit keeps its clock."""


def own_stderr() -> int:
    """Copy the file descriptor of stderr, which pytest points elsewhere while a test runs."""
    return os.dup(sys.__stderr__.fileno() if sys.__stderr__ is not None else 2)

"""Every use of private pytest API, in one file. ``tests/session/test_pytest_internals.py`` fails first when one moves.

Used: ``Function._fixtureinfo`` (read once per suite, shared by its rows), ``Function._request`` and ``_initrequest`` (made
when a row runs: a request for each collected row would cost memory and time), ``Function._instance`` and ``_obj`` (a fresh
instance of a class suite), ``Module._getobj`` (the built-in suite in place of a Python file), a text as ``nodeid=``,
``_use_item_location`` of ``Skipped``, that ``CallInfo.from_call`` is what catches the exceptions of a phase,
``FixtureDef.cached_result``, without which ``finish`` does nothing, ``TerminalWriter._file``, to which it writes, and
``TerminalReporter._keyboardinterrupt_memo``, what it will tell of an interrupt at the end.
"""

from __future__ import annotations

from abc import abstractmethod
from types import FrameType
from typing import Any, NoReturn, Self

import pytest


class LazyRequestFunction(pytest.Function):
    """A test function that shares its fixture closure with its siblings and makes its request when it runs."""

    _collected = False
    running = False
    _request: Any = False  # falsy: pytest's run protocol makes the request itself, as it does for a rerun

    @classmethod
    def sharing(cls, function: pytest.Function, parent: pytest.Collector, name: str) -> Self:
        """Make another item that calls the same test function with the same fixtures and parameters."""
        item = cls.from_parent(
            parent,
            name=row_name(function, name),
            originalname=name,
            callspec=getattr(function, "callspec", None),
            callobj=function.function,
            fixtureinfo=function._fixtureinfo,
        )
        item._collected = True
        return item

    def _initrequest(self) -> None:
        if self._collected:
            super()._initrequest()

    def setup(self) -> None:
        """Give a suite in a class a fresh instance, then fill the fixtures."""
        owner = self.getparent(pytest.Class)
        if owner is not None:
            self._instance = owner.newinstance()  # type: ignore[no-untyped-call]
            self._obj = getattr(self._instance, self.suite_name)
        super().setup()

    def runtest(self) -> None:
        """Run the test function, and be known to run: a subtest asks for reports of its own meanwhile."""
        self.running = True
        try:
            super().runtest()
        finally:
            self.running = False

    @property
    @abstractmethod
    def suite_name(self) -> str:
        """Name of the test function."""


def row_name(function: pytest.Function, name: str) -> str:
    """Give the last part of the node id of a row: its name, and the parameters of the function in brackets."""
    callspec = getattr(function, "callspec", None)
    return f"{name}[{callspec.id}]" if callspec and callspec.id else name


class ManifestModule(pytest.Module):
    """A file that is no Python source, collected as if it were the module of its suite."""

    def _getobj(self) -> Any:
        return self.suite_module()

    def funcnamefilter(self, name: str) -> bool:
        """Take the suite's functions whatever ``python_functions`` says of the project's own."""
        return name.startswith("test_")

    @abstractmethod
    def suite_module(self) -> Any:
        """Give the module."""


def skip_at_item(reason: str) -> NoReturn:
    """Skip the running item and point at the item itself (its row) instead of at the line that skips.

    Raises:
        pytest.skip.Exception: Always.
    """
    raise pytest.skip.Exception(reason, _use_item_location=True)


def is_in_phase(frame: FrameType | None) -> bool:
    """Say whether what a frame raises ends as the outcome of a setup, a call or a teardown, and not in pytest itself."""
    while frame is not None:
        frame = frame.f_back
        if frame is not None and frame.f_code is pytest.CallInfo.from_call.__func__.__code__:  # type: ignore[attr-defined]
            return True
    return False


def undo_fixture(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
    """Take back a fixture whose setup ended by an exception that pytest does not remember: the next use makes it anew."""
    if fixturedef.cached_result is None:
        fixturedef.cached_result = (None, None, None)
    fixturedef.finish(request)  # type: ignore[arg-type]  # pytest calls it so itself


def terminal_file(config: pytest.Config) -> Any:
    """Give the file to which pytest's terminal writer writes."""
    return config.get_terminal_writer()._file


def set_terminal_file(config: pytest.Config, file: Any) -> None:
    """Let pytest's terminal writer write to another file."""
    config.get_terminal_writer()._file = file


def forget_interrupt(config: pytest.Config) -> None:
    """Let the terminal not tell again of what ended the session: pytest has written it before any session began."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter._keyboardinterrupt_memo = None

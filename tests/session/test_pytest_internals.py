"""Fails first, and by name, when a private part of pytest that the plugin uses has moved."""

import inspect
import io

import pytest
from _pytest.python import Function, Module
from _pytest.runner import call_and_report, runtestprotocol
from _pytest.terminal import TerminalReporter

from pytest_benchbench.session.pytest_internals import is_in_phase, set_terminal_file, terminal_file


@pytest.mark.parametrize(
    ("owner", "name"),
    [(Function, "_initrequest"), (Module, "_getobj"), (Function, "setup"), (pytest.Class, "newinstance")],
)
def test_a_method_that_is_overridden_or_called_exists(owner, name):
    assert callable(getattr(owner, name))


@pytest.mark.parametrize("name", ["callspec", "callobj", "fixtureinfo", "originalname"])
def test_a_function_still_takes_what_makes_a_sibling(name):
    assert name in inspect.signature(Function.__init__).parameters


@pytest.mark.parametrize("attribute", ["_fixtureinfo", "_request", "_instance", "_obj"])
def test_a_function_still_keeps_its_parts_under_these_names(attribute):
    assert attribute in inspect.getsource(Function)


def test_the_run_protocol_makes_a_request_that_is_missing():
    source = inspect.getsource(runtestprotocol)
    assert "_request" in source
    assert "_initrequest()" in source


def test_a_skip_can_point_at_its_item():
    assert "_use_item_location" in inspect.signature(pytest.skip.Exception.__init__).parameters


def test_a_phase_is_told_by_who_catches_its_exceptions():
    assert "CallInfo.from_call(" in inspect.getsource(call_and_report)
    assert is_in_phase(inspect.currentframe())
    assert not is_in_phase(None)


def test_a_fixture_still_keeps_what_it_gave():
    assert "self.cached_result = None" in inspect.getsource(pytest.FixtureDef.finish)


def test_the_terminal_writer_still_writes_to_a_file_that_can_be_replaced(pytestconfig):
    before, instead = terminal_file(pytestconfig), io.StringIO()
    set_terminal_file(pytestconfig, instead)
    try:
        pytestconfig.get_terminal_writer().write("text")
    finally:
        set_terminal_file(pytestconfig, before)
    assert instead.getvalue() == "text"


def test_the_terminal_still_keeps_what_ended_the_session_under_this_name():
    for method in (TerminalReporter.pytest_keyboard_interrupt, TerminalReporter.pytest_unconfigure):
        assert "self._keyboardinterrupt_memo" in inspect.getsource(method)

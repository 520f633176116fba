"""Telling a worker that its watchdog ended from one that crashed. Real ones: ``test_row_timeout.py``."""

from types import SimpleNamespace

import pytest

from pytest_benchbench.session.crashes import TIMED_OUT
from pytest_benchbench.session.timeout_witness import TimeoutWitness

ROW = "cases.jsonl::test_detection::toy::cat-01"


PLAN = SimpleNamespace(
    manifests=[], adapters_of=lambda manifests: ["toy", "waves"], is_exclusive=lambda adapter: adapter == "waves"
)


@pytest.fixture
def crash():
    """Let a row begin, perhaps again, and its worker die; say whether its time was over, and what is shown."""

    def crash(node, limit, *, begins=True):
        witness = TimeoutWitness(limit, PLAN)
        if begins:
            witness.pytest_runtest_logstart(node)
        report = SimpleNamespace(longrepr="worker crashed")
        witness.pytest_handlecrashitem(node, report)
        return hasattr(report, TIMED_OUT), report.longrepr

    return crash


def test_a_row_that_took_its_time_was_ended(crash):
    told, shown = crash(ROW, 0.0)
    assert told
    assert shown == f"{ROW}: error: RowTimeout: the row took longer than 0 s (--bench-row-timeout); its worker was ended"


@pytest.mark.parametrize(
    ("node", "limit", "begins"),
    [
        (ROW, 1000.0, True),  # it died before its time was over
        (ROW, 0.0, False),  # nobody knows when it began
        (ROW.replace("toy", "waves"), 0.0, True),  # rows of a batch share their time
        ("test_unit.py::TestClass::test_plain", 0.0, True),
        ("test_unit.py::test_plain", 0.0, True),
    ],
)
def test_anything_else_is_a_crash(crash, node, limit, begins):
    assert crash(node, limit, begins=begins) == (False, "worker crashed")


def test_each_try_has_a_time_of_its_own():
    witness = TimeoutWitness(0.05, PLAN)
    witness.pytest_runtest_logstart(ROW)
    begun = witness._begun[ROW]
    while witness._begun[ROW] == begun:
        witness.pytest_runtest_logreport(SimpleNamespace(nodeid=ROW, outcome="rerun"))
    witness.pytest_runtest_logfinish(ROW)
    assert witness._begun == {}

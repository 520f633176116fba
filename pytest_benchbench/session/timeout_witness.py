"""The controller's side of row timeouts: a worker that its watchdog ended is told from one that crashed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchbench.session.crashes import TIMED_OUT
from pytest_benchbench.session.node_names import CaseNode
from pytest_benchbench.session.row_timeout import timeout_error

if TYPE_CHECKING:
    from pytest_benchbench.session.planning import Plan


class TimeoutWitness:
    """Times each try of a row from outside. Registered on the controller of a session with workers and a limit.

    The watchdog of a stuck worker has no interpreter to leave word with. But a worker that dies over a row that has taken
    longer than it may has died of that, directly or not.

    Args:
        limit: Seconds for each row.
        plan: What the session runs.
    """

    def __init__(self, limit: float, plan: Plan) -> None:
        self._limit = limit
        self._plan = plan
        self._begun: dict[str, float] = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Start the clock."""
        self._begun[nodeid] = time.monotonic()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Start the clock again for another try."""
        if report.outcome == "rerun" and report.nodeid in self._begun:  # type: ignore[comparison-overlap]  # of a plugin
            self._begun[report.nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Forget a row that has ended."""
        self._begun.pop(nodeid, None)

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any) -> None:
        """Mark the report of a row whose time was over when its worker died."""
        begun = self._begun.pop(crashitem, None)
        node = CaseNode.parse(crashitem)
        if begun is None or node is None or time.monotonic() - begun < self._limit:
            return
        if node.adapter not in self._plan.adapters_of(self._plan.manifests) or self._plan.is_exclusive(node.adapter):
            return  # rows of a batch share the limits of all
        setattr(report, TIMED_OUT, True)
        error = timeout_error(self._limit)
        report.longrepr = f"{crashitem}: error: {error.type}: {error.message}; its worker was ended"

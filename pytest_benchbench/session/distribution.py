"""What the controller does about its workers: who runs what, what a new worker is told, and what follows a crash."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchbench.session.crashes import CRASHED, INTERRUPTED, TIMED_OUT, CrashPolicy, is_interruption
from pytest_benchbench.session.node_names import CaseNode
from pytest_benchbench.session.scheduling import AffinityScheduling

if TYPE_CHECKING:
    from pytest_benchbench.session.planning import Plan


class Distribution:
    """Registered on the controller when pytest-xdist runs the rows of a plan.

    Args:
        plan: What the session runs.
        session: The controller's session.
        is_row: Says whether a node id is one of the rows that were to run.
    """

    def __init__(self, plan: Plan, session: pytest.Session, is_row: Callable[[str], bool]) -> None:
        self._plan = plan
        self._session = session
        self._is_row = is_row
        self._adapters = frozenset(plan.adapters_of(plan.manifests))
        self._exclusive = frozenset(name for name in self._adapters if plan.is_exclusive(name))
        self._crashes = CrashPolicy(plan.settings.crash_retries, plan.deaths)
        self._crashes.rows += [nodeid for nodeid in plan.deaths if self._adapter_of(nodeid) in self._exclusive]
        self._interrupted = False
        self._scheduling: AffinityScheduling | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config) -> AffinityScheduling | None:
        """Schedule by adapter under ``--dist=load``, which ``-n`` gives; any other is what the user asked for by name."""
        if config.getoption("dist") != "load":
            return None
        from xdist.workermanage import parse_tx_spec_config

        self._scheduling = AffinityScheduling(
            config,
            adapter_of=self._adapter_of,
            exclusive=self._exclusive,
            workers=len(parse_tx_spec_config(config)),
            complain=self._complain,
            max_rows_sent=config.getoption("maxschedchunk"),
        )
        return self._scheduling

    def _adapter_of(self, nodeid: str) -> str | None:
        node = CaseNode.parse(nodeid)
        return node.adapter if node is not None and node.adapter in self._adapters else None

    def _complain(self, line: str) -> None:
        report = pytest.CollectReport(nodeid="pytest-xdist", outcome="failed", longrepr=line, result=[])
        self._session.config.hook.pytest_collectreport(report=report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker which rows killed others: it asks a batch adapter about their neighbours one by one."""
        node.workerinput[CRASHED] = self._crashes.rows
        if self._scheduling is not None:
            self._scheduling.expect(node)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Count the workers that died."""
        self._interrupted = is_interruption(error)
        self._crashes.worker_ended(died=bool(error))
        if self._scheduling is not None:
            self._scheduling.give_up(node)

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any, sched: Any) -> None:
        """Let a row whose worker died run again, and show that as a rerun; mark one that was interrupted."""
        if not self._is_row(crashitem):
            return
        if self._interrupted:
            setattr(report, INTERRUPTED, True)
            return
        if self._adapter_of(crashitem) in self._exclusive:
            self._crashes.rows.append(crashitem)
        config = self._session.config
        if report.outcome == "rerun" or config.getoption("reruns", None) is not None:
            return  # pytest-rerunfailures decides, which would pass over a row that it has no rerun left for
        stops = bool(self._session.shouldfail or self._session.shouldstop)
        if stops or hasattr(report, TIMED_OUT) or not self._crashes.may_retry(crashitem, max_worker_restart(config)):
            return
        try:
            sched.mark_test_pending(crashitem)
        except NotImplementedError:
            return  # this --dist decides by itself
        self._crashes.retried(crashitem)
        report.outcome = "rerun"


def max_worker_restart(config: pytest.Config) -> int | None:
    """Give the number of dead workers that pytest-xdist replaces; ``None`` for any number."""
    from xdist.dsession import get_default_max_worker_restart

    limit: int | None = get_default_max_worker_restart(config)
    return limit

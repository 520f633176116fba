"""The controller's side of a run: evidence as it arrives, and the rows that never arrive."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
import pytest

from pytest_benchbench.adapters.base import AnswersWithdrawn
from pytest_benchbench.evidence.environment import code_record
from pytest_benchbench.evidence.observation import ErrorRecord
from pytest_benchbench.evidence.writing import EvidenceWriteError
from pytest_benchbench.session.collection import CaseItem
from pytest_benchbench.session.crashes import PROCESS_DIED
from pytest_benchbench.session.exit_status import FAILED, INCOMPLETE, NO_TESTS_COLLECTED, RunFacts, exit_status
from pytest_benchbench.session.node_names import CaseNode
from pytest_benchbench.session.opening import check_ledger_of, open_test_split
from pytest_benchbench.session.properties import SentProperties
from pytest_benchbench.session.recorded_rows import RECORDED
from pytest_benchbench.session.row_log import RowLog
from pytest_benchbench.session.run_directory import (
    RUN_PLACE,
    RunDirectory,
    RunDirectoryError,
    new_run_id,
    prepare_project,
    run_place,
)
from pytest_benchbench.session.run_document import as_time, resumed_document, run_document, shown_from
from pytest_benchbench.session.worker import Tally

if TYPE_CHECKING:
    from pytest_benchbench.gates.policy import LoadedPolicy
    from pytest_benchbench.manifests.reading import Manifest
    from pytest_benchbench.session.paid_detectors import PaidDetectors
    from pytest_benchbench.session.planning import Plan
    from pytest_benchbench.session.resuming import EarlierRun

USAGE_ERROR = 4

LARGE_ROWS = 20_000
"""From as many rows on pytest's own cache costs more than it is worth: a second and 55 MB for 100,000 rows once run."""


class Recorder:
    """Registered in the process that the user started, when a session has a plan.

    Args:
        plan: What the session runs.
        config: The session's configuration.
        paid: The paid detectors of the plan.
        distributed: Whether workers run the rows.

    Raises:
        pytest.UsageError: The run directory or the policy cannot be used.
    """

    def __init__(self, plan: Plan, config: pytest.Config, paid: PaidDetectors, *, distributed: bool) -> None:
        self._plan = plan
        self._config = config
        self._distributed = distributed
        started = datetime.now(UTC)
        self._run_id = new_run_id(started)
        self._policy = _policy_of(plan)
        self._code = code_record(plan.settings.root_dir)
        self._document = run_document(plan, config.invocation_params.args, config.args, self._code, self._run_id)
        self._document["started"] = as_time(started)
        self._run: RunDirectory | None = None
        self._log: RowLog | None = None
        self._properties = SentProperties()
        self._broken: str | None = None
        self._tally: Tally | None = None
        self._hits = self._misses = 0
        self._peaks: list[int] = []
        self._withdrawn: dict[str, str] = {}
        self._usage_fault = False
        self._summary: list[str] = []
        self._commands: tuple[str, ...] = ()
        if plan.settings.run_dir is not None and os.path.lexists(plan.settings.run_dir):
            raise pytest.UsageError(
                f"--bench-run-dir={plan.settings.run_dir}: exists already; a run never overwrites another"
            )
        if self._asks_detectors() and not config.option.collectonly:
            check_ledger_of(plan)
        self._place = plan.settings.resume or run_place(plan.settings.run_dir, plan.settings.root_dir, self._run_id)
        self._paid = paid
        paid.keep_in(self._place)
        self._earlier = None if plan.settings.resume is None else self._take_up(started)

    def _take_up(self, started: datetime) -> EarlierRun:
        """Make this session one of an earlier run."""
        from pytest_benchbench.session.resuming import take_up

        earlier = take_up(self._plan, self._config, self._document, distributed=self._distributed)
        self._document = resumed_document(earlier.document, self._document, started)
        self._run_id = earlier.run_id
        self._plan.recorded, self._plan.deaths = earlier.recorded, earlier.deaths
        self._plan.crashed = frozenset(earlier.deaths)
        self._paid.check_recorded()
        return earlier

    # the session begins

    def pytest_report_header(self) -> list[str]:
        """Say what runs, and what slows a large run down."""
        listed = ", ".join(f"{m.display} ({self._counts_of(m)})" for m in self._plan.manifests)
        gate = self._policy.policy.name if self._policy else "off"
        resumed = f"; goes on with a run of {len(self._earlier.attempts)} recorded rows" if self._earlier else ""
        lines = [f"benchbench: {listed}; verify {self._plan.settings.verify}; gate {gate}{resumed}"]
        is_large = sum(m.split_rows for m in self._plan.manifests) >= LARGE_ROWS
        if is_large and self._config.pluginmanager.has_plugin("cacheprovider"):
            lines.append("benchbench: pytest's cache keeps and loads every node id ever run: give -p no:cacheprovider")
        return lines

    def _counts_of(self, manifest: Manifest) -> str:
        settings = self._plan.settings
        parts = [f"split {settings.split}"] if manifest.splits else []
        parts += [f"shard {settings.shard}"] if settings.shard else []
        rows = f"{manifest.split_rows} of {manifest.total_rows} rows" if parts else f"{manifest.rows} rows"
        return ", ".join([rows, *parts])

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the plan to a worker."""
        node.workerinput["benchbench"] = self._plan.handover()
        node.workerinput[RUN_PLACE] = str(self._place)
        if self._plan.recorded is not None:
            node.workerinput[RECORDED] = self._plan.recorded.encode()

    def pytest_collection(self) -> None:
        """Import what the end needs while workers start, which takes them longer."""
        if self._distributed:
            import_module("pytest_benchbench.session.conclusion")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, Any, Any]:
        """Begin the run, where this process runs the rows itself."""
        option = self._config.option
        broken = session.testsfailed and not option.continue_on_collection_errors
        if not self._distributed and not broken and not option.collectonly and self._asks_detectors():
            self._begin([item.nodeid for item in session.items if isinstance(item, CaseItem)])
        return (yield)

    def _asks_detectors(self) -> bool:
        """Whether tests are called at all, not only their fixtures set up or shown."""
        return not any(self._config.getoption(name, False) for name in ("setuponly", "setupplan"))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        """Begin the run, once the first worker has said which rows there are."""
        if self._run is not None or not self._asks_detectors():
            return
        adapters = set(self._plan.adapters_of(self._plan.manifests))
        parsed = ((nodeid, CaseNode.parse(nodeid)) for nodeid in ids)
        self._begin([nodeid for nodeid, case in parsed if case is not None and case.adapter in adapters])

    def _begin(self, nodes: list[str]) -> None:
        if not nodes:
            return
        opened = partial(open_test_split, self._plan, self._config, self._document, nodes, distributed=self._distributed)
        try:
            if self._earlier is not None:
                opened()
                self._go_on(self._earlier)
            else:
                self._make_run(opened)
        except RunDirectoryError as error:
            raise pytest.UsageError(str(error)) from None
        except EvidenceWriteError as error:
            self._break_off(error)
        assert self._log is not None
        self._log.expect(nodes)

    def _make_run(self, opened: Callable[[], None]) -> None:
        """Make the directory of a new run, and open the test split when it is there: without it nothing is asked.

        Raises:
            RunDirectoryError: It cannot be made.
        """
        if self._plan.settings.run_dir is None:
            prepare_project(self._plan.settings.root_dir)
        self._run = RunDirectory.make(self._place, self._document, opened)
        self._log = RowLog(self._plan, self._run, self._run_id, self._code, runs_rows=not self._distributed)

    def _go_on(self, earlier: EarlierRun) -> None:
        """Open the directory of the earlier run, and record the row over which its last process died, if it did.

        Raises:
            RunDirectoryError, EvidenceWriteError: It cannot be written.
        """
        run = RunDirectory.go_on(earlier.path, earlier.writer, self._document)
        self._log = RowLog(
            self._plan,
            run,
            self._run_id,
            self._code,
            runs_rows=not self._distributed,
            attempts=earlier.attempts,
            not_run=earlier.not_run,
        )
        if earlier.died is not None:
            self._log.keep_death(earlier.died, ErrorRecord(PROCESS_DIED, "the process died while it ran this row"))
        run.in_flight.remove()
        self._run = run

    def _break_off(self, error: EvidenceWriteError) -> NoReturn:
        """End the session, because evidence cannot be kept any more.

        Raises:
            pytest.exit.Exception: Always.
        """
        self._broken = f"evidence cannot be written: {error}"
        pytest.exit(self._broken)

    # rows arrive

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Remember that a new try has begun."""
        if self._log is not None:
            self._log.begin(nodeid)

    def pytest_runtest_logfinish(self) -> None:
        """Remember that no row is being run."""
        if self._log is not None:
            self._log.end()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the evidence that a report carries; make evidence of a crash."""
        if getattr(report, "benchbench_usage", False):
            self._usage_fault = True
        if self._log is None or self._broken:
            return
        try:
            row = self._log.keep_report(report)
        except EvidenceWriteError as error:
            self._break_off(error)
            return
        if self._distributed:
            self._properties.attach(report, row)

    def is_row(self, nodeid: str) -> bool:
        """Say whether a node id is one of the rows that were to run."""
        return self._log is not None and self._log.is_row(nodeid)

    def remaining(self) -> int | None:
        """Give the number of rows that are still to be run; ``None`` before the run has begun."""
        return None if self._log is None else self._log.remaining

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take the counts of a worker that ended well."""
        if (sent := (getattr(node, "workeroutput", None) or {}).get("benchbench")) is not None:
            self._take(msgspec.json.decode(sent, type=Tally))

    def _take(self, tally: Tally) -> None:
        self._tally = tally
        self._hits += tally.decode_hits
        self._misses += tally.decode_misses
        if tally.peak_bytes is not None:
            self._peaks.append(tally.peak_bytes)
        self._summary += tally.faults
        self._withdrawn |= tally.withdrawn

    # the session ends

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Account for every planned row, write the report, ask the gate, and set the exit code."""
        if self._log is not None:  # an interrupted row is over too, even if what follows is broken off
            self._log.end()
        if not self._distributed:
            self._take(Tally.take(self._plan))
        if self._usage_fault:
            session.exitstatus = USAGE_ERROR
        elif not self._config.option.collectonly and self._asks_detectors():
            session.exitstatus = self._conclude(session, int(exitstatus))
        elif exitstatus == NO_TESTS_COLLECTED and self._is_empty_shard():
            session.exitstatus = 0
        if self._run is not None:
            self._run.in_flight.remove()

    def _conclude(self, session: pytest.Session, pytest_status: int) -> int:
        """Give the exit code; with a run, once everything about it is written."""
        try:
            if self._broken is None:
                if self._run is None and self._is_collected(pytest_status):
                    if self._earlier is not None:
                        self._go_on(self._earlier)
                    elif self._is_empty_shard():  # those who merge must be able to account for it
                        self._make_run(lambda: None)  # a shard without rows opens nothing
                if self._run is not None and self._log is not None:
                    return self._finish(self._run, self._log, session, pytest_status)
        except EvidenceWriteError as error:
            self._broken = f"evidence cannot be written: {error}"
        except RunDirectoryError as error:
            self._broken = f"the run cannot be written: {error}"
        if self._broken is None:
            return self._without_rows(pytest_status)
        if self._run is not None:
            self._run.abandon_evidence()
        if (run := self._run or self._earlier) is not None:
            where = shown_from(run.path, self._plan.settings.invocation_dir)
            self._broken += f"; what was written is kept: make room and go on with --bench-resume={where}"
        self._summary.append(f"incomplete: {self._broken}")
        return INCOMPLETE

    def _is_collected(self, pytest_status: int) -> bool:
        """Whether it is known that no row was to run."""
        return pytest_status in (0, 1, NO_TESTS_COLLECTED) and (not self._distributed or self._tally is not None)

    def _is_empty_shard(self) -> bool:
        """Whether the collected suites take no row of the shard: no fault, as other shards have the rows."""
        return self._plan.settings.shard is not None and self._tally is not None and self._tally.taken == 0

    def _without_rows(self, pytest_status: int) -> int:
        """Give the exit code of a session in which no row was to run: workers died first, or all rows were left out."""
        if self._distributed and self._tally is None and pytest_status == NO_TESTS_COLLECTED:
            self._summary.append("incomplete: no worker lived to say which rows there are")
            return INCOMPLETE
        if self._policy is None or pytest_status == NO_TESTS_COLLECTED:
            return pytest_status
        left_out = self._plan.count_selected(self._plan.manifests)
        self._summary.append(f"incomplete: {left_out} rows were left out, and a gate decides on all")
        return exit_status(pytest_status, RunFacts(left_out=left_out, gate="inconclusive"))

    def _finish(self, run: RunDirectory, log: RowLog, session: pytest.Session, pytest_status: int) -> int:
        stopped = bool(session.shouldfail or session.shouldstop)
        for alias, why in sorted(self._withdrawn.items()):
            self._summary.append(f"adapter {alias}: its answers do not count: {why}")
            log.withdraw(alias, ErrorRecord(AnswersWithdrawn.__name__, why))
        rows = log.account(planned=self._count_planned(), stopped=stopped)
        if not stopped:
            log.keep_lost_rows()
        run.close_evidence()
        if self._is_empty_shard():
            self._summary.append(f"shard {self._plan.settings.shard} has none of the rows that run")
        if pytest_status == NO_TESTS_COLLECTED and (
            self._is_empty_shard() or (self._earlier is not None and not rows.left_out)
        ):
            pytest_status = 0  # other shards have the rows, or everything was done before
        if self._withdrawn and pytest_status == 0:
            pytest_status = FAILED
        if not rows.left_out and not rows.lost:
            self._plan.notes += self._plan.expectations.idle_notes(log.nodes())
        self._document["decoding"] = {"hits": self._hits, "misses": self._misses}
        self._document["peak_bytes"] = sorted(self._peaks)
        self._document["finished"] = as_time(datetime.now(UTC))
        settings = self._plan.settings
        from pytest_benchbench.session.conclusion import conclude
        from pytest_benchbench.session.costs import add_costs

        self._summary += add_costs(self._document, self._paid, self._plan, log.not_asked, run.path)
        concluded = conclude(
            run,
            self._document,
            rows,
            self._policy,
            self._plan,
            pytest_status=pytest_status,
            failed_before=self._earlier.failed if self._earlier else 0,
        )
        self._summary += concluded.lines
        self._commands = concluded.commands
        self._summary += [f"report: {shown_from(run.path / name, settings.invocation_dir)}" for name in concluded.reports]
        return concluded.status

    def _count_planned(self) -> int:
        planned = self._tally.planned if self._tally else 0
        if self._distributed:  # the processes that counted may all have died
            planned = max(planned, self._plan.count_selected(self._plan.manifests))
        if self._earlier is not None:  # which may have collected what --lf leaves out
            planned = max(planned, self._earlier.planned)
        return planned

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show the verdict, the worst of it, and where the report is."""
        if lines := [*(f"warning: {note}" for note in self._plan.notes), *self._summary]:
            terminalreporter.section("benchbench", sep="-")
            for line in (*lines, *self._commands):
                terminalreporter.line(line)


def _policy_of(plan: Plan) -> LoadedPolicy | None:
    if plan.settings.gate is None:
        return None
    from pytest_benchbench.session.conclusion import policy_of

    return policy_of(plan)

"""The controller's side of a run: evidence as it arrives, and the rows that never arrive."""

from __future__ import annotations

import os
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from pytest_benchbench.evidence.environment import code_record
from pytest_benchbench.evidence.observation import ErrorRecord, EvidenceRow, NetworkRecord
from pytest_benchbench.session.accounting import Account, account
from pytest_benchbench.session.asking import unobserved_row
from pytest_benchbench.session.collection import CaseItem
from pytest_benchbench.session.conclusion import conclude, policy_of
from pytest_benchbench.session.exit_status import INCOMPLETE, NO_TESTS_COLLECTED, RunFacts, exit_status
from pytest_benchbench.session.node_names import CaseNode
from pytest_benchbench.session.planning import adapters_of
from pytest_benchbench.session.reporting import EVIDENCE
from pytest_benchbench.session.run_directory import RunDirectory, RunDirectoryError, new_run_id, state_directory
from pytest_benchbench.session.run_document import as_time, run_document, shown_from
from pytest_benchbench.session.worker import Tally

if TYPE_CHECKING:
    from pytest_benchbench.manifests.reading import CaseRef, Manifest
    from pytest_benchbench.session.planning import Plan

USAGE_ERROR = 4


class Recorder:
    """Registered in the process that the user started, when a session has a plan.

    Args:
        plan: What the session runs.
        config: The session's configuration.
        distributed: Whether workers run the rows.

    Raises:
        pytest.UsageError: The run directory or the policy cannot be used.
    """

    def __init__(self, plan: Plan, config: pytest.Config, *, distributed: bool) -> None:
        self._plan = plan
        self._config = config
        self._distributed = distributed
        started = datetime.now(UTC)
        self._run_id = new_run_id(started)
        self._policy = policy_of(plan)
        self._code = code_record(plan.settings.root_dir)
        self._document = run_document(plan, config.invocation_params.args, self._code, self._run_id)
        self._document["started"] = as_time(started)
        self._run: RunDirectory | None = None
        self._pending: dict[str, None] = {}
        self._attempts: dict[str, int] = {}
        self._answered: set[str] = set()
        self._tally: Tally | None = None
        self._hits = self._misses = 0
        self._usage_fault = False
        self._rows = msgspec.json.Decoder(EvidenceRow)
        self._index: dict[tuple[str, str], tuple[Manifest, CaseRef]] = {}
        self._summary: list[str] = []
        if plan.settings.run_dir is not None and os.path.lexists(plan.settings.run_dir):
            raise pytest.UsageError(
                f"--bench-run-dir={plan.settings.run_dir}: exists already; a run never overwrites another"
            )

    # the session begins

    def pytest_report_header(self) -> str:
        """Say what runs."""
        rows = {manifest.display: manifest.rows for manifest in self._plan.manifests}
        listed = ", ".join(f"{display} ({count} rows)" for display, count in rows.items())
        gate = self._policy.policy.name if self._policy else "off"
        return f"benchbench: {listed}; verify {self._plan.settings.verify}; gate {gate}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the plan to a worker."""
        node.workerinput["benchbench"] = self._plan.handover()

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
        adapters = set(adapters_of(self._plan.manifests))
        parsed = ((nodeid, CaseNode.parse(nodeid)) for nodeid in ids)
        self._begin([nodeid for nodeid, case in parsed if case is not None and case.adapter in adapters])

    def _begin(self, nodes: list[str]) -> None:
        if not nodes:
            return
        self._pending = dict.fromkeys(nodes)
        try:
            self._run = RunDirectory(self._run_path(), self._document)
        except RunDirectoryError as error:
            raise pytest.UsageError(str(error)) from None

    def _run_path(self) -> Path:
        if self._plan.settings.run_dir is not None:
            return self._plan.settings.run_dir
        try:
            return state_directory(self._plan.settings.root_dir) / "runs" / self._run_id
        except OSError as error:
            raise pytest.UsageError(f"no run directory can be made in {self._plan.settings.root_dir}: {error}") from None

    # rows arrive

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Remember that a new try has begun."""
        self._answered.discard(nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the evidence that a report carries; make evidence of a crash."""
        if getattr(report, "benchbench_usage", False):
            self._usage_fault = True
        if self._run is None:
            return
        if (evidence := getattr(report, EVIDENCE, None)) is not None:
            row = self._rows.decode(evidence)
            self._keep(report.nodeid, row, _worker(report), same_attempt=report.when == "teardown")
            if report.outcome == "rerun":
                self._answered.discard(report.nodeid)
        elif report.when == "???":
            self._keep_crash(report.nodeid, _worker(report))

    def _keep(self, nodeid: str, row: EvidenceRow, worker: str | None, *, same_attempt: bool = False) -> None:
        assert self._run is not None
        if not same_attempt:
            self._attempts[nodeid] = self._attempts.get(nodeid, 0) + 1
        self._answered.add(nodeid)
        self._pending.pop(nodeid, None)
        key = msgspec.structs.replace(row.key, attempt=self._attempts[nodeid])
        row = msgspec.structs.replace(row, run_id=self._run_id, key=key, code=self._code, worker=worker)
        if row.network is msgspec.UNSET:  # the process that would know is gone
            row = msgspec.structs.replace(row, network=NetworkRecord(self._plan.settings.network))
        self._run.record(row)

    def _keep_crash(self, nodeid: str, worker: str | None) -> None:
        """Record a worker's death as the error of the row that it ran; of the same try if that had answered already."""
        node = CaseNode.parse(nodeid)
        if node is None or (found := self._find(node)) is None:
            return
        error = ErrorRecord("WorkerCrash", "the worker process died while it ran this row")
        row = unobserved_row(node, *found, error)
        self._keep(nodeid, row, worker, same_attempt=nodeid in self._answered)

    def _find(self, node: CaseNode) -> tuple[Manifest, CaseRef] | None:
        if not self._index:
            self._index = {(adapter, ref.case_id): (manifest, ref) for manifest, adapter, ref in self._plan.rows()}
        return self._index.get((node.adapter, node.case_id))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take the counts of a worker that ended well."""
        if (sent := (getattr(node, "workeroutput", None) or {}).get("benchbench")) is not None:
            self._take(msgspec.json.decode(sent, type=Tally))

    def _take(self, tally: Tally) -> None:
        self._tally = tally
        self._hits += tally.decode_hits
        self._misses += tally.decode_misses
        self._summary += tally.faults

    # the session ends

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Account for every planned row, write the report, ask the gate, and set the exit code."""
        if not self._distributed:
            self._take(Tally.take(self._plan))
        if self._usage_fault:
            session.exitstatus = USAGE_ERROR
        elif self._run is not None:
            session.exitstatus = self._finish(self._run, session, int(exitstatus))
        elif not self._config.option.collectonly and self._asks_detectors():
            session.exitstatus = self._without_rows(int(exitstatus))

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

    def _finish(self, run: RunDirectory, session: pytest.Session, pytest_status: int) -> int:
        rows = self._account(session)
        self._record_lost_rows(rows)
        run.close_evidence()
        self._note_idle_expectations(rows)
        self._document["decoding"] = {"hits": self._hits, "misses": self._misses}
        self._document["finished"] = as_time(datetime.now(UTC))
        settings = self._plan.settings
        concluded = conclude(
            run,
            self._document,
            rows,
            self._policy,
            lazy_verification=settings.verify == "lazy",
            pytest_status=pytest_status,
        )
        self._summary += concluded.lines
        self._summary.append(f"report: {shown_from(run.path / 'report.md', settings.invocation_dir)}")
        return concluded.status

    def _account(self, session: pytest.Session) -> Account:
        planned = self._tally.planned if self._tally else 0
        if self._distributed:  # the processes that counted may all have died
            planned = max(planned, self._plan.count_selected(self._plan.manifests))
        return account(
            planned=planned,
            finished=len(self._attempts),
            pending=len(self._pending),
            stopped=bool(session.shouldfail or session.shouldstop),
        )

    def _note_idle_expectations(self, rows: Account) -> None:
        """Warn of entries that name a suite or parameters which no row had, once every row has run."""
        if rows.left_out or rows.lost:
            return
        nodes = (node for nodeid in self._attempts if (node := CaseNode.parse(nodeid)) is not None)
        expectations = self._plan.expectations
        if unconcerned := expectations.unconcerned(nodes):
            self._plan.notes.append(expectations.note(unconcerned))

    def _record_lost_rows(self, rows: Account) -> None:
        for nodeid in list(self._pending) if rows.lost else ():
            node = CaseNode.parse(nodeid)
            found = self._find(node) if node else None
            if node is not None and found is not None:
                error = ErrorRecord("NotRun", "the row was planned and never ran to its end")
                self._keep(nodeid, unobserved_row(node, *found, error, "not_run"), None)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show the verdict, the worst of it, and where the report is."""
        if lines := [*(f"warning: {note}" for note in self._plan.notes), *self._summary]:
            terminalreporter.section("benchbench", sep="-")
            for line in lines:
                terminalreporter.line(line)


def _worker(report: Any) -> str | None:
    node = getattr(report, "node", None)
    return None if node is None else str(node.gateway.id)

"""What became of each row of a run so far, and its evidence: attempts are numbered here, and no row is kept twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from pytest_benchbench.adapters.metering import BudgetExceeded
from pytest_benchbench.evidence.observation import ErrorRecord, EvidenceRow, NetworkRecord
from pytest_benchbench.session.accounting import Account, account
from pytest_benchbench.session.crashes import INTERRUPTED, TIMED_OUT, WORKER_CRASH
from pytest_benchbench.session.evidence_rows import EVIDENCE, unobserved_row
from pytest_benchbench.session.in_flight import RowInFlight
from pytest_benchbench.session.node_names import CaseNode
from pytest_benchbench.session.row_timeout import timeout_error

if TYPE_CHECKING:
    from pytest_benchbench.evidence.observation import CodeRecord
    from pytest_benchbench.manifests.reading import CaseRef, Manifest
    from pytest_benchbench.session.planning import Plan
    from pytest_benchbench.session.run_directory import RunDirectory

FAILED_OUTCOMES = frozenset({"mismatch", "error"})
"""Outcomes that are failures by themselves, so that evidence alone tells of them."""


class RowLog:
    """Keeps the rows of one run, by their node ids.

    Args:
        plan: What the session runs.
        run: Where the evidence goes.
        run_id: The run's name.
        code: The code that runs.
        runs_rows: Whether this process runs the rows itself; else workers do.
        attempts: The highest attempt number of each row that an earlier session recorded.
        not_run: Those of them that were planned and never run to an end.
    """

    def __init__(
        self,
        plan: Plan,
        run: RunDirectory,
        run_id: str,
        code: CodeRecord,
        *,
        runs_rows: bool,
        attempts: dict[str, int] | None = None,
        not_run: Iterable[str] = (),
    ) -> None:
        self._plan = plan
        self._run = run
        self._run_id = run_id
        self._code = code
        self._runs_rows = runs_rows
        self._attempts = {} if attempts is None else attempts
        self._not_run = set(not_run)
        self._pending: dict[str, None] = {}
        self._answered: set[str] = set()
        self._not_asked: set[str] = set()
        self._rows = msgspec.json.Decoder(EvidenceRow)
        self._index: dict[tuple[str, str], tuple[Manifest, CaseRef]] = {}

    def expect(self, nodes: Iterable[str]) -> None:
        """Know the rows that are to run."""
        self._pending = dict.fromkeys(nodes)

    @property
    def remaining(self) -> int:
        """How many of the rows that were to run have no evidence of this session yet."""
        return len(self._pending)

    @property
    def not_asked(self) -> int:
        """How many rows of this session the budget left out."""
        return len(self._not_asked)

    def is_row(self, nodeid: str) -> bool:
        """Say whether a node id is one of the rows that were to run, or were run before."""
        return nodeid in self._pending or nodeid in self._attempts

    def nodes(self) -> Iterator[CaseNode]:
        """Yield every row that has evidence."""
        return (node for nodeid in self._attempts if (node := CaseNode.parse(nodeid)) is not None)

    # a row is run

    def begin(self, nodeid: str) -> None:
        """Know that a try at a row begins. Should this process die over it, a later session knows the row."""
        self._answered.discard(nodeid)
        if self._runs_rows and self.is_row(nodeid):
            self._run.in_flight.begin(RowInFlight(nodeid, self._attempts.get(nodeid, 0) + 1))

    def end(self) -> None:
        """Know that no row is run."""
        if self._runs_rows:
            self._run.in_flight.end()

    def keep_report(self, report: Any) -> EvidenceRow | None:
        """Keep the evidence that a report carries; make evidence of a crash, which ends a try that had answered already.

        Returns:
            The evidence that the report carried.

        Raises:
            EvidenceWriteError: It cannot be written.
        """
        nodeid = report.nodeid
        evidence = getattr(report, EVIDENCE, None)
        row = None if evidence is None else self._rows.decode(evidence)
        tells_itself = report.when == "???" or (row is not None and row.outcome in FAILED_OUTCOMES)
        if report.failed and not tells_itself and self.is_row(nodeid):  # before the row: what is kept has failed or not
            self._run.record_failure(nodeid, self._attempts.get(nodeid, 0) + (nodeid not in self._answered))
        if row is not None:
            self.keep(nodeid, row, worker=_worker(report), same_attempt=report.when == "teardown")
        elif report.when == "???" and not getattr(report, INTERRUPTED, False):
            error = ErrorRecord(WORKER_CRASH, "the worker process died while it ran this row")
            if (limit := self._plan.settings.row_timeout) is not None and hasattr(report, TIMED_OUT):
                error = timeout_error(limit)
            self.keep_unobserved(nodeid, error, worker=_worker(report), same_attempt=nodeid in self._answered)
        if report.outcome == "rerun":
            self.begin(nodeid)
        return row

    def keep(self, nodeid: str, row: EvidenceRow, *, worker: str | None = None, same_attempt: bool = False) -> None:
        """Keep the evidence of a try.

        Args:
            nodeid: The row.
            row: What was observed; run, attempt, code and worker are written here.
            worker: Who ran it.
            same_attempt: Whether it is about the try that is recorded last, and not about a new one.

        Raises:
            EvidenceWriteError: It cannot be written; the row is as it was.
        """
        attempt = self._attempts.get(nodeid, 0) + (not same_attempt)
        key = msgspec.structs.replace(row.key, attempt=attempt)
        row = msgspec.structs.replace(row, run_id=self._run_id, key=key, code=self._code, worker=worker)
        if row.network is msgspec.UNSET:  # the process that would know is gone
            row = msgspec.structs.replace(row, network=NetworkRecord(self._plan.settings.network))
        self._run.record(row)
        self._attempts[nodeid] = attempt
        self._answered.add(nodeid)
        self._pending.pop(nodeid, None)
        self._not_asked.discard(nodeid)
        if row.outcome != "not_run":
            self._not_run.discard(nodeid)
            return
        self._not_run.add(nodeid)
        if row.error is not msgspec.UNSET and row.error.type == BudgetExceeded.__name__:
            self._not_asked.add(nodeid)

    def keep_unobserved(
        self,
        nodeid: str,
        error: ErrorRecord,
        outcome: Literal["error", "not_run"] = "error",
        *,
        worker: str | None = None,
        same_attempt: bool = False,
    ) -> None:
        """Keep that a row, if the node id is one of a row, has no answer.

        Raises:
            EvidenceWriteError: It cannot be written.
        """
        node = CaseNode.parse(nodeid)
        if node is not None and (found := self._find(node)) is not None:
            self.keep(nodeid, unobserved_row(node, *found, error, outcome), worker=worker, same_attempt=same_attempt)

    def withdraw(self, adapter: str, error: ErrorRecord) -> None:
        """Keep that the answers of this session under an adapter's alias do not count: every such try is an error.

        Raises:
            EvidenceWriteError: It cannot be written.
        """
        for nodeid in sorted(self._answered):
            if (node := CaseNode.parse(nodeid)) is not None and node.adapter == adapter:
                self.keep_unobserved(nodeid, error, same_attempt=True)

    def keep_death(self, died: RowInFlight, error: ErrorRecord) -> None:
        """Keep that an earlier process died over a row, at the try that it had noted.

        Raises:
            EvidenceWriteError: It cannot be written.
        """
        self.keep_unobserved(died.node, error, same_attempt=self._attempts.get(died.node, 0) >= died.attempt)

    def _find(self, node: CaseNode) -> tuple[Manifest, CaseRef] | None:
        if not self._index:
            self._index = {(adapter, ref.case_id): (manifest, ref) for manifest, adapter, ref in self._plan.rows()}
        return self._index.get((node.adapter, node.case_id))

    # the session ends

    def account(self, *, planned: int, stopped: bool) -> Account:
        """Account for every planned row.

        Args:
            planned: How many there are.
            stopped: Whether the user asked to stop at a failure.
        """
        return account(
            planned=planned,
            finished=sum(nodeid not in self._not_run and nodeid not in self._pending for nodeid in self._attempts),
            pending=sum(nodeid not in self._not_run for nodeid in self._pending),
            stopped=stopped,
            lost_before=len(self._not_run),
        )

    def keep_lost_rows(self) -> None:
        """Keep that rows which were to run never ended; those of which that is known already say nothing new.

        Raises:
            EvidenceWriteError: It cannot be written.
        """
        error = ErrorRecord("NotRun", "the row was planned and never ran to its end")
        for nodeid in [nodeid for nodeid in self._pending if nodeid not in self._not_run]:
            self.keep_unobserved(nodeid, error, "not_run")


def _worker(report: Any) -> str | None:
    node = getattr(report, "node", None)
    return None if node is None else str(node.gateway.id)

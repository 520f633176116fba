"""Going on with an earlier run: what it says, whether this session may go on with it, and what is left to do."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from pytest_benchbench.evidence.observation import SETTLED, AdapterRecord, EvidenceKey
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow, complete_lines, settled_rows
from pytest_benchbench.evidence.recorded_run import EVIDENCE, RecordedRunError, read_run
from pytest_benchbench.evidence.writing import EvidenceInUseError, EvidenceWriter
from pytest_benchbench.session.comparing_runs import adapter_differences, differences
from pytest_benchbench.session.crashes import DEATHS
from pytest_benchbench.session.in_flight import RowInFlight, row_in_flight
from pytest_benchbench.session.network import guarded_loading
from pytest_benchbench.session.node_names import CaseNode, RowName
from pytest_benchbench.session.recorded_rows import RecordedRows
from pytest_benchbench.session.run_directory import FAILURES
from pytest_benchbench.session.run_document import shown_from

if TYPE_CHECKING:
    from pytest_benchbench.session.planning import Plan


@dataclass(slots=True)
class EarlierRun:
    """A run that this session goes on with.

    Attributes:
        path: Its directory.
        writer: Holds its evidence; no other session can go on with it meanwhile.
        document: Its ``run.json``.
        attempts: The highest attempt number of each recorded row, by node id.
        not_run: Recorded rows that were planned and never run to an end.
        deaths: How often a process died over a row.
        died: The row that the last process was running when it died; not yet in the evidence.
        failed: Rows that stand as failures although no row of evidence is an error or unstable.
        recorded: The rows that are finished, frozen.
    """

    path: Path
    writer: EvidenceWriter
    document: dict[str, Any]
    attempts: dict[str, int] = field(default_factory=dict)
    not_run: set[str] = field(default_factory=set)
    deaths: dict[str, int] = field(default_factory=dict)
    died: RowInFlight | None = None
    failed: int = 0
    recorded: RecordedRows = field(default_factory=lambda: RecordedRows({}))

    @property
    def planned(self) -> int:
        """How many rows its last session planned; 0 if that was killed."""
        planned = self.document.get("planned")
        rows = planned.get("rows") if isinstance(planned, dict) else None
        return rows if type(rows) is int else 0

    @property
    def run_id(self) -> str:
        """The run's name."""
        run_id: str = self.document["run_id"]
        return run_id


def take_up(plan: Plan, config: pytest.Config, now: dict[str, Any], *, distributed: bool) -> EarlierRun:
    """Read the run that ``--bench-resume`` names, and make sure that its rows and those to come are rows of one run.

    The run stays locked until its writer is closed. Nothing in its directory is changed.

    Args:
        plan: What this session runs.
        config: Its configuration.
        now: What ``run.json`` would say of this session.
        distributed: Whether workers run the rows; else the adapters that are loaded here are the ones that are asked.

    Raises:
        pytest.UsageError: There is no run, it is damaged or still going on, or something that changes the plan or an
            observation is not what it was.
    """
    path = plan.settings.resume
    assert path is not None
    shown = shown_from(path, plan.settings.invocation_dir)
    try:
        recorded = read_run(path)
        if recorded.is_merged:
            raise ResumeError("a merged run cannot be gone on with: go on with its parts, and merge them again")
        writer = EvidenceWriter(recorded.evidence, append=True)
        config.add_cleanup(writer.abandon)
        document = read_run(path).document  # again: a run that has just ended has written it anew
        if differing := differences(document, now):
            raise ResumeError(f"cannot go on with this run: {'; '.join(differing)}")
        run = EarlierRun(path, writer, document)
        answers = _read_evidence(run, plan)
        differing = [] if config.option.collectonly else _load_and_compare(plan, config, answers, distributed=distributed)
        if differing:
            raise ResumeError(f"cannot go on with this run: {'; '.join(differing)}")
    except RecordedRunError as error:
        raise pytest.UsageError(f"--bench-resume: {error}") from None
    except (ResumeError, EvidenceError, EvidenceInUseError) as error:
        raise pytest.UsageError(f"--bench-resume={shown}: {error}") from None
    except OSError as error:
        raise pytest.UsageError(f"--bench-resume={shown}: {error.filename or path}: {error.strerror or error}") from None
    if (changed := _commit_note(document, now)) is not None:
        plan.notes.append(changed)
    return run


class ResumeError(Exception):
    """A run that this session cannot go on with; one line."""


class _ErrorType(msgspec.Struct):
    type: str


class _Head(msgspec.Struct):
    """What tells how often a row was tried, and by which run."""

    run_id: str
    key: EvidenceKey
    error: _ErrorType | msgspec.UnsetType = msgspec.UNSET


def _read_evidence(run: EarlierRun, plan: Plan) -> dict[str, list[AdapterRecord]]:
    """Read what is recorded, and decide which rows are asked again.

    Returns:
        For each adapter that gave a verdict, what stood behind its verdicts.

    Raises:
        EvidenceError: The evidence is damaged.
        ResumeError: It is not this run's.
    """
    path = run.path / EVIDENCE
    deaths = _read_attempts(run, path)
    died = run.died = _row_that_died(run.path, plan)
    if died is not None:
        deaths[died.node].add(died.attempt)
    run.deaths = {node: len(numbers) for node, numbers in deaths.items()}
    failures = _read_failures(run.path)
    finished: list[RowName] = []
    waiting: list[RowName] = []
    answers: dict[str, dict[bytes, AdapterRecord]] = defaultdict(dict)
    encode = msgspec.json.Encoder(order="deterministic").encode
    for settled in settled_rows(path):
        key = settled.row.key
        row = RowName.of(key)
        node = row.nodeid
        outcome, by_death = _standing(settled, died if died and died.node == node else None)
        if outcome == "not_run":
            run.not_run.add(node)
        if outcome in SETTLED:
            answers[key.adapter].setdefault(encode(settled.row.adapter), settled.row.adapter)
        if _is_asked_again(run, plan, node, outcome, by_death=by_death):
            waiting.append(row)
            continue
        finished.append(row)
        known = plan.expectations.find(CaseNode(key.suite, key.adapter, key.case_id, key.params))
        run.failed += (
            (outcome == "mismatch" and not settled.unstable)
            or (outcome == "match" and known is not None)
            or (outcome == "unavailable" and plan.settings.require_available)
            or (node, settled.row.key.attempt) in failures
        )
    if died is not None and died.node not in run.attempts:
        case = CaseNode.parse(died.node)
        assert case is not None
        row = RowName.of(EvidenceKey(case.suite, case.adapter, case.case_id, case.params, died.attempt))
        (waiting if _is_asked_again(run, plan, died.node, "error", by_death=True) else finished).append(row)
    run.recorded = RecordedRows.of(finished, waiting)
    return {adapter: list(records.values()) for adapter, records in answers.items()}


def _read_attempts(run: EarlierRun, path: Path) -> defaultdict[str, set[int]]:
    """Count the attempts at each row; give the numbers of those that ended with the death of a process."""
    deaths: defaultdict[str, set[int]] = defaultdict(set)
    decode = msgspec.json.Decoder(_Head).decode
    for number, _, line in complete_lines(path):
        try:
            head = decode(line)
        except (ValueError, RecursionError) as error:
            raise EvidenceError(f"{path}:{number}: {error}") from None
        if head.run_id != run.run_id:
            raise ResumeError(f"{EVIDENCE}:{number} was written by another run, {head.run_id}")
        node = RowName.of(head.key).nodeid
        run.attempts[node] = max(run.attempts.get(node, 0), head.key.attempt)
        if head.error is not msgspec.UNSET and head.error.type in DEATHS:
            deaths[node].add(head.key.attempt)
    return deaths


def _row_that_died(path: Path, plan: Plan) -> RowInFlight | None:
    died = row_in_flight(path)
    case = None if died is None else CaseNode.parse(died.node)
    if case is None or not any(adapter == case.adapter and ref.case_id == case.case_id for _, adapter, ref in plan.rows()):
        return None
    return died


def _read_failures(path: Path) -> set[tuple[str, int]]:
    """Read which attempts failed although their observation did not; see ``RunDirectory.record_failure``."""
    if not (path / FAILURES).exists():
        return set()
    failures = set()
    for number, _, line in complete_lines(path / FAILURES):
        try:
            failure = msgspec.json.decode(line, type=RowInFlight)
        except (ValueError, RecursionError) as error:
            raise EvidenceError(f"{path / FAILURES}:{number}: {error}") from None
        failures.add((failure.node, failure.attempt))
    return failures


def _standing(settled: SettledRow, died: RowInFlight | None) -> tuple[str, bool]:
    """Give a row's outcome once the death of the process that ran it last is taken into account, and whether it died.

    As in ``evidence/attempts.py``: a verdict of an earlier attempt stands, one of the attempt that died does not.
    """
    if died is not None and (settled.outcome not in SETTLED or settled.row.key.attempt >= died.attempt):
        return "error", True
    error = settled.row.error
    return settled.outcome, settled.outcome == "error" and error is not msgspec.UNSET and error.type in DEATHS


def _is_asked_again(run: EarlierRun, plan: Plan, node: str, outcome: str, *, by_death: bool) -> bool:
    if outcome in SETTLED:
        return False
    if outcome == "not_run" or outcome in plan.settings.retry:
        return True
    return by_death and run.deaths[node] <= plan.settings.crash_retries


def _load_and_compare(
    plan: Plan, config: pytest.Config, answers: dict[str, list[AdapterRecord]], *, distributed: bool
) -> list[str]:
    """Compare adapters as they are loaded where they are asked: with the network that their rows have."""
    with guarded_loading(config, plan.settings.network) as guard:
        return adapter_differences(plan, answers, guard, distributed=distributed)


def _commit_note(document: dict[str, Any], now: dict[str, Any]) -> str | None:
    """Say that the project's commit is another one: each row of evidence says its own."""
    was = (document.get("project") or {}).get("commit")
    if was == now["project"]["commit"]:
        return None
    return f"the run began at commit {was or 'none'} of the project and goes on at {now['project']['commit'] or 'none'}"

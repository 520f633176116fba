"""How pytest shows a row, and the evidence that travels on its report."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from pytest_benchbench.evidence.foreign_text import one_line, traceback_text
from pytest_benchbench.evidence.observation import ErrorRecord, EvidenceRow, Mismatch
from pytest_benchbench.evidence.observing import ARTIFACT_ERRORS, Observation, ObservationError
from pytest_benchbench.evidence.withheld_text import WithheldTexts
from pytest_benchbench.session.collection import CaseItem
from pytest_benchbench.session.evidence_rows import EVIDENCE, evidence_row, network_record, unobserved_row
from pytest_benchbench.session.properties import attach
from pytest_benchbench.session.row_timeout import RowTimeout

MEASURED = "benchbench_measured"
"""Attribute of a report that is shown in the category ``measured``."""

INTERRUPTED_FRAMES = 8
"""The innermost frames of a row that took too long, shown to people: the outer ones are pytest's."""

_encode = msgspec.json.Encoder().encode


def report_case(item: CaseItem, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Attach the row's evidence to the report of its call (or of the setup that failed) and show the row by its outcome.

    A row that took too long has no verdict, whatever it had answered by then; also where that is found at its teardown.
    """
    value = None if call.excinfo is None else call.excinfo.value
    took_too_long = isinstance(value, RowTimeout)
    if item.running or (call.when == "teardown" and not took_too_long) or (call.when == "setup" and report.passed):
        return
    observation, item.observation = item.observation, None
    if value is not None and took_too_long:
        observation = None
        report.longrepr = item.line(f"error: {RowTimeout.__name__}: {one_line(value)}")
        report.sections.append(("interrupted at", traceback_text(value, frames=INTERRUPTED_FRAMES)))
    if call.when == "setup" and isinstance(value, (ObservationError, *ARTIFACT_ERRORS)):
        said = str(value) if isinstance(value, ObservationError) else f"error: {type(value).__name__}: {value}"
        report.longrepr = item.line(one_line(said))
    row, encoded = _evidence(item, observation, value)
    if observation is not None:
        _show(item, report, row, wrong_verdict=isinstance(value, Mismatch))
    elif not report.failed and not hasattr(report, "wasxfail"):
        _show_failed(report, item.line(f"never observed: {row.error.message}" if row.error else "never observed"))
    item.row = None
    setattr(report, EVIDENCE, encoded)
    attach(item, report, row)


def _evidence(item: CaseItem, observation: Observation | None, raised: BaseException | None) -> tuple[EvidenceRow, str]:
    """Write the evidence of an item, as row and as JSON; what cannot be written is its row's error, not the session's."""
    if observation is None:
        error = ErrorRecord("NotObserved", "the suite never called observe()")
        if isinstance(raised, RowTimeout):
            error = ErrorRecord(RowTimeout.__name__, one_line(raised))
        elif raised is not None:
            said = WithheldTexts(item.private_texts).hide(one_line(raised))  # a suite may have compared a text
            error = ErrorRecord(one_line(type(raised).__name__), said)
    else:
        try:
            row = evidence_row(item, observation)
            encoded = _encode(row).decode()
        except Exception as failed:
            error = ErrorRecord(one_line(type(failed).__name__), one_line(failed))
        else:
            return row, encoded
    row = unobserved_row(item.case_node, item.manifest, item.ref, error, network=network_record(item))
    return row, _encode(row).decode()


def _show(item: CaseItem, report: Any, row: EvidenceRow, *, wrong_verdict: bool) -> None:
    run_xfail = item.config.getoption("runxfail", False)
    known = item.plan.expectations.find(item.case_node) if item.plan.expectations else None
    if known is not None and row.outcome == "known_mismatch" and report.failed and wrong_verdict and not run_xfail:
        report.outcome = "skipped"
        report.wasxfail = f"known wrong answer: {one_line(known.reason)}"
    elif known is not None and row.outcome == "match" and report.passed:
        where = item.plan.expectations.display
        _show_failed(report, item.line(f"now answered rightly ({row.detection.status}): take it out of {where}"))
    elif row.outcome == "measured" and report.passed:
        if item.plan.settings.measured_as_xfail:
            report.outcome = "skipped"
            report.wasxfail = f"measured: {row.detection.status}"
        else:
            setattr(report, MEASURED, row.detection.status)
    elif row.outcome == "not_run" and report.passed:
        _show_failed(report, item.line("not run: the suite passed over a detector that was not asked"))
    elif row.outcome == "error" and not report.failed and not hasattr(report, "wasxfail"):
        _show_failed(report, item.line("error: the suite passed over an observation that failed"))


def _show_failed(report: Any, line: str) -> None:
    report.outcome = "failed"
    report.longrepr = line

"""Findings about a dataset or a golden set, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from pytest_benchbench.manifests.faults import MAX_FAULTS_KEPT
from pytest_benchbench.validation.finding import Finding, RuleOutcome


class Examination(Protocol):
    """What every examination tells."""

    @property
    def outcomes(self) -> Sequence[RuleOutcome]:
        """One for each rule that was applied."""

    def findings(self) -> list[Finding]:
        """All that was kept: errors, then warnings."""


def finding_lines(examination: Examination) -> Iterator[str]:
    """Write one line for each finding: errors first, of each rule the first ones."""
    for severity in ("error", "warning"):
        for outcome in examination.outcomes:
            if outcome.severity == severity:
                yield from _lines_of(outcome)


def findings_json(examination: Examination) -> dict[str, Any]:
    """Give the same as JSON values, with as many findings of each rule as were kept."""
    return {
        "rules": {one.rule: {"severity": one.severity, "findings": one.total} for one in examination.outcomes},
        "findings": [_finding_json(finding) for finding in examination.findings()],
    }


def _lines_of(outcome: RuleOutcome) -> Iterator[str]:
    shown = outcome.kept[:MAX_FAULTS_KEPT]
    yield from (str(finding) for finding in shown)
    if (more := outcome.total - len(shown)) > 0:
        yield f"... and {more} more of {outcome.rule}"


def _finding_json(finding: Finding) -> dict[str, Any]:
    told = {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "rows": [row._asdict() for row in finding.rows],
        "row_count": finding.row_count,
    }
    return told if finding.place is None else told | {"place": finding.place._asdict()}

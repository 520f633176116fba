"""Evidence summed into a report document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from pytest_benchbench.evidence.grouping import VERDICT_STANDINGS, standing
from pytest_benchbench.evidence.observation import OUTCOMES, EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow, index_evidence
from pytest_benchbench.reports.listings import AS_EXPECTED, RowListings
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.reports.provenance import Provenance
from pytest_benchbench.reports.ranges import DetectionCell, DetectionRanges, FidelityCell, FidelityRanges
from pytest_benchbench.reports.tables import Facets, Series, VerdictCell, VerdictTally
from pytest_benchbench.reports.timing import TimingTally

SCHEMA_VERSION = 1

REMOVAL_OUTCOMES = ("no_signal", "signal_remained", "unknown")


def build_report(evidence: Path, run: Mapping[str, Any]) -> dict[str, Any]:
    """Sum a file of evidence.

    Args:
        evidence: An ``evidence.jsonl``. It is streamed: memory grows by some hundred bytes a row, whatever its size.
        run: The content of ``run.json``; it becomes the section ``environment``.

    Returns:
        A JSON document with the sections

        * ``results``: what was observed. It depends on the observations that count and on nothing else: not on the order
          of the file, the number of tries, workers, times, cold or warm calls, or the machine. Keys and lines are sorted;
          the same observations give the same bytes.
        * ``timing``: cold and warm calls of each adapter.
        * ``environment``: ``run``, as it is.
        * ``attempts``: how many tries there were, and what was said about rows without a verdict.
        * ``inputs``: digests of the evidence, manifests, adapters and code.

    Raises:
        EvidenceError: The file cannot be read as evidence, or rows of one case contradict each other.
    """
    indexed = index_evidence(evidence)
    summary = Summary()
    indexed.feed(summary.add)
    return summary.report(evidence.name, indexed.sha256, run)


@dataclass(slots=True)
class _Cell:
    """The counters of rows that every table counts alike, found once for all of them."""

    series: Series
    facets: Facets
    verdicts: VerdictCell
    detections: DetectionCell
    fidelity: FidelityCell


class Summary:
    """The counters of a report: every row passes once."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._cells: dict[tuple[Any, ...], _Cell] = {}  # by what the rows say, which may be no text
        self._verdicts = VerdictTally()
        self._detection_ranges = DetectionRanges()
        self._fidelity = FidelityRanges()
        self._removal: Counter[tuple[str, str | None, str, str | None, str]] = Counter()
        self._listings = RowListings()
        self._attempts = 0
        self._retried = 0
        self._timing = TimingTally()
        self._provenance = Provenance()

    def begin_run(self, number: int) -> None:
        """Say that the rows to come are those of another run; needed only where a report is about several.

        Args:
            number: Of the run, from 1.
        """
        self._listings.run = number

    def add(self, settled: SettledRow) -> None:
        """Count one settled row.

        Raises:
            EvidenceError: It contradicts itself, or names no artifact.
        """
        row = settled.row
        counts_as = standing(settled)
        cell = self._cell(row)
        self._outcomes[settled.outcome] += 1
        self._attempts += settled.attempts
        self._retried += settled.attempts > 1
        cell.verdicts.add(row, counts_as)
        if counts_as in VERDICT_STANDINGS:
            cell.detections.add(row.detection)
        if counts_as != "not_run":
            cell.fidelity.add(row.fidelity)
        if cell.facets.state == "removed":
            outcome = row.removal.outcome if row.removal and counts_as in VERDICT_STANDINGS else "unknown"
            self._removal[*cell.series, cell.facets.transform, outcome] += 1
        if settled.unstable or settled.outcome not in AS_EXPECTED:
            self._listings.add(settled)
        self._timing.add(row)
        self._provenance.add(row)

    def _cell(self, row: EvidenceRow) -> _Cell:
        """Give the counters that the row belongs to."""
        key, case = row.key, row.case
        transform = case.get("transform")
        if isinstance(transform, dict):
            transform = transform.get("name")
        told = (key.suite, key.params, key.adapter, case.get("state"), transform, case.get("arm"))
        try:
            return self._cells[told]
        except KeyError:
            cell = self._cells[told] = self._new_cell(row)
            return cell
        except TypeError:  # what should be a text is a list or an object
            return self._new_cell(row)

    def _new_cell(self, row: EvidenceRow) -> _Cell:
        series, facets = Series.of(row), Facets.of(row)
        return _Cell(
            series,
            facets,
            self._verdicts.cell(series, facets),
            self._detection_ranges.cell(series, facets),
            self._fidelity.cell(series, facets),
        )

    def report(self, name: str, sha256: str, run: Mapping[str, Any]) -> dict[str, Any]:
        """Give the report on the rows so far; see ``build_report``.

        Args:
            name: The file of evidence that the rows came from.
            sha256: Its digest.
            run: The content of ``run.json``.
        """
        return {
            "schema_version": SCHEMA_VERSION,
            "results": _sorted_keys(self._results()),
            "timing": self._timing.document(),
            "environment": dict(run),
            "attempts": self._attempts_document(),
            "inputs": self._provenance.document(name, sha256),
        }

    def _results(self) -> dict[str, Any]:
        return {
            "rows": self._outcomes.total(),
            "outcomes": {outcome: self._outcomes[outcome] for outcome in OUTCOMES},
            "tables": self._verdicts.tables(),
            "absent_arms": self._verdicts.absent_arms(),
            "conflicting_artifacts": self._verdicts.conflicting(),
            "removal": self._removal_lines(),
            "detection_ranges": self._detection_ranges.document(),
            "fidelity": self._fidelity.document(),
            **self._listings.results(),
        }

    def _removal_lines(self) -> list[dict[str, Any]]:
        """Count what removed-state artifacts still showed; whatever it is, it certifies no erasure."""
        return [
            {
                **dict(zip((*Series._fields, "transform"), cell, strict=True)),
                **{f"rows_{outcome}": self._removal[*cell, outcome] for outcome in REMOVAL_OUTCOMES},
                "certifies_erasure": False,
            }
            for cell in sorted({key[:-1] for key in self._removal}, key=sort_key)
        ]

    def _attempts_document(self) -> dict[str, Any]:
        return {
            "rows": self._outcomes.total(),
            "attempts": self._attempts,
            "rows_with_several_attempts": self._retried,
            "messages": self._listings.messages(),
        }


def _sorted_keys(document: dict[str, Any]) -> dict[str, Any]:
    """Give the document with the keys of every object sorted, numbers unchanged."""
    result: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document, order="sorted"))
    return result

"""Evidence summed into a report document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pytest_benchbench.evidence.grouping import VERDICT_STANDINGS, standing
from pytest_benchbench.evidence.observation import OUTCOMES
from pytest_benchbench.evidence.reading import SettledRow, index_evidence
from pytest_benchbench.reports.columns import RowColumns, Rows
from pytest_benchbench.reports.confusion import confusion
from pytest_benchbench.reports.facets import CaseField, Series
from pytest_benchbench.reports.golden_sets import GoldenSets
from pytest_benchbench.reports.histograms import histograms
from pytest_benchbench.reports.listings import AS_EXPECTED, RowListings
from pytest_benchbench.reports.message_matches import message_matches
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.reports.provenance import Provenance
from pytest_benchbench.reports.ranges import detection_ranges, fidelity_ranges
from pytest_benchbench.reports.reliability import reliability
from pytest_benchbench.reports.robustness import robustness
from pytest_benchbench.reports.scored_rows import ScoredRows
from pytest_benchbench.reports.split_results import NOTHING_MORE, Asked
from pytest_benchbench.reports.tables import VerdictTables
from pytest_benchbench.reports.timing import TimingTally
from pytest_benchbench.reports.transitions import transitions
from pytest_benchbench.reports.worst_slices import worst_slices

SCHEMA_VERSION = 1

REMOVAL_OUTCOMES = ("no_signal", "signal_remained", "unknown")


def build_report(evidence: Path, run: Mapping[str, Any], *, by: Sequence[str] = ()) -> dict[str, Any]:
    """Sum a file of evidence.

    Args:
        evidence: An ``evidence.jsonl``. It is streamed: memory grows by some hundred bytes a row, whatever its size.
        run: The content of ``run.json``; it becomes the section ``environment``.
        by: Paths of fields of the cases, such as ``transform.parameters.attack.strength``; each gets a table.

    Returns:
        A JSON document with the sections

        * ``results``: what was observed. It depends on the observations that count and on nothing else: not on the order
          of the file, the number of tries, workers, times, cold or warm calls, or the machine. Keys and lines are sorted;
          the same observations give the same bytes.
        * ``timing``: cold and warm calls of each adapter.
        * ``batch_timing``: calls that several rows shared; only where there are some.
        * ``detector_timing``: calls of text detectors about samples of golden sets; only where there are some.
        * ``environment``: ``run``, as it is.
        * ``attempts``: how many tries there were, and what was said about rows without a verdict.
        * ``inputs``: digests of the evidence, manifests, adapters and code.

    Raises:
        EvidenceError: The file cannot be read as evidence, or rows of one case contradict each other.
        ValueError: A path in ``by`` is none.
    """
    summary = Summary(by)
    indexed = index_evidence(evidence)
    indexed.feed(summary.add)
    return summary.report(evidence.name, indexed.sha256, run)


class Summary:
    """The counters of a report: every row passes once.

    Args:
        by: Paths of fields of the cases, such as ``transform.parameters.attack.strength``; each gets a table.
        asked: What is reckoned of golden sets only where somebody asks for it.

    Attributes:
        golden_sets: The rows of golden sets.

    Raises:
        ValueError: One of ``by`` is no path.
    """

    def __init__(self, by: Sequence[str] = (), asked: Asked = NOTHING_MORE) -> None:
        self._fields = tuple(CaseField(path) for path in dict.fromkeys(by))
        self._columns = RowColumns(self._fields)
        self._removal: Counter[tuple[str, str | None, str, str | None, str]] = Counter()
        self._listings = RowListings()
        self._scored = ScoredRows()
        self.golden_sets = GoldenSets(asked)
        self._run: int | None = None
        self._asked: set[tuple[int, Series]] = set()
        self._attempts = 0
        self._retried = 0
        self._timing = TimingTally()
        self._provenance = Provenance()

    def begin_run(self, number: int) -> None:
        """Say that the rows to come are those of another run; needed only where a report is about several.

        Args:
            number: Of the run, from 1.
        """
        self._listings.run = self._scored.run = self.golden_sets.run = number
        self._run = number

    def add(self, settled: SettledRow) -> None:
        """Count one settled row.

        Raises:
            EvidenceError: It contradicts itself, or names no artifact.
        """
        row = settled.row
        kind = self._columns.add(settled, standing(settled))
        if self._run is not None:
            self._asked.add((self._run, kind.series))
        self._attempts += settled.attempts
        self._retried += settled.attempts > 1
        if kind.facets.state == "removed":
            outcome = row.removal.outcome if row.removal and kind.standing in VERDICT_STANDINGS else "unknown"
            self._removal[*kind.series, kind.facets.transform, outcome] += 1
        if settled.unstable or settled.outcome not in AS_EXPECTED:
            self._listings.add(settled)
        self._scored.add(settled)
        self.golden_sets.add(settled)
        self._timing.add(row)
        self._provenance.add(row)

    def report(
        self, name: str, sha256: str, run: Mapping[str, Any], *, manifests: Sequence[Mapping[str, Any]] | None = None
    ) -> dict[str, Any]:
        """Give the report on the rows so far; see ``build_report``.

        Args:
            name: The file of evidence that the rows came from.
            sha256: Its digest.
            run: The content of ``run.json``.
            manifests: What several runs say of their manifests; that of ``run`` unless told otherwise.

        Raises:
            UnknownPairError: A detector of a declared pair is not there.
            TuneRunError: The tune run is about something else.
        """
        golden_sets = self.golden_sets.results(run.get("manifests", ()) if manifests is None else manifests)
        batches = self._timing.batches()
        return {
            "schema_version": SCHEMA_VERSION,
            "results": _sorted_keys({**self._results(self._columns.rows()), **golden_sets}),
            "timing": self._timing.document(),
            **({"batch_timing": batches} if batches else {}),
            **self.golden_sets.timing(),
            "environment": dict(run),
            "attempts": self._attempts_document(),
            "inputs": self._provenance.document(name, sha256),
        }

    def _results(self, rows: Rows) -> dict[str, Any]:
        tables = VerdictTables(rows, self._fields)
        return {
            "rows": len(self._columns),
            "outcomes": _outcomes(rows),
            "tables": tables.tables(),
            "by": tables.by(),
            "absent_arms": tables.absent_arms(),
            "conflicting_artifacts": tables.conflicting(),
            "removal": self._removal_lines(),
            "message_matches": message_matches(rows),
            "detection_ranges": detection_ranges(rows),
            "fidelity": fidelity_ranges(rows),
            "transitions": transitions(rows),
            "robustness": robustness(rows, tables.artifacts),
            "confusion": confusion(rows),
            "histograms": histograms(rows),
            "reliability": reliability(rows),
            **worst_slices(rows, Counter(series for _, series in self._asked)),
            **self._scored.results(),
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
            "rows": len(self._columns),
            "attempts": self._attempts,
            "rows_with_several_attempts": self._retried,
            "messages": self._listings.messages(),
        }


def _outcomes(rows: Rows) -> dict[str, int]:
    counts: dict[str, int] = dict.fromkeys(OUTCOMES, 0)
    for kind, count in zip(rows.kinds, rows.counts().tolist(), strict=True):
        counts[kind.outcome] += count
    return counts


def _sorted_keys(document: dict[str, Any]) -> dict[str, Any]:
    """Give the document with the keys of every object sorted, numbers unchanged."""
    result: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document, order="sorted"))
    return result

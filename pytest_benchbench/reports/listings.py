"""Rows that a report names one by one, and what it says about each."""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_benchbench.evidence.grouping import facet
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.reports.ordering import Listing

AS_EXPECTED = frozenset({"match", "measured"})
"""Outcomes of rows that are in no list, unless they are unstable."""

Key = tuple[str, int, str, str, str, str, str]


class RowListings:
    """Names the rows that want attention, in the order of their manifests.

    What an adapter says about a verdict belongs to the results. Messages of errors and of unavailable adapters may contain
    facts of one machine (paths, versions, times): they are kept apart in ``messages``.

    Attributes:
        run: The number of the run that the rows come from, where a report is about several: each entry then says it.
    """

    def __init__(self) -> None:
        self.run: int | None = None
        self._results = {
            name: Listing() for name in ("mismatches", "known_mismatches", "unstable", "errors", "unavailable", "not_run")
        }
        self._messages = Listing()

    def add(self, settled: SettledRow) -> None:
        """List one settled row where it belongs; a row that is as expected is in no list."""
        row, outcome = settled.row, settled.outcome
        if settled.unstable:
            self._list("unstable", row, _answer(settled))
        if outcome == "mismatch":
            self._list("mismatches", row, _answer(settled))
        elif outcome == "known_mismatch":
            self._list("known_mismatches", row, _answer(settled))
        elif outcome == "not_run":
            self._list("not_run", row, {})
        elif outcome == "unavailable":
            self._list("unavailable", row, {})
            self._say(row, row.detection.reason)
        elif outcome == "error":
            error = None if row.error is msgspec.UNSET else row.error
            self._list("errors", row, {"status": row.detection.status, "error_type": error.type if error else None})
            self._say(row, error.message if error else row.detection.reason)

    def _list(self, name: str, row: EvidenceRow, more: dict[str, Any]) -> None:
        self._results[name].add(self._key(row), {**self._identity(row), **more})

    def _say(self, row: EvidenceRow, message: str | None) -> None:
        self._messages.add(self._key(row), {**self._identity(row), "outcome": row.outcome, "message": message})

    def _key(self, row: EvidenceRow) -> tuple[Key, int]:
        return order_of(row), self.run or 0

    def _identity(self, row: EvidenceRow) -> dict[str, Any]:
        return identity_of(row) if self.run is None else {**identity_of(row), "run": self.run}

    def results(self) -> dict[str, Any]:
        """Give every list that depends on the observations alone."""
        return {name: listing.document() for name, listing in self._results.items()}

    def messages(self) -> dict[str, Any]:
        """Give what was said about rows without a verdict."""
        return self._messages.document()


def order_of(row: EvidenceRow) -> Key:
    """Order by place in the manifest, and rows of one place by their identity, which is unique."""
    return (row.manifest.name, row.manifest.line or 0, row.manifest.pointer or "", *row.key.row)


def identity_of(row: EvidenceRow) -> dict[str, Any]:
    """Say which row it is and where its case stands."""
    return {
        "suite": row.key.suite,
        "params": row.key.params,
        "adapter": row.key.adapter,
        "case_id": row.key.case_id,
        "manifest": row.manifest.name,
        "line": row.manifest.line,
        "pointer": row.manifest.pointer,
    }


def _answer(settled: SettledRow) -> dict[str, Any]:
    detection = settled.row.detection
    return {
        "expected": facet(settled.row, "expected"),
        "observed": detection.status,
        "reason": detection.reason,
        "unstable": settled.unstable,
    }

"""Two runs of the same cases, or two adapters of one run, compared row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.grouping import facet
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import IndexedEvidence, SettledRow, complete_lines
from pytest_benchbench.evidence.same_detector import DetectorsSeen, changed_fields
from pytest_benchbench.reports.call_times import call_times
from pytest_benchbench.reports.labelled_answers import SIDES, label_side
from pytest_benchbench.reports.listings import identity_of, order_of
from pytest_benchbench.reports.ordering import Listing
from pytest_benchbench.reports.paired_lines import CHANGES, PairedLines
from pytest_benchbench.reports.paired_rows import IDENTITY, ComparedRows, Key, RowKind
from pytest_benchbench.reports.score_changes import ScoreChanges

LISTED = ("newly_wrong", "newly_right", "lost", "gained", "verdict_lost", "verdict_new", "conflicting")
"""The changes whose rows are named one by one."""

MOVED = 100
"""How many of the scores that moved most are named."""

_TOLD_AFTER = 1000
"""Rows after which progress is told again."""


class CannotCompareError(Exception):
    """Two things that must not be paired; one line that says why."""


@dataclass(slots=True)
class ComparedSide:
    """One side of a comparison.

    Attributes:
        evidence: Its file.
        key: What its rows are paired by.
        detectors: What stood behind its verdicts, once the rows were read.
    """

    evidence: IndexedEvidence
    key: Key
    detectors: DetectorsSeen = field(default_factory=DetectorsSeen)


class RowComparison:
    """Reads both sides and puts their rows side by side. Memory grows by some hundred bytes a row.

    Args:
        old: What is compared with.
        new: What is compared. The same object as ``old`` where two adapters of one run are compared.
        progress: Is told how many more rows were read.

    Raises:
        EvidenceError: A line that counts is not a row of evidence.
    """

    def __init__(self, old: ComparedSide, new: ComparedSide, progress: Callable[[int], None] | None = None) -> None:
        self._sides = old, new
        self._rows = ComparedRows()
        for side in (old,) if old is new else (old, new):
            side.evidence.feed(self._rows.taker(side.key), side.detectors.add, _teller(progress))
        self._pairs = self._rows.pairs()

    def check(self) -> None:
        """Demand that there is something to compare, and that the two rows of each pair are about the same.

        Raises:
            CannotCompareError: There is no pair, none has an answer on the first side, so that nothing could be lost, or one
                pair's artifact, expectation, medium, state, arm or label differs.
        """
        pairs = self._pairs
        if not len(pairs.old):
            raise CannotCompareError(f"there is nothing to compare: no row is on both sides: {self._why_apart()}")
        if not len(pairs.other_question):
            counts = self._became.counts()
            if counts["no_verdict"] + counts["verdict_new"] == len(pairs.old):
                raise CannotCompareError("there is nothing to compare: no row was answered on the first side")
            return
        place = pairs.other_question[:1]
        (old,), (new,) = (
            list(self._rows_at(side, rows[place])) for side, rows in zip(self._sides, (pairs.old, pairs.new), strict=True)
        )
        differing = [name for name in IDENTITY if old.case.get(name) != new.case.get(name)]
        if old.artifact.sha256 != new.artifact.sha256:
            differing.insert(0, f"artifact ({old.artifact.sha256[:12]} then, {new.artifact.sha256[:12]} now)")
        more = len(pairs.other_question) - 1
        raise CannotCompareError(
            f"{one_line(new.key.case_id)} is not the same case on both sides: {', '.join(differing)} "
            f"differ{f'; and {more} more cases so' if more else ''}"
        )

    def _why_apart(self) -> str:
        old, new = self._sides
        if old is new:
            return "the adapters were asked about other artifacts"
        if old.detectors.by_adapter.keys() & new.detectors.by_adapter.keys():
            return "their manifests or splits have other rows"
        return f"{_named(old.detectors)} answered then, {_named(new.detectors)} now"

    def document(self) -> dict[str, Any]:
        """Give what was found.

        Returns:
            A JSON document with the sections ``rows`` (how many are paired, and which have no partner), ``thresholds`` (by
            which scores of labelled rows are held against their labels, by the kind of their manifest), ``changes`` (how
            many became what, and which), ``lines`` (paired statistics, see ``PairedLines.lines``), ``scores`` (of two runs:
            which scores moved, see ``ScoreChanges``), ``detectors`` (what stood behind the answers, and which fields
            differ) and ``time`` (see ``call_times``).
        """
        pairs, (old, new), became = self._pairs, self._sides, self._became
        return {
            "rows": {
                "paired": len(pairs.old),
                "only_in_old": self._alone(old, pairs.only_old),
                "only_in_new": self._alone(new, pairs.only_new),
            },
            "thresholds": {kind: SIDES[kind].threshold for kind in sorted(self._rows.labelled)},
            "changes": {"counts": became.counts(), **self._changed(became)},
            "lines": list(became.lines()),
            "scores": None if old is new else self._moved_scores(),
            "detectors": [
                _detector(adapter, old.detectors, new.detectors)
                for adapter in sorted({*old.detectors.by_adapter, *new.detectors.by_adapter})
            ],
            "time": call_times(self._rows, pairs),
        }

    @cached_property
    def _became(self) -> PairedLines:
        return PairedLines(self._rows, self._pairs)

    def _moved_scores(self) -> dict[str, Any]:
        """Say how scores moved, and which moved most; two adapters' scores need not be on one scale."""
        changes = ScoreChanges(self._rows, self._pairs)
        most = changes.largest(MOVED)
        most = most[np.argsort(self._rows.ordinals()[self._pairs.new[most]], kind="stable")]
        listing = Listing()
        for place, row in zip(most.tolist(), self._rows_at(self._sides[1], self._pairs.new[most]), strict=True):
            old, new = changes.scores_of(place)
            listing.add((-abs(new - old), order_of(row)), {**identity_of(row), "old": old, "new": new})
        return {"lines": list(changes.lines()), "moved": changes.moved, "largest": listing.document()["listed"]}

    def _alone(self, side: ComparedSide, places: NDArray[np.intp]) -> dict[str, Any]:
        listing = Listing()
        kinds, of_rows = self._rows.kinds, self._rows.of_rows()
        for place, row in zip(places.tolist(), self._rows_at(side, places), strict=True):
            listing.add(order_of(row), {**identity_of(row), "answer": kinds[of_rows[place]].standing})
        return listing.document()

    def _changed(self, became: PairedLines) -> dict[str, Any]:
        listings = {change: Listing() for change in LISTED}
        pairs, kinds, of_rows = self._pairs, self._rows.kinds, self._rows.of_rows()
        places = became.that(*LISTED)
        places = places[np.argsort(self._rows.ordinals()[pairs.new[places]], kind="stable")]
        for place, row in zip(places.tolist(), self._rows_at(self._sides[1], pairs.new[places]), strict=True):
            error = None if row.error is msgspec.UNSET else row.error
            side = label_side(row)
            entry = {
                **identity_of(row),
                "artifact_sha256": row.artifact.sha256,
                "expected": facet(row, "expected") or side,
                "old": _answer(kinds[of_rows[pairs.old[place]]], row.kind, side),
                "new": _answer(kinds[of_rows[pairs.new[place]]], row.kind, side),
                "reason": error.message if error else row.detection.reason,
                **({} if side is None else {"score": row.detection.score}),
            }
            listings[CHANGES[became.changes[place]]].add(order_of(row), entry)
        return {change: listing.document() for change, listing in listings.items()}

    def _rows_at(self, side: ComparedSide, places: NDArray[np.intp]) -> Iterator[EvidenceRow]:
        """Read rows of a side again, in the order of its file.

        Args:
            side: Where they are.
            places: Places in the columns, in the order of the file.
        """
        if not len(places):
            return
        lines = np.flatnonzero(side.evidence.settlement.attempts)[self._rows.ordinals()[places]]
        wanted = iter(lines.tolist())
        number = next(wanted)
        decode = msgspec.json.Decoder(EvidenceRow).decode
        for after, _, line in complete_lines(side.evidence.path):
            if after - 1 == number:
                yield decode(line)
                if (number := next(wanted, -1)) < 0:
                    return


def _answer(kind: RowKind, manifest_kind: str, label: str | None) -> str:
    """Say what a row was found to be: by its label, where its score is held against one."""
    if label is None or kind.standing != "scored" or kind.judged is None:
        return kind.standing
    return label if kind.judged == "right" else SIDES[manifest_kind].other(label)


def _teller(progress: Callable[[int], None] | None) -> Callable[[SettledRow], None]:
    seen = 0

    def take(_: SettledRow) -> None:
        nonlocal seen
        seen += 1
        if progress is not None and seen % _TOLD_AFTER == 0:
            progress(_TOLD_AFTER)

    return take


def _named(detectors: DetectorsSeen) -> str:
    return ", ".join(map(one_line, sorted(detectors.by_adapter))) or "nobody"


def _detector(adapter: str, old: DetectorsSeen, new: DetectorsSeen) -> dict[str, Any]:
    before, after = (seen.by_adapter.get(adapter, []) for seen in (old, new))
    return {
        "adapter": adapter,
        "old": [msgspec.to_builtins(detector.record) for detector in before],
        "new": [msgspec.to_builtins(detector.record) for detector in after],
        "changed": changed_fields(before, after) if before and after else [],
    }

"""What each artifact was found to be: one verdict for a series however many rows show it.

An artifact about which one adapter gave different verdicts inside one suite and parameter is ``conflicting`` wherever it was
shown: neither detected nor not detected. So is an artifact of an unstable row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.carriers import bases_of, joined
from pytest_benchbench.reports.columns import ANSWERED, Rows
from pytest_benchbench.reports.facets import Kind
from pytest_benchbench.reports.ordering import LISTED, sort_key

Numbers = NDArray[np.intp]

VERDICTS = ("detected", "not_detected", "scored", "conflicting")

DECIDED = 2
"""Verdicts below this place of ``VERDICTS`` are decisions: they are what a rate is of."""

_CONFLICTING = VERDICTS.index("conflicting")

_BITS = {"detected": 1, "not_detected": 2, "scored": 4, "unstable": 8}

_VERDICT_OF_BITS = np.full(16, _CONFLICTING, dtype=np.uint8)
_VERDICT_OF_BITS[[1, 2, 4]] = [0, 1, 2]


@dataclass(frozen=True, slots=True)
class Units:
    """What tables count: artifacts, each once for each base in which it was shown.

    Attributes:
        of_rows: The unit of each answered row, of shape (answered,).
        artifacts: The artifact of each unit, as a place in ``verdicts``, ascending, of shape (units,).
        bases: The base of each unit, 0 to ``base_count - 1``; -1 where it has none. Of shape (units,).
        base_count: How many bases there are.
        verdicts: The verdict on each artifact, as a place in ``VERDICTS``, of shape (artifacts,).
        clusters: The cluster of each artifact: artifacts of one base share it, and bases that share an artifact are one. An
            artifact without a base is alone. Below ``base_count`` for those with a base, of shape (artifacts,).
        is_shared: Whether some artifact was shown in several bases.
    """

    of_rows: Numbers
    artifacts: Numbers
    bases: Numbers
    base_count: int
    verdicts: NDArray[np.uint8]
    clusters: Numbers
    is_shared: bool


class ArtifactVerdicts:
    """The artifacts of all rows that have an answer.

    Args:
        rows: All rows.

    Attributes:
        answered: The rows with an answer, as places, ascending.
        bases: The base of each row, -1 where it has none; pairs that share an artifact with an answer are one.
        units: What tables count.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        series = {each: number for number, each in enumerate(sorted({kind.series for kind in rows.kinds}, key=sort_key))}
        codes = np.array([series[kind.series] for kind in rows.kinds], dtype=np.uint32)
        bits = np.array([_BITS.get(kind.standing, 0) for kind in rows.kinds], dtype=np.uint8)
        if not len(rows.of_rows):
            codes, bits = np.zeros(1, dtype=np.uint32), np.zeros(1, dtype=np.uint8)
        groups = rows.artifacts.groups(codes[rows.of_rows])
        self._order, self._begins = groups.order, np.flatnonzero(groups.starts)
        said = (
            np.bitwise_or.reduceat(bits[rows.of_rows[self._order]], self._begins)
            if len(self._begins)
            else np.zeros(0, dtype=np.uint8)
        )
        verdicts = _VERDICT_OF_BITS[said]
        self.answered = np.flatnonzero(bits[rows.of_rows])
        artifacts = groups.numbers()
        is_answered = np.zeros(len(artifacts), dtype=np.bool_)
        is_answered[self.answered] = True
        self.bases = bases_of(rows.bases, np.where(is_answered, artifacts, -1))
        self.units = _units(artifacts[self.answered], self.bases[self.answered], verdicts)
        self._conflicting = np.flatnonzero((verdicts == _CONFLICTING) & (said > 0))

    def conflicting(self) -> dict[str, Any]:
        """Count the artifacts with conflicting verdicts and list the first, by series and digest."""
        ends = np.append(self._begins[1:], len(self._order))
        found = []
        for number in self._conflicting.tolist():
            place = self._order[self._begins[number]]
            series = self._rows.kinds[self._rows.of_rows[place]].series
            found.append((sort_key(series), self._rows.artifacts[place], number))
        found.sort()
        return {
            "count": len(found),
            "listed": [
                _entry(digest, self._kinds(self._order[self._begins[number] : ends[number]]))
                for _, digest, number in found[:LISTED]
            ],
        }

    def _kinds(self, places: Numbers) -> list[Kind]:
        return [self._rows.kinds[number] for number in np.unique(self._rows.of_rows[places])]


def _entry(digest: bytes, kinds: Sequence[Kind]) -> dict[str, Any]:
    shown = [kind for kind in kinds if kind.standing in ANSWERED]
    return {
        **shown[0].series._asdict(),
        "artifact_sha256": digest.hex(),
        "states": sorted({kind.facets.state for kind in shown}, key=lambda state: sort_key((state,))),
        "verdicts": sorted({kind.standing for kind in shown}),
    }


def _units(artifacts: Numbers, of_bases: Numbers, verdicts: NDArray[np.uint8]) -> Units:
    """Find the pairs of artifact and base.

    Args:
        artifacts: The artifact of each answered row.
        of_bases: Its base, -1 where it has none.
        verdicts: On each artifact.
    """
    count = int(of_bases.max(initial=-1)) + 1
    pairs, of_rows = np.unique(artifacts * (count + 1) + of_bases + 1, return_inverse=True)
    of_units, bases = pairs // (count + 1), pairs % (count + 1) - 1
    clusters = count + np.arange(len(verdicts))
    based = bases >= 0
    clusters[of_units[based][::-1]] = bases[based][::-1]  # of several the smallest, which is written last
    shared = np.flatnonzero((of_units[1:] == of_units[:-1]) & based[:-1]) + 1
    if len(shared):
        smallest = joined(count, zip(bases[shared - 1].tolist(), bases[shared].tolist(), strict=True))
        based = clusters < count
        clusters[based] = smallest[clusters[based]]
    is_shared = bool((of_units[1:] == of_units[:-1]).any())
    return Units(of_rows, of_units, bases, count, verdicts, clusters, is_shared)

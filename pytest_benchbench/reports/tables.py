"""Tables of verdicts: what each detector recognised, by state, transform and arm.

Rows are counted as they stand. Rates count artifacts, each once however many rows show it. Suites, parameters and adapters
are never pooled: a table has lines of its own for each, because a suite or a parameter may change what is asked.

An artifact about which one adapter gave different verdicts inside one suite and parameter is ``conflicting`` in every line
that it belongs to: it counts there, and as neither detected nor not detected. So is an artifact of an unstable row.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.digest_column import DigestColumn
from pytest_benchbench.evidence.grouping import STANDINGS, VERDICT_STANDINGS, Standing, facet
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.reports.ordering import Listing, sort_key
from pytest_benchbench.statistics.intervals import wilson_interval

_SHA256_BYTES = 32

_ANSWERED = VERDICT_STANDINGS | {"unstable"}

ARMS = ("positive", "matched_negative", "wrong_key", "hard_negative")

TABLES: dict[str, tuple[str, ...]] = {
    "adapter": (),
    "adapter_arm": ("arm",),
    "adapter_state": ("state",),
    "adapter_state_transform": ("state", "transform"),
}
"""The tables of a report and the properties that tell their lines apart, beside suite, parameters and adapter."""


class Series(NamedTuple):
    """Rows that may be counted together: one adapter's answers inside one suite and parameter."""

    suite: str
    params: str | None
    adapter: str

    @classmethod
    def of(cls, row: EvidenceRow) -> Series:
        """Give the series that a row belongs to."""
        return cls(row.key.suite, row.key.params, row.key.adapter)


class Facets(NamedTuple):
    """The properties of a case by which the tables group."""

    state: str | None
    transform: str | None
    arm: str | None

    @classmethod
    def of(cls, row: EvidenceRow) -> Facets:
        """Give the properties of a row's case."""
        return cls(facet(row, "state"), facet(row, "transform"), facet(row, "arm"))

    def only(self, names: tuple[str, ...]) -> tuple[str | None, ...]:
        """Give the properties that a table groups by."""
        return tuple(getattr(self, name) for name in names)


class _Seen(NamedTuple):
    """All that is known of an artifact: where it was shown with an answer, and the answers."""

    facets: frozenset[Facets]
    standings: frozenset[str]

    @property
    def verdict(self) -> str:
        return "conflicting" if len(self.standings) > 1 or "unstable" in self.standings else next(iter(self.standings))


class _Shown:
    """The artifacts that a series gave an answer about: a digest and a number of four bytes for each row."""

    def __init__(self) -> None:
        self.artifacts = DigestColumn(_SHA256_BYTES)
        self.cells = array("I")


class VerdictCell:
    """The rows of a series that have the same facets.

    Args:
        shown: Collects the artifacts of the series.
        begin: The number of the cell's first standing; the others follow in the order of ``STANDINGS``.
    """

    def __init__(self, shown: _Shown, begin: int) -> None:
        self._shown = shown
        self._numbers = {standing: begin + place for place, standing in enumerate(STANDINGS)}
        self.rows = dict.fromkeys(STANDINGS, 0)

    def add(self, row: EvidenceRow, standing: Standing) -> None:
        """Count one settled row.

        Raises:
            EvidenceError: The artifact's digest is none.
        """
        self.rows[standing] += 1
        if standing in _ANSWERED:
            self._shown.artifacts.append(_digest(row))
            self._shown.cells.append(self._numbers[standing])


class VerdictTally:
    """Counts rows and unique artifacts. Memory: 36 bytes a row."""

    def __init__(self) -> None:
        self._cells: dict[tuple[Series, Facets], VerdictCell] = {}
        self._kinds: list[tuple[Facets, Standing]] = []
        self._shown: defaultdict[Series, _Shown] = defaultdict(_Shown)
        self._found: tuple[int, dict[Series, dict[_Seen, NDArray[np.intp]]]] | None = None

    def cell(self, series: Series, facets: Facets) -> VerdictCell:
        """Give what counts the rows of a series with these facets."""
        if (series, facets) not in self._cells:
            self._cells[series, facets] = VerdictCell(self._shown[series], len(self._kinds))
            self._kinds += [(facets, standing) for standing in STANDINGS]
        return self._cells[series, facets]

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Give every table of ``TABLES`` as a list of lines, sorted by what tells them apart."""
        seen = {
            series: {history: len(places) for history, places in histories.items()}
            for series, histories in self._histories().items()
        }
        return {name: list(self._lines(names, seen)) for name, names in TABLES.items()}

    def _lines(self, names: tuple[str, ...], seen: Mapping[Series, Mapping[_Seen, int]]) -> Iterator[dict[str, Any]]:
        rows: defaultdict[tuple[str | None, ...], Counter[str]] = defaultdict(Counter)
        artifacts: defaultdict[tuple[str | None, ...], Counter[str]] = defaultdict(Counter)
        for (series, facets), cell in self._cells.items():
            rows[*series, *facets.only(names)].update(cell.rows)
        for series, histories in seen.items():
            for history, count in histories.items():
                for where in {facets.only(names) for facets in history.facets}:
                    artifacts[*series, *where][history.verdict] += count
        for key in sorted(rows, key=sort_key):
            yield {
                **dict(zip(("suite", "params", "adapter", *names), key, strict=True)),
                **_row_counts(rows[key]),
                **_artifact_counts(artifacts[key]),
            }

    def conflicting(self) -> dict[str, Any]:
        """List the artifacts about which an adapter gave different verdicts."""
        listing = Listing()
        for series, histories in self._histories().items():
            for seen, places in histories.items():
                for place in places if seen.verdict == "conflicting" else ():
                    digest = self._shown[series].artifacts[place]
                    entry = {
                        **series._asdict(),
                        "artifact_sha256": digest.hex(),
                        "states": _sorted_texts(facets.state for facets in seen.facets),
                        "verdicts": sorted(seen.standings),
                    }
                    listing.add((sort_key(series), digest), entry)
        return listing.document()

    def _histories(self) -> dict[Series, dict[_Seen, NDArray[np.intp]]]:
        """Give for every series what ``_seen`` gives; found once for all rows so far."""
        rows = sum(len(shown.cells) for shown in self._shown.values())
        if self._found is None or self._found[0] != rows:
            self._found = rows, {series: self._seen(shown) for series, shown in self._shown.items()}
        return self._found[1]

    def _seen(self, shown: _Shown) -> dict[_Seen, NDArray[np.intp]]:
        """Give every history that artifacts of a series have, with one place of each such artifact."""
        groups = shown.artifacts.groups()
        cells = np.frombuffer(shown.cells, dtype=np.uint32)
        bounds = np.append(np.flatnonzero(groups.starts), len(groups.order))
        alone = groups.order[bounds[:-1][np.diff(bounds) == 1]]
        found: defaultdict[_Seen, list[NDArray[np.intp]]] = defaultdict(list)
        for number in np.unique(cells[alone]):
            found[self._history([number])].append(alone[cells[alone] == number])
        together: defaultdict[bytes, list[int]] = defaultdict(list)
        for places in groups.several():
            together[np.unique(cells[places]).tobytes()].append(places[0])
        for numbers, first in together.items():
            found[self._history(np.frombuffer(numbers, dtype=np.uint32))].append(np.array(first))
        return {seen: np.concatenate(places) for seen, places in found.items()}

    def _history(self, numbers: Iterable[int]) -> _Seen:
        kinds = [self._kinds[number] for number in numbers]
        return _Seen(frozenset(facets for facets, _ in kinds), frozenset(standing for _, standing in kinds))

    def absent_arms(self) -> list[dict[str, Any]]:
        """Name for each series the arms without any row; a series whose cases have no arms is left out."""
        present: defaultdict[Series, set[str | None]] = defaultdict(set)
        for series, facets in self._cells:
            present[series].add(facets.arm)
        return [
            {**series._asdict(), "absent": [arm for arm in ARMS if arm not in present[series]]}
            for series in sorted(present, key=sort_key)
            if present[series] != {None}
        ]


def _digest(row: EvidenceRow) -> bytes:
    try:
        digest = bytes.fromhex(row.artifact.sha256)
    except ValueError:
        digest = b""
    if len(digest) != _SHA256_BYTES:
        raise EvidenceError(f"{row.key.case_id}: artifact.sha256: expected 64 hex digits, got {row.artifact.sha256!r}")
    return digest


def _row_counts(counts: Counter[str]) -> dict[str, int]:
    return {"rows": counts.total(), **{f"rows_{standing}": counts[standing] for standing in STANDINGS}}


def _artifact_counts(counts: Counter[str]) -> dict[str, Any]:
    detected, decided = counts["detected"], counts["detected"] + counts["not_detected"]
    low, high = wilson_interval(detected, decided) or (None, None)
    return {
        "artifacts": counts.total(),
        **{f"artifacts_{verdict}": counts[verdict] for verdict in ("detected", "not_detected", "scored", "conflicting")},
        "detected_rate_of_artifacts": {
            "k": detected,
            "n": decided,
            "rate": detected / decided if decided else None,
            "wilson95_low": low,
            "wilson95_high": high,
        },
    }


def _sorted_texts(texts: Iterable[str | None]) -> list[str | None]:
    return sorted(set(texts), key=lambda text: sort_key((text,)))

"""Tables of verdicts: what each detector recognised, by state, transform and arm.

Rows are counted as they stand. Rates count artifacts, each once however many rows show it. Suites, parameters and adapters
are never pooled: a table has lines of its own for each, because a suite or a parameter may change what is asked.

An artifact about which one adapter gave different verdicts inside one suite and parameter is ``conflicting`` in every line
that it belongs to: it counts there, and as neither detected nor not detected. So is an artifact of an unstable row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pytest_benchbench.evidence.grouping import STANDINGS, VERDICT_STANDINGS, Standing, facet
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.reports.ordering import Listing, sort_key
from pytest_benchbench.statistics.intervals import wilson_interval

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


class VerdictTally:
    """Counts rows and unique artifacts.

    Memory: a digest and a reference for each artifact and series; artifacts with the same history share its record.
    """

    def __init__(self) -> None:
        self._rows: Counter[tuple[Series, Facets, Standing]] = Counter()
        self._artifacts: defaultdict[Series, dict[bytes, _Seen]] = defaultdict(dict)
        self._records: dict[tuple[_Seen | None, Facets, Standing], _Seen] = {}

    def add(self, row: EvidenceRow, series: Series, facets: Facets, standing: Standing) -> None:
        """Count one settled row.

        Raises:
            EvidenceError: The artifact's digest is none.
        """
        self._rows[series, facets, standing] += 1
        if standing in VERDICT_STANDINGS or standing == "unstable":
            artifacts = self._artifacts[series]
            digest = _digest(row)
            seen = artifacts.get(digest)
            record = self._records.get((seen, facets, standing))
            if record is None:
                before = seen or _Seen(frozenset(), frozenset())
                record = _Seen(before.facets | {facets}, before.standings | {standing})
                self._records[seen, facets, standing] = record
            artifacts[digest] = record

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Give every table of ``TABLES`` as a list of lines, sorted by what tells them apart."""
        return {name: list(self._lines(names)) for name, names in TABLES.items()}

    def _lines(self, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        rows: defaultdict[tuple[str | None, ...], Counter[str]] = defaultdict(Counter)
        artifacts: defaultdict[tuple[str | None, ...], Counter[str]] = defaultdict(Counter)
        for (series, facets, standing), count in self._rows.items():
            rows[*series, *facets.only(names)][standing] += count
        for series, seen_artifacts in self._artifacts.items():
            for seen, count in Counter(seen_artifacts.values()).items():
                for where in {facets.only(names) for facets in seen.facets}:
                    artifacts[*series, *where][seen.verdict] += count
        for cell in sorted(rows, key=sort_key):
            yield {
                **dict(zip(("suite", "params", "adapter", *names), cell, strict=True)),
                **_row_counts(rows[cell]),
                **_artifact_counts(artifacts[cell]),
            }

    def conflicting(self) -> dict[str, Any]:
        """List the artifacts about which an adapter gave different verdicts."""
        listing = Listing()
        for series, artifacts in self._artifacts.items():
            for digest, seen in artifacts.items():
                if seen.verdict == "conflicting":
                    entry = {
                        **series._asdict(),
                        "artifact_sha256": digest.hex(),
                        "states": _sorted_texts(facets.state for facets in seen.facets),
                        "verdicts": sorted(seen.standings),
                    }
                    listing.add((sort_key(series), digest), entry)
        return listing.document()

    def absent_arms(self) -> list[dict[str, Any]]:
        """Name for each series the arms without any row; a series whose cases have no arms is left out."""
        present: defaultdict[Series, set[str | None]] = defaultdict(set)
        for series, facets, _ in self._rows:
            present[series].add(facets.arm)
        return [
            {**series._asdict(), "absent": [arm for arm in ARMS if arm not in present[series]]}
            for series in sorted(present, key=sort_key)
            if present[series] != {None}
        ]


def _digest(row: EvidenceRow) -> bytes:
    try:
        return bytes.fromhex(row.artifact.sha256)
    except ValueError:
        raise EvidenceError(
            f"{row.key.case_id}: artifact.sha256: expected hex digits, got {row.artifact.sha256!r}"
        ) from None


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

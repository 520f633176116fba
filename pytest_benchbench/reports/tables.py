"""Tables of verdicts: what each detector recognised, by state, transform, arm and further properties of the cases.

Rows are counted as they stand. Rates count artifacts, each once however many rows show it. Suites, parameters and adapters
are never pooled: a table has lines of its own for each, because a suite or a parameter may change what is asked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytest_benchbench.evidence.grouping import STANDINGS
from pytest_benchbench.reports.bases import GroupCounts
from pytest_benchbench.reports.columns import DETECTION_QUANTITIES, Rows
from pytest_benchbench.reports.facets import CaseField, Kind, Series, field_order, field_value
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.reports.ranges import range_of
from pytest_benchbench.reports.rates import rate_of
from pytest_benchbench.reports.verdicts import VERDICTS, ArtifactVerdicts
from pytest_benchbench.statistics.intervals import resolvable_rate

ARMS = ("positive", "matched_negative", "wrong_key", "hard_negative")

NEGATIVE_ARMS = frozenset({"matched_negative", "hard_negative"})
"""What is detected in these is a false positive. Not so with a wrong key: some detectors recognise any key's mark."""

TABLES: dict[str, tuple[str, ...]] = {
    "adapter": (),
    "adapter_arm": ("arm",),
    "adapter_state": ("state",),
    "adapter_state_transform": ("state", "transform"),
}
"""The tables of every report and the properties that tell their lines apart, beside suite, parameters and adapter."""

TABLES_WHERE_ANY: dict[str, tuple[str, ...]] = {
    "adapter_provider": ("provider",),
    "adapter_content_stratum": ("content_stratum",),
}
"""Tables that exist where some row has the property."""

Line = dict[str, Any]


class VerdictTables:
    """Every table of verdicts about the same rows.

    Args:
        rows: All rows.
        fields: The fields that ``rows`` are told apart by.

    Attributes:
        artifacts: What each artifact was found to be.
    """

    def __init__(self, rows: Rows, fields: Sequence[CaseField] = ()) -> None:
        self._rows = rows
        self._fields = tuple(fields)
        self._counts = rows.counts().tolist()
        self.artifacts = ArtifactVerdicts(rows)
        self._has_base = np.bincount(rows.of_rows[rows.bases != 0], minlength=len(rows.kinds)) > 0

    def tables(self) -> dict[str, list[Line]]:
        """Give every table of ``TABLES``, and those of ``TABLES_WHERE_ANY`` that have a property, as sorted lines."""
        wanted = dict(TABLES)
        for table, names in TABLES_WHERE_ANY.items():
            if any(getattr(kind.facets, name) is not None for kind in self._rows.kinds for name in names):
                wanted[table] = names
        return {table: self._table(names) for table, names in wanted.items()}

    def by(self) -> dict[str, list[Line]]:
        """Give for each field its lines, sorted by series and value; ``value`` is null where a case has none.

        A line has the smallest, middle (nearest rank) and largest of its rows' detection numbers too, null without any.
        """
        return {field.path: self._by(place) for place, field in enumerate(self._fields)}

    def conflicting(self) -> dict[str, Any]:
        """List the artifacts about which an adapter gave different verdicts."""
        return self.artifacts.conflicting()

    def absent_arms(self) -> list[Line]:
        """Name for each series the arms without any row; a series whose cases have no arms is left out."""
        present: defaultdict[Series, set[str | None]] = defaultdict(set)
        for kind in self._rows.kinds:
            present[kind.series].add(kind.facets.arm)
        return [
            {**series._asdict(), "absent": [arm for arm in ARMS if arm not in present[series]]}
            for series in sorted(present, key=sort_key)
            if present[series] != {None}
        ]

    def _table(self, names: tuple[str, ...]) -> list[Line]:
        def of(kind: Kind) -> tuple[str | None, ...]:
            return (*kind.series, *(getattr(kind.facets, name) for name in names))

        keys = sorted({of(kind) for kind in self._rows.kinds}, key=sort_key)
        told = (dict(zip((*Series._fields, *names), key, strict=True)) for key in keys)
        lines = [{**line, **counts} for line, counts in zip(told, self._lines(keys, of), strict=True)]
        for line in lines:
            if line.get("arm") in NEGATIVE_ARMS:
                line["resolvable_false_positive_rate"] = resolvable_rate(line["detected_rate_of_artifacts"]["n"])
        return lines

    def _by(self, place: int) -> list[Line]:
        def of(kind: Kind) -> tuple[Any, ...]:
            return (*kind.series, kind.facets.fields[place])

        keys = sorted({of(kind) for kind in self._rows.kinds}, key=lambda key: (sort_key(key[:-1]), field_order(key[-1])))
        told = ({**Series(*key[:-1])._asdict(), "value": field_value(key[-1])} for key in keys)
        parts = zip(told, self._lines(keys, of), self._ranges(keys, of), strict=True)
        return [{**line, **counts, **ranges} for line, counts, ranges in parts]

    def _ranges(self, keys: Sequence[tuple[Any, ...]], of: Callable[[Kind], tuple[Any, ...]]) -> list[Line]:
        """Give the range of each detection quantity over the rows of each key."""
        lines: list[Line] = [dict.fromkeys(DETECTION_QUANTITIES) for _ in keys]
        places = {key: place for place, key in enumerate(keys)}
        of_kinds = np.array([places[of(kind)] for kind in self._rows.kinds], dtype=np.intp)
        for name in DETECTION_QUANTITIES:
            quantity = self._rows.quantities[name]
            if not len(quantity.places):
                continue
            of_values = of_kinds[self._rows.of_rows[quantity.places]]
            order = np.lexsort((quantity.values, of_values))
            groups, begins = np.unique(of_values[order], return_index=True)
            for place, values in zip(groups.tolist(), np.split(quantity.values[order], begins[1:]), strict=True):
                lines[place][name] = range_of(values)
        return lines

    def _lines(self, keys: Sequence[tuple[Any, ...]], of: Callable[[Kind], tuple[Any, ...]]) -> list[Line]:
        """Count rows, artifacts and bases of each key.

        Args:
            keys: What tells the lines apart, in their order.
            of: Gives the key of a kind.
        """
        if not keys:
            return []
        places = {key: place for place, key in enumerate(keys)}
        of_kinds = np.array([places[of(kind)] for kind in self._rows.kinds], dtype=np.intp)
        counts = GroupCounts(self.artifacts.units, of_kinds[self._rows.of_rows[self.artifacts.answered]], len(keys))
        names_base = np.bincount(of_kinds[self._has_base], minlength=len(keys)) > 0
        return [
            {**rows, **_artifact_counts(artifacts), "bases": bases if has_base else None, "clustered95": clustered}
            for rows, artifacts, bases, has_base, clustered in zip(
                self._row_counts(of_kinds, len(keys)),
                counts.artifacts().tolist(),
                counts.bases(),
                names_base.tolist(),
                counts.clustered(),
                strict=True,
            )
        ]

    def _row_counts(self, of_kinds: Any, groups: int) -> list[Line]:
        standings: list[Counter[str]] = [Counter() for _ in range(groups)]
        outcomes: list[Counter[str]] = [Counter() for _ in range(groups)]
        for kind, group, count in zip(self._rows.kinds, of_kinds.tolist(), self._counts, strict=True):
            standings[group][kind.standing] += count
            outcomes[group][kind.outcome] += count
        return [
            {
                "rows": standing.total(),
                **{f"rows_{name}": standing[name] for name in STANDINGS},
                **{f"rows_{name}": outcome[name] for name in ("mismatch", "known_mismatch")},
            }
            for standing, outcome in zip(standings, outcomes, strict=True)
        ]


def _artifact_counts(counts: Sequence[int]) -> Line:
    verdicts = dict(zip(VERDICTS, counts, strict=True))
    decided = verdicts["detected"] + verdicts["not_detected"]
    return {
        "artifacts": sum(counts),
        **{f"artifacts_{verdict}": count for verdict, count in verdicts.items()},
        "detected_rate_of_artifacts": rate_of(verdicts["detected"], decided),
        "resolvable_false_positive_rate": None,
    }

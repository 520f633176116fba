"""Artifacts and bases counted by group. Files made from one base tell less than as many independent ones."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from pytest_benchbench.evidence.digest_column import distinct
from pytest_benchbench.reports.rates import rate_of
from pytest_benchbench.reports.verdicts import DECIDED, VERDICTS, Numbers, Units
from pytest_benchbench.statistics.intervals import clustered_interval

_DETECTED = VERDICTS.index("detected")


class GroupCounts:
    """What the artifacts of the groups of one table come to.

    Args:
        units: The artifacts and their bases.
        of_rows: The group of each answered row, 0 to ``groups - 1``.
        groups: How many groups there are, at least 1.
    """

    def __init__(self, units: Units, of_rows: Numbers, groups: int) -> None:
        self._units = units
        self._groups = groups
        pairs = distinct(units.of_rows * groups + of_rows)
        self._unit, self._unit_group = pairs // groups, pairs % groups
        self._artifact, self._artifact_group = units.artifacts[self._unit], self._unit_group
        if units.is_shared:  # then an artifact is in several units
            pairs = distinct(self._artifact * groups + self._artifact_group)
            self._artifact, self._artifact_group = pairs // groups, pairs % groups

    def artifacts(self) -> Numbers:
        """Count the artifacts of each group by verdict, of shape (groups, ``len(VERDICTS)``)."""
        cells = self._artifact_group * len(VERDICTS) + self._units.verdicts[self._artifact]
        return np.bincount(cells, minlength=self._groups * len(VERDICTS)).reshape(self._groups, len(VERDICTS))

    def bases(self) -> list[dict[str, Any]]:
        """Give for each group one outcome of every base: whether all or any of its decided artifacts were detected."""
        bases, verdicts = self._units.bases[self._unit], self._units.verdicts[self._units.artifacts[self._unit]]
        counted = (bases >= 0) & (verdicts < DECIDED)
        group, k, n = _trials(
            self._unit_group[counted], bases[counted], verdicts[counted] == _DETECTED, self._units.base_count
        )
        counts, in_all, in_any = (
            np.bincount(group[of], minlength=self._groups).tolist() for of in (np.full(len(n), True), k == n, k > 0)
        )
        return [
            {"count": bases, "detected_in_all": rate_of(every, bases), "detected_in_any": rate_of(some, bases)}
            for bases, every, some in zip(counts, in_all, in_any, strict=True)
        ]

    def clustered(self) -> list[dict[str, Any] | None]:
        """Give for each group the interval that allows for artifacts of one base; ``None`` where each has its own."""
        clusters, verdicts = self._units.clusters[self._artifact], self._units.verdicts[self._artifact]
        counted = verdicts < DECIDED
        group, k, n = _trials(
            *(self._artifact_group[counted], clusters[counted], verdicts[counted] == _DETECTED),
            self._units.base_count + len(self._units.verdicts),
        )
        begins = np.searchsorted(group, np.arange(self._groups + 1))
        return [_clustered(k[begin:end], n[begin:end]) for begin, end in pairwise(begins.tolist())]


def _trials(groups: Numbers, clusters: Numbers, is_detected: Any, count: int) -> tuple[Numbers, Numbers, Numbers]:
    """Count the artifacts of each cluster in each group.

    Args:
        groups: The group of each artifact.
        clusters: Its cluster, 0 to ``count - 1``.
        is_detected: Whether it was detected.
        count: How many clusters there are.

    Returns:
        Three arrays of one length, an entry for each cluster in each group, ordered by group: the group, the artifacts that
        were detected, all artifacts.
    """
    keys = np.sort((groups * max(count, 1) + clusters) * 2 + is_detected)
    cells = keys >> 1
    begins = np.flatnonzero(np.append(True, cells[1:] != cells[:-1])) if len(cells) else np.zeros(0, dtype=np.intp)
    detected = np.add.reduceat(keys & 1, begins) if len(cells) else begins
    return cells[begins] // max(count, 1), detected, np.diff(np.append(begins, len(cells)))


def _clustered(successes: Numbers, trials: Numbers) -> dict[str, Any] | None:
    if not (trials > 1).any():
        return None
    interval = clustered_interval(successes.tolist(), trials.tolist())
    if interval is None:
        return None
    return {
        "low": interval.low,
        "high": interval.high,
        "effective_n": interval.effective_n,
        "design_effect": interval.design_effect,
    }

"""How recognition decays with the strength of an attack: a curve for each adapter and family of attacks.

A point is an attack of one strength. Which rows are on which point is told by evidence alone: rows of attacked artifacts
name family and strength under ``transform.parameters.attack``. Their order is that of the strengths as numbers, upwards or
downwards: a JPEG quality of 10 is the strongest, and a rotation by 90 degrees is. Which way it goes is known of the
families of the attack registry, for each medium. Points of other families are in ascending order, and the curve says so.
Attacks without a strength are on no curve.

Every curve starts with the marked artifacts of the bases whose attacked artifacts are on it, and of no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.digest_column import distinct
from pytest_benchbench.evidence.grouping import VERDICT_STANDINGS
from pytest_benchbench.reports.bases import GroupCounts
from pytest_benchbench.reports.columns import DETECTION_QUANTITIES, FIDELITY_QUANTITIES, Rows
from pytest_benchbench.reports.facets import Kind, Series
from pytest_benchbench.reports.kind_groups import KindGroups
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.reports.rates import rate_of
from pytest_benchbench.reports.verdicts import VERDICTS, ArtifactVerdicts, Numbers
from pytest_benchbench.statistics.latency import nearest_rank

START: Final = "marked"

ATTACKED: Final = "attacked"

StrengthOrder = Literal["weak_to_strong", "by_number"]

_DETECTED, _NOT_DETECTED = VERDICTS.index("detected"), VERDICTS.index("not_detected")


class _Start(NamedTuple):
    """Marked artifacts that curves may start with."""

    series: Series
    media_type: str | None


class _Point(NamedTuple):
    """Rows on one point of a curve."""

    series: Series
    media_type: str | None
    family: str
    transform: str | None
    strength: float


@dataclass(frozen=True, slots=True)
class _Shown:
    """A point with its rows.

    Attributes:
        attack: Name of the attack; ``None`` at the start.
        strength: In the unit of the family; ``None`` at the start.
        rows: Places in the columns.
    """

    attack: str | None
    strength: float | None
    rows: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class _Curve:
    series: Series
    media_type: str | None
    family: str
    order: StrengthOrder
    bases: int
    points: Sequence[_Shown]


def strength_order(media_type: str | None, family: str) -> tuple[StrengthOrder, bool]:
    """Say in which order the strengths of a family run from weak to strong.

    Args:
        media_type: What is attacked.
        family: Name of the family.

    Returns:
        ``weak_to_strong`` and whether the numbers fall on the way, for a family of the attack registry; else ``by_number``,
        ascending.
    """
    from pytest_benchbench.cohorts import CohortUsageError
    from pytest_benchbench.cohorts.attacks.registry import families_of  # loads Pillow: only for reports that have curves

    try:
        grid = families_of(media_type or "").get(family, ())
    except CohortUsageError:  # no such medium
        grid = ()
    strengths = [attack.strength for attack in grid if attack.strength is not None]
    if len(strengths) < 2:  # one number has no direction
        return "by_number", False
    return "weak_to_strong", strengths[0] > strengths[-1]


def robustness(rows: Rows, artifacts: ArtifactVerdicts) -> list[dict[str, Any]]:
    """Give the curves of all series, sorted by series, medium and family.

    Args:
        rows: All rows.
        artifacts: What their artifacts were found to be.

    Returns:
        For each curve its ``points``, the start first, then from weak to strong. ``rows_without_verdict`` of a point are in
        no rate. Rates count artifacts, each once; ``bases`` and ``clustered95`` are those of the tables. Numbers are over
        the ``n`` rows that have them; a quantity that no row has is left out, message bit accuracy is null then.
        ``carriers`` counts the bases that have attacked rows on the curve, decided or not.
    """
    curves = _curves(rows, artifacts.bases)
    shown = [point for curve in curves for point in curve.points]
    if not shown:
        return []
    documents = iter(_points(rows, artifacts, shown))
    return [
        {
            **curve.series._asdict(),
            "media_type": curve.media_type,
            "family": curve.family,
            "strength_order": curve.order,
            "carriers": curve.bases,
            "points": [next(documents) for _ in curve.points],
        }
        for curve in curves
    ]


def _curves(rows: Rows, bases: Numbers) -> list[_Curve]:
    points = KindGroups.of(rows.kinds, _point, lambda key: (sort_key((*key.series, *key[1:4])), key.strength))
    if not points.keys:
        return []
    starts = KindGroups.of(rows.kinds, _start, lambda key: sort_key((*key.series, key.media_type)))
    marked = dict(zip(starts.keys, starts.parts(rows.of_rows), strict=True))
    families: dict[tuple[Series, str | None, str], list[tuple[_Point, NDArray[np.intp]]]] = {}
    for key, part in zip(points.keys, points.parts(rows.of_rows), strict=True):
        families.setdefault((key.series, key.media_type, key.family), []).append((key, part))
    return [
        _curve(rows, bases, members, marked.get(_Start(series, media_type), np.zeros(0, dtype=np.intp)))
        for (series, media_type, _), members in families.items()  # in the order of the points
    ]


def _curve(rows: Rows, bases: Numbers, members: Sequence[tuple[_Point, Numbers]], marked: Numbers) -> _Curve:
    first = members[0][0]
    attacked = np.concatenate([part for _, part in members])
    pairs = distinct(rows.bases[attacked])  # what is attacked here, and not what else was made from its carriers
    pairs = pairs[pairs != 0]
    carriers = np.count_nonzero(distinct(bases[attacked]) >= 0)
    order, falls = strength_order(first.media_type, first.family)
    shown = [_Shown(key.transform, key.strength, part) for key, part in members]
    shown.sort(key=lambda point: (-point.strength if falls else point.strength, sort_key((point.attack,))))  # type: ignore[operator]
    start = marked[np.isin(rows.bases[marked], pairs)]
    if len(start):
        shown.insert(0, _Shown(None, None, start))
    return _Curve(first.series, first.media_type, first.family, order, int(carriers), shown)


def _point(kind: Kind) -> _Point | None:
    facets = kind.facets
    if facets.state != ATTACKED or facets.family is None or facets.strength is None:
        return None
    return _Point(kind.series, facets.media_type, facets.family, facets.transform, facets.strength)


def _start(kind: Kind) -> _Start | None:
    return _Start(kind.series, kind.facets.media_type) if kind.facets.state == START else None


def _points(rows: Rows, artifacts: ArtifactVerdicts, shown: Sequence[_Shown]) -> list[dict[str, Any]]:
    """Give what the report says of each point."""
    places = np.concatenate([point.rows for point in shown])
    of_places = np.repeat(np.arange(len(shown)), [len(point.rows) for point in shown])
    answers = np.searchsorted(artifacts.answered, places)
    answers[answers == len(artifacts.answered)] = 0
    is_answered = artifacts.answered[answers] == places if len(artifacts.answered) else np.zeros(len(places), dtype=np.bool_)
    units = replace(artifacts.units, of_rows=artifacts.units.of_rows[answers[is_answered]])
    counts = GroupCounts(units, of_places[is_answered], len(shown))
    has_verdict = rows.that(lambda kind: kind.standing in VERDICT_STANDINGS)[places]
    without_verdict = np.bincount(of_places[~has_verdict], minlength=len(shown)).tolist()
    numbers = {name: _numbers(rows, name, shown) for name in (*DETECTION_QUANTITIES, *FIDELITY_QUANTITIES)}
    return [
        {
            "attack": point.attack,
            "strength": point.strength,
            "rows": len(point.rows),
            "rows_without_verdict": without,
            "detected_rate_of_artifacts": rate_of(int(of[_DETECTED]), int(of[_DETECTED] + of[_NOT_DETECTED])),
            "clustered95": clustered,
            "bases": bases,
            "message_bit_accuracy": None,
            **{name: ranges[place] for name, ranges in numbers.items() if ranges[place] is not None},
        }
        for place, (point, without, of, clustered, bases) in enumerate(
            zip(shown, without_verdict, counts.artifacts(), counts.clustered(), counts.bases(), strict=True)
        )
    ]


def _numbers(rows: Rows, name: str, shown: Sequence[_Shown]) -> list[dict[str, Any] | None]:
    """Give for each point the smallest, middle (nearest rank) and largest of its rows' numbers."""
    quantity = rows.quantities[name]
    if not len(quantity.places):
        return [None] * len(shown)
    of_rows = np.full(len(rows.of_rows), -1, dtype=np.int64)
    of_rows[quantity.places] = np.arange(len(quantity.places))
    found = []
    for point in shown:
        numbered = of_rows[point.rows]
        ascending = np.sort(quantity.values[numbered[numbered >= 0]]).tolist()
        found.append(_range(ascending) if ascending else None)
    return found


def _range(ascending: Sequence[float]) -> dict[str, Any]:
    return {"n": len(ascending), "min": ascending[0], "median": nearest_rank(ascending, 50), "max": ascending[-1]}

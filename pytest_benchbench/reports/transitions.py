"""What became of the detections inside pairs: what was recognised in marked artifacts, and what is after an attack.

A pair has a member in a state: all its rows there, under one transform where the state is a later one. Rules for members:

* A member counts as detected if every row of it says detected, and as not detected if every row says so. Several rows are
  several seeds of one attack, or one artifact in several runs; no one of them speaks for the others.
* Where a row has no verdict (an error, an unavailable adapter, a score without a decision, attempts that disagree), or rows
  of one member gave different verdicts, the pair is undecided.
* A later member whose pair has no marked row at all makes no pair; it is counted as unpaired. So is each row without a pair.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.reports.columns import Rows
from pytest_benchbench.reports.facets import Kind, Series
from pytest_benchbench.reports.kind_groups import KindGroups
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.reports.rates import rate_of
from pytest_benchbench.statistics.transitions import Transitions

FROM: Final = "marked"

TO: Final = ("attacked", "removed")

DETECTED, NOT_DETECTED, NO_VERDICT = 1, 2, 4
"""What a row says of its member; a member is the union of what its rows say."""

_SAYS: Final = {"detected": DETECTED, "not_detected": NOT_DETECTED}

_SAID: Final = 8
"""Unions lie below this number."""


class _Later(NamedTuple):
    """Later members that are counted together."""

    series: Series
    state: str
    transform: str | None


class Said(NamedTuple):
    """Rows of one side of the pairs.

    Attributes:
        groups: The group of each row, at least 0, of shape (n,).
        bases: Its pair, numbered from 0, or -1 where it belongs to none.
        says: One of ``DETECTED``, ``NOT_DETECTED`` and ``NO_VERDICT``.
    """

    groups: NDArray[np.intp]
    bases: NDArray[np.intp]
    says: NDArray[np.uint8]


def pair_answers(before: Said, after: Said, before_of_after: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Count pairs by what their members said.

    Args:
        before: The marked rows, grouped by series.
        after: The later rows, grouped by what is to be counted together.
        before_of_after: For each group of ``after`` the group of ``before`` in which its pairs are found, of shape (g,).

    Returns:
        Pairs by group of ``after``, union of the member before and union of the member after, of shape (g, 8, 8); and the
        number of members without a partner plus rows without a pair in each group, of shape (g,).
    """
    width = 1 + max(before.bases.max(initial=-1), after.bases.max(initial=-1))
    number = len(before_of_after)
    unpaired = np.bincount(after.groups[after.bases < 0], minlength=number)
    keys_before, said_before = _members(before, width)
    keys_after, said_after = _members(after, width)
    groups = keys_after // max(width, 1)
    wanted = before_of_after[groups] * width + keys_after - groups * width
    places = np.searchsorted(keys_before, wanted)
    has_partner = places < len(keys_before)
    has_partner[has_partner] = keys_before[places[has_partner]] == wanted[has_partner]
    unpaired += np.bincount(groups[~has_partner], minlength=number)
    pairs = groups[has_partner] * _SAID * _SAID + said_before[places[has_partner]] * _SAID + said_after[has_partner]
    return np.bincount(pairs, minlength=number * _SAID * _SAID).reshape(number, _SAID, _SAID), unpaired


def _members(rows: Said, width: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Give every member once, as group times ``width`` plus base, ascending, and the union of what its rows say."""
    named = np.flatnonzero(rows.bases >= 0)
    keys = rows.groups[named] * width + rows.bases[named]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    if not len(begins):
        return keys, keys
    return keys[begins], np.bitwise_or.reduceat(rows.says[named[order]], begins).astype(np.intp)


def transitions(rows: Rows) -> list[dict[str, Any]]:
    """Count what became of the detections in each pair, by series, later state and transform.

    Returns:
        Lines, sorted. ``kept``, ``lost``, ``gained``, ``absent`` (recognised neither before nor after) and ``undecided`` add
        up to ``pairs``; ``undecided_mixed`` of the undecided have a verdict in every row, but not the same one in all rows
        of a member. ``unpaired`` are in none of them. ``kept_rate`` is the share of the kept among the pairs that were
        detected before, ``gained_rate`` that of the gained among those that were not. ``mcnemar_p`` is the two-sided exact
        p-value of lost against gained, null where there is neither.
    """
    before = KindGroups.of(rows.kinds, lambda kind: kind.series if kind.facets.state == FROM else None, sort_key)
    after = KindGroups.of(rows.kinds, _later, lambda key: sort_key((*key.series, key.state, key.transform)))
    if not after.keys:
        return []
    takes_part = np.flatnonzero(np.isin(rows.of_rows, np.flatnonzero((before.of_kinds >= 0) | (after.of_kinds >= 0))))
    kinds = rows.of_rows[takes_part]
    names, bases = np.unique(rows.bases[takes_part], return_inverse=True)
    bases = bases - int(names[0] == 0)  # 0 stands for rows without a pair
    says = np.array([_SAYS.get(kind.standing, NO_VERDICT) for kind in rows.kinds], dtype=np.uint8)[kinds]
    sides = []
    for groups in (before, after):
        of_rows = groups.of_kinds[kinds]
        part = of_rows >= 0
        sides.append(Said(of_rows[part], bases[part], says[part]))
    series = {each: place for place, each in enumerate(before.keys)}
    nowhere = len(before.keys)  # a series without a marked row
    before_of_after = np.array([series.get(key.series, nowhere) for key in after.keys], dtype=np.intp)
    found, unpaired = pair_answers(sides[0], sides[1], before_of_after)
    return [_line(key, counts, alone) for key, counts, alone in zip(after.keys, found, unpaired.tolist(), strict=True)]


def _later(kind: Kind) -> _Later | None:
    state = kind.facets.state
    return _Later(kind.series, state, kind.facets.transform) if state in TO else None


def _line(key: _Later, counts: NDArray[np.intp], unpaired: int) -> dict[str, Any]:
    of_answers = Transitions(
        kept=int(counts[DETECTED, DETECTED]),
        lost=int(counts[DETECTED, NOT_DETECTED]),
        gained=int(counts[NOT_DETECTED, DETECTED]),
        absent=int(counts[NOT_DETECTED, NOT_DETECTED]),
    )
    pairs, decided = int(counts.sum()), of_answers.pairs
    return {
        **key.series._asdict(),
        "transform": key.transform,
        "from": FROM,
        "to": key.state,
        "pairs": pairs,
        "kept": of_answers.kept,
        "lost": of_answers.lost,
        "gained": of_answers.gained,
        "absent": of_answers.absent,
        "undecided": pairs - decided,
        "undecided_mixed": int(counts[:NO_VERDICT, :NO_VERDICT].sum()) - decided,
        "unpaired": unpaired,
        "kept_rate": rate_of(of_answers.kept, of_answers.kept + of_answers.lost),
        "gained_rate": rate_of(of_answers.gained, of_answers.gained + of_answers.absent),
        "mcnemar_p": of_answers.mcnemar_p,
    }

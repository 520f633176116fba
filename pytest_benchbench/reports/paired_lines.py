"""What became of the rows of a comparison, and paired statistics of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.carriers import bases_of
from pytest_benchbench.evidence.grouping import VERDICT_STANDINGS
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.reports.paired_rows import ComparedRows, Pairs, RowKind
from pytest_benchbench.reports.rates import rate_of
from pytest_benchbench.statistics.paired import mcnemar_exact
from pytest_benchbench.statistics.transitions import Transitions

EXPECTED_CHANGES = ("still_right", "newly_wrong", "newly_right", "still_wrong")
"""What can become of a row of which an answer is expected, and that has one on both sides."""

DETECTED_CHANGES = ("kept", "lost", "gained", "absent")
"""What can become of the detection of a row that expects nothing and is decided on both sides."""

OTHER_CHANGES = ("verdict_lost", "verdict_new", "no_verdict", "scored", "conflicting")
"""What can become of the others: no verdict any more, none before, none on either side, numbers without a decision, and
several rows of one adapter about one artifact that disagree."""

CHANGES = (*EXPECTED_CHANGES, *DETECTED_CHANGES, *OTHER_CHANGES)

_NUMBERS = {change: number for number, change in enumerate(CHANGES)}

_GOOD_BEFORE = frozenset(_NUMBERS[change] for change in ("still_right", "newly_wrong", "kept", "lost"))
_GOOD_AFTER = frozenset(_NUMBERS[change] for change in ("still_right", "newly_right", "kept", "gained"))


class LineKey(NamedTuple):
    """Rows that are counted together.

    Attributes:
        adapter: Of the first side.
        new_adapter: Of the second side: another one where two adapters of one run are compared.
        quantity: ``as_expected`` of rows that expect an answer, ``detected`` of rows that expect nothing.
        state: Of the rows that expect nothing; ``None`` for the others, which are counted over all states and arms.
        arm: Likewise.
    """

    suite: str
    params: str | None
    adapter: str
    new_adapter: str
    quantity: str
    state: str | None
    arm: str | None


def change_of(old: RowKind, new: RowKind) -> str:
    """Say what became of a row, one of ``CHANGES``."""
    if old.judged is not None and new.judged is not None:
        changes = {"right": ("still_right", "newly_wrong"), "wrong": ("newly_right", "still_wrong")}
        return changes[old.judged][new.judged == "wrong"]
    had, has = (kind.standing in VERDICT_STANDINGS for kind in (old, new))
    if not (had and has):
        return "verdict_lost" if had else "verdict_new" if has else "no_verdict"
    if "scored" in (old.standing, new.standing):
        return "scored"
    if old.standing == "detected":
        return "kept" if new.standing == "detected" else "lost"
    return "gained" if new.standing == "detected" else "absent"


class PairedLines:
    """What became of every pair.

    Args:
        rows: All rows.
        pairs: Which of them are pairs.

    Attributes:
        changes: For each pair a place in ``CHANGES``, of shape (pairs,).
    """

    def __init__(self, rows: ComparedRows, pairs: Pairs) -> None:
        self._rows = rows
        self._pairs = pairs
        of_rows, count = rows.of_rows().astype(np.uint64), np.uint64(len(rows.kinds))
        combined, self._of_pairs = np.unique(of_rows[pairs.old] * count + of_rows[pairs.new], return_inverse=True)
        self._combinations = [(rows.kinds[int(both // count)], rows.kinds[int(both % count)]) for both in combined]
        numbers = np.array([_NUMBERS[change_of(*both)] for both in self._combinations], dtype=np.uint8)
        self.changes: NDArray[np.uint8] = numbers[self._of_pairs]
        self.changes[pairs.is_conflicting] = _NUMBERS["conflicting"]

    def counts(self) -> dict[str, int]:
        """Count the pairs by what became of them."""
        counts = np.bincount(self.changes, minlength=len(CHANGES)).tolist()
        return dict(zip(CHANGES, counts, strict=True))

    def that(self, *changes: str) -> NDArray[np.intp]:
        """Give the pairs of which one of these became, as places, ascending."""
        return np.flatnonzero(np.isin(self.changes, [_NUMBERS[change] for change in changes]))

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield a line for each suite, parameters, adapter and quantity, sorted.

        ``rows`` counts rows by what became of them. ``artifacts`` and ``bases`` count each artifact and each base once. One
        is good on a side if all of its rows are: of that are the rates, their paired interval and McNemar's test. It became
        ``better`` or ``worse`` if more or fewer of its rows are good than before: of that is the sign test, ``sign_p``; it
        sees changes inside of a base too, and is McNemar's test where each has one row. ``tested`` says which of the two
        decides: bases, where every row has one, because rows that come from one base are not independent.
        """
        keys = [_key(*both) for both in self._combinations]
        artifacts = np.unique(self._rows.artifacts(), return_inverse=True)[1]
        bases = bases_of(self._rows.bases(), artifacts)[self._pairs.new]
        artifacts = artifacts[self._pairs.new]
        for key in sorted({key for key in keys if key is not None}, key=sort_key):
            is_of_line = np.array([other == key for other in keys])[self._of_pairs]
            is_of_line &= ~self._pairs.is_conflicting
            if not is_of_line.any():
                continue
            changes, bases_here = self.changes[is_of_line], bases[is_of_line]
            counts = Counter(dict(zip(*(part.tolist() for part in np.unique(changes, return_counts=True)), strict=True)))
            names = EXPECTED_CHANGES if key.quantity == "as_expected" else DETECTED_CHANGES
            has_base = bases_here >= 0
            yield {
                **key._asdict(),
                "rows": {name: counts[_NUMBERS[name]] for name in names},
                "rows_without_base": int(np.count_nonzero(~has_base)),
                "artifacts": _unit(artifacts[is_of_line], changes),
                "bases": _unit(bases_here[has_base], changes[has_base]) if has_base.any() else None,
                "tested": "bases" if has_base.all() else "artifacts",
            }


def _key(old: RowKind, new: RowKind) -> LineKey | None:
    change = change_of(old, new)
    who = (old.series.suite, old.series.params, old.series.adapter, new.series.adapter)
    if change in EXPECTED_CHANGES:
        return LineKey(*who, "as_expected", None, None)
    return LineKey(*who, "detected", new.state, new.arm) if change in DETECTED_CHANGES else None


def _unit(units: NDArray[np.intp], changes: NDArray[np.uint8]) -> dict[str, Any]:
    """Count units of which all rows are good, before and after, and test the difference."""
    _, of_rows = np.unique(units, return_inverse=True)
    count = int(of_rows.max()) + 1 if len(of_rows) else 0

    rows = np.bincount(of_rows, minlength=count)
    good_before, good_after = (
        np.bincount(of_rows[np.isin(changes, list(good))], minlength=count) for good in (_GOOD_BEFORE, _GOOD_AFTER)
    )
    better, worse = int(np.count_nonzero(good_after > good_before)), int(np.count_nonzero(good_after < good_before))
    before, after = good_before == rows, good_after == rows
    both = int(np.count_nonzero(before & after))
    only_old, only_new = int(np.count_nonzero(before & ~after)), int(np.count_nonzero(after & ~before))
    became = Transitions(both, only_old, only_new, count - both - only_old - only_new)
    change = became.change()
    return {
        "n": count,
        "both": both,
        "only_old": only_old,
        "only_new": only_new,
        "neither": became.absent,
        "old": rate_of(both + only_old, count),
        "new": rate_of(both + only_new, count),
        "change": None if change is None else change._asdict(),
        "mcnemar_p": became.mcnemar_p,
        "better": better,
        "worse": worse,
        "sign_p": mcnemar_exact(better, worse),
    }

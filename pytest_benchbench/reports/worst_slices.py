"""Where it goes wrong most: the states, transforms and arms whose rows were answered wrongly or not at all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, Final

from pytest_benchbench.reports.columns import Rows
from pytest_benchbench.reports.facets import Series
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.reports.rates import rate_of

SHOWN: Final = 20
"""How many slices are named."""

_OUTCOMES: Final = ("mismatch", "known_mismatch", "error", "unavailable", "not_run")


def worst_slices(rows: Rows, runs: Mapping[Series, int] | None = None) -> dict[str, Any]:
    """Find the slices in which something is wrong.

    A row is wrong if it is a mismatch (one whose attempts disagree is among them) or an error. The share is that of the
    wrong among the rows that were run: neither unavailable nor not run. A known mismatch is not wrong.

    Args:
        rows: Of all runs.
        runs: How many runs there are of each series, 1 of those that are absent. They asked about the same cases: the
            counts are of all their rows, and the interval is as wide as that of one.

    Returns:
        ``worst_slices``: at most ``SHOWN`` lines, by the lower bound of the share's Wilson interval from the highest down,
        so that one wrong row of one does not come before ninety of a hundred. ``wrong_slices``: how many there are in all.
    """
    found: defaultdict[tuple[Series, tuple[str | None, ...]], Counter[str]] = defaultdict(Counter)
    for kind, count in zip(rows.kinds, rows.counts().tolist(), strict=True):
        facets = kind.facets
        counts = found[kind.series, (facets.state, facets.transform, facets.arm)]
        counts["rows"] += count
        counts[kind.outcome] += count
        if kind.standing == "unstable":
            counts["unstable"] += count
    lines = []
    for (series, slice_), counts in found.items():
        wrong = counts["mismatch"] + counts["error"]
        if wrong:
            run = counts["rows"] - counts["unavailable"] - counts["not_run"]
            lines.append(
                {
                    **series._asdict(),
                    **dict(zip(("state", "transform", "arm"), slice_, strict=True)),
                    "rows": counts["rows"],
                    **{f"rows_{outcome}": counts[outcome] for outcome in _OUTCOMES},
                    "rows_unstable": counts["unstable"],
                    "wrong_rate_of_rows": rate_of(wrong, run, repeats=(runs or {}).get(series, 1)),
                }
            )
    lines.sort(key=_worst_first)
    return {"worst_slices": lines[:SHOWN], "wrong_slices": len(lines)}


def _worst_first(line: dict[str, Any]) -> tuple[Any, ...]:
    rate = line["wrong_rate_of_rows"]
    where = sort_key(line[name] for name in (*Series._fields, "state", "transform", "arm"))
    return (-rate["wilson95_low"], -rate["k"], where)

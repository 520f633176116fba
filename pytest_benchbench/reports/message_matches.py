"""How many bits of a message agreed, and how likely that is for a picture without one."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_benchbench.reports.columns import Rows
from pytest_benchbench.reports.facets import Kind, Series
from pytest_benchbench.statistics.latency import nearest_rank
from pytest_benchbench.statistics.message_match import match_tail

_NAMES = (*Series._fields, "state", "transform")


def message_matches(rows: Rows) -> list[dict[str, Any]]:
    """Summarise the rows with a verdict and a ``message_bit_accuracy``.

    Returns:
        A line for each series, state, transform and number of bits, sorted: ``bits`` of the message, the ``rows``, the
        smallest, middle and largest number of ``equal`` bits, and ``log10_p``, the logarithm of the probability that as many
        bits or more agree by chance, for the same three. Its median and the extremes are those of rows that were observed:
        ``log10_p.max``, the most likely chance, belongs to ``equal.min``. Where the number of bits is not known, ``bits``,
        ``equal`` and ``log10_p`` are null.
    """
    accuracy = rows.quantities["message_bit_accuracy"]
    equal = np.rint(accuracy.values * rows.message_bits).astype(np.int64)
    return [
        {**dict(zip(_NAMES, key, strict=True)), **_summary(bits, np.sort(equal[values[of_values == bits]]).tolist())}
        for key, values in rows.grouped(_key, accuracy.places)
        for of_values in [rows.message_bits[values]]
        for bits in np.unique(of_values).tolist()
    ]


def _key(kind: Kind) -> tuple[str | None, ...]:
    return (*kind.series, kind.facets.state, kind.facets.transform)


def _summary(bits: int, ascending: list[int]) -> dict[str, Any]:
    if not bits:
        return {"bits": None, "rows": len(ascending), "equal": None, "log10_p": None}
    low, median, high = ascending[0], int(nearest_rank(ascending, 50)), ascending[-1]
    return {
        "bits": bits,
        "rows": len(ascending),
        "equal": {"min": low, "median": median, "max": high},
        "log10_p": {
            "min": match_tail(high, bits).log10_p,
            "median": match_tail(median, bits).log10_p,
            "max": match_tail(low, bits).log10_p,
        },
    }

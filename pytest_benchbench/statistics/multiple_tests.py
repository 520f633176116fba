"""Several tests at once: p-values raised so that one chance finding among them is no likelier than in a single test."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values by Holm's step-down method, which holds the family-wise error rate whatever depends on what.

    The i-th smallest of m is multiplied by ``m - i + 1`` and is at least as large as the adjusted one before it, at most 1.
    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979)
    65-70.

    Args:
        p_values: Each in [0, 1]; ``None`` for a test that was declared and of which nothing could be tested: it counts among
            the m all the same.

    Returns:
        The adjusted values in the given order, ``None`` where there was none.

    Raises:
        ValueError: A value lies outside [0, 1].
    """
    if any(p is not None and not 0 <= p <= 1 for p in p_values):
        raise ValueError(f"p-values lie in [0, 1]: {list(p_values)!r}")
    adjusted: list[float | None] = [None] * len(p_values)
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    highest = 0.0
    for step, (p, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(p_values) - step) * p))
        adjusted[place] = highest
    return adjusted

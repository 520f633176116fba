"""Folds for cross-validation that depend on the names of the bases alone, and that other languages can deal alike."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

DEFAULT_SALT = "benchbench"

DEFAULT_FOLDS = 5

MAX_FOLDS = 100
"""Each fold is a fit of its own."""


def deal_folds(labels: Mapping[str, int], *, count: int = DEFAULT_FOLDS, salt: str = DEFAULT_SALT) -> dict[str, int]:
    """Deal bases into folds of equal size, class by class.

    The bases of a class are ranked by the SHA-256 of ``salt|base`` (UTF-8) and dealt in turn: rank r goes to fold r modulo
    ``count``. So folds differ by at most one base of each class, and neither the order of rows, nor the number of
    derivatives, nor the labels' meaning moves a base. Adding a base moves others; ``hash modulo count`` would not, but its
    folds may be very unequal.

    Args:
        labels: The class of each base.
        count: How many folds, at least 2.
        salt: Another one deals other folds.

    Returns:
        The fold of each base, 0 to ``count - 1``; a class of fewer bases than folds leaves the last folds without it.

    Raises:
        ValueError: There are fewer than 2 folds.
    """
    if count < 2:
        raise ValueError(f"at least 2 folds: {count!r}")
    ranks: dict[int, int] = {}
    folds = {}
    for base in sorted(labels, key=lambda base: sha256(f"{salt}|{base}".encode()).digest()):
        rank = ranks.get(labels[base], 0)
        folds[base] = rank % count
        ranks[labels[base]] = rank + 1
    return folds

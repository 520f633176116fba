"""Locks on files of weights: the bytes that a network is made of are the bytes whose digest was compared with the pin."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from pytest_benchbench.adapters.base import AdapterUnavailable, Weights

_MD5_DIGITS = 32

NOT_PINNED = "the weights are not the pinned ones (allow_unpinned)"
"""What a rule says at its end when other weights than the pinned ones were taken on request."""


@dataclass(frozen=True, slots=True)
class LockedWeights:
    """A file of weights that was read once, and passed.

    Attributes:
        data: Its bytes, those that were hashed. Load from these, never from the path again.
        weights: Its name and SHA-256, for ``AdapterDescription.weights``.
        pinned: Whether the digest is the pinned one; ``False`` only where the user asked for other weights.
    """

    data: bytes = field(repr=False)
    weights: Weights
    pinned: bool


def locked_weights(
    path: Path, *, pinned: str | None, allow_unpinned: bool, remedy: str, source: str | None = None
) -> LockedWeights:
    """Read a file of weights and compare its digest with the pin, before anything is loaded from it.

    Args:
        path: The file.
        pinned: The digest that it must have in lower-case hex: 64 digits are SHA-256, 32 are MD5 (where a package
            publishes nothing else); ``None`` where no digest is known.
        allow_unpinned: Take another file all the same.
        remedy: How to get the file when it is missing.
        source: Where the pinned file is from, in words that end "take the file of ..."; ``remedy`` speaks for it if absent.

    Raises:
        AdapterUnavailable: The file cannot be read, or has another digest and ``allow_unpinned`` is not set.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AdapterUnavailable(f"{path} cannot be read: {error.strerror}", remedy) from error
    found = Weights(path.name, hashlib.sha256(data).hexdigest())
    kind, digest = "SHA-256", found.sha256
    if pinned is not None and len(pinned) == _MD5_DIGITS:
        kind, digest = "MD5", hashlib.md5(data, usedforsecurity=False).hexdigest()
    if digest == pinned:
        return LockedWeights(data, found, pinned=True)
    if allow_unpinned:
        return LockedWeights(data, found, pinned=False)
    pin = f"not the pinned {pinned}" if pinned is not None else "and no digest is pinned for it"
    genuine = f"take the file of {source}" if source is not None else remedy
    raise AdapterUnavailable(
        f"{path.name} has {kind} {digest}, {pin}", f"{genuine}, or accept this one with allow_unpinned=true"
    )


def rule_with_weights(rule: str, *locked: LockedWeights) -> str:
    """Give a decision rule in words, saying at its end when weights were taken that are not the pinned ones."""
    return rule if all(each.pinned for each in locked) else f"{rule}; {NOT_PINNED}"

"""Which adapters were verified in this project by ``benchbench adapters --check``: a small file in its state directory."""

from __future__ import annotations

from pathlib import Path

import msgspec

from pytest_benchbench.evidence.writing import encode_document, write_atomically

FILE = "verified-adapters.json"

_MAX_BYTES = 1 << 20


class VerifiedAdapter(msgspec.Struct, frozen=True, kw_only=True):
    """A check that succeeded.

    Attributes:
        adapter: The adapter's name.
        version: What its description said.
        weights: SHA-256 of every file of weights that it used, sorted.
        date: Day of the check, UTC, as 2026-11-30.
        message_bit_accuracy: The best over the carriers; null for a scheme without a message.
    """

    adapter: str
    version: str
    weights: tuple[str, ...]
    date: str
    message_bit_accuracy: float | None


def read_verified(state_directory: Path) -> list[VerifiedAdapter]:
    """Read the checks of a project; a file that is missing or cannot be read proves nothing and gives none."""
    path = state_directory / FILE
    try:
        if path.stat().st_size > _MAX_BYTES:
            return []
        return msgspec.json.decode(path.read_bytes(), type=list[VerifiedAdapter])
    except (OSError, msgspec.DecodeError):
        return []


def add_verified(state_directory: Path, verified: VerifiedAdapter) -> None:
    """Keep a check; an earlier one of the same adapter with the same weights is replaced.

    Raises:
        OSError: The file cannot be written.
    """
    kept = [
        other
        for other in read_verified(state_directory)
        if (other.adapter, other.weights) != (verified.adapter, verified.weights)
    ]
    kept = sorted([*kept, verified], key=lambda check: (check.adapter, check.weights))
    write_atomically(state_directory / FILE, encode_document(kept))

"""What ``run.json`` says of the opening of a test split: which attempt it was, and by what it is told from others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import msgspec

OPENING = "opening"
"""The member of ``run.json``; a run that opened no test split has none."""

_Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]


class RecordedOpening(msgspec.Struct, frozen=True, order=True):
    """The opening that a run is part of.

    Attributes:
        attempt: It is the n-th opening of this test split, by any model; 1 for the first.
        ledger: Name of the ledger's file.
        split_sha256: Digest of the bases of the split; see ``manifests/splits.py``.
        asked_sha256: Digest of what was asked of whom; see ``gates/ledger.py``.
    """

    attempt: Annotated[int, msgspec.Meta(ge=1, le=2**53)]
    ledger: str
    split_sha256: _Sha256
    asked_sha256: _Sha256


def opening_of(run: Mapping[str, Any]) -> RecordedOpening | None:
    """Give what ``run.json`` says of an opening.

    Args:
        run: The document; it may come from anywhere.

    Returns:
        ``None`` where it says of none, or nothing that can be understood.
    """
    try:
        return msgspec.convert(run.get(OPENING), RecordedOpening)
    except msgspec.ValidationError:
        return None


def attempt_of(run: Mapping[str, Any]) -> int | None:
    """Give the number of the attempt at the test split; ``None`` for a run that opened none.

    Args:
        run: The content of ``run.json``.
    """
    opening = opening_of(run)
    return None if opening is None else opening.attempt


def joined_opening(runs: Iterable[Mapping[str, Any]]) -> RecordedOpening | None:
    """Give the opening that runs have together: shards of one run share it, of several openings the last one counts.

    Args:
        runs: The content of each ``run.json``; those of shards that had no rows say of none.

    Returns:
        ``None`` where none of them opened a test split; it does not depend on their order.
    """
    return max((opening for run in runs if (opening := opening_of(run)) is not None), default=None)

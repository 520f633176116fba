"""The cases that a page shows one by one, with all that was observed of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import msgspec

from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.reports.labelled_answers import judged_by_label
from pytest_benchbench.reports.ordering import Listing

FAILING = ("mismatch", "wrong_score", "error", "known_mismatch")
"""What cases are that are shown one by one: outcomes, and labelled rows whose score is on the wrong side."""

SHOWN = 200
"""How many cases are shown one by one."""

MAX_SERIES_BYTES = 256 * 1024
"""Of ``temporal`` as JSON; a longer series of one of these cases is left out."""

Key = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class FailingCase:
    """A case that is shown on its own.

    Attributes:
        settled: What was observed; ``temporal`` is absent where it is longer than ``MAX_SERIES_BYTES``.
        is_cut: Whether it was left out.
    """

    settled: SettledRow
    is_cut: bool = False

    @property
    def row(self) -> EvidenceRow:
        """The evidence of the attempt that counts."""
        return self.settled.row

    @property
    def why(self) -> str:
        """Why it is shown, one of ``FAILING``."""
        return _why(self.settled)

    @property
    def key(self) -> Key:
        """Tells the cases of a page apart: the run, suite, adapter, case and parameters."""
        return (self.row.run_id, *self.row.key.row)


class FailingCases:
    """Keeps the first cases of each kind in ``FAILING``, in the order of their manifests."""

    def __init__(self) -> None:
        self._listings = {outcome: Listing(SHOWN) for outcome in FAILING}

    def add(self, settled: SettledRow) -> None:
        """Take one settled row."""
        if (listing := self._listings.get(_why(settled))) is None:
            return
        manifest = settled.row.manifest
        place = (manifest.name, manifest.line or 0, manifest.pointer or "")
        case = _bounded(settled)
        listing.add((place, case.key), {"case": case})

    def shown(self) -> list[FailingCase]:
        """Give at most ``SHOWN`` cases, mismatches first; each kind has equally many places as long as it has cases."""
        kinds = [[entry["case"] for entry in listing.document()["listed"]] for listing in self._listings.values()]
        dealt = [case for cases in zip_longest(*kinds) for case in cases if case is not None][:SHOWN]
        return sorted(dealt, key=lambda case: FAILING.index(case.why))

    def count(self) -> int:
        """How many cases failed, shown or not."""
        return sum(listing.document()["count"] for listing in self._listings.values())


def _why(settled: SettledRow) -> str:
    return "wrong_score" if judged_by_label(settled) == "wrong" else settled.outcome


def _bounded(settled: SettledRow) -> FailingCase:
    """Leave a very long series out: a few hundred of them would fill the memory."""
    series = settled.row.detection.temporal
    if series is None or len(msgspec.json.encode(series)) <= MAX_SERIES_BYTES:
        return FailingCase(settled)
    detection = msgspec.structs.replace(settled.row.detection, temporal=None)
    row: Any = msgspec.structs.replace(settled.row, detection=detection)
    return FailingCase(msgspec.structs.replace(settled, row=row), is_cut=True)

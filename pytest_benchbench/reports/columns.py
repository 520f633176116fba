"""Rows as columns: what tables and curves are computed from when all rows have passed. No object of a row is kept."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.carriers import BaseColumn
from pytest_benchbench.evidence.digest_column import DigestColumn
from pytest_benchbench.evidence.grouping import VERDICT_STANDINGS, Standing
from pytest_benchbench.evidence.observation import DetectionRecord, EvidenceRow, FidelityRecord
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow
from pytest_benchbench.reports.facets import CaseField, Facets, Kind, Series, transform_parts
from pytest_benchbench.reports.message_bits import message_bits
from pytest_benchbench.reports.ordering import sort_key

ANSWERED: frozenset[str] = VERDICT_STANDINGS | {"unstable"}
"""The standings of rows whose detector said something about the artifact."""

DETECTION_QUANTITIES = ("message_bit_accuracy", "score")

FIDELITY_QUANTITIES = ("mae", "changed_fraction", "psnr_db", "snr_db", "mean_psnr_db", "changed_frame_fraction")

FIDELITY = ("not_run", "measured", "unbounded_identical", "incomparable", "no_reference", "error")
"""What is known of the fidelity of a row; ``unbounded_identical`` is measured too, but has no PSNR or SNR."""

_FIDELITY_CODES = {status: code for code, status in enumerate(FIDELITY)}

MOST_KINDS = 100_000
"""Rows that are told apart by fields of the user's choice are of no more kinds: a table by the case's id helps nobody."""

_SHA256_BYTES = 32

_NO_ARTIFACT = bytes(_SHA256_BYTES)

_NOTHING: dict[str, Any] = {}

_UNBOUNDED = "unbounded_identical"


@dataclass(frozen=True, slots=True)
class Quantity:
    """The numbers of those rows that have one.

    Attributes:
        places: The rows, as places in the columns, ascending, of shape (n,).
        values: Their numbers, finite, of shape (n,).
    """

    places: NDArray[np.uint32]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows. What is computed from them must not depend on the order of rows or kinds.

    Attributes:
        kinds: Every kind that occurs, once.
        of_rows: The kind of each row, as a place in ``kinds``, of shape (rows,).
        bases: What tells the base that each row names from others, see ``base_digest``; of shape (rows,). Several pairs may
            be one base, see ``bases_of``.
        artifacts: SHA-256 of each row's artifact; zero bytes for rows that are not ``ANSWERED``.
        fidelity: What is known of each row's fidelity, as a place in ``FIDELITY``, of shape (rows,).
        message_bits: For each value of the quantity ``message_bit_accuracy`` the number of bits of which it is the share, 0
            where nobody says; see ``message_bits``.
        quantities: ``DETECTION_QUANTITIES`` of the rows with a verdict and ``FIDELITY_QUANTITIES`` of those that were run.
    """

    kinds: Sequence[Kind]
    of_rows: NDArray[np.uint32]
    bases: NDArray[np.uint64]
    artifacts: DigestColumn
    fidelity: NDArray[np.uint8]
    message_bits: NDArray[np.uint32]
    quantities: Mapping[str, Quantity]

    def counts(self) -> NDArray[np.intp]:
        """Count the rows of each kind, of shape (kinds,)."""
        return np.bincount(self.of_rows, minlength=len(self.kinds))

    def that(self, is_wanted: Callable[[Kind], bool]) -> NDArray[np.bool_]:
        """Say of each row whether its kind is wanted, of shape (rows,)."""
        if not self.kinds:
            return np.zeros(0, dtype=np.bool_)
        return np.array([is_wanted(kind) for kind in self.kinds], dtype=np.bool_)[self.of_rows]

    def grouped(
        self, key: Callable[[Kind], tuple[str | None, ...]], places: NDArray[np.integer[Any]] | None = None
    ) -> Iterator[tuple[tuple[str | None, ...], NDArray[np.intp]]]:
        """Yield every key that has a row, sorted, with its rows.

        Args:
            key: Tells rows apart by their kind.
            places: The rows that are looked at; all of them unless told otherwise.

        Yields:
            The key, and positions in ``places`` (of all rows: places), ascending.
        """
        keys = sorted({key(kind) for kind in self.kinds}, key=sort_key)
        numbers = {each: number for number, each in enumerate(keys)}
        of_kinds = np.array([numbers[key(kind)] for kind in self.kinds], dtype=np.uint32)
        groups = of_kinds[self.of_rows if places is None else self.of_rows[places]] if keys else of_kinds
        order = np.argsort(groups, kind="stable")
        bounds = np.searchsorted(groups[order], np.arange(len(keys) + 1))
        for each, begin, end in zip(keys, bounds[:-1], bounds[1:], strict=True):
            if begin < end:
                yield each, order[begin:end]


class RowColumns:
    """Takes every settled row once. Memory: 45 bytes a row and 12 or 16 for each number that it has.

    Args:
        fields: Fields of the cases by which rows are told apart too.

    Attributes:
        kinds: Every kind that occurred so far.
    """

    def __init__(self, fields: Sequence[CaseField] = ()) -> None:
        self._fields = tuple(fields)
        self._told: dict[tuple[Any, ...], int] = {}  # by what rows say, which may be no text
        self._numbers: dict[Kind, int] = {}
        self.kinds: list[Kind] = []
        self._of_rows = array("I")
        self._bases = BaseColumn()
        self._artifacts = DigestColumn(_SHA256_BYTES)
        self._fidelities = bytearray()
        self._message_bits = array("I")
        names = (*DETECTION_QUANTITIES, *FIDELITY_QUANTITIES)
        self._quantities = {name: (array("I"), array("d")) for name in names}
        appending = {name: (places.append, values.append) for name, (places, values) in self._quantities.items()}
        self._accuracy, self._score = (appending[name] for name in DETECTION_QUANTITIES)
        self._mae, self._changed, self._psnr, self._snr, self._mean_psnr, self._changed_frames = (
            appending[name] for name in FIDELITY_QUANTITIES
        )

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._of_rows)

    def add(self, settled: SettledRow, standing: Standing) -> Kind:
        """Take the next row.

        Returns:
            Its kind.

        Raises:
            EvidenceError: It has an answer, and the digest of its artifact is none; or there are above ``MOST_KINDS`` kinds.
        """
        row = settled.row
        artifact = _digest(row) if standing in ANSWERED else _NO_ARTIFACT
        number = self._number(settled, standing)
        place = len(self._of_rows)
        if standing in VERDICT_STANDINGS:
            self._take_detection(place, row.detection)
        self._fidelities.append(0 if standing == "not_run" else self._take_fidelity(place, row.fidelity))
        self._artifacts.append(artifact)
        self._bases.append(row)
        self._of_rows.append(number)
        return self.kinds[number]

    def _number(self, settled: SettledRow, standing: Standing) -> int:
        """Give the number of the row's kind."""
        row = settled.row
        key, case = row.key, row.case
        told_of = case.get
        transform, attack, source = transform_parts(case)
        attack = attack if attack.__class__ is dict else _NOTHING
        source = source if source.__class__ is dict else _NOTHING
        strength = attack.get("strength")
        told: tuple[Any, ...] = (
            standing,
            settled.outcome,
            key.suite,
            key.params,
            key.adapter,
            told_of("state"),
            transform,
            told_of("arm"),
            told_of("expected"),
            told_of("media_type"),
            attack.get("family"),
            strength,
            strength.__class__,  # 1 equals true
            source.get("provider"),
            source.get("content_stratum"),
        )
        if self._fields:
            told += tuple([field.of(case) for field in self._fields])
        try:
            return self._told[told]
        except KeyError:
            number = self._told[told] = self._new_number(settled, standing)
            return number
        except TypeError:  # what should be a text is a list or an object
            return self._new_number(settled, standing)

    def _new_number(self, settled: SettledRow, standing: Standing) -> int:
        kind = Kind(Series.of(settled.row), Facets.of(settled.row, self._fields), standing, settled.outcome)
        if kind not in self._numbers:
            if self._fields and len(self.kinds) == MOST_KINDS:
                paths = ", ".join(field.path for field in self._fields)
                raise EvidenceError(
                    f"by {paths}: above {MOST_KINDS:,} different lines are no table; name what rows have in common"
                )
            self._numbers[kind] = len(self.kinds)
            self.kinds.append(kind)
        return self._numbers[kind]

    def _take_detection(self, place: int, detection: DetectionRecord) -> None:
        if (accuracy := detection.message_bit_accuracy) is not None:
            add_place, add_value = self._accuracy
            add_place(place)
            add_value(accuracy)
            self._message_bits.append(message_bits(detection))
        if (score := detection.score) is not None:
            add_place, add_value = self._score
            add_place(place)
            add_value(score)

    def _take_fidelity(self, place: int, fidelity: FidelityRecord) -> int:
        """Take the numbers that were measured; give what is known, as a place in ``FIDELITY``."""
        if fidelity.status != "measured":
            return _FIDELITY_CODES[fidelity.status]
        value: object  # one after the other: a loop would cost a microsecond more for each row
        if isinstance(value := fidelity.mae, float):
            self._mae[0](place)
            self._mae[1](value)
        if isinstance(value := fidelity.changed_fraction, float):
            self._changed[0](place)
            self._changed[1](value)
        if isinstance(value := fidelity.psnr_db, float):
            self._psnr[0](place)
            self._psnr[1](value)
        if isinstance(value := fidelity.snr_db, float):
            self._snr[0](place)
            self._snr[1](value)
        if isinstance(value := fidelity.mean_psnr_db, float):
            self._mean_psnr[0](place)
            self._mean_psnr[1](value)
        if isinstance(value := fidelity.changed_frame_fraction, float):
            self._changed_frames[0](place)
            self._changed_frames[1](value)
        if _UNBOUNDED in (fidelity.psnr_status, fidelity.snr_status, fidelity.mean_psnr_status):
            return _FIDELITY_CODES[_UNBOUNDED]
        return _FIDELITY_CODES["measured"]

    def rows(self) -> Rows:
        """Give the rows so far. No row can be taken while what this gives is in use."""
        return Rows(
            kinds=tuple(self.kinds),
            of_rows=np.frombuffer(self._of_rows, dtype=np.uint32),
            bases=self._bases.digests(),
            artifacts=self._artifacts,
            fidelity=np.frombuffer(self._fidelities, dtype=np.uint8),
            message_bits=np.frombuffer(self._message_bits, dtype=np.uint32),
            quantities={
                name: Quantity(np.frombuffer(places, dtype=np.uint32), np.frombuffer(values, dtype=np.float64))
                for name, (places, values) in self._quantities.items()
            },
        )


def _digest(row: EvidenceRow) -> bytes:
    try:
        digest = bytes.fromhex(row.artifact.sha256)
    except ValueError:
        digest = b""
    if len(digest) != _SHA256_BYTES:
        raise EvidenceError(f"{row.key.case_id}: artifact.sha256: expected 64 hex digits, got {row.artifact.sha256!r}")
    return digest

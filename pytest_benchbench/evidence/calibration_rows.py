"""The rows that a calibrator is fitted on: who may be among them, and what they are worth."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters.calibrator import Counts
from pytest_benchbench.evidence.score_rows import ScoreRow
from pytest_benchbench.evidence.score_source import ScoreSource
from pytest_benchbench.manifests.faults import FaultLog, ManifestError, shown
from pytest_benchbench.statistics.calibration import Scored
from pytest_benchbench.statistics.classification import AI, REAL

SPLIT = "calibration"

_ALIKE = ("adapter", "modelSha256", "preprocessingVersion", "evaluationMode")
"""What all rows must say alike: a mapping of one detector's scores says nothing about another's."""

_REMEDIES = {"adapter": "--adapter takes the rows of one"}

_DOMAIN = {REAL: "source", AI: "generatorFamily"}
"""What tells where an image of a class is from: by this bases are counted."""


class CalibrationError(Exception):
    """Rows that no calibrator must be fitted on: one line for each fault, with file, line and field."""


class _Kept(NamedTuple):
    """What is kept of a row, in the order by which rows are sorted: the unit's name and the id tell every two apart."""

    unit: str
    id: str
    base: str | None
    label: int
    raw: float | None
    status: str
    source: str | None
    family: str | None


@dataclass(frozen=True, slots=True)
class CalibrationRows:
    """Rows of a calibration split, sorted.

    Attributes:
        units: Names of the units that have a raw score: bases, or ids where no row names its base. Sorted.
        labels: The class of each unit, of shape (units,).
        scored: The rows with a raw score; ``bases`` are positions in ``units``.
        failed: Units with a row that has no score; of shape (units,).
        counts: What a calibrator says that it was fitted on.
        model_sha256: Of the checkpoint, if that is known.
        preprocessing_version: If that is known.
        sha256: Digest of the rows in canonical form: sorted by base (by id where no row names one) and then by id, of each
            the JSON array ``[id, baseId, label, rawScore, status, source, generatorFamily]``, ended by LF.
    """

    units: list[str]
    labels: NDArray[np.int8]
    scored: Scored
    failed: NDArray[np.bool_]
    counts: Counts
    model_sha256: str | None
    preprocessing_version: str | None
    sha256: str


def read_calibration_rows(
    source: ScoreSource,
    *,
    model_sha256: str | None = None,
    preprocessing_version: str | None = None,
    exclude_terminal: bool = False,
) -> CalibrationRows:
    """Read the rows of a calibration split, and refuse what is none.

    Every row must be marked ``calibration`` and have a label and a raw score. A row with a terminal status has no raw score:
    it is refused too, or on request left out and counted, and then fails its base whenever bases are judged. All rows must
    agree about detector, checkpoint, preprocessing and evaluation mode, and the rows of a base about its label and its real
    source or generator family. Either all rows name their base or none does.

    Args:
        source: The scores.
        model_sha256: Of the checkpoint, where rows do not say it; where they do, the same.
        preprocessing_version: Likewise.
        exclude_terminal: Leave terminal rows out.

    Raises:
        CalibrationError: Rows are refused, or none is left.
        ScoreError: The scores cannot be read.
    """
    told = {"modelSha256": model_sha256, "preprocessingVersion": preprocessing_version}
    desk = _Desk(FaultLog(str(source.file)), told, exclude_terminal)
    for row in source:
        desk.take(row)
    try:
        desk.log.check()
    except ManifestError as error:
        raise CalibrationError(str(error)) from None
    kept = sorted(desk.kept)
    if not any(row.raw is not None for row in kept):
        raise CalibrationError(f"{source.file}: no row has a raw score")
    return _columns(kept, desk)


@dataclass(slots=True)
class _Desk:
    """Looks at one row after the other.

    Attributes:
        log: Where faults go.
        told: What the user says of all rows.
        exclude_terminal: Whether terminal rows may be left out.
        kept: What passed.
        said: What rows said first of what they must say alike, and where.
        of_bases: The same for each base.
        modes: Rows by evaluation mode.
        sound: What the last row said that agreed with all before: most rows say the same.
    """

    log: FaultLog
    told: dict[str, str | None]
    exclude_terminal: bool
    kept: list[_Kept] = field(default_factory=list)
    said: dict[str, tuple[Any, int]] = field(default_factory=dict)
    of_bases: dict[tuple[str, str], tuple[Any, int]] = field(default_factory=dict)
    modes: Counter[str] = field(default_factory=Counter)
    sound: tuple[Any, ...] = ()

    def take(self, row: ScoreRow) -> None:
        """Keep a row, or note every fault of it."""
        faults = list(self._faults(row))
        for name, message in faults:
            self.log.add(row.line, name, message)
        if faults or row.label is None:
            return
        if row.evaluationMode is not None:
            self.modes[row.evaluationMode] += 1
        unit = row.id if row.baseId is None else row.baseId
        self.kept.append(
            _Kept(unit, row.id, row.baseId, row.label, row.rawScore, row.status or "", row.source, row.generatorFamily)
        )

    def _faults(self, row: ScoreRow) -> Iterator[tuple[str, str]]:
        if row.split != SPLIT:
            yield "split", f"{_what(row.split)}; only rows that are marked {SPLIT} may be fitted on"
        if row.label is None:
            yield "label", "missing"
        if not row.is_scored:
            if not self.exclude_terminal:
                yield "status", f"{shown(row.status)}: there is no raw score; --exclude-terminal leaves such rows out"
        elif row.rawScore is None:
            yield "rawScore", "missing; a calibrated score cannot be calibrated"
        yield from self._unlike(row)
        if row.baseId is not None:
            yield from self._unlike_its_base(row, row.baseId)

    def _unlike(self, row: ScoreRow) -> Iterator[tuple[str, str]]:
        said = (
            row.baseId is None,
            row.is_scored,
            row.adapter,
            row.modelSha256,
            row.preprocessingVersion,
            row.evaluationMode,
        )
        if said == self.sound:
            return
        is_sound = True
        for fault in self._differing(row):
            is_sound = False
            yield fault
        if is_sound:
            self.sound = said

    def _differing(self, row: ScoreRow) -> Iterator[tuple[str, str]]:
        first, line = self.said.setdefault("baseId", (row.baseId is None, row.line))
        if first != (row.baseId is None):
            yield (
                "baseId",
                f"{'missing' if row.baseId is None else 'given'}, unlike in line {line}: all rows name it, or none",
            )
        for name in _ALIKE:
            value, told = getattr(row, name), self.told.get(name)
            if value is None and (told is not None or not row.is_scored):
                continue  # who did not answer need not say by what
            if told is not None:
                if value != told:
                    yield name, f"{shown(value)}, but {shown(told)} was given for all rows"
                continue
            first, line = self.said.setdefault(name, (value, row.line))
            if value != first:
                yield (
                    name,
                    f"{_what(value)}, but {_what(first)} in line {line}; {_REMEDIES.get(name, 'all rows must agree')}",
                )

    def _unlike_its_base(self, row: ScoreRow, base: str) -> Iterator[tuple[str, str]]:
        for name in ("label",) if row.label is None else ("label", _DOMAIN[row.label]):
            if (value := getattr(row, name)) is None:
                continue
            first, line = self.of_bases.setdefault((base, name), (value, row.line))
            if value != first:
                yield name, f"{shown(value)}, but {shown(first)} in line {line}, which is of the same base {shown(base)}"


def _columns(kept: list[_Kept], desk: _Desk) -> CalibrationRows:
    digest = hashlib.sha256()
    for row in kept:
        written = [row.id, row.base, row.label, row.raw, row.status, row.source, row.family]
        digest.update(msgspec.json.encode(written) + b"\n")
    scored = [row for row in kept if row.raw is not None]
    code = {unit: number for number, unit in enumerate(dict.fromkeys(row.unit for row in scored))}
    labels = np.zeros(len(code), dtype=np.int8)
    failed = np.zeros(len(code), dtype=bool)
    for row in kept:
        if row.unit in code:
            labels[code[row.unit]] = row.label
            failed[code[row.unit]] |= row.raw is None
    return CalibrationRows(
        units=list(code),
        labels=labels,
        scored=Scored.of(
            np.array([row.raw for row in scored], dtype=np.float64),
            np.array([row.label for row in scored], dtype=np.int8),
            np.array([code[row.unit] for row in scored], dtype=np.int64),
        ),
        failed=failed,
        counts=_counts(kept, scored, desk),
        model_sha256=desk.told["modelSha256"] or desk.said.get("modelSha256", (None, 0))[0],
        preprocessing_version=desk.told["preprocessingVersion"] or desk.said.get("preprocessingVersion", (None, 0))[0],
        sha256=digest.hexdigest(),
    )


def _counts(kept: list[_Kept], scored: list[_Kept], desk: _Desk) -> Counts:
    """Count rows, and bases that have a raw score: derivatives of a base count once."""
    rows = len(scored)
    terminal = dict(Counter(row.status for row in kept if row.raw is None))
    modes = dict(desk.modes)
    if any(row.base is None for row in scored):
        return Counts(unit="row", rows=rows, terminal=terminal, evaluation_modes=modes)
    real, ai = ({row.unit: None for row in scored if row.label == label} for label in (REAL, AI))
    sources = {base: desk.of_bases.get((base, _DOMAIN[REAL]), (None, 0))[0] for base in real}
    families = {base: desk.of_bases.get((base, _DOMAIN[AI]), (None, 0))[0] for base in ai}
    return Counts(
        unit="base",
        rows=rows,
        terminal=terminal,
        real_bases=len(real),
        ai_bases=len(ai),
        real_sources=dict(Counter(source for source in sources.values() if source is not None)),
        generator_families=dict(Counter(family for family in families.values() if family is not None)),
        real_without_source=sum(source is None for source in sources.values()),
        ai_without_family=sum(family is None for family in families.values()),
        evaluation_modes=modes,
    )


def _what(value: Any) -> str:
    return "missing" if value is None else shown(value)

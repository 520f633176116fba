"""The calibrator: a file that says how raw scores become probabilities, from what that was fitted, and whether it may ship.

The file is read strictly. What is written is canonical: the same calibrator has the same bytes, and so the same digest.
"""
# ruff: noqa: N815 - the names are those of score rows

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.manifests.faults import schema_fault
from pytest_benchbench.manifests.spelling import different_names
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object
from pytest_benchbench.statistics.classification import RELEASE_THRESHOLD
from pytest_benchbench.statistics.logistic import CLIP
from pytest_benchbench.statistics.score_mapping import Method, ScoreMapping, mapping_fault
from pytest_benchbench.validation.role_counts import CALIBRATION_BASES, CALIBRATION_BASES_OF_EACH, DOMAINS

SCHEMA_VERSION: Final = 1

MAX_CALIBRATOR_BYTES = 64 * 1024 * 1024
"""A larger file is refused; the folds of a million bases take less. Read, it takes some thirty times as much memory."""

_SMALL_BYTES = 1024 * 1024

_RAW_TOLERANCE = 1e-9
"""How far ``raw_at_threshold`` may be from what slope and intercept give: other runtimes have other logarithms."""

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
_Text = Annotated[str, msgspec.Meta(min_length=1)]


class CalibratorError(Exception):
    """A calibrator that cannot be used; the message is one line that names the file and the field."""


class Counts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a calibrator was fitted on.

    Attributes:
        unit: ``base``, or ``row`` where no row named its base: then nothing says which rows are of one image.
        rows: Rows with a raw score.
        terminal: Rows without a score that were left out on request, by their status.
        real_bases: Unique real bases with a raw score; ``None`` where the unit is the row, as are the other counts of bases.
        ai_bases: Unique AI bases with a raw score.
        real_sources: Unique real bases by ``source``.
        generator_families: Unique AI bases by ``generatorFamily``.
        real_without_source: Unique real bases of which no row names a source.
        ai_without_family: Unique AI bases of which no row names a generator family.
        evaluation_modes: Rows by ``evaluationMode``, where they name one.
    """

    unit: Literal["base", "row"]
    rows: _Count
    terminal: dict[str, _Count] = {}
    real_bases: _Count | None = None
    ai_bases: _Count | None = None
    real_sources: dict[str, _Count] | None = None
    generator_families: dict[str, _Count] | None = None
    real_without_source: _Count | None = None
    ai_without_family: _Count | None = None
    evaluation_modes: dict[str, _Count] = {}


class Cells(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A ``Confusion`` by name: units by what they are and what they were called, AI being positive."""

    tp: _Count
    fn: _Count
    tn: _Count
    fp: _Count


class Candidate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A mapping that was considered.

    Attributes:
        slope: Fitted on all rows; ``None`` where there is no usable fit, as is all that would follow from one.
        intercept: Fitted on all rows.
        brier: On the rows that it was fitted on, each base weighing 1.
        oof_brier: Out of fold, each base weighing 1; ``None`` where the bases cannot be dealt into folds.
        oof_gain: How much lower than the identity's, on average over bases.
        oof_gain_se: Standard error of that, over bases.
        oof_balanced_accuracy: Out of fold, over bases, at the threshold; ``None`` where a class is missing.
        oof_false_positive_rate: Out of fold, over bases, at the threshold.
        oof_bases: The counts of bases behind the two, one conservative outcome for each.
        oof_rows: The same for rows.
        eligible: Whether it could be chosen.
        reason: Why, or why not.
    """

    slope: float | None
    intercept: float | None
    brier: float | None
    oof_brier: float | None
    oof_gain: float | None
    oof_gain_se: float | None
    oof_balanced_accuracy: float | None
    oof_false_positive_rate: float | None
    oof_bases: Cells | None
    oof_rows: Cells | None
    eligible: bool
    reason: str


class Folds(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How bases were dealt; see ``statistics.folds``.

    Attributes:
        salt: Hashed in front of each base.
        count: How many folds there are.
        of_base: The fold of each base (of each row by its id, where the unit is the row), 0 to ``count - 1``.
    """

    salt: str
    count: Annotated[int, msgspec.Meta(ge=2)]
    of_base: dict[str, _Count]


class Calibrator(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How raw scores become probabilities; see ``ScoreMapping`` for the formula.

    Written by hand, the first five fields and ``slope`` and ``intercept`` are enough.

    Attributes:
        schema_version: 1.
        type: ``calibrator``.
        method: Which mapping it is.
        input: What the slope applies to: the logit of the clipped raw score.
        clip: Raw scores are moved into [clip, 1 - clip].
        slope: Above 0.
        intercept: 0 but for Platt.
        threshold: An image is called AI from this probability on.
        raw_at_threshold: The raw score that equals it; ``None`` where there is none, or a hand-written file does not say.
        deployable: Whether it meets the release contract's demands on a calibrator.
        missing: If not, what it lacks.
        modelSha256: Digest of the checkpoint whose raw scores were used.
        preprocessingVersion: How pictures were prepared for it.
        counts: What it was fitted on.
        candidates: All mappings that were considered.
        scores_sha256: Digest of the rows that were used, in canonical form; see ``evidence.calibration_rows``.
        folds: How bases were dealt.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    type: Literal["calibrator"] = "calibrator"
    method: Method
    input: Literal["logit"] = "logit"
    clip: float = CLIP
    slope: float
    intercept: float
    threshold: float = RELEASE_THRESHOLD
    raw_at_threshold: float | None = None
    deployable: bool = False
    missing: tuple[str, ...] = ()
    modelSha256: _Sha256 | None = None
    preprocessingVersion: _Text | None = None
    counts: Counts | None = None
    candidates: dict[Method, Candidate] = {}
    scores_sha256: _Sha256 | None = None
    folds: Folds | None = None

    @property
    def mapping(self) -> ScoreMapping:
        """The mapping that the file describes."""
        return ScoreMapping(self.method, self.slope, self.intercept, self.clip)

    def apply(self, raw: float) -> float:
        """Give the calibrated score of one raw score in [0, 1].

        Raises:
            ValueError: The raw score is no number in [0, 1].
        """
        return self.mapping.apply(raw)

    def apply_all(self, raws: Iterable[float]) -> NDArray[np.float64]:
        """Give the calibrated scores of many raw scores, bit for bit those of ``apply``; of shape (n,).

        Raises:
            ValueError: A raw score is no number in [0, 1].
        """
        return self.mapping.apply_all(raws)

    def encoded(self) -> bytes:
        """Give the bytes of the file: indented JSON with sorted names, ended by LF; numbers read back exactly."""
        return msgspec.json.format(msgspec.json.encode(self, order="deterministic"), indent=2) + b"\n"


@dataclass(frozen=True, slots=True)
class LoadedCalibrator:
    """A calibrator with the digest of the bytes that it was read from.

    Attributes:
        calibrator: The mapping and its history.
        sha256: 64 lower-case hex digits; the ``calibratorSha256`` of the rows that it was applied to.
    """

    calibrator: Calibrator
    sha256: str


def load_calibrator(path: Path) -> LoadedCalibrator:
    """Read a calibrator.

    Raises:
        CalibratorError: The file cannot be read, is no calibrator, or contradicts itself.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_CALIBRATOR_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CalibratorError(f"{path}: the calibrator cannot be read: {reason}") from None
    return LoadedCalibrator(parse_calibrator(data, name=str(path)), hashlib.sha256(data).hexdigest())


def parse_calibrator(data: bytes, *, name: str) -> Calibrator:
    """Read the bytes of a calibrator.

    Args:
        data: One JSON object, UTF-8.
        name: What the file is called in messages.

    Raises:
        CalibratorError: They are no calibrator, or contradict themselves.
    """
    if len(data) > MAX_CALIBRATOR_BYTES:
        raise CalibratorError(f"{name}: the calibrator is larger than {MAX_CALIBRATOR_BYTES} bytes")
    if len(data) > _SMALL_BYTES:
        _refuse_other_types(data, name)
    try:
        document, problems = parse_object(data)
    except MalformedJsonError as error:
        raise CalibratorError(f"{name}: no calibrator: {error}") from None
    if problems:
        field, message = problems[0]
        raise CalibratorError(f"{name}: {field}: {message}")
    if absent := [field for field in _STATED if field not in document]:
        raise CalibratorError(f"{name}: no calibrator: {absent[0]} is missing")
    try:
        calibrator = msgspec.convert(document, Calibrator)
    except msgspec.ValidationError as error:
        raise CalibratorError(f"{name}: {schema_fault(error)}") from None
    if (fault := _fault(calibrator)) is not None:
        raise CalibratorError(f"{name}: {': '.join(fault)}")
    return calibrator


def _refuse_other_types(data: bytes, name: str) -> None:
    """Refuse a large file before all of it is held in memory: the exact parser keeps fifty times the size of empty lists."""
    try:
        msgspec.json.decode(data, type=Calibrator)
    except msgspec.ValidationError as error:
        raise CalibratorError(f"{name}: {schema_fault(error)}") from None
    except (ValueError, RecursionError):  # the exact parser says better what is wrong, and where
        return


_STATED = ("schema_version", "type", "method", "input", "clip", "slope", "intercept", "threshold")
"""Fields without which another program would have to guess what the numbers mean."""


def _fault(calibrator: Calibrator) -> tuple[str, str] | None:
    """Say what is wrong with a calibrator beyond its types: field and reason, or ``None``."""
    if fault := mapping_fault(calibrator.method, calibrator.slope, calibrator.intercept, calibrator.clip):
        return fault
    if not 0.0 < calibrator.threshold < 1.0:
        return "threshold", f"expected a number strictly between 0 and 1, got {calibrator.threshold!r}"
    told, reckoned = calibrator.raw_at_threshold, calibrator.mapping.raw_at(calibrator.threshold)
    if told is not None and (reckoned is None or not math.isclose(told, reckoned, rel_tol=0.0, abs_tol=_RAW_TOLERANCE)):
        return "raw_at_threshold", f"{told!r} does not belong to slope and intercept, which give {reckoned!r}"
    if calibrator.deployable:
        gaps = deployment_gaps(calibrator.counts, calibrator.modelSha256, calibrator.preprocessingVersion)
        if gaps := gaps + list(calibrator.missing):
            return "deployable", f"is true, but {gaps[0]}"
    return None


def deployment_gaps(counts: Counts | None, model_sha256: str | None, preprocessing_version: str | None) -> list[str]:
    """Name what a calibrator lacks to be deployable under the release contract; nothing if it lacks nothing.

    It needs at least 100 unique bases of each class, three real sources, three generator families, and 25 unique bases in
    each source and family that is included, bases that are told apart, and a known checkpoint and preprocessing. Rows of
    synthetic scores stand for no image.

    Args:
        counts: What it was fitted on, if that is known.
        model_sha256: Of the checkpoint.
        preprocessing_version: Of what is done to pictures before.
    """
    gaps = []
    if counts is None:
        gaps.append("counts: it is not known what it was fitted on")
    elif counts.unit == "row":
        gaps.append("baseId: no row names its base, so derivatives of one image cannot be told from independent images")
    else:
        gaps += _few_bases("real", counts.real_bases)
        gaps += _few_bases("AI", counts.ai_bases)
        gaps += _few_groups("real source", "real sources", counts.real_sources or {})
        gaps += _ungrouped("real", "source", counts.real_without_source)
        families = counts.generator_families or {}
        gaps += _few_groups("generator family", "generator families", families)
        gaps += _ungrouped("AI", "generatorFamily", counts.ai_without_family)
    if counts is not None and (synthetic := counts.evaluation_modes.get("synthetic", 0)):
        gaps.append(f"evaluationMode: {_number(synthetic, 'row')} of synthetic scores")
    if model_sha256 is None:
        gaps.append("modelSha256: the checkpoint is not known")
    if preprocessing_version is None:
        gaps.append("preprocessingVersion: it is not known how pictures were prepared")
    return gaps


def _few_bases(kind: str, bases: int | None) -> list[str]:
    found = bases or 0
    if found >= CALIBRATION_BASES:
        return []
    return [f"{_number(found, f'unique {kind} base')}, at least {CALIBRATION_BASES} needed"]


def _few_groups(kind: str, plural: str, bases: Mapping[str, int]) -> list[str]:
    gaps = []
    different = different_names(bases)
    if different < DOMAINS:
        gaps.append(f"{different} {kind if different == 1 else plural}, at least {DOMAINS} needed")
    for name, found in sorted(bases.items()):
        if found < CALIBRATION_BASES_OF_EACH:
            gaps.append(f"{kind} {name}: {_number(found, 'unique base')}, at least {CALIBRATION_BASES_OF_EACH} needed")
    return gaps


def _ungrouped(kind: str, field: str, bases: int | None) -> list[str]:
    return [f"{field}: not known for {_number(bases, f'{kind} base')}"] if bases else []


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"

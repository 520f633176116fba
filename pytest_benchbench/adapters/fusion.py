"""Fusion of a detector's pixel score with what the file's own metadata says: weights in logits, read from a JSON file.

``score = sigmoid(logit(pixel score) + sum of the weights of the signals that are present)``. A file without any weighted
signal keeps its pixel score, bit for bit.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from pytest_benchbench.adapters.fusion_signals import SIGNALS
from pytest_benchbench.manifests.faults import schema_fault, shown_text
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object
from pytest_benchbench.statistics.logistic import logit, sigmoid

MAX_FUSION_BYTES = 64 * 1024

MAX_WEIGHT = 50.0
"""Largest size of a weight, in logits; beyond it a signal alone would decide to the last digit of a double."""

Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]


class FusionError(Exception):
    """A file of fusion weights that cannot be used; one line that names file and field."""


class Fusion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="type", tag="fusion"):
    """Weights of metadata signals.

    Attributes:
        schema_version: 1.
        weights: Weight in logits by signal (a name of ``fusion_signals.SIGNALS``); positive speaks for AI.
        origin: ``declared``: somebody chose the weights; ``fitted``: they were fitted, on the calibration split only.
        scores_sha256: Of fitted weights: the digest of the scores that they were fitted on.
        note: For people.
    """

    schema_version: Literal[1]
    weights: Annotated[dict[str, float], msgspec.Meta(min_length=1)]
    origin: Literal["declared", "fitted"] = "declared"
    scores_sha256: Sha256 | None = None
    note: Annotated[str, msgspec.Meta(max_length=1000)] | None = None

    def __post_init__(self) -> None:
        for name, weight in self.weights.items():
            if name not in SIGNALS:
                raise ValueError(f"weights: unknown signal {shown_text(name)!r}; known: {', '.join(SIGNALS)}")
            if not math.isfinite(weight) or abs(weight) > MAX_WEIGHT:
                raise ValueError(f"weights.{name}: expected a number from {-MAX_WEIGHT:g} to {MAX_WEIGHT:g}, got {weight}")
        if (self.origin == "fitted") != (self.scores_sha256 is not None):
            raise ValueError("scores_sha256: belongs to fitted weights, and to no others")

    def apply(self, pixel_score: float, present: Collection[str]) -> float:
        """Add the weights of the signals that are present.

        Args:
            pixel_score: Calibrated, pixels only, in [0, 1].
            present: Names of the signals that the file has.

        Returns:
            The fused score in [0, 1]; ``pixel_score`` itself when no signal with a weight is present.
        """
        weighted = sorted(name for name in self.weights if name in present)
        if not weighted:
            return pixel_score
        return sigmoid(logit(pixel_score) + math.fsum(self.weights[name] for name in weighted))


@dataclass(frozen=True, slots=True)
class LoadedFusion:
    """Fusion weights with the digest of the bytes that they were read from.

    Attributes:
        fusion: The weights.
        sha256: 64 lower-case hex digits.
    """

    fusion: Fusion
    sha256: str


def parse_fusion(data: bytes, *, name: str) -> LoadedFusion:
    """Read fusion weights.

    Args:
        data: The file, UTF-8 JSON.
        name: What the file is called in messages.

    Raises:
        FusionError: Too large, no JSON object, a repeated or unknown key, an unknown signal, a weight out of range.
    """
    if len(data) > MAX_FUSION_BYTES:
        raise FusionError(f"{name}: larger than {MAX_FUSION_BYTES} bytes")
    try:
        document, problems = parse_object(data)
    except MalformedJsonError as error:
        raise FusionError(f"{name}: {error}") from None
    if problems:
        place, message = problems[0]
        raise FusionError(f"{name}: {place}: {message}")
    try:
        fusion = msgspec.convert(document, Fusion)
    except msgspec.ValidationError as error:
        raise FusionError(f"{name}: {schema_fault(error)}") from None
    return LoadedFusion(fusion, hashlib.sha256(data).hexdigest())


def load_fusion(path: Path) -> LoadedFusion:
    """Read a file of fusion weights; see ``parse_fusion``.

    Raises:
        FusionError: The file cannot be read, or is not one.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FUSION_BYTES + 1)
    except OSError as error:
        raise FusionError(f"{path}: cannot be read: {error.strerror}") from None
    return parse_fusion(data, name=path.name)


def scoring_sha256(calibrator: str | None, fusion: str | None) -> str | None:
    r"""Give the ``calibratorSha256`` of a score: one digest for all that stands between the raw score and the score.

    Args:
        calibrator: SHA-256 of the calibrator's file, ``None`` for none (identity).
        fusion: SHA-256 of the file of fusion weights, ``None`` for none.

    Returns:
        ``None`` with neither; the calibrator's own digest without fusion; with fusion the SHA-256 of the ASCII text
        ``calibrator <digest or identity>\nfusion <digest>\n``.
    """
    if fusion is None:
        return calibrator
    return hashlib.sha256(f"calibrator {calibrator or 'identity'}\nfusion {fusion}\n".encode("ascii")).hexdigest()

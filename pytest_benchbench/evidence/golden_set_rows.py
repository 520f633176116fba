"""One row of evidence about a sample of a golden set, as figures of text detectors count it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow
from pytest_benchbench.evidence.recorded_scores import status_of
from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.manifests.golden_set import GOLDEN_SET, SPLITS, Label

KIND = GOLDEN_SET.name

MAX_SCORE = 100.0
"""The upper end of the scale of AI-likelihood; the lower one is 0."""

NO_SCORE = "no-score"
"""The status of a row that says ``scored`` without a score on the scale."""

Group = Literal["scored", "errors", "unavailable", "not_run"]

_GROUPS: Mapping[str, Group] = MappingProxyType(
    {"scored": "scored", "unavailable": "unavailable", "not_run": "not_run"}  # every other status is an error
)


class Sample(NamedTuple):
    """What a row says of its sample.

    Attributes:
        label: What it is.
        category: Its category.
        pair_of: The sample of which it is the humanized variant.
        sha256: Of its text.
    """

    label: Label
    category: str
    pair_of: str | None
    sha256: str


class GoldenRow(NamedTuple):
    """A settled row.

    Attributes:
        id: Of the sample.
        split: Its split; ``None`` where the set could not be read again, as ``sample``.
        sample: What it is.
        status: ``scored``, or how the row ended without a score.
        score: On the scale of 0 to 100; ``None`` unless ``status`` is ``scored``.
    """

    id: str
    split: str | None
    sample: Sample | None
    status: str
    score: float | None

    @property
    def group(self) -> Group:
        """Say as what the row counts. A verdict without a score is an error."""
        return _GROUPS.get(self.status, "errors")


def golden_row(settled: SettledRow) -> GoldenRow:
    """Read a settled row of a golden set.

    Raises:
        EvidenceError: It contradicts itself, or says of its sample what no golden set can say.
    """
    row = settled.row
    status, score = status_of(settled), row.detection.score
    if status == "scored" and not is_on_scale(score):
        status = NO_SCORE
    split, sample = _sample(row) if row.row_sha256 else (None, None)
    if sample is None and status == "scored":
        raise EvidenceError(f"{shown(row.key.case_id)}: a score, and nothing about the sample that it is of")
    return GoldenRow(row.key.case_id, split, sample, status, score if status == "scored" else None)


def is_on_scale(score: float | None) -> bool:
    """Say whether a score is one of 0 to 100."""
    return score is not None and 0.0 <= score <= MAX_SCORE


def label_of(row: EvidenceRow) -> Label | None:
    """Give the label of a golden set's row; ``None`` for any other row, or one that says none."""
    label = row.case.get("label") if row.kind == KIND else None
    return label if label in get_args(Label) else None


def _sample(row: EvidenceRow) -> tuple[str, Sample]:
    case = row.case
    for name, allowed in (("label", get_args(Label)), ("split", SPLITS)):
        if case.get(name) not in allowed:
            raise EvidenceError(
                f"{shown(row.key.case_id)}: case.{name}: expected {' or '.join(allowed)}, got {shown(case.get(name))}"
            )
    pair_of = None if case.get("pairOf") is None else _text(row, "pairOf")
    return case["split"], Sample(case["label"], _text(row, "category"), pair_of, row.artifact.sha256)


def _text(row: EvidenceRow, name: str) -> str:
    value = row.case.get(name)
    if not isinstance(value, str):
        raise EvidenceError(f"{shown(row.key.case_id)}: case.{name}: expected a text, got {shown(value)}")
    return value

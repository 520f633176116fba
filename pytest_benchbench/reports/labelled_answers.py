"""Whether the score of one labelled row is on the side of its label, by the same threshold as every figure of such rows."""

from __future__ import annotations

from typing import Literal

from pytest_benchbench.evidence.grouping import standing
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.evidence.recorded_scores import KIND
from pytest_benchbench.statistics.classification import RELEASE_THRESHOLD

SIDES = ("real", "AI")
"""What the labels 0 and 1 mean."""


def label_side(row: EvidenceRow) -> str | None:
    """Say what the label calls an image, one of ``SIDES``; ``None`` for a row without a label."""
    label = row.case.get("label") if row.kind == KIND else None
    return SIDES[label] if isinstance(label, int) and label in (0, 1) else None


def score_side(row: EvidenceRow) -> str | None:
    """Say what the score calls an image, one of ``SIDES``; ``None`` where there is no score."""
    score = row.detection.score
    return None if score is None else SIDES[score >= RELEASE_THRESHOLD]


def judged_by_label(settled: SettledRow) -> Literal["right", "wrong"] | None:
    """Say whether a scored row is right; ``None`` for a row without a label or without a score that counts."""
    row = settled.row
    if (label := label_side(row)) is None or (score := score_side(row)) is None or standing(settled) != "scored":
        return None
    return "right" if score == label else "wrong"

"""Whether the score of one labelled row is on the side of its label, by the same threshold as every figure of such rows."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pytest_benchbench.evidence.golden_set_rows import KIND as GOLDEN_SET, is_on_scale, label_of
from pytest_benchbench.evidence.grouping import standing
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.evidence.recorded_scores import KIND as DATASET
from pytest_benchbench.reports.detector_figures import THRESHOLD
from pytest_benchbench.statistics.classification import RELEASE_THRESHOLD


class Sides(NamedTuple):
    """What a score can call the thing that it is about, and from which score on it does.

    Attributes:
        real: Below the threshold.
        ai: From the threshold on.
        threshold: On the scale of the scores.
        thing: What is called so, for people.
    """

    real: str
    ai: str
    threshold: float
    thing: str

    def other(self, side: str) -> str:
        """Give the side that ``side`` is not."""
        return self.ai if side == self.real else self.real


SIDES: dict[str, Sides] = {
    DATASET: Sides("real", "AI", RELEASE_THRESHOLD, "an image"),
    GOLDEN_SET: Sides("human", "AI", THRESHOLD, "a text"),
}
"""The kinds of manifest whose rows are labelled."""

NAMES = frozenset(name for sides in SIDES.values() for name in (sides.real, sides.ai))
"""Everything that a labelled row can be called."""


def label_side(row: EvidenceRow) -> str | None:
    """Say what the label calls a row, by ``SIDES``; ``None`` for a row without a label."""
    if row.kind == GOLDEN_SET:
        label = label_of(row)
        return None if label is None else SIDES[GOLDEN_SET].ai if label == "ai" else SIDES[GOLDEN_SET].real
    label = row.case.get("label") if row.kind == DATASET else None
    if not isinstance(label, int) or label not in (0, 1):
        return None
    return SIDES[DATASET].ai if label else SIDES[DATASET].real


def score_side(row: EvidenceRow) -> str | None:
    """Say what the score calls a row, by ``SIDES``; ``None`` where there is no score, or none on the scale of its kind."""
    score, sides = row.detection.score, SIDES.get(row.kind)
    if score is None or sides is None or (row.kind == GOLDEN_SET and not is_on_scale(score)):
        return None
    return sides.ai if score >= sides.threshold else sides.real


def judged_by_label(settled: SettledRow) -> Literal["right", "wrong"] | None:
    """Say whether a scored row is right; ``None`` for a row without a label or without a score that counts."""
    row = settled.row
    if (label := label_side(row)) is None or (score := score_side(row)) is None or standing(settled) != "scored":
        return None
    return "right" if score == label else "wrong"

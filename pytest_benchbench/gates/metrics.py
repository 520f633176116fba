"""What a rule can measure: every metric by name, with what people are told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_benchbench.evidence.grouping import CASE_FACETS

Unit = Literal["base", "row"]

DATASET_FACETS = ("source", "generatorFamily", "generatorModel", "contentGroup", "resolutionGroup", "split")
"""What a dataset's rows are told apart by, beside ``transform``."""

OUTCOME_FACETS = ("adapter", *CASE_FACETS, *DATASET_FACETS)
"""By what a rule about outcomes or detections can be sliced."""

DERIVATIVE_FACETS = ("transform", "resolutionGroup")
"""What differs between the derivatives of one base. By any other property a base is in a slice as a whole, with all its
rows, if one of them has the value: rows cannot be labelled so that a base's failures fall into another slice."""

SCORE_FACETS = (
    "adapter",
    "transform",
    *DATASET_FACETS,
    "evaluationMode",
    "provider",
    "modelSha256",
    "calibratorSha256",
    "preprocessingVersion",
)
"""By what a rule about scores can be sliced."""

EACH = "*"
"""As a value of a slice: each value that occurs apart."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes:
        about: ``outcomes`` of rows, ``detections``, or ``scores``.
        form: ``count``, ``rate`` (a share of units, with an interval) or ``mean`` (in [0, 1], without one).
        text: What it is, in one line.
        label: Of a metric about scores: whether real images (0), AI images (1) or both (``None``) enter it.
        better: Whether a good detector's value is high or low; ``None`` where a rule may ask for either.
    """

    about: Literal["outcomes", "detections", "scores"]
    form: Literal["count", "rate", "mean"]
    text: str
    label: Literal[0, 1] | None = None
    better: Literal["high", "low"] | None = None

    @property
    def unit(self) -> Unit:
        """What is counted where a rule does not say: one outcome a base for scores, rows for the rest."""
        return "base" if self.about == "scores" else "row"

    @property
    def facets(self) -> tuple[str, ...]:
        """By what a rule about it can be sliced."""
        return SCORE_FACETS if self.about == "scores" else OUTCOME_FACETS


METRICS: Mapping[str, Metric] = {
    "planned_count": Metric("outcomes", "count", "rows"),
    "match_count": Metric("outcomes", "count", "rows that met their expectation"),
    "mismatch_count": Metric("outcomes", "count", "rows that did not, unstable ones among them"),
    "measured_count": Metric("outcomes", "count", "rows of which nothing is expected"),
    "known_mismatch_count": Metric("outcomes", "count", "rows that are listed as known wrong answers"),
    "error_count": Metric("outcomes", "count", "rows without a verdict because of an error"),
    "unavailable_count": Metric("outcomes", "count", "rows whose adapter was unavailable"),
    "unstable_count": Metric("outcomes", "count", "rows whose attempts gave different verdicts"),
    "detection_rate": Metric("detections", "rate", "share of artifacts or bases that were detected"),
    "balanced_accuracy": Metric("scores", "mean", "mean of AI recall and real recall", better="high"),
    "real_recall": Metric("scores", "rate", "share of real bases that succeed", 0, "high"),
    "ai_recall": Metric("scores", "rate", "share of AI bases that succeed", 1, "high"),
    "false_positive_rate": Metric("scores", "rate", "share of real bases that fail", 0, "low"),
    "precision": Metric("scores", "rate", "AI bases that succeed, of those and the real bases that fail", better="high"),
    "brier": Metric("scores", "mean", "mean over bases of the largest squared error of a score", better="low"),
    "real_count": Metric("scores", "count", "real bases with a score", 0),
    "ai_count": Metric("scores", "count", "AI bases with a score", 1),
    "real_source_count": Metric("scores", "count", "different sources of real bases with a score", 0),
    "generator_family_count": Metric("scores", "count", "different generator families of AI bases with a score", 1),
    "terminal_count": Metric("scores", "count", "bases with a row that has no score"),
}
"""By the name that a policy uses."""

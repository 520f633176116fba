"""One scored image, by the names that score files and evidence share."""
# ruff: noqa: N815 - the names are the contract's

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Final, Literal, get_args

import msgspec

from pytest_benchbench.manifests.dataset import ResolutionGroup, Split
from pytest_benchbench.manifests.field_types import (
    Digest,
    Identifier,
    Text,
    all_say_something,
    choice_field,
    described,
    digest_field,
    identifier_field,
    text_field,
)
from pytest_benchbench.manifests.strict_json import Problem

EvaluationMode = Literal["deployed", "reference", "synthetic"]

ScoreStatus = Literal[
    "scored",
    "too-small",
    "disabled",
    "unsupported",
    "inference-error",
    "timeout",
    "unavailable",
    "error",
    "not_run",
    "unstable",
]

TERMINAL: Final[tuple[str, ...]] = get_args(ScoreStatus)[1:]
"""The statuses of a row without a score. ``unstable`` is one whose attempts gave different verdicts."""

UNASKED: Final = ("unavailable", "not_run")
"""Those of a row about which nobody was asked."""

QUANTITIES: Final = ("score", "rawScore", "pixelScore")

Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]


def _score_field(description: str) -> msgspec.Meta:
    return described(description, "a number from 0 to 1, or null")


class ScoreRow(msgspec.Struct, kw_only=True, gc=False):
    """One scored image. What a row does not say is ``None``; ``status`` is always there.

    Attributes:
        adapter: The alias under which evidence keeps the scorer; ``None`` for a plain row.
        line: Where the row stands in its file, 1 for the first line.
    """

    id: Annotated[Identifier, identifier_field("Identity of the row.")]
    baseId: Annotated[Text | None, text_field("The original: the independent unit.", nullable=True)] = None
    label: Annotated[Literal[0, 1] | None, described("1 for AI, 0 for real.", "0 (real), 1 (AI) or null")] = None
    split: Annotated[Split | None, choice_field("The role of the row.", Split, nullable=True)] = None
    score: Annotated[Probability | None, _score_field("The calibrated score, metadata included.")] = None
    rawScore: Annotated[Probability | None, _score_field("The model's own score.")] = None
    pixelScore: Annotated[Probability | None, _score_field("The calibrated score of the pixels alone.")] = None
    source: Annotated[Text | None, text_field("Collection.", nullable=True)] = None
    generatorFamily: Annotated[Text | None, text_field("Family of the generator.", nullable=True)] = None
    generatorModel: Annotated[Text | None, text_field("Exact model of the generator.", nullable=True)] = None
    contentGroup: Annotated[Text | None, text_field("What the image shows or is.", nullable=True)] = None
    transform: Annotated[Text | None, text_field("What was done to the original.", nullable=True)] = None
    resolutionGroup: Annotated[
        ResolutionGroup | None, choice_field("The size at which the image is shown.", ResolutionGroup, nullable=True)
    ] = None
    evaluationMode: Annotated[EvaluationMode | None, choice_field("What scored it.", EvaluationMode, nullable=True)] = None
    modelSha256: Annotated[Digest | None, digest_field("The model.", nullable=True)] = None
    calibratorSha256: Annotated[Digest | None, digest_field("The calibrator; absent for none.", nullable=True)] = None
    preprocessingVersion: Annotated[Text | None, text_field("The preprocessing.", nullable=True)] = None
    provider: Annotated[Text | None, text_field("The execution provider that was really used.", nullable=True)] = None
    status: Annotated[
        ScoreStatus | None, choice_field("What became of the row; absent means scored.", ScoreStatus, nullable=True)
    ] = None
    adapter: str | None = msgspec.field(name="<adapter>", default=None)
    line: int = msgspec.field(name="<line>", default=0)

    @property
    def is_scored(self) -> bool:
        """Whether the row has a score; any other status is terminal."""
        return self.status == "scored"


NAMES: Final = ScoreRow.__struct_fields__[:-2]
"""The names that a plain row may have; what else it says is ignored."""

TOLD: Final = tuple(name for name in NAMES if name != "status")


_texts_of = attrgetter(
    *(
        "baseId",
        "source",
        "generatorFamily",
        "generatorModel",
        "contentGroup",
        "transform",
        "preprocessingVersion",
        "provider",
    )
)


def is_told(row: ScoreRow) -> bool:
    """Say whether every text of a row says something."""
    return all_say_something(_texts_of(row))


def status_problem(row: ScoreRow) -> Problem | None:
    """Say where scores and status of a row contradict each other; the status must be there."""
    if row.status == "scored":
        if row.score is None and row.rawScore is None:
            return "score", "missing: a scored row has a score or a rawScore; a row without one has a status that says why"
        return None
    for name in QUANTITIES:
        if getattr(row, name) is not None:
            return name, f"a row with status {row.status} has no score"
    return None

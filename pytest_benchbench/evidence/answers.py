"""What a detector answered, made plain: within bounds, of JSON's own types, and readable again by everyone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, get_args

import msgspec

from pytest_benchbench.adapters.base import VERDICTS, Detection, DetectionStatus
from pytest_benchbench.evidence.foreign_text import is_one_line, one_line
from pytest_benchbench.manifests.strict_json import MAX_DEPTH, too_deep

MAX_SERIES_BYTES = 16 * 1024 * 1024
"""Of ``temporal`` and of ``scorer`` as JSON, each: seventy bytes for each frame of an hour of video. A line of evidence that
holds both is then well below what a reader accepts."""

_STATUSES = frozenset(get_args(DetectionStatus))


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """The scale of the scores of a kind of manifest, from 0 on.

    Attributes:
        highest: The highest score.
        demanded: Whether a verdict without a score is none.
    """

    highest: float
    demanded: bool = False


PROBABILITY = ScoreScale(1.0)
"""That the image is AI: the scale of datasets."""

AI_LIKELIHOOD = ScoreScale(100.0, demanded=True)
"""The scale of golden sets, on which every detector's own scores are brought."""


def plain_answer(answer: object) -> Detection:
    """Check a foreign answer and make it plain JSON.

    Args:
        answer: Whatever an adapter returned.

    Returns:
        The same statement: texts on one line, numbers and objects as JSON reads them back.

    Raises:
        TypeError: It is no ``Detection``, or holds what JSON has no type for.
        ValueError: Its status is unknown, a number is not finite, an object is larger than ``MAX_SERIES_BYTES`` or nested
            deeper than ``MAX_DEPTH`` levels.
        Exception: Whatever a foreign object raises when it is looked at.
    """
    if not isinstance(answer, Detection):
        raise TypeError(f"the adapter must answer with a Detection, not {type(answer).__name__}")
    if answer.status not in _STATUSES:
        raise ValueError(f"unknown detection status {answer.status!r}")
    texts = {name: getattr(answer, name) for name in ("label", "reason")}
    if (
        answer.temporal is None
        and answer.scorer is None
        and type(answer.status) is str
        and all(text is None or is_one_line(text) for text in texts.values())
    ):
        return answer  # nothing in it is foreign: the numbers were made plain when it was built
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{name} must be text, not {type(text).__name__}")
    plain = {name: _plain(name, value) for name in ("temporal", "scorer") if (value := getattr(answer, name)) is not None}
    short = {name: one_line(text) for name, text in texts.items() if text is not None}
    detection = msgspec.structs.replace(answer, status=str(answer.status), **plain, **short)
    # back and forth: what evidence cannot carry, or would read back as something else, is found here and not at the writer
    return msgspec.json.decode(msgspec.json.encode(detection), type=Detection)


def check_score(detection: Detection, scale: ScoreScale) -> None:
    """Refuse a score outside its scale, and an answer without the score that it should have.

    Raises:
        ValueError: It is one of these.
    """
    if detection.score is None:
        if detection.status == "scored" or (scale.demanded and detection.status in VERDICTS):
            raise ValueError(f"the answer is {detection.status}, and has no score")
    elif not 0.0 <= detection.score <= scale.highest:
        raise ValueError(f"score lies outside [0, {scale.highest:g}]: {detection.score!r}")


def _plain(name: str, value: object) -> Any:
    try:
        # json refuses NaN, infinity and foreign types, which msgspec would turn into null or let through
        text = json.dumps(value, allow_nan=False)
    except RecursionError:
        raise ValueError(f"{name} is nested deeper than {MAX_DEPTH} levels") from None
    if len(text) > MAX_SERIES_BYTES:
        raise ValueError(f"{name} has {len(text)} bytes as JSON, more than {MAX_SERIES_BYTES}")
    plain = json.loads(text)
    if too_deep(plain, MAX_DEPTH):
        raise ValueError(f"{name} is nested deeper than {MAX_DEPTH} levels")
    return plain

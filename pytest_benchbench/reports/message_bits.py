"""How many bits a message has, read from an answer. An accuracy alone does not tell: 0.75 is 12 of 16 and 36 of 48."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_benchbench.evidence.observation import DetectionRecord

_SPELLED = re.compile(r"(?<![\d.,/])(\d{1,9})/(\d{1,9}) bits\b")

_TOLERANCE = 1e-6
"""In bits; an accuracy is the quotient of two whole numbers, rounded to a float."""

_MOST_BITS = 1_000_000


def message_bits(detection: DetectionRecord) -> int:
    """Give the number of message bits of which ``message_bit_accuracy`` is the share of equal ones.

    A detector may say it outright as ``message_bits`` in ``scorer``. Else its reason may spell the comparison, as those of
    built-in ones do: ``43/48 bits``. Either is believed only if it fits the accuracy. Nothing is concluded from the rule,
    which may name several messages of different lengths, or from the label, which stands beside positive answers only. The
    bits of a message that went through error correction are not independent; a detector that compares those says no number.

    Returns:
        1 to 1,000,000; 0 where nobody says it, or where there is no accuracy.
    """
    accuracy, scorer = detection.message_bit_accuracy, detection.scorer
    if accuracy is None:
        return 0
    if scorer is not None and "message_bits" in scorer:
        bits = scorer["message_bits"]
        return bits if bits.__class__ is int and 0 < bits <= _MOST_BITS and _is_whole(accuracy * bits) else 0
    return 0 if detection.reason is None else _spelled_bits(detection.reason, accuracy)


@lru_cache(maxsize=4096)
def _spelled_bits(reason: str, accuracy: float) -> int:
    if (spelled := _SPELLED.search(reason)) is None:
        return 0
    equal, bits = int(spelled[1]), int(spelled[2])
    return bits if 0 < bits <= _MOST_BITS and abs(accuracy * bits - equal) < _TOLERANCE else 0


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < _TOLERANCE

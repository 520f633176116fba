"""The logistic function and its inverse, as calibration, fusion and the scorers use them: plain doubles, no overflow."""

from __future__ import annotations

import math

CLIP = 1e-6
"""How near to 0 and 1 a probability may come before its logit is taken."""


def sigmoid(logit: float) -> float:
    """Give the probability of a logit: 1 / (1 + exp(-logit)), in [0, 1], for any finite number."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    grown = math.exp(logit)
    return grown / (1.0 + grown)


def logit(probability: float, *, clip: float = CLIP) -> float:
    """Give the logit of a probability: log(p / (1 - p)), p clipped to [clip, 1 - clip].

    Args:
        probability: In [0, 1].
        clip: In (0, 0.5).

    Raises:
        ValueError: It is not in [0, 1].
    """
    if not 0.0 <= probability <= 1.0:
        raise ValueError(f"expected a probability in [0, 1], got {probability}")
    clipped = min(max(probability, clip), 1.0 - clip)
    return math.log(clipped / (1.0 - clipped))

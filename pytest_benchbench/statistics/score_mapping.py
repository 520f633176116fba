"""What turns a raw score into a probability: the identity, a temperature or a Platt mapping of its logit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.statistics.logistic import CLIP, logit, sigmoid

Method = Literal["identity", "temperature", "platt"]

METHODS: tuple[Method, ...] = get_args(Method)
"""From the fewest parameters to the most: of equals the earlier one is taken."""


@dataclass(frozen=True, slots=True)
class ScoreMapping:
    """A mapping of raw scores in [0, 1] to probabilities in [0, 1] that never reverses their order.

    ``p = 1 / (1 + exp(-(slope * logit(clipped raw) + intercept)))``. J. C. Platt writes ``p = 1 / (1 + exp(A f + B))``
    ("Probabilistic Outputs for Support Vector Machines", 1999): ``slope`` is -A and ``intercept`` -B. A temperature T is a
    slope of 1 / T without intercept. The identity gives back every raw score unchanged, bit for bit, and is not clipped.

    Attributes:
        method: Which of the three it is.
        slope: Finite and above 0; 1 for the identity.
        intercept: Finite; 0 but for Platt.
        clip: Raw scores are moved into [clip, 1 - clip] before their logit is taken; strictly between 0 and 0.5.

    Raises:
        ValueError: A number lies outside its range.
    """

    method: Method
    slope: float = 1.0
    intercept: float = 0.0
    clip: float = CLIP

    def __post_init__(self) -> None:
        """Refuse what would not be such a mapping."""
        if (fault := mapping_fault(self.method, self.slope, self.intercept, self.clip)) is not None:
            name, message = fault
            raise ValueError(f"{name}: {message}")

    def apply(self, raw: float) -> float:
        """Give the probability for one raw score.

        Raises:
            ValueError: The raw score is no number in [0, 1].
        """
        if not 0.0 <= raw <= 1.0:
            raise ValueError(f"a raw score lies in [0, 1]: {raw!r}")
        if self.method == "identity":
            return raw
        return sigmoid(self.slope * logit(raw, clip=self.clip) + self.intercept)

    def apply_all(self, raws: Iterable[float]) -> NDArray[np.float64]:
        """Give the probabilities for many raw scores: the same numbers, bit for bit, as ``apply`` gives for each.

        Args:
            raws: Of shape (n,).

        Returns:
            Of shape (n,).

        Raises:
            ValueError: A raw score is no number in [0, 1].
        """
        numbers = raws.tolist() if isinstance(raws, np.ndarray) else raws  # NumPy's own exponential differs by machine
        return np.fromiter(map(self.apply, numbers), dtype=np.float64)

    def raw_at(self, probability: float) -> float | None:
        """Give the raw score whose probability is this.

        Args:
            probability: Strictly between 0 and 1.

        Returns:
            A raw score in [clip, 1 - clip] (any for the identity); ``None`` where no raw score has this probability, since
            all lie on one side of it.
        """
        if self.method == "identity":
            return probability
        raw = sigmoid((math.log(probability / (1.0 - probability)) - self.intercept) / self.slope)
        return raw if self.clip <= raw <= 1.0 - self.clip else None


def mapping_fault(method: Method, slope: float, intercept: float, clip: float) -> tuple[str, str] | None:
    """Say which number of a mapping lies outside its range, and why; ``None`` where all is well."""
    if not 0.0 < clip < 0.5:
        return "clip", f"expected a number strictly between 0 and 0.5, got {clip!r}"
    if not (math.isfinite(slope) and slope > 0.0):
        return "slope", f"expected a finite number above 0, got {slope!r}"
    if not math.isfinite(intercept):
        return "intercept", f"expected a finite number, got {intercept!r}"
    if method != "platt" and intercept != 0.0:
        return "intercept", f"only platt has one, got {intercept!r} for {method}"
    if method == "identity" and slope != 1.0:
        return "slope", f"the identity has 1, got {slope!r}"
    return None

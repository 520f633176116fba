"""From a network's answers about the crops of one picture to its raw score, in doubles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.statistics.logistic import logit, sigmoid

if TYPE_CHECKING:
    from pytest_benchbench.adapters.onnx_config import Aggregation, Output

ROUNDING = 1e-6
"""How far outside [0, 1] a probability in 32-bit floats may lie and still count as rounded; it is then 0 or 1."""


class NoScoreError(Exception):
    """The network's answer is no score; one line."""


def raw_score(answers: NDArray[np.float64], output: Output, aggregation: Aggregation | None) -> float:
    """Make one raw score of the answers about all crops.

    Args:
        answers: (crops, C), one crop at least.
        output: What the C numbers are.
        aggregation: How crops become one; ``None`` for one crop.

    Returns:
        The uncalibrated probability of AI, in [0, 1].

    Raises:
        NoScoreError: A number is not finite, a probability lies outside [0, 1], or there is no such column.
    """
    columns = answers.shape[1]
    index = output.index
    if index is None and columns > 1:
        raise NoScoreError(f"output {output.name} has {columns} columns, and no output.index says which one means AI")
    if (index or 0) >= columns or (output.kind == "softmax" and (columns < 2 or index is None)):
        raise NoScoreError(f"output {output.name} has {columns} columns, too few for {output.kind} {index or 0}")
    if not np.isfinite(answers).all():
        raise NoScoreError(f"output {output.name} has numbers that are not finite")
    wants_logit = aggregation is not None and aggregation.of == "logit"
    if output.kind == "probability":
        probabilities = [_probability(float(answer), output.name) for answer in answers[:, index or 0]]
        if wants_logit:
            return sigmoid(_joined([logit(probability) for probability in probabilities], aggregation))
        return _joined(probabilities, aggregation)
    logits = [_logit(answer, output) for answer in answers]
    if wants_logit:
        return sigmoid(_joined(logits, aggregation))
    return _joined([sigmoid(value) for value in logits], aggregation)


def _joined(values: list[float], aggregation: Aggregation | None) -> float:
    if aggregation is None:
        (value,) = values
        return value
    return max(values) if aggregation.by == "max" else math.fsum(values) / len(values)


def _probability(value: float, name: str) -> float:
    if not -ROUNDING <= value <= 1 + ROUNDING:
        raise NoScoreError(f"output {name} is declared a probability, and is {value:.6g}")
    return min(max(value, 0.0), 1.0)


def _logit(answer: NDArray[np.float64], output: Output) -> float:
    """Give the log odds of AI: the number itself, or of a softmax x - log(sum(exp(other classes)))."""
    if output.kind == "logit":
        return float(answer[output.index or 0])
    assert output.index is not None
    others = [float(value) for place, value in enumerate(answer) if place != output.index]
    largest = max(others)
    value = float(answer[output.index]) - (largest + math.log(math.fsum(math.exp(other - largest) for other in others)))
    if not math.isfinite(value):
        raise NoScoreError(f"output {output.name} has numbers that are too large")
    return value

"""How well scores tell what is AI from what is real: counts, rates and one conservative outcome for each base."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

RELEASE_THRESHOLD: Final = 0.65
"""The deployed rule: an image is called AI when its score is at least this."""

REAL: Final = 0
AI: Final = 1
NO_LABEL: Final = -1


class Confusion(NamedTuple):
    """Units by what they are and what they were called; AI is positive.

    Every rate is ``None`` where nothing stands below its line: a class that does not occur has no recall.

    Attributes:
        tp: AI, called AI; at least 0, as the others.
        fn: AI, called real.
        tn: Real, called real.
        fp: Real, called AI.
    """

    tp: int
    fn: int
    tn: int
    fp: int

    @property
    def ai(self) -> int:
        """Units that are AI."""
        return self.tp + self.fn

    @property
    def real(self) -> int:
        """Units that are real."""
        return self.tn + self.fp

    @property
    def ai_recall(self) -> float | None:
        """Give TP / (TP + FN)."""
        return _share(self.tp, self.ai)

    @property
    def real_recall(self) -> float | None:
        """Give TN / (TN + FP)."""
        return _share(self.tn, self.real)

    @property
    def false_positive_rate(self) -> float | None:
        """Give FP / (TN + FP)."""
        return _share(self.fp, self.real)

    @property
    def precision(self) -> float | None:
        """Give TP / (TP + FP)."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def f1(self) -> float | None:
        """Give ``2 TP / (2 TP + FP + FN)``, the harmonic mean of precision and recall; ``None`` where either of them is."""
        if self.precision is None or self.ai_recall is None:
            return None
        return 2 * self.tp / (2 * self.tp + self.fp + self.fn)

    @property
    def accuracy(self) -> float | None:
        """Give the share of units that were called what they are."""
        return _share(self.tp + self.tn, self.ai + self.real)

    @property
    def balanced_accuracy(self) -> float | None:
        """Give ``0.5 * (TP / (TP + FN) + TN / (TN + FP))``; ``None`` where either class is missing.

        It is rounded once: 410 of 500 and 490 of 500 give .9, and not the number below it that a rule would refuse.
        """
        ai, real = self.ai, self.real
        return (self.tp * real + self.tn * ai) / (2 * ai * real) if ai and real else None


@dataclass(frozen=True, slots=True)
class BaseOutcomes:
    """One outcome for each base; see ``base_outcomes``. All arrays have the shape (bases,).

    Attributes:
        labels: 1 AI, 0 real, -1 for a base that has no row at all.
        succeeded: Whether every required derivative was called what the base is.
        failing: Rows that count and were not: terminal ones, and scores on the wrong side.
        missing: Required derivatives without any row.
    """

    labels: NDArray[np.int8]
    succeeded: NDArray[np.bool_]
    failing: NDArray[np.intp]
    missing: NDArray[np.intp]

    def confusion(self, bases: NDArray[Any] | None = None) -> Confusion:
        """Count bases, a failed real base as false positive and a failed AI base as false negative.

        Args:
            bases: Those that are counted, as a mask or as numbers; all of them unless told otherwise.
        """
        labels, succeeded = self.labels, self.succeeded
        if bases is not None:
            labels, succeeded = labels[bases], succeeded[bases]
        tp, fn, tn, fp = (
            int(np.count_nonzero((labels == label) & (succeeded == good)))
            for label, good in ((AI, True), (AI, False), (REAL, True), (REAL, False))
        )
        return Confusion(tp, fn, tn, fp)


class TwoLabelsError(ValueError):
    """A base with both labels.

    Attributes:
        first: Place of the base's first row.
        second: Place of its first row of the other label.
    """

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"rows {first} and {second} are of one base and have different labels")
        self.first = first
        self.second = second


def called_ai(scores: NDArray[np.float64], threshold: float = RELEASE_THRESHOLD) -> NDArray[np.bool_]:
    """Apply the deployed rule.

    Args:
        scores: In [0, 1]; anything may stand where there is no score.
        threshold: From which score on an image is called AI.

    Returns:
        ``score >= threshold``, of the shape of ``scores``; never true for NaN.
    """
    is_ai: NDArray[np.bool_] = scores >= threshold
    return is_ai


def confusion(labels: NDArray[np.int8], scores: NDArray[np.float64], threshold: float = RELEASE_THRESHOLD) -> Confusion:
    """Count rows. Rows without a score are the caller's to leave out and to tell of: they are neither right nor wrong.

    Args:
        labels: 1 AI, 0 real; of shape (n,).
        scores: Of shape (n,), finite.
        threshold: From which score on a row is called AI.

    Raises:
        ValueError: A score is not finite, or a label is neither 0 nor 1.
    """
    _check(labels, scores)
    cells = np.bincount(labels.astype(np.intp) * 2 + called_ai(scores, threshold), minlength=4).tolist()
    return Confusion(tp=cells[3], fn=cells[2], tn=cells[0], fp=cells[1])


def brier(scores: NDArray[np.float64], labels: NDArray[np.int8]) -> float | None:
    """Give the mean squared difference of score and label (G. W. Brier, Monthly Weather Review 78 (1950) 1-3, one class).

    Args:
        scores: In [0, 1], of shape (n,).
        labels: 1 AI, 0 real; of shape (n,).

    Returns:
        A number in [0, 1], the same for every order of the rows; ``None`` for n = 0.

    Raises:
        ValueError: A score is not finite, or a label is neither 0 nor 1.
    """
    _check(labels, scores)
    if not len(scores):
        return None
    return fsum(((scores - labels) ** 2).tolist()) / len(scores)  # exactly rounded, so that no order of rows shows


def base_outcomes(
    bases: NDArray[np.int64],
    labels: NDArray[np.int8],
    scores: NDArray[np.float64],
    is_scored: NDArray[np.bool_],
    *,
    count: int,
    pairs: NDArray[np.int64] | None = None,
    required: int | NDArray[np.int64] = 0,
    threshold: float = RELEASE_THRESHOLD,
) -> BaseOutcomes:
    """Give each base one outcome, however many derivatives of it there are.

    A real base succeeds only when every required derivative is scored and below the threshold, an AI base only when every
    one is scored and reaches it. A row without a score fails its base, real or AI alike, and so does a required derivative
    of which there is no row. Repeating a row changes nothing.

    Args:
        bases: The base of each row, 0 to ``count - 1``; below 0 for rows of none, which are left out. Of shape (n,), as are
            all of the rows.
        labels: 1 AI, 0 real; below 0 for rows of which it is not known, which fail their base and give it no label.
        scores: In [0, 1]; looked at only where ``is_scored``.
        is_scored: Whether there is a score.
        count: How many bases there are.
        pairs: Which required derivative each row is, from 0; below 0 for a row that is none of them, which counts neither
            for its base nor against it. ``None``: every row counts, and none is missing.
        required: How many different derivatives are required of each base that has any row: a number for all of them, of
            which ``pairs`` are 0 to ``required - 1``, or one for each base, of shape (count,).
        threshold: From which score on a row is called AI.

    Raises:
        TwoLabelsError: A base has both labels.
        ValueError: A base or pair lies outside its range, a base has more derivatives than are required of it, or a score
            that counts is not finite.
    """
    known = bases >= 0
    if known.any() and int(bases.max()) >= count:
        raise ValueError(f"bases must lie below {count}")
    if pairs is not None and len(pairs) and isinstance(required, int) and int(pairs.max()) >= required:
        raise ValueError(f"pairs must lie below {required}")
    if not np.isfinite(scores[is_scored]).all():
        raise ValueError("scores must be finite")
    of_bases = _labels_of_bases(bases, labels, count)
    counts = known if pairs is None else known & (pairs >= 0)
    is_right = is_scored & (labels >= 0) & (called_ai(np.where(is_scored, scores, np.nan), threshold) == (labels == AI))
    failing = np.bincount(bases[counts & ~is_right], minlength=count)
    missing = np.zeros(count, dtype=np.intp)
    if pairs is not None:
        has_row = np.bincount(bases[known], minlength=count) > 0
        missing = np.where(has_row, required - _different(bases[counts], pairs[counts], count), 0)
        if (missing < 0).any():
            raise ValueError("a base has more derivatives than are required of it")
    succeeded = (failing == 0) & (missing == 0) & (of_bases >= 0)
    return BaseOutcomes(of_bases, succeeded, failing, missing)


def _different(bases: NDArray[np.int64], pairs: NDArray[np.int64], count: int) -> NDArray[np.intp]:
    """Count the different pairs of each base, of shape (count,)."""
    width = int(pairs.max()) + 1 if len(pairs) else 1
    cells = np.sort(bases * width + pairs)
    is_first = np.ones(len(cells), dtype=np.bool_)
    is_first[1:] = cells[1:] != cells[:-1]
    return np.bincount(cells[is_first] // width, minlength=count)


def _labels_of_bases(bases: NDArray[np.int64], labels: NDArray[np.int8], count: int) -> NDArray[np.int8]:
    of_bases = np.full(count, NO_LABEL, dtype=np.int8)
    places = np.flatnonzero((bases >= 0) & (labels >= 0))
    of_bases[bases[places[::-1]]] = labels[places[::-1]]  # the last to be written is the base's first row
    differs = places[of_bases[bases[places]] != labels[places]]
    if len(differs):
        second = int(differs[0])
        raise TwoLabelsError(int(places[bases[places] == bases[second]][0]), second)
    return of_bases


def _check(labels: NDArray[np.int8], scores: NDArray[np.float64]) -> None:
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite")
    if not ((labels == REAL) | (labels == AI)).all():
        raise ValueError("labels must be 0 (real) or 1 (AI)")


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None

"""Shortcuts: what tells the label although it has nothing to do with what the picture shows.

A rule is learnt from one property alone on four fifths of the bases and tried on the last fifth, five times over: it calls a
value AI where a larger share of the AI images than of the real ones has it. Its balanced accuracy is 0.5 where the property
tells nothing and 1 where it tells everything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.artifacts.image import ImageTraits
from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.statistics.intervals import wilson_interval
from pytest_benchbench.validation.columns import SPLITS, DatasetColumns
from pytest_benchbench.validation.finding import RuleOutcome, warned
from pytest_benchbench.validation.image_measures import ImageMeasure, Measured

MIN_BASES: Final = 30
"""Bases of each class below which nothing is said."""

TELLING: Final = 0.6
"""A property is told of when the lower bound of its balanced accuracy reaches this."""

CONFIDENCE: Final = 0.99
"""Of that bound; many properties are tried."""

_FOLDS = 5

_PROPERTIES: Mapping[str, Callable[[ImageTraits], object | None]] = {
    "format": lambda traits: traits.format,
    "dimensions": lambda traits: traits.size,
    "metadata": lambda traits: traits.metadata,
    "quantisation": lambda traits: traits.quantisation,  # JPEGs among themselves: which files are some is the format
}
"""Properties with values that are equal or not; files with ``None`` are left out."""


@dataclass(frozen=True, slots=True)
class Predictability:
    """How well one property alone tells the label.

    Attributes:
        balanced_accuracy: Out of fold, 0 to 1.
        low: Lower bound of its interval.
        high: Upper bound.
        real: Real bases.
        ai: AI bases.
    """

    balanced_accuracy: float
    low: float
    high: float
    real: int
    ai: int

    @property
    def is_telling(self) -> bool:
        """Whether there are enough bases, and the lower bound is high enough, to say something."""
        return min(self.real, self.ai) >= MIN_BASES and self.low >= TELLING


def shortcuts(columns: DatasetColumns, measures: Mapping[str, Measured]) -> list[RuleOutcome]:
    """Warn where the label can be told from format, size, metadata or quantisation tables alone.

    Images of one split and one transform are compared with each other, one of each base, so that derivatives neither count
    several times nor hide how the originals differ. For each split and property the transform is named in which it tells
    most.

    Args:
        columns: The rows.
        measures: By SHA-256, as ``measure_images`` gives them.

    Returns:
        The rules ``shortcut-format``, ``shortcut-dimensions`` (width and height), ``shortcut-metadata`` (which
        kinds are there), ``shortcut-quantisation`` (the tables of JPEGs) and ``shortcut-pixels`` (their number, above or
        below a limit), with one finding for each split in which the property tells.
    """
    content, digest_of = columns.contents()
    found = [measures.get(digest_of(code)) for code in range(int(content.max(initial=-1)) + 1)]
    traits = [measure.traits if isinstance(measure, ImageMeasure) else None for measure in found]
    measured = np.array([one is not None for one in traits], np.bool_)[content]
    messages: dict[str, list[str]] = {name: [] for name in (*_PROPERTIES, "pixels")}
    for place, split in enumerate(SPLITS):
        strata = list(_strata(columns, np.flatnonzero(measured & (columns.splits == place))))
        for name, told_of in messages.items():
            best: tuple[Predictability, str] | None = None
            for transform, rows in strata:
                told = _told_by(name, [traits[code] for code in content[rows]], columns, rows)
                if told is not None and told.is_telling and (best is None or told.low > best[0].low):
                    best = told, transform
            if best is not None:
                told_of.append(
                    f"in {split}, transform {shown(best[1])}, {name} alone tells real from AI: {_figure(best[0])}"
                )
    return [warned(f"shortcut-{name}", columns.display, told_of) for name, told_of in messages.items()]


def transform_balance(columns: DatasetColumns) -> RuleOutcome:
    """Warn of transforms that one class has far more often than the other: rule ``transform-label``."""
    names, messages = columns.values("transform"), []
    for place, split in enumerate(SPLITS):
        of_split = columns.splits == place
        fields = (columns.labels, columns.codes("baseId"), columns.codes("transform"))
        labels, bases, transforms = (column[of_split] for column in fields)
        real_n, ai_n = (len(np.unique(bases[labels == label])) for label in (0, 1))
        if min(real_n, ai_n) < MIN_BASES:
            continue
        having = np.unique(np.stack([transforms, labels, bases], axis=1), axis=0)  # each base once for each transform
        counts = np.bincount(having[:, 0] * 2 + having[:, 1], minlength=2 * len(names)).reshape(-1, 2).tolist()
        for name, (real, generated) in sorted(zip(names, counts, strict=True)):
            # having it points to whichever class has it more often
            right = (real_n - real, generated) if generated * real_n >= real * ai_n else (real, ai_n - generated)
            told = predictability(right[0], real_n, right[1], ai_n)
            if told.is_telling:
                messages.append(
                    f"in {split}, {real} of {real_n} real bases and {generated} of {ai_n} AI bases have the transform "
                    f"{shown(name)}, which alone tells real from AI: {_figure(told)}"
                )
    return warned("transform-label", columns.display, messages)


def predictability(real_right: int, real: int, ai_right: int, ai: int) -> Predictability:
    """Give the balanced accuracy of a rule and its interval.

    The interval is that of the mean of two independent proportions from their Wilson intervals: the distances of the bounds
    add up as squares (G. Y. Zou and A. Donner, Statistics in Medicine 27 (2008) 1693-1702, "MOVER").

    Args:
        real_right: Real bases that the rule calls real, 0 to ``real``.
        real: Real bases, at least 1.
        ai_right: AI bases that the rule calls AI, 0 to ``ai``.
        ai: AI bases, at least 1.

    Raises:
        ValueError: A count lies outside its range.
    """
    recalls = real_right / real, ai_right / ai
    intervals = wilson_interval(real_right, real, CONFIDENCE), wilson_interval(ai_right, ai, CONFIDENCE)
    lows = [recall - bounds[0] for recall, bounds in zip(recalls, intervals, strict=True) if bounds is not None]
    highs = [bounds[1] - recall for recall, bounds in zip(recalls, intervals, strict=True) if bounds is not None]
    middle = sum(recalls) / 2
    low, high = middle - sqrt(sum(one * one for one in lows)) / 2, middle + sqrt(sum(one * one for one in highs)) / 2
    return Predictability(middle, max(low, 0.0), min(high, 1.0), real, ai)


def _strata(columns: DatasetColumns, rows: NDArray[np.intp]) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """Yield by name each transform that enough bases of both classes have, with the row of the least id of each base."""
    refs, names = columns.refs, columns.values("transform")
    base, labels = columns.codes("baseId"), columns.labels
    of_transform: dict[str, dict[int, int]] = {}
    for row, code in zip(rows.tolist(), columns.codes("transform")[rows].tolist(), strict=True):
        least = of_transform.setdefault(names[code], {})
        first = least.setdefault(int(base[row]), row)
        if refs[row].case_id < refs[first].case_id:
            least[int(base[row])] = row
    for name, least in sorted(of_transform.items()):
        chosen = np.array(sorted(least.values()), np.intp)
        if min(np.bincount(labels[chosen], minlength=2)) >= MIN_BASES:
            yield name, chosen


def _told_by(
    name: str, traits: list[ImageTraits | None], columns: DatasetColumns, rows: NDArray[np.intp]
) -> Predictability | None:
    """Try the rule that one property gives; ``None`` where a class is too small."""
    if name == "pixels":
        values: list[object | None] = [None if one is None else one.size[0] * one.size[1] for one in traits]
    else:
        values = [None if one is None else _PROPERTIES[name](one) for one in traits]
    known = np.array([value is not None for value in values], np.bool_)
    labels = columns.labels[rows][known]
    if min(np.count_nonzero(labels == 0), np.count_nonzero(labels == 1)) < MIN_BASES:
        return None
    names = columns.values("baseId")
    folds = _folds([names[code] for code in columns.codes("baseId")[rows][known]], labels)
    if name == "pixels":
        learn = _limit
        numbers = np.array([value for value in values if value is not None], np.float64)
    else:
        learn = _shares
        codes: dict[object, int] = {}
        numbers = np.array([codes.setdefault(value, len(codes)) for value in values if value is not None], np.float64)
    called = np.zeros(len(labels), np.bool_)
    for fold in range(_FOLDS):
        tried = folds == fold
        called[tried] = learn(numbers[~tried], labels[~tried] == 1)(numbers[tried])
    right = called == (labels == 1)
    counts = [
        int(np.count_nonzero(part)) for part in (right & (labels == 0), labels == 0, right & (labels == 1), labels == 1)
    ]
    return predictability(*counts)


_Rule = Callable[[NDArray[np.float64]], NDArray[np.bool_]]


def _shares(values: NDArray[np.float64], generated: NDArray[np.bool_]) -> _Rule:
    """Call a value AI where a larger share of the AI images has it; a value that was not seen is called real."""
    size = int(values.max(initial=0)) + 1
    ai = np.bincount(values[generated].astype(np.intp), minlength=size)
    real = np.bincount(values[~generated].astype(np.intp), minlength=size)
    chosen = ai * int(np.count_nonzero(~generated)) > real * int(np.count_nonzero(generated))
    return lambda asked: (asked < size) & chosen[np.minimum(asked.astype(np.intp), size - 1)]


def _limit(values: NDArray[np.float64], generated: NDArray[np.bool_]) -> _Rule:
    """Find the limit, and the side of it that is called AI, with the best balanced accuracy; of equals the lowest limit."""
    order = np.argsort(values, kind="stable")
    ordered, is_ai = values[order], generated[order]
    ai_below = np.concatenate([[0], np.cumsum(is_ai)]) / max(int(np.count_nonzero(generated)), 1)
    real_below = np.concatenate([[0], np.cumsum(~is_ai)]) / max(int(np.count_nonzero(~generated)), 1)
    gain = ai_below - real_below
    inside = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    place = int(np.argmax(np.where(inside, np.abs(gain), -1.0)))
    limit = np.inf if place == len(ordered) else ordered[place]
    return lambda asked: (asked < limit) == bool(gain[place] > 0)


def _folds(bases: list[str], labels: NDArray[np.int8]) -> NDArray[np.intp]:
    """Deal the bases of each class to the folds, in the order of the SHA-256 of their names."""
    folds = np.empty(len(bases), np.intp)
    digests = [hashlib.sha256(name.encode()).digest() for name in bases]
    for label in (0, 1):
        of_class = sorted(np.flatnonzero(labels == label).tolist(), key=digests.__getitem__)
        folds[of_class] = np.arange(len(of_class)) % _FOLDS
    return folds


def _figure(told: Predictability) -> str:
    return (
        f"balanced accuracy {told.balanced_accuracy:.3f}, {CONFIDENCE:.0%} interval {told.low:.3f} to {told.high:.3f}, "
        f"n = {told.real} real and {told.ai} AI bases"
    )

"""What a stress set will hold, counted from the headers of its originals, before anything is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_benchbench.cohorts.stress_originals import Original
from pytest_benchbench.cohorts.stress_transforms import ORIGINAL, StressTransform

TooSmall = Literal["row", "transform", "base"]
"""What is left out where an original is no larger than a size that it should be brought to: this row, the transform for all
originals, or the original with all its rows."""


@dataclass(frozen=True, slots=True)
class PlannedTransform:
    """The rows of one transform.

    Attributes:
        name: The transform.
        full_res: Rows in the resolution group ``full-res``.
        thumbnail: Rows in the group ``thumbnail``.
        left_out: Originals that are too small for it.
        copies: Rows whose file is the original's, byte for byte: there is no metadata to strip, or it is of a format that is
            not written again.
    """

    name: str
    full_res: int
    thumbnail: int
    left_out: int
    copies: int

    @property
    def total(self) -> int:
        """All rows of the transform."""
        return self.full_res + self.thumbnail


@dataclass(frozen=True, slots=True)
class StressPlan:
    """What is made of which original.

    Attributes:
        originals: Those that get rows.
        transforms: What is made of them, where they are large enough.
        left_out_bases: Originals that get no row, because they are too small for a transform.
        left_out_transforms: Transforms that are not done, because an original is too small for them.
        counts: Rows by transform, the originals' first.
        uneven_bases: Originals that lack a pair of transform and resolution group that others have.
    """

    originals: Sequence[Original]
    transforms: Sequence[StressTransform]
    left_out_bases: int
    left_out_transforms: tuple[str, ...]
    counts: tuple[PlannedTransform, ...]
    uneven_bases: int

    @property
    def rows(self) -> int:
        """All rows of the set."""
        return sum(planned.total for planned in self.counts)


def plan_stress(originals: Sequence[Original], transforms: Sequence[StressTransform], too_small: TooSmall) -> StressPlan:
    """Decide what is made of which original, and count it.

    Args:
        originals: As verified.
        transforms: What is asked for.
        too_small: What is left out where an original is too small.
    """
    kept, done = list(originals), list(transforms)
    if too_small == "base":
        kept = [original for original in originals if all(one.fits(original.long_side) for one in transforms)]
    elif too_small == "transform":
        done = [one for one in transforms if all(one.fits(original.long_side) for original in originals)]
    return StressPlan(
        originals=kept,
        transforms=done,
        left_out_bases=len(originals) - len(kept),
        left_out_transforms=tuple(one.name for one in transforms if one not in done),
        counts=(_counted(ORIGINAL, [original.group for original in kept], 0, 0), *(_planned(one, kept) for one in done)),
        uneven_bases=_uneven(kept, done),
    )


def _planned(transform: StressTransform, originals: Sequence[Original]) -> PlannedTransform:
    fitting = [original for original in originals if transform.fits(original.long_side)]
    copies = sum(_is_copied(transform, original) for original in fitting)
    groups = [transform.group(original.group) for original in fitting]
    return _counted(transform.name, groups, len(originals) - len(fitting), copies)


def _counted(name: str, groups: Sequence[str], left_out: int, copies: int) -> PlannedTransform:
    thumbnails = sum(group == "thumbnail" for group in groups)
    return PlannedTransform(name, len(groups) - thumbnails, thumbnails, left_out, copies)


def _is_copied(transform: StressTransform, original: Original) -> bool:
    if transform.attack == "metadata-intact":
        return original.has_metadata is None
    return transform.attack == "metadata-stripped" and original.has_metadata is False


def _uneven(originals: Sequence[Original], transforms: Sequence[StressTransform]) -> int:
    shapes = Counter(_pairs(original, transforms) for original in originals)
    every = frozenset[tuple[str, str]]().union(*shapes)
    return sum(number for pairs, number in shapes.items() if pairs != every)


def _pairs(original: Original, transforms: Sequence[StressTransform]) -> frozenset[tuple[str, str]]:
    made = ((one.name, one.group(original.group)) for one in transforms if one.fits(original.long_side))
    return frozenset(((ORIGINAL, original.group), *made))

"""Which of the stress sets that the release contract requires a dataset, or evidence, has.

A set is told by ``contentGroup``, ``transform`` and ``resolutionGroup`` of rows. ``docs/dataset.md`` has the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

import numpy as np

from pytest_benchbench.manifests.dataset import TEST_SPLIT, Split
from pytest_benchbench.validation.columns import SPLITS, DatasetColumns
from pytest_benchbench.validation.finding import RuleOutcome, warned

Classes = Literal["real", "AI", "both", "any"]


class Facets(NamedTuple):
    """What tells the stress sets of a row, of a manifest or of evidence.

    Attributes:
        label: 1 for AI, 0 for real.
        content_group: As in the row; ``None`` where it is absent.
        transform: Likewise.
        resolution_group: Likewise.
    """

    label: int | None
    content_group: str | None
    transform: str | None
    resolution_group: str | None


@dataclass(frozen=True, slots=True)
class StressSet:
    """One required set.

    Attributes:
        name: Its name in reports.
        classes: The classes of which it needs a row: both, one of them, or any of the two.
        content_groups: Content groups that count for it, with ``*`` for any characters; none: any counts.
        transforms: Likewise.
        resolution_groups: Likewise.
    """

    name: str
    classes: Classes
    content_groups: tuple[str, ...] = ()
    transforms: tuple[str, ...] = ()
    resolution_groups: tuple[str, ...] = ()

    def has(self, facets: Facets) -> bool:
        """Say whether a row counts for it. Case does not matter, nor whether words are joined by ``-``, ``_`` or a space."""
        wanted_label = {"real": 0, "AI": 1}.get(self.classes, facets.label)
        return (
            facets.label == wanted_label
            and _matches(facets.content_group, self.content_groups)
            and _matches(facets.transform, self.transforms)
            and _matches(facets.resolution_group, self.resolution_groups)
        )


@dataclass(frozen=True, slots=True)
class SetCoverage:
    """How many rows count for a set.

    Attributes:
        name: The set.
        real: Real rows.
        ai: AI rows.
        lacks: The class of which it has no row though it needs one; ``any`` when it has none at all, ``None`` when it is
            covered.
    """

    name: str
    real: int
    ai: int
    lacks: Classes | None

    def __str__(self) -> str:
        return f"{self.name} (no {self.lacks} images)" if self.lacks in ("real", "AI") else self.name


def _made(name: str, *transforms: str) -> StressSet:
    return StressSet(name, "both", transforms=transforms)


STRESS_SETS: tuple[StressSet, ...] = (
    StressSet("generated-metadata-intact", "AI", transforms=("none", "original", "metadata-intact")),
    StressSet("generated-metadata-stripped", "AI", transforms=("metadata-stripped",)),
    StressSet("camera-photography", "real", ("photo", "photos", "photograph*", "camera*")),
    StressSet("human-digital-art", "real", ("digital-art", "human-digital-art", "human-art", "illustration*")),
    StressSet("cgi-game-render", "real", ("cgi*", "game*", "render*", "3d-render*")),
    StressSet("edited-photo", "real", ("edited*", "photo-edit*")),
    StressSet("product-photo", "real", ("product*",)),
    StressSet("screenshot", "any", ("screenshot*",)),
    StressSet("meme", "any", ("meme*",)),
    StressSet("text-heavy", "any", ("text*", "infographic*")),
    StressSet("small-thumbnail", "both", resolution_groups=("thumbnail",)),
    *(_made(f"jpeg-{quality}", f"jpeg-{quality}", f"jpeg-{quality}-*") for quality in (95, 75, 50, 30)),
    *(_made(f"webp-{quality}", f"webp-{quality}", f"webp-{quality}-*") for quality in (80, 50)),
    *(_made(f"resize-{side}", f"resize-{side}", f"long-side-{side}") for side in (1024, 512, 256, 112)),
    *(_made(f"crop-{percent}", f"crop-{percent}", f"crop-{percent}%", f"crop-*-{percent}") for percent in (90, 75)),
    _made("blur", "blur*", "gaussian-blur*"),
    _made("sharpening", "sharpen*"),
    _made("alpha-compositing", "alpha*"),
    _made("combined", "combined*"),
)
"""The required stress sets of the release contract, in its order."""


def coverage(facets: Mapping[Facets, int] | Iterable[Facets]) -> list[SetCoverage]:
    """Count the rows of each required set.

    Args:
        facets: Of each row, or how many rows have the same ones.

    Returns:
        One entry for each of ``STRESS_SETS``, in their order.
    """
    counted = Counter(facets)
    return [_covered(one, counted) for one in STRESS_SETS]


def missing_sets(columns: DatasetColumns, covered: Mapping[Split, list[SetCoverage]]) -> RuleOutcome:
    """Warn of required sets that the test split lacks: rule ``test-stress-sets``.

    Args:
        columns: The rows.
        covered: The sets of each split that has rows.
    """
    of_test = covered.get(TEST_SPLIT, [])
    missing = [str(one) for one in of_test if one.lacks is not None]
    message = f"{TEST_SPLIT} lacks {len(missing)} of {len(of_test)} required stress sets: {', '.join(missing)}"
    return warned("test-stress-sets", columns.display, [message] if missing else [])


def facets_of(columns: DatasetColumns, split: Split) -> Counter[Facets]:
    """Count the distinct facets of the rows of a split."""
    of_split = columns.splits == SPLITS.index(split)
    fields = ("contentGroup", "transform", "resolutionGroup")
    stacked = np.stack([columns.labels[of_split], *(columns.codes(field)[of_split] for field in fields)], axis=1)
    texts = [[*columns.values(field), None] for field in fields]  # -1, for none, is the last
    found: Counter[Facets] = Counter()
    for (label, *codes), count in zip(
        *(part.tolist() for part in np.unique(stacked, axis=0, return_counts=True)), strict=True
    ):
        found[Facets(label, *(text[code] for text, code in zip(texts, codes, strict=True)))] += count
    return found


def _covered(one: StressSet, counted: Mapping[Facets, int]) -> SetCoverage:
    real = sum(count for facets, count in counted.items() if facets.label == 0 and one.has(facets))
    generated = sum(count for facets, count in counted.items() if facets.label == 1 and one.has(facets))
    lacks: Classes | None = None
    if not real and not generated:
        lacks = "any"
    elif one.classes == "both" and not (real and generated):
        lacks = "AI" if real else "real"
    return SetCoverage(one.name, real, generated, lacks)


def _matches(text: str | None, patterns: tuple[str, ...]) -> bool:
    if not patterns:
        return True
    if text is None:
        return False
    plain = text.casefold().replace("_", "-").replace(" ", "-")
    return any(fnmatchcase(plain, pattern) for pattern in patterns)

"""The transforms of a stress set: their stable names, the attacks that they are, and what they are not done to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from pytest_benchbench.cohorts import CohortUsageError
from pytest_benchbench.cohorts.attacks.attack import Attack
from pytest_benchbench.cohorts.attacks.registry import find_attacks
from pytest_benchbench.manifests.dataset import ResolutionGroup

ORIGINAL = "none"
"""The transform of an original."""

THUMBNAIL_SIDE = 256
"""An original whose longer side has at most so many pixels is a thumbnail, unless its row says otherwise."""

_SEED_BYTES = 6
"""Of a digest: a seed that every JSON reader holds exactly."""


@dataclass(frozen=True, slots=True)
class StressTransform:
    """One derivative of every original.

    Attributes:
        name: In ``transform`` of the rows, never to be given another meaning.
        media_type: ``image`` where the attack takes the pixels, ``image-file`` where it takes the file.
        attack: Its name in the registry.
        larger_than: The longer side, in pixels, that an original must exceed; ``None`` where any will do.
        thumbnail: Whether what comes out is shown as a thumbnail, however large the original is.
    """

    name: str
    media_type: Literal["image", "image-file"]
    attack: str
    larger_than: int | None = None
    thumbnail: bool = False

    def fits(self, long_side: int) -> bool:
        """Say whether it is done to an original whose longer side has so many pixels."""
        return self.larger_than is None or long_side > self.larger_than

    def group(self, of_original: ResolutionGroup) -> ResolutionGroup:
        """Give the resolution group of the derivative of an original of a group."""
        return "thumbnail" if self.thumbnail else of_original

    def seeded_attack(self, cohort_seed: int, base_id: str) -> Attack[Any]:
        """Give the attack on one original, with the seed of that row where something is drawn."""
        (attack,) = find_attacks(self.media_type, [self.attack])
        return attack.with_seed(row_seed(cohort_seed, base_id, self.name))


def row_seed(cohort_seed: int, base_id: str, transform: str) -> int:
    """Derive the seed of a row, 0 to 2^48 - 1: it depends on nothing but these three."""
    digest = hashlib.sha256(msgspec.json.encode([cohort_seed, base_id, transform])).digest()
    return int.from_bytes(digest[:_SEED_BYTES])


def _pixels(name: str, attack: str | None = None, *, larger_than: int | None = None) -> StressTransform:
    small = larger_than is not None and larger_than <= THUMBNAIL_SIDE
    return StressTransform(name, "image", attack or name, larger_than, thumbnail=small)


STRESS_TRANSFORMS: Mapping[str, StressTransform] = {
    transform.name: transform
    for transform in (
        StressTransform("metadata-intact", "image-file", "metadata-intact"),
        StressTransform("metadata-stripped", "image-file", "metadata-stripped"),
        *(_pixels(f"jpeg-{quality}") for quality in (95, 75, 50, 30)),
        *(_pixels(f"webp-{quality}") for quality in (80, 50)),
        *(_pixels(f"resize-{side}", f"long-side-{side}", larger_than=side) for side in (1024, 512, 256, 112)),
        *(_pixels(f"crop-{percent}", f"crop-somewhere-{percent}") for percent in (90, 75)),
        *(_pixels(f"blur-{sigma}") for sigma in (1, 2)),
        _pixels("sharpen-2"),
        _pixels("alpha-patch-50"),
        *(_pixels(f"combined-{way}") for way in ("upload", "repost", "screenshot")),
        _pixels("combined-thumbnail", larger_than=THUMBNAIL_SIDE),
    )
}
"""Every transform of a stress set by its name, in the order of a set's rows."""


def find_transforms(names: Iterable[str]) -> tuple[StressTransform, ...]:
    """Find transforms by name, each once, in the order of a set's rows; all of them where no name is given.

    Raises:
        CohortUsageError: There is no such transform.
    """
    wanted = set(names)
    if unknown := sorted(wanted - STRESS_TRANSFORMS.keys()):
        raise CohortUsageError(f"unknown transform {unknown[0]!r}; known: {', '.join(STRESS_TRANSFORMS)}")
    return tuple(transform for name, transform in STRESS_TRANSFORMS.items() if not wanted or name in wanted)

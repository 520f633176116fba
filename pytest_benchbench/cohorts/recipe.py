"""What recipes share: carriers crossed with marks and attacks, and the plan that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.image import IMAGE_ATTACKS, ImageAttack
from pytest_benchbench.cohorts.pictures import Pixels
from pytest_benchbench.cohorts.schemes import Mark, Scheme

SMALLEST_SIDE = 256
SIDE_STEP = 16
LARGEST_SIDE = 8192


@dataclass(frozen=True, slots=True)
class Carrier:
    """An unmarked picture of a recipe.

    Attributes:
        name: Its part of case ids and file names.
        draw: Gives (side, side, 3) uint8 RGB for a side in pixels.
        record: What case rows say about it under ``transform.parameters``.
        seed: What its generator is given; ``None`` when nothing random happens.
        source_revision: Which version of which source it is.
    """

    name: str
    draw: Callable[[int], Pixels]
    record: dict[str, Any]
    seed: int | None
    source_revision: str


@dataclass(frozen=True, slots=True)
class ImageRecipe:
    """A cohort of square pictures.

    Every carrier gets, for each mark, a matched negative, a marked row, one row for each attack and, where the scheme has a
    remover, a removed row; every adapter is also shown each hard negative.

    Attributes:
        name: Of the cohort.
        prefix: Begins every case id, followed by the side.
        module: Where it is described; its sources, with all it imports, are part of the cohort's identity.
        side: Width and height in pixels.
        carriers: Number of carriers.
        open_carriers: Verifies and gives them, ``carriers`` in number.
        hard_negatives: Pictures that never carry a mark.
        attacks: What is done to every marked picture.
        schemes: Whose marks are embedded.
        parameters: What distinguishes this recipe from others of its module; JSON values.
        distributions: Installed distributions that shape the bytes.
    """

    name: str
    prefix: str
    module: str
    side: int
    carriers: int
    open_carriers: Callable[[], Iterable[Carrier]]
    hard_negatives: tuple[Carrier, ...]
    attacks: tuple[ImageAttack, ...]
    schemes: tuple[Scheme, ...]
    parameters: dict[str, Any]
    distributions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlannedRows:
    """The rows of one adapter.

    Attributes:
        adapter: Its name.
        clean: Matched and hard negatives.
        marked: Rows of freshly marked pictures.
        attacked: Rows of attacked ones.
        removed: Rows of a remover's output, at most.
    """

    adapter: str
    clean: int
    marked: int
    attacked: int
    removed: int

    @property
    def total(self) -> int:
        """All rows of the adapter."""
        return self.clean + self.marked + self.attacked + self.removed


def plan(recipe: ImageRecipe) -> list[PlannedRows]:
    """Count a recipe's rows for each adapter, without building anything."""
    rows = []
    for scheme in recipe.schemes:
        pairs = recipe.carriers * len(scheme.mark_names)
        rows.append(
            PlannedRows(
                adapter=scheme.adapter,
                clean=pairs + len(recipe.hard_negatives),
                marked=pairs,
                attacked=pairs * len(recipe.attacks),
                removed=pairs if scheme.removes else 0,
            )
        )
    return rows


def open_marks(recipe: ImageRecipe) -> tuple[dict[str, tuple[Mark, ...]], dict[str, str]]:
    """Open every scheme that can be opened here.

    Returns:
        Marks by adapter, and by adapter why it is left out.
    """
    marks: dict[str, tuple[Mark, ...]] = {}
    left_out: dict[str, str] = {}
    for scheme in recipe.schemes:
        try:
            marks[scheme.adapter] = scheme.marks()
        except AdapterUnavailable as missing:
            left_out[scheme.adapter] = str(missing)
    return marks, left_out


def check_side(side: int) -> int:
    """Refuse a side that a recipe cannot use, else give it back.

    Raises:
        CohortError: Less than 256, not divisible by 16, or more than 8192 pixels.
    """
    if side < SMALLEST_SIDE or side % SIDE_STEP or side > LARGEST_SIDE:
        raise CohortError(f"size {side}: expected {SMALLEST_SIDE} to {LARGEST_SIDE} pixels, divisible by {SIDE_STEP}")
    return side


def named_attacks(names: Iterable[str]) -> tuple[ImageAttack, ...]:
    """Find attacks by name, each once, in the given order.

    Raises:
        CohortError: There is no such attack.
    """
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        if name not in IMAGE_ATTACKS:
            raise CohortError(f"unknown attack {name!r}; known: {', '.join(IMAGE_ATTACKS)}")
    return tuple(IMAGE_ATTACKS[name] for name in chosen)

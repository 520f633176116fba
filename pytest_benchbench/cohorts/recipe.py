"""What recipes share: carriers crossed with marks and attacks, and the plan that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.cohorts import CohortUsageError
from pytest_benchbench.cohorts.attacks.attack import Attack
from pytest_benchbench.cohorts.media import CohortMedium, Content
from pytest_benchbench.cohorts.schemes import OpenedScheme, Scheme

SMALLEST_SIDE = 256
SIDE_STEP = 16
LARGEST_SIDE = 8192


class Formula(Protocol):
    """What a carrier module says of something that it draws."""

    @property
    def name(self) -> str:
        """Its part of a case id."""

    @property
    def revision(self) -> int:
        """Counts the versions of its formula."""

    @property
    def seed(self) -> int | None:
        """What its generator is given."""

    def record(self) -> dict[str, Any]:
        """Say in a case row what was drawn."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """An unmarked source of a recipe.

    Attributes:
        name: Its part of case ids and file names.
        draw: Gives the content: pixels, samples or a clip.
        record: What case rows say about it under ``transform.parameters``.
        seed: What its generator is given; ``None`` when nothing random happens.
        source_revision: Which version of which source it is.
    """

    name: str
    draw: Callable[[], Content]
    record: dict[str, Any]
    seed: int | None
    source_revision: str

    @classmethod
    def of(cls, formula: Formula, draw: Callable[[], Content], kind: str = "carrier") -> Carrier:
        """Make a carrier of something that this package draws; its record stands under ``kind``."""
        return cls(
            name=formula.name,
            draw=draw,
            record={kind: formula.record()},
            seed=formula.seed,
            source_revision=f"pytest-benchbench/{formula.name}@{formula.revision}",
        )


@dataclass(frozen=True, slots=True)
class Part:
    """Carriers of one medium, crossed with marks and attacks.

    Every carrier gets, for each mark, a matched negative, a marked row, one row for each attack and, where the scheme has a
    remover, a removed row; every adapter is also shown each hard negative.

    Attributes:
        medium: Of every carrier.
        prefix: Begins every case id.
        parameters: What every row says under ``transform.parameters``.
        carriers: Number of carriers.
        open_carriers: Verifies and gives them, ``carriers`` in number.
        hard_negatives: Carriers that never carry a mark.
        attacks: What is done to everything that was marked.
        schemes: Whose marks are embedded.
        forged: Whether each carrier also gets somebody else's message, where the scheme has a payload.
        double_embedded: Whether somebody else's message is also embedded over the mark.
        removals: Pairs of carrier and attack for which it is measured whether the attack destroys the mark; where it does,
            the attacked artifact gets a ``removed`` row too.
        expected_marked: What is asserted of marked rows.
    """

    medium: CohortMedium
    prefix: str
    parameters: dict[str, Any]
    carriers: int
    open_carriers: Callable[[], Iterable[Carrier]]
    attacks: tuple[Attack[Any], ...]
    schemes: tuple[Scheme, ...]
    hard_negatives: tuple[Carrier, ...] = ()
    forged: bool = False
    double_embedded: bool = False
    removals: frozenset[tuple[str, str]] = frozenset()
    expected_marked: Literal["detected", "unresolved"] = "detected"

    def measured_removals(self) -> int:
        """Count the pairs of ``removals`` whose attack is one of the part's."""
        names = {attack.name for attack in self.attacks}
        return sum(attack in names for _, attack in self.removals)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A cohort.

    Attributes:
        name: Of the cohort.
        title: One line about it for a plan: name and size.
        module: Where it is described; its sources, with all it imports, are part of the cohort's identity.
        parts: What it is made of; each adapter marks in one medium, so the parts of an adapter have one medium.
        parameters: What distinguishes this recipe from others of its module; JSON values.
        distributions: Installed distributions that shape the bytes, besides those of media and schemes.
    """

    name: str
    title: str
    module: str
    parts: tuple[Part, ...]
    parameters: dict[str, Any]
    distributions: tuple[str, ...] = ()

    def schemes(self) -> dict[str, Scheme]:
        """Give the schemes of all parts by adapter, in the order of the parts."""
        return {scheme.adapter: scheme for part in self.parts for scheme in part.schemes}


@dataclass(frozen=True, slots=True)
class PlannedRows:
    """The rows of one adapter, at most: what is removed or not is measured when the cohort is built.

    Attributes:
        adapter: Its name.
        clean: Matched and hard negatives.
        marked: Rows of freshly marked carriers.
        attacked: Rows of attacked ones.
        removed: Rows of a remover's output, or of attacked artifacts whose mark was measured to be gone.
        forged: Rows with somebody else's message.
    """

    adapter: str
    clean: int
    marked: int
    attacked: int
    removed: int
    forged: int

    @property
    def total(self) -> int:
        """All rows of the adapter."""
        return self.clean + self.marked + self.attacked + self.removed + self.forged


@dataclass(frozen=True, slots=True)
class OpenedSchemes:
    """What can be embedded here.

    Attributes:
        by_adapter: The schemes that could be opened.
        left_out: By adapter, why the others could not.
    """

    by_adapter: Mapping[str, OpenedScheme]
    left_out: dict[str, str] = field(default_factory=dict)


def plan(recipe: Recipe) -> list[PlannedRows]:
    """Count a recipe's rows for each adapter, without building or opening anything."""
    return [_planned(recipe, adapter) for adapter in recipe.schemes()]


def _planned(recipe: Recipe, adapter: str) -> PlannedRows:
    clean = marked = attacked = removed = forged = 0
    for part in recipe.parts:
        for scheme in part.schemes:
            if scheme.adapter != adapter:
                continue
            marks = len(scheme.mark_names)
            pairs = part.carriers * marks
            clean += pairs + len(part.hard_negatives)
            marked += pairs
            attacked += pairs * len(part.attacks)
            removed += (pairs if scheme.removes else 0) + part.measured_removals() * marks
            forged += pairs * (part.forged + part.double_embedded) if scheme.foreign else 0
    return PlannedRows(adapter, clean, marked, attacked, removed, forged)


def open_schemes(recipe: Recipe) -> OpenedSchemes:
    """Open every scheme of a recipe that can be opened here.

    Raises:
        CohortError: An adapter's options are refused, or it fails by a fault of its own.
    """
    opened: dict[str, OpenedScheme] = {}
    left_out: dict[str, str] = {}
    for adapter, scheme in recipe.schemes().items():
        try:
            opened[adapter] = scheme.open()
        except AdapterUnavailable as missing:
            left_out[adapter] = str(missing)
    return OpenedSchemes(opened, left_out)


def check_side(side: int) -> int:
    """Refuse a side that a recipe cannot use, else give it back.

    Raises:
        CohortUsageError: Less than 256, not divisible by 16, or more than 8192 pixels.
    """
    if side < SMALLEST_SIDE or side % SIDE_STEP or side > LARGEST_SIDE:
        raise CohortUsageError(f"size {side}: expected {SMALLEST_SIDE} to {LARGEST_SIDE} pixels, divisible by {SIDE_STEP}")
    return side

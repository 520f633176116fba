"""What an attack is: a change, then a writer, with everything on record that decides the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, Protocol, TypeVar

Reproducible = Literal["bytes", "samples"]
"""What two runs on one machine, with the same versions, have in common: the file, or only what it decodes to."""

M = TypeVar("M")
M_contra = TypeVar("M_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Attacked:
    """The file that an attack leaves.

    Attributes:
        data: Its bytes.
        extension: How its name ends, with the dot.
        parameters: Everything that was done, the encoder's settings under ``encoder``; JSON values. With the attack's name,
            revision and seed they suffice to do it again.
    """

    data: bytes
    extension: str
    parameters: dict[str, Any]


class Attack(Protocol[M_contra]):
    """Does one thing to pictures, sounds, clips or image files, always in the same way."""

    @property
    def name(self) -> str:
        """Its name in case ids and in ``transform.name``: ``<family>-<strength>``, or the family's name alone."""

    @property
    def family(self) -> str:
        """What it shares with attacks that differ from it in strength only."""

    @property
    def strength(self) -> float | None:
        """In the unit of its family; ``None`` where there is nothing to vary."""

    @property
    def revision(self) -> int:
        """Counts the versions of what it does."""

    @property
    def seed(self) -> int | None:
        """What its generator is given; ``None`` when nothing random happens."""

    @property
    def keeps_positions(self) -> bool:
        """Whether each pixel or sample still shows what it showed before, so that a paired fidelity number has a meaning."""

    @property
    def reproducible(self) -> Reproducible:
        """Whether the same medium gives the same bytes again, or only the same decoded samples."""

    def with_seed(self, seed: int) -> Attack[M_contra]:
        """Give the same attack with another seed (0 to 2^128 - 1); itself where there is nothing to seed."""

    def apply(self, medium: M_contra) -> Attacked:
        """Attack (H, W, 3) uint8 RGB, (n,) float32 samples, a ``Clip`` or an ``ImageFile``, which stays as it is.

        Raises:
            CohortError: The medium is too small for it, or the encoder is missing or refuses; one line.
        """


@dataclass(frozen=True, slots=True)
class Writer(Generic[M]):
    """How a changed medium becomes a file.

    Attributes:
        encode: Gives the file's bytes.
        extension: How its name ends, with the dot.
        record: Every setting of the encoder; JSON values.
        reproducible: What two files of the same medium have in common.
    """

    encode: Callable[[M], bytes]
    extension: str
    record: Mapping[str, Any]
    reproducible: Reproducible = "bytes"


Change = Callable[[M], tuple[M, dict[str, Any]]]
"""Gives a changed copy and what was done, as JSON values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAttack(Generic[M]):
    """The attack of this package: it changes a copy of the medium and writes it.

    Attributes:
        name: See ``Attack``; likewise ``family``, ``strength``, ``seed``, ``revision`` and ``keeps_positions``.
        change: What is done before writing.
        writer: What is written; a codec's own attack changes nothing before.
        seeded: Gives the change for another seed; ``None`` where nothing random happens or the seed is fixed.
    """

    name: str
    family: str
    change: Change[M]
    writer: Writer[M]
    strength: float | None = None
    seed: int | None = None
    revision: int = 1
    keeps_positions: bool = True
    seeded: Callable[[int], Change[M]] | None = None

    @property
    def reproducible(self) -> Reproducible:
        """What the writer promises."""
        return self.writer.reproducible

    def apply(self, medium: M) -> Attacked:
        """See ``Attack``."""
        changed, record = self.change(medium)
        return Attacked(self.writer.encode(changed), self.writer.extension, {**record, "encoder": dict(self.writer.record)})

    def with_seed(self, seed: int) -> FileAttack[M]:
        """See ``Attack``."""
        return self if self.seeded is None else replace(self, seed=seed, change=self.seeded(seed))


def unchanged(medium: M) -> tuple[M, dict[str, Any]]:
    """Do nothing: the change of an attack that only encodes."""
    return medium, {}


def chained(*steps: FileAttack[M]) -> Change[M]:
    """Do the changes of several attacks, one after another, without writing in between."""

    def change(medium: M) -> tuple[M, dict[str, Any]]:
        records = []
        for step in steps:
            medium, record = step.change(medium)
            records.append({"name": step.name, "revision": step.revision, "seed": step.seed, **record})
        return medium, {"steps": records}

    return change


def named(family: str, strength: float) -> str:
    """Name a member of a family: ``jpeg`` and 90 give ``jpeg-90``, ``gamma-up`` and 1.5 give ``gamma-up-1.5``."""
    return f"{family}-{strength:g}"

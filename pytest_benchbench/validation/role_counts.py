"""How many independent images a dataset has for each role, against what calibration and the release gate will demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.manifests.dataset import Split
from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.manifests.spelling import different_names
from pytest_benchbench.validation.columns import SPLITS, DatasetColumns
from pytest_benchbench.validation.finding import RuleOutcome, warned

CALIBRATION_BASES: Final = 100
"""Bases of each class that a deployable calibrator needs."""

CALIBRATION_BASES_OF_EACH: Final = 25
"""Bases of every real source and generator family in it."""

GATE_BASES: Final = 500
"""Bases of each class that the release gate needs."""

GATE_BASES_OF_SOURCE: Final = 50
"""Real bases of every source in it."""

GATE_BASES_OF_GROUP: Final = 100
"""Bases of each class in each resolution group."""

DOMAINS: Final = 3
"""Real sources, and generator families, that both need."""

_RESOLUTION_GROUPS = ("full-res", "thumbnail")

_PURPOSES: Mapping[Split, str] = {"calibration": "a deployable calibrator", "test": "the release gate"}

_NAMED = 3


class RoleCounts(msgspec.Struct, frozen=True):
    """What a split has, in bases: derivatives count nothing.

    Attributes:
        split: The role.
        rows: All rows, derivatives too.
        real_bases: Distinct bases of real rows.
        ai_bases: Distinct bases of AI rows.
        real_sources: Bases by source of real rows.
        generator_families: Bases by family of AI rows.
        real_by_resolution: Real bases by resolution group; rows without one are not among them.
        ai_by_resolution: AI bases by resolution group.
        without_resolution: Rows without a resolution group.
    """

    split: Split
    rows: int
    real_bases: int
    ai_bases: int
    real_sources: dict[str, int]
    generator_families: dict[str, int]
    real_by_resolution: dict[str, int]
    ai_by_resolution: dict[str, int]
    without_resolution: int


def role_counts(columns: DatasetColumns) -> list[RoleCounts]:
    """Count what each split has that has rows, in the order of ``SPLITS``."""
    return [_counted(columns, split) for place, split in enumerate(SPLITS) if np.any(columns.splits == place)]


def lacking(counts: RoleCounts) -> list[str]:
    """Say what a split lacks for its role, such as ``32 of 100 real bases``; nothing is demanded of ``train``."""
    if counts.split == "train":
        return []
    return list(_for_calibration(counts) if counts.split == "calibration" else _for_gate(counts))


def too_few(columns: DatasetColumns, counts: list[RoleCounts]) -> list[RuleOutcome]:
    """Warn of splits that will not do for their role: rules ``calibration-counts`` and ``test-counts``."""
    messages = {of_split.split: "; ".join(lacks) for of_split in counts if (lacks := lacking(of_split))}
    return [
        warned(
            f"{split}-counts", columns.display, [f"too few for {purpose}: {messages[split]}"] if split in messages else []
        )
        for split, purpose in _PURPOSES.items()
    ]


def _counted(columns: DatasetColumns, split: Split) -> RoleCounts:
    of_split = columns.splits == SPLITS.index(split)
    real, generated = of_split & (columns.labels == 0), of_split & (columns.labels == 1)
    return RoleCounts(
        split=split,
        rows=int(np.count_nonzero(of_split)),
        real_bases=len(np.unique(columns.codes("baseId")[real])),
        ai_bases=len(np.unique(columns.codes("baseId")[generated])),
        real_sources=_bases_by(columns, "source", real),
        generator_families=_bases_by(columns, "generatorFamily", generated),
        real_by_resolution=_bases_by(columns, "resolutionGroup", real),
        ai_by_resolution=_bases_by(columns, "resolutionGroup", generated),
        without_resolution=int(np.count_nonzero(of_split & (columns.codes("resolutionGroup") < 0))),
    )


def _bases_by(columns: DatasetColumns, field: str, rows: NDArray[np.bool_]) -> dict[str, int]:
    """Count the distinct bases of some rows by a field, sorted by its texts."""
    codes, values = columns.codes(field)[rows], columns.values(field)
    pairs = np.unique(np.stack([codes, columns.codes("baseId")[rows]], axis=1)[codes >= 0], axis=0)
    counts = np.bincount(pairs[:, 0], minlength=len(values)) if len(pairs) else np.zeros(len(values), np.intp)
    return {text: int(count) for text, count in sorted(zip(values, counts, strict=True)) if count}


def _for_calibration(counts: RoleCounts) -> Iterator[str]:
    yield from _short("real bases", counts.real_bases, CALIBRATION_BASES)
    yield from _short("AI bases", counts.ai_bases, CALIBRATION_BASES)
    yield from _short("real sources", different_names(counts.real_sources), DOMAINS)
    yield from _short("generator families", different_names(counts.generator_families), DOMAINS)
    yield from _small("source", "real bases", counts.real_sources, CALIBRATION_BASES_OF_EACH)
    yield from _small("generator family", "AI bases", counts.generator_families, CALIBRATION_BASES_OF_EACH)


def _for_gate(counts: RoleCounts) -> Iterator[str]:
    yield from _short("real bases", counts.real_bases, GATE_BASES)
    yield from _short("AI bases", counts.ai_bases, GATE_BASES)
    yield from _short("real sources", different_names(counts.real_sources), DOMAINS)
    yield from _short("generator families", different_names(counts.generator_families), DOMAINS)
    yield from _small("source", "real bases", counts.real_sources, GATE_BASES_OF_SOURCE)
    for group in _RESOLUTION_GROUPS:
        yield from _short(f"real bases in {group}", counts.real_by_resolution.get(group, 0), GATE_BASES_OF_GROUP)
        yield from _short(f"AI bases in {group}", counts.ai_by_resolution.get(group, 0), GATE_BASES_OF_GROUP)
    if counts.without_resolution:
        yield f"{counts.without_resolution} rows without resolutionGroup"


def _short(what: str, found: int, wanted: int) -> Iterator[str]:
    if found < wanted:
        yield f"{found} of {wanted} {what}"


def _small(domain: str, what: str, found: dict[str, int], wanted: int) -> Iterator[str]:
    """Name the smallest domains that are too small."""
    small = sorted((count, name) for name, count in found.items() if count < wanted)
    for count, name in small[:_NAMED]:
        yield f"{count} of {wanted} {what} of {domain} {shown(name)}"
    if (more := len(small) - _NAMED) > 0:
        yield f"{more} more with fewer than {wanted} {what} of one {domain}"

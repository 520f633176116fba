"""Whether what a split was to hold out occurs in another split of the manifests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from pytest_benchbench.evidence.score_manifest import ManifestCase, ScoreManifest
from pytest_benchbench.gates.decided import Held
from pytest_benchbench.gates.score_table import Mask, ScoreTable
from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.manifests.spelling import spelled_alike
from pytest_benchbench.statistics.classification import AI, REAL

_LABELS = {"source": REAL, "generatorFamily": AI}
"""What has to be held out, and of which class."""

_Name = Literal["source", "generatorFamily", "baseId", "splitGroup", "sha256"]

_NAMES: tuple[_Name, ...] = get_args(_Name)


@dataclass(frozen=True, slots=True)
class Leak:
    """What is in the evaluated split and in another one.

    Attributes:
        name: What it is: a real source, a generator family, a base, a split group, or the bytes of a file.
        values: Its value; a source or family by every spelling that occurs, sorted.
        splits: The other splits in which it occurs, sorted.
    """

    name: _Name
    values: tuple[str, ...]
    splits: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} {' or '.join(map(shown, self.values))} occurs in {' and '.join(self.splits)} too"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What is known of it.

    Attributes:
        state: ``verified``, ``leaked``, or ``unverified`` without a manifest, or where it has no row of another split.
        leaks: In the order of ``_NAMES``, each sorted.
        has_others: Whether the manifests have rows of other splits at all.
        bases: Those of the evaluated split that leak by themselves, by their group or by the bytes of a file.
    """

    state: Held
    leaks: tuple[Leak, ...]
    has_others: bool = True
    bases: frozenset[str] = frozenset()

    @classmethod
    def of(cls, manifests: Sequence[ScoreManifest], evaluated: Collection[str]) -> HeldOut:
        """Look for what occurs on both sides.

        Args:
            manifests: Taken together.
            evaluated: The splits that are evaluated.
        """
        if not manifests:
            return cls("unverified", ())
        found = tuple(_leaks(manifests, frozenset(evaluated)))
        if not found:
            has_others = any(case.shared.split not in evaluated for manifest in manifests for _, case in manifest)
            return cls("verified" if has_others else "unverified", (), has_others)
        leaking = {(leak.name, value) for leak in found for value in leak.values}
        bases = frozenset(
            case.baseId
            for manifest in manifests
            for _, case in manifest
            if case.shared.split in evaluated
            and not leaking.isdisjoint(
                (("baseId", case.baseId), ("splitGroup", case.splitGroup), ("sha256", case.content.hex()))
            )
        )
        return cls("leaked", found, bases=bases)

    def rows(self, table: ScoreTable) -> Mask:
        """Say which rows are of something that leaks."""
        rows = table.of_bases(np.array([name in self.bases for name in table.base_names], dtype=np.bool_))
        for name, label in _LABELS.items():
            values = [value for leak in self.leaks if leak.name == name for value in leak.values]
            rows |= table.having(name, values) & (table.label == label)
        return rows


def _leaks(manifests: Sequence[ScoreManifest], evaluated: frozenset[str]) -> Iterator[Leak]:
    splits: dict[_Name, dict[Any, frozenset[str]]] = {name: {} for name in _NAMES}
    alike: dict[frozenset[str], frozenset[str]] = {}  # a million bases are in few different sets of splits
    spellings: defaultdict[tuple[_Name, str], set[str]] = defaultdict(set)
    nowhere: frozenset[str] = frozenset()
    for manifest in manifests:
        for _, case in manifest:
            split = case.shared.split
            for name, value in _told(case):
                if isinstance(value, str) and name in _LABELS:
                    key: Any = spelled_alike(value)
                    spellings[name, key].add(value)
                else:
                    key = value
                if split not in (known := splits[name].get(key, nowhere)):
                    more = known | {split}
                    splits[name][key] = alike.setdefault(more, more)
    for name, found in splits.items():
        for key in sorted(key for key, its in found.items() if not its.isdisjoint(evaluated) and not its <= evaluated):
            values = sorted(spellings[name, key]) if name in _LABELS else [key.hex() if name == "sha256" else key]
            yield Leak(name, tuple(values), tuple(sorted(found[key] - evaluated)))


def _told(case: ManifestCase) -> Iterator[tuple[_Name, str | bytes]]:
    """Give what of a case must not be in another split."""
    shared = case.shared
    if shared.label == REAL:
        yield "source", shared.source
    elif shared.generatorFamily is not None:
        yield "generatorFamily", shared.generatorFamily
    yield "baseId", case.baseId
    if case.splitGroup is not None:
        yield "splitGroup", case.splitGroup
    yield "sha256", case.content


def bases_that_share_images(manifests: Sequence[ScoreManifest], evaluated: Collection[str]) -> frozenset[str]:
    """Give the bases of the evaluated splits that have a file of another base: one image must not count as several."""
    first: dict[bytes, str] = {}
    cases = (case for manifest in manifests for _, case in manifest if case.shared.split in evaluated)
    pairs = ((first.setdefault(case.content, case.baseId), case.baseId) for case in cases)
    return frozenset(base for pair in pairs if pair[0] != pair[1] for base in pair)

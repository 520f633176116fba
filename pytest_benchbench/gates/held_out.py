"""Whether what a split was to hold out occurs in another split of the manifests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pytest_benchbench.evidence.score_manifest import ScoreManifest
from pytest_benchbench.gates.decided import Held
from pytest_benchbench.gates.score_table import Mask, ScoreTable
from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.statistics.classification import AI, REAL

_LABELS = {"source": REAL, "generatorFamily": AI}
"""What has to be held out, and of which class."""


_Name = Literal["source", "generatorFamily", "baseId"]


@dataclass(frozen=True, slots=True)
class Leak:
    """A source, a family or a base that is in the evaluated split and in another one.

    Attributes:
        name: What it is.
        value: Its value.
        splits: The other splits in which it occurs, sorted.
    """

    name: _Name
    value: str
    splits: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} {shown(self.value)} occurs in {' and '.join(self.splits)} too"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What is known of it.

    Attributes:
        state: ``verified``, ``leaked``, or ``unverified`` without a manifest.
        leaks: Real sources and generator families, then bases, each sorted.
        has_others: Whether the manifests have rows of other splits at all.
    """

    state: Held
    leaks: tuple[Leak, ...]
    has_others: bool = True

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
        has_others = any(case.shared.split not in evaluated for manifest in manifests for _, case in manifest)
        return cls("leaked" if found else "verified", found, has_others)

    def rows(self, table: ScoreTable) -> Mask:
        """Say which rows are of something that leaks."""
        leaking: dict[str, set[str]] = {"source": set(), "generatorFamily": set(), "baseId": set()}
        for leak in self.leaks:
            leaking[leak.name].add(leak.value)
        rows = table.of_bases(np.array([name in leaking["baseId"] for name in table.base_names], dtype=np.bool_))
        for name, label in _LABELS.items():
            rows |= table.having(name, leaking[name]) & (table.label == label)
        return rows


def _leaks(manifests: Sequence[ScoreManifest], evaluated: frozenset[str]) -> Iterator[Leak]:
    splits: dict[_Name, defaultdict[str, set[str]]] = {
        "source": defaultdict(set),
        "generatorFamily": defaultdict(set),
        "baseId": defaultdict(set),
    }
    for manifest in manifests:
        for _, case in manifest:
            shared = case.shared
            splits["baseId"][case.baseId].add(shared.split)
            if shared.label == REAL:
                splits["source"][shared.source].add(shared.split)
            elif shared.generatorFamily is not None:
                splits["generatorFamily"][shared.generatorFamily].add(shared.split)
    for name, found in splits.items():
        for value in sorted(found):
            others = found[value] - evaluated
            if others and len(others) < len(found[value]):
                yield Leak(name, value, tuple(sorted(others)))

"""Split groups proposed for a dataset: bases that look alike, share bytes or have a group in common belong together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np

from pytest_benchbench.manifests.dataset import DatasetCase, Split
from pytest_benchbench.manifests.placing import Place
from pytest_benchbench.manifests.reading import Manifest
from pytest_benchbench.validation.columns import SPLITS, DatasetColumns
from pytest_benchbench.validation.disjoint_sets import DisjointSets
from pytest_benchbench.validation.near_duplicates import LookAlikes

PREFIX: Final = "near-"
"""How the names of proposed groups begin; 16 hex digits follow."""

_NAME_DIGITS = 16
_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Cluster:
    """Bases that belong together.

    Attributes:
        group: The split group of all their rows.
        bases: Their names, sorted.
        rows: How many rows they have.
        splits: Where these are; more than one is what ``validate`` refuses.
        merged: Groups that the rows had before, sorted; several have become one.
        closest: The least number of bits between pictures that nobody had joined; ``None`` where none look alike.
        changed: How many of the rows had another group before, or none.
    """

    group: str
    bases: tuple[str, ...]
    rows: int
    splits: tuple[Split, ...]
    merged: tuple[str, ...]
    closest: int | None
    changed: int


@dataclass(frozen=True, slots=True)
class Clustering:
    """What is proposed.

    Attributes:
        clusters: Of at least two bases, by group.
        group_of_base: The split group of every base whose rows get one, those that had it before too.
    """

    clusters: list[Cluster]
    group_of_base: dict[str, str]


def cluster(columns: DatasetColumns, found: LookAlikes) -> Clustering:
    """Propose a split group for every set of bases that belong together.

    They do when pictures of them look alike, when rows of them have the same bytes, or when they had a group in common,
    directly or through others. A set that had one group keeps its name; of several names the first in the alphabet stays; a
    set without one is named by the SHA-256 of its bases. The group is that of every row of these bases.

    Args:
        columns: The rows.
        found: Which of them look alike.

    Returns:
        The same for any order of rows.
    """
    base = columns.codes("baseId").astype(np.intp)
    bases, groups = columns.values("baseId"), columns.values("splitGroup")
    sets = DisjointSets(len(bases))
    every = np.arange(len(bases))
    sets.join_equal(every, found.joined.astype(np.int64))
    sets.join_equal(every, found.alike.astype(np.int64))
    roots = sets.roots()
    of_rows = roots[base]
    members: dict[int, list[str]] = {}
    for name, root in zip(bases, roots.tolist(), strict=True):
        members.setdefault(root, []).append(name)
    had: dict[int, dict[str, int]] = {}
    group = columns.codes("splitGroup")
    pairs, counts = np.unique(np.stack([of_rows, group], axis=1)[group >= 0], axis=0, return_counts=True)
    for (root, code), count in zip(pairs.tolist(), counts.tolist(), strict=True):
        had.setdefault(root, {})[groups[code]] = count
    rows = np.bincount(of_rows, minlength=len(bases)).tolist()
    nearest = np.full(len(bases), _FAR)
    np.minimum.at(nearest, of_rows, found.row_distance)
    in_split = [np.bincount(of_rows[columns.splits == place], minlength=len(bases)) for place in range(len(SPLITS))]
    clusters, group_of_base, taken = [], {}, set(groups)
    for root, names in members.items():
        before = sorted(had.get(root, ()))
        if len(names) == 1 and not before:
            continue
        chosen = before[0] if before else _name(names, taken)
        group_of_base.update(dict.fromkeys(names, chosen))
        if len(names) > 1:
            clusters.append(
                Cluster(
                    group=chosen,
                    bases=tuple(sorted(names)),
                    rows=rows[root],
                    splits=tuple(split for split, there in zip(SPLITS, in_split, strict=True) if there[root]),
                    merged=tuple(before),
                    closest=int(nearest[root]) if nearest[root] < _FAR else None,
                    changed=rows[root] - had.get(root, {}).get(chosen, 0),
                )
            )
    return Clustering(sorted(clusters, key=lambda one: one.group), group_of_base)


def clustered_rows(manifests: Sequence[Manifest], clustering: Clustering, place: Place) -> Iterator[DatasetCase]:
    """Give every row of the manifests in their order, with its split group, its path seen from where it will stand.

    Raises:
        BuildingError: An image cannot be named from there.
        ManifestChangedError: A manifest was changed since it was validated.
    """
    for manifest in manifests:
        is_beside = manifest.directory.resolve() == place.path.parent
        for ref in manifest.adapters.get(None, ()):
            case: DatasetCase = manifest.read(ref).case
            path = case.path
            if path is not None and not is_beside:
                path = place.relative(manifest.directory / path)
            yield msgspec.structs.replace(case, splitGroup=clustering.group_of_base.get(case.baseId), path=path)


def _name(bases: list[str], taken: set[str]) -> str:
    """Name a new group by its bases, and by more of their digest where somebody has taken the name."""
    digest = hashlib.sha256(msgspec.json.encode(sorted(bases))).hexdigest()
    short = PREFIX + digest[:_NAME_DIGITS]
    return short if short not in taken else PREFIX + digest

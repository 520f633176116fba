"""Pictures of different bases that look alike: which bases they tie together, and which of those nobody has joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.validation.columns import SPLITS, DatasetColumns
from pytest_benchbench.validation.disjoint_sets import DisjointSets
from pytest_benchbench.validation.finding import MAX_KEPT_OF_RULE, Finding, RuleOutcome
from pytest_benchbench.validation.hash_pairs import near_pairs
from pytest_benchbench.validation.image_measures import HASH_BYTES, ImageMeasure, Measured, Undecodable

RULE = "near-duplicates"

_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class LookAlikes:
    """Which bases have pictures that look alike, directly or through others.

    Attributes:
        joined: For each base what it is joined by already, a split group or the same bytes; equal for bases that are.
        alike: For each base its component: equal for bases whose pictures look alike.
        row_distance: For each row the least number of bits to a picture of a base that it is not joined with; very large
            where none looks alike.
        compared: Rows whose pictures were compared.
    """

    joined: NDArray[np.intp]
    alike: NDArray[np.intp]
    row_distance: NDArray[np.int64]
    compared: int


def find_look_alikes(columns: DatasetColumns, measures: Mapping[str, Measured], distance: int) -> LookAlikes:
    """Compare the pictures of all rows.

    Args:
        columns: The rows.
        measures: By SHA-256, as ``measure_images`` gives them; rows without a hash are not compared.
        distance: The most bits, 0 to ``MAX_DISTANCE``, in which pictures differ that look alike.

    Returns:
        The same for any order of rows, but for the numbers of components.
    """
    base = columns.codes("baseId").astype(np.intp)
    content, digest_of = columns.contents()
    joined = _joined(columns, base, content)
    bases = len(columns.values("baseId"))
    hash_of_content = [_hash(measures.get(digest_of(code))) for code in range(int(content.max(initial=-1)) + 1)]
    hashed = np.array([found is not None for found in hash_of_content], np.bool_)
    rows = np.flatnonzero(hashed[content]) if len(columns) else np.empty(0, np.intp)
    alike = DisjointSets(bases)
    if not len(rows):
        return LookAlikes(joined, alike.roots(), np.full(len(columns), _FAR), 0)
    packed = np.frombuffer(b"".join(hash_of_content[code] or b"" for code in content[rows]), f"V{HASH_BYTES}")
    distinct, number = np.unique(packed.view(f"S{HASH_BYTES}"), return_inverse=True)
    hashes = np.frombuffer(distinct.tobytes(), np.uint8).reshape(-1, HASH_BYTES)
    alike.join_equal(base[rows], number.astype(np.int64))
    some_base = np.empty(len(hashes), np.intp)
    some_base[number] = base[rows]
    least, greatest = np.full(len(hashes), _FAR), np.full(len(hashes), -1)
    np.minimum.at(least, number, joined[base[rows]])
    np.maximum.at(greatest, number, joined[base[rows]])
    mixed = least != greatest
    nearest = np.where(mixed, 0, _FAR)
    for first, second, bits in near_pairs(hashes, distance):
        alike.join(some_base[first], some_base[second])
        apart = (least[first] != least[second]) | mixed[first] | mixed[second]
        np.minimum.at(nearest, first[apart], bits[apart])
        np.minimum.at(nearest, second[apart], bits[apart])
    row_distance = np.full(len(columns), _FAR)
    row_distance[rows] = nearest[number]
    return LookAlikes(joined, alike.roots(), row_distance, len(rows))


def near_duplicates(columns: DatasetColumns, found: LookAlikes) -> RuleOutcome:
    """Find pictures of different bases that look alike and that no split group joins: rule ``near-duplicates``, an error.

    Derivatives of one base are no finding, wherever they stand; the same bytes are the finding of another rule.
    """
    base = columns.codes("baseId")
    rows = np.flatnonzero(found.row_distance < _FAR)
    components, names = found.alike[base[rows]], columns.values("baseId")
    firsts: dict[int, str] = {}
    for component, code in zip(components.tolist(), base[rows].tolist(), strict=True):
        if component not in firsts or names[code] < firsts[component]:
            firsts[component] = names[code]
    kept = nsmallest(MAX_KEPT_OF_RULE, firsts, key=firsts.__getitem__)

    def describe(component: int) -> Finding:
        concerned = rows[components == component]
        number = len(np.unique(base[concerned]))
        splits = [split for place, split in enumerate(SPLITS) if np.any(columns.splits[concerned] == place)]
        closest = int(found.row_distance[concerned].min())
        message = (
            f"pictures of {number} bases in {_listed(splits)} look alike and no splitGroup joins them "
            f"(closest: {closest} of {8 * HASH_BYTES} bits differ)"
        )
        return Finding(RULE, "error", columns.named(concerned, base), message, len(concerned))

    return RuleOutcome(RULE, "error", tuple(describe(component) for component in kept), len(firsts))


def not_compared(columns: DatasetColumns, measures: Mapping[str, Measured]) -> list[RuleOutcome]:
    """Warn of images that could not be compared: rules ``undecodable``, one for each, and ``plain-images``, together."""
    content, digest_of = columns.contents()
    undecodable: dict[str, tuple[int, str]] = {}
    plain: list[int] = []
    for code in range(int(content.max(initial=-1)) + 1):
        measure = measures.get(digest_of(code))
        if isinstance(measure, Undecodable):
            undecodable[digest_of(code)] = (code, measure.reason)
        elif measure is not None and measure.hash is None:
            plain.append(code)

    def describe(digest: str) -> Finding:
        code, reason = undecodable[digest]
        rows = np.flatnonzero(content == code)
        return Finding("undecodable", "warning", columns.named(rows), f"not compared: {reason}", len(rows))

    kept = nsmallest(MAX_KEPT_OF_RULE, undecodable)
    outcomes = [RuleOutcome("undecodable", "warning", tuple(describe(digest) for digest in kept), len(undecodable))]
    if plain:
        rows = np.flatnonzero(np.isin(content, plain))
        message = "images with hardly any contrast, which were not compared with others"
        finding = Finding("plain-images", "warning", columns.named(rows), message, len(rows))
        outcomes.append(RuleOutcome("plain-images", "warning", (finding,), 1))
    return outcomes


def _joined(columns: DatasetColumns, base: NDArray[np.intp], content: NDArray[np.int64]) -> NDArray[np.intp]:
    """Give for each base what joins it with others already."""
    sets = DisjointSets(len(columns.values("baseId")))
    group = columns.codes("splitGroup")
    grouped = group >= 0
    sets.join_equal(base[grouped], group[grouped].astype(np.int64))
    sets.join_equal(base, content)
    return sets.roots()


def _hash(measure: Measured) -> bytes | None:
    return measure.hash if isinstance(measure, ImageMeasure) else None


def _listed(splits: Sequence[str]) -> str:
    return " and ".join(splits) if len(splits) < 3 else f"{', '.join(splits[:-1])} and {splits[-1]}"

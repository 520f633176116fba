"""What a split consists of, told from the rows of whole manifests."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import nsmallest
from typing import NamedTuple

import msgspec

from pytest_benchbench.manifests.reading import Manifest


class _Head(msgspec.Struct):
    baseId: str  # noqa: N815 - the contract's name
    split: str


BASES_KEPT = 256
"""So many digests of bases are enough to see that a split was trimmed or extended, in 3 KB."""

BASE_DIGITS = 12
"""Hex digits of such a digest: that any of two times 256 bases share theirs by chance has a chance of 2.3e-10."""


class SplitBases(NamedTuple):
    """The bases of a split, the independent units that are in it.

    Attributes:
        sha256: SHA-256 of the sorted distinct ``baseId`` as a JSON list, in lower-case hex.
        sample: The first ``BASE_DIGITS`` digits of the SHA-256 of each ``baseId``, the ``BASES_KEPT`` smallest ascending,
            one after the other. Samples of splits that have a base in common have one in common too, surely of splits with
            at most so many bases, and else the likelier the more they share.
    """

    sha256: str
    sample: str


def split_bases(manifests: Iterable[Manifest], split: str) -> SplitBases:
    """Tell a split by its bases.

    It stays the same when rows of other splits, derivatives of the same bases, licences or names of files change, and it
    is the same in every shard. A line that is no row of a dataset does not count; who validates its shard refuses it.

    Args:
        manifests: Those whose rows have splits.
        split: The split.

    Raises:
        ManifestChangedError: A manifest was changed since it was validated.
    """
    bases = {row.baseId for manifest in manifests for row in _rows(manifest) if row.split == split}
    digests = (hashlib.sha256(base.encode()).hexdigest()[:BASE_DIGITS] for base in bases)
    sample = "".join(nsmallest(BASES_KEPT, digests))
    return SplitBases(hashlib.sha256(msgspec.json.encode(sorted(bases))).hexdigest(), sample)


def count_splits(manifest: Manifest) -> dict[str, int]:
    """Count the rows of each split that some row of a manifest is of, in the order in which splits are used.

    Raises:
        ManifestChangedError: The manifest was changed since it was validated.
    """
    counts = Counter(manifest.row_splits())
    return {split: counts[split] for split in manifest.splits if counts[split]}


def _rows(manifest: Manifest) -> Iterator[_Head]:
    decode = msgspec.json.Decoder(_Head).decode
    for line in manifest.lines():
        try:
            yield decode(line)
        except (msgspec.DecodeError, RecursionError):  # of another shard, whose run refuses it
            continue

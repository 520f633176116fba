"""What a split consists of, told from the rows of whole manifests."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from pytest_benchbench.manifests.reading import Manifest


class _Head(msgspec.Struct):
    baseId: str  # noqa: N815 - the contract's name
    split: str


def split_sha256(manifests: Iterable[Manifest], split: str) -> str:
    """Give a digest of a split's bases, the independent units that are in it.

    It stays the same when rows of other splits, derivatives of the same bases, licences or names of files change, and it
    is the same in every shard. A line that is no row of a dataset does not count; who validates its shard refuses it.

    Args:
        manifests: Those whose rows have splits.
        split: The split.

    Returns:
        SHA-256 of the sorted distinct ``baseId`` as a JSON list, in lower-case hex.

    Raises:
        ManifestChangedError: A manifest was changed since it was validated.
    """
    bases = {row.baseId for manifest in manifests for row in _rows(manifest) if row.split == split}
    return hashlib.sha256(msgspec.json.encode(sorted(bases))).hexdigest()


def count_splits(manifest: Manifest) -> dict[str, int]:
    """Count the rows of each split that some row of a manifest is of, in the order in which splits are used.

    Raises:
        ManifestChangedError: The manifest was changed since it was validated.
    """
    counts = Counter(row.split for row in _rows(manifest))
    return {split: counts[split] for split in manifest.splits if counts[split]}


def _rows(manifest: Manifest) -> Iterator[_Head]:
    decode = msgspec.json.Decoder(_Head).decode
    for line in manifest.lines():
        try:
            yield decode(line)
        except (msgspec.DecodeError, RecursionError):  # of another shard, whose run refuses it
            continue

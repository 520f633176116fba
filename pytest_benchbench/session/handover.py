"""What the controller tells a worker of the manifests, and what the worker makes of it, perhaps on another machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from pytest_benchbench.evidence.environment import kernel_sha256
from pytest_benchbench.manifests.reading import Manifest, index_manifest
from pytest_benchbench.manifests.rows import ManifestKind
from pytest_benchbench.manifests.sharding import Shard


class _ManifestPlace(msgspec.Struct, frozen=True):
    """A validated manifest, as a worker needs to know it.

    Attributes:
        path: From the rootdir if it lies inside: that of a worker on another machine may be elsewhere.
        display: What the user called it.
        kind: What its rows are.
        sha256: Of its bytes.
    """

    path: str
    display: str
    kind: ManifestKind
    sha256: str


class _Handover(msgspec.Struct, frozen=True):
    """What the controller hands to each worker.

    Attributes:
        configured: Manifests for the suites of their kind.
        positional: Manifests named as arguments.
        installed: Where this package lies, and on which machine.
        kernel_sha256: Of its sources.
    """

    configured: list[_ManifestPlace]
    positional: list[_ManifestPlace]
    installed: str
    kernel_sha256: str


def hand_over(configured: Iterable[Manifest], positional: Iterable[Manifest], root: Path) -> str:
    """Write what a worker needs to find the same manifests.

    Args:
        configured: Manifests for the suites of their kind.
        positional: Manifests named as arguments.
        root: The rootdir.
    """
    real_root = Path(os.path.realpath(root))

    def places(manifests: Iterable[Manifest]) -> list[_ManifestPlace]:
        return [_ManifestPlace(_from(real_root, m.path), m.display, m.kind, m.sha256) for m in manifests]

    given = _Handover(places(configured), places(positional), _installed(), kernel_sha256())
    return msgspec.json.encode(given).decode()


def take_over(handover: str, root: Path, shard: Shard | None, split: str | None) -> tuple[list[Manifest], list[Manifest]]:
    """Find the manifests that the controller validated.

    Args:
        handover: What ``hand_over`` wrote.
        root: The rootdir of this worker.
        shard: The part of the rows that is run.
        split: The split that is run of manifests whose rows have splits.

    Returns:
        Those for the suites of their kind, and those named as arguments.

    Raises:
        pytest.UsageError: Other sources of this package are installed here.
        ManifestChangedError: The bytes of a manifest are not those.
    """
    given = msgspec.json.decode(handover, type=_Handover)
    if given.installed != _installed() and given.kernel_sha256 != kernel_sha256():  # the evidence names the sources
        raise pytest.UsageError("other sources of pytest-benchbench are installed there; install the same on every machine")

    def index(place: _ManifestPlace) -> Manifest:
        path = Path(os.path.realpath(root / place.path))
        return index_manifest(path, display=place.display, sha256=place.sha256, kind=place.kind, shard=shard, split=split)

    return [index(place) for place in given.configured], [index(place) for place in given.positional]


def _from(root: Path, path: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _installed() -> str:
    """Say where this package lies, and on which machine: in one place there are no two versions of it."""
    return f"{platform.node()}:{Path(__file__).parents[1]}"

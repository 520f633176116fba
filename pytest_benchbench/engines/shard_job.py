"""What a worker is asked to do for one shard, and what it gives back."""

from __future__ import annotations

import os
import platform
import re
import secrets
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import msgspec

import pytest_benchbench
from pytest_benchbench.engines import EngineError, UnfetchableError
from pytest_benchbench.engines.artifact_cache import source_digest
from pytest_benchbench.engines.artifact_source import ArtifactSource, confined_name, is_folder, open_source
from pytest_benchbench.evidence.environment import kernel_sha256
from pytest_benchbench.manifests.golden_set_hash import digest_path
from pytest_benchbench.manifests.sharding import MAX_SHARDS, Shard

SET_BY_THE_ENGINE = ("--bench-shard", "--bench-run-dir", "--bench-resume", "--bench-retry", "--bench-gate")
"""Options of pytest that each shard is given by the engine."""

SHARED_FILE = ".benchbench-shared"
"""Lies beside the run directories: a worker that reads the right word in it shares the file system."""

_MANIFEST = re.compile(r"--manifest(?:=(?P<value>.*))?", re.DOTALL)


def directory_name(shard: str) -> str:
    """Name the run directory of a shard ``I/N``."""
    index, _, count = shard.partition("/")
    return f"shard-{index}-of-{count}"


class PinnedManifest(msgspec.Struct, frozen=True):
    """A manifest below ``--artifacts``.

    Attributes:
        name: Its path there, ``/`` between the parts.
        sha256: Digest of the bytes that every shard has to see.
    """

    name: str
    sha256: str


class ShardJob(msgspec.Struct, frozen=True):
    """One shard of a run.

    Attributes:
        run: The word by which the workers know this run.
        shard: ``I/N``.
        arguments: What pytest is called with; the value of each ``--manifest`` is a name of ``manifests``, if there are any.
        project: The folder in which pytest is called on the workers.
        directory: Where the run directories go, if the worker reads ``run`` in its ``SHARED_FILE``.
        artifacts: Where manifests and artifacts are fetched from; ``None`` where the paths of the arguments are used as they
            are.
        cache: The folder of fetched files on the workers; ``None`` for the user's own cache.
        manifests: What is fetched of ``artifacts`` first: the manifests, then the digests that freeze golden sets.
    """

    run: str
    shard: str
    arguments: tuple[str, ...]
    project: str
    directory: str
    artifacts: str | None = None
    cache: str | None = None
    manifests: tuple[PinnedManifest, ...] = ()

    @property
    def name(self) -> str:
        """The name of the shard's run directory."""
        return directory_name(self.shard)


class ShardResult(msgspec.Struct, frozen=True):
    """What became of one shard.

    Attributes:
        shard: ``I/N``.
        fault: Why nothing was run, in one line; else ``None``.
        passing: Whether the fault may be gone at another try.
        exit_code: What pytest exited with; 128 and the signal's number if one ended it; ``None`` where nothing was run.
        directory: The name of its run directory below the job's, on a shared file system.
        files: The files of its run directory, where the worker shares no file system.
        log: The end of what pytest printed.
        resumed: Whether it went on with the directory of an earlier try.
    """

    shard: str
    fault: str | None = None
    passing: bool = False
    exit_code: int | None = None
    directory: str | None = None
    files: dict[str, bytes] | None = None
    log: str = ""
    resumed: bool = False


class Installation(msgspec.Struct, frozen=True):
    """What must be the same wherever rows of one run are run."""

    version: str
    kernel_sha256: str
    python: str

    @classmethod
    def here(cls) -> Installation:
        """Describe this process: the package's version, the digest of its sources, and Python's minor version."""
        return cls(pytest_benchbench.__version__, kernel_sha256(), ".".join(platform.python_version_tuple()[:2]))

    def difference(self, other: Installation) -> str | None:
        """Say in what another place differs; ``None`` if it does not."""
        if self.version != other.version:
            return f"has pytest-benchbench {other.version}, not {self.version}"
        if self.kernel_sha256 != other.kernel_sha256:
            return (
                f"has other sources of pytest-benchbench {other.version} "
                f"({other.kernel_sha256[:12]}, not {self.kernel_sha256[:12]})"
            )
        return None if self.python == other.python else f"runs Python {other.python}, not {self.python}"


def plan_jobs(
    shards: int,
    arguments: Sequence[str],
    *,
    directory: Path,
    project: str,
    artifacts: str | None = None,
    cache: str | None = None,
) -> list[ShardJob]:
    """Make the jobs of a run, one a shard.

    Args:
        shards: How many, 1 to a million.
        arguments: Of pytest.
        directory: Where the run directories go; absolute.
        project: The folder in which pytest is called on the workers.
        artifacts: Where manifests and artifacts are fetched from, if the workers have none.
        cache: The folder of fetched files on the workers.

    Raises:
        EngineError: The arguments contain what the engine sets, or the manifests cannot be had.
    """
    if not 1 <= shards <= MAX_SHARDS:
        raise EngineError(f"--shards={shards}: expected 1 to {MAX_SHARDS}")
    refuse_engine_options(arguments)
    given = tuple(arguments)
    if artifacts is not None and is_folder(artifacts):
        artifacts = os.path.abspath(artifacts)  # noqa: PTH100 - a text
    manifests: tuple[PinnedManifest, ...] = ()
    if artifacts is not None:
        given = _in_one_word(given)
        manifests = _pin(artifacts, given)
    run = secrets.token_hex(8)
    return [
        ShardJob(run, str(Shard(index, shards)), given, project, str(directory), artifacts, cache, manifests)
        for index in range(1, shards + 1)
    ]


def refuse_engine_options(arguments: Sequence[str]) -> None:
    """Refuse arguments of pytest that the engine sets for each shard, and one with which there are no shards.

    Raises:
        EngineError: There is one; it is named.
    """
    for argument in arguments:
        option = argument.partition("=")[0]
        if option in SET_BY_THE_ENGINE:
            instead = "give --gate before the --" if option == "--bench-gate" else "leave it out"
            raise EngineError(f"{option}: is set by the engine for each shard; {instead}")
        if option == "--bench-dry-run":
            raise EngineError(f"{option}: begins no run that could be merged; give it to pytest itself")


def manifest_value(argument: str) -> str | None:
    """Give the path of a ``--manifest=PATH`` argument; ``None`` for any other."""
    match = _MANIFEST.fullmatch(argument)
    return match["value"] if match else None


def _in_one_word(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Write ``--manifest PATH`` as ``--manifest=PATH``."""
    words: list[str] = []
    for argument in arguments:
        if words and words[-1] == "--manifest":
            words[-1] += f"={argument}"
        else:
            words.append(argument)
    return tuple(words)


def _pin(artifacts: str, arguments: Sequence[str]) -> tuple[PinnedManifest, ...]:
    """Hash the manifests that are to be fetched, so that every shard sees the same bytes."""
    named = [value for argument in arguments if (value := manifest_value(argument)) is not None]
    if not named:
        raise EngineError("--artifacts: name the manifest there in the arguments of pytest: -- --manifest=cases.jsonl")
    if any(argument.partition("=")[0] == "--bench-artifact-root" for argument in arguments):
        raise EngineError("--bench-artifact-root: with --artifacts all files lie below the manifest's folder; leave it out")
    try:
        source = open_source(artifacts)
    except UnfetchableError as error:
        raise EngineError(str(error)) from None
    pinned = []
    for name in named:
        try:
            pinned.append(PinnedManifest(confined_name(name), source_digest(source, name)))
        except UnfetchableError as error:
            raise EngineError(f"--manifest={name}{error}") from None
    return tuple(pinned + [_pin_digest(source, one.name) for one in pinned if one.name.endswith(".json")])


def _pin_digest(source: ArtifactSource, golden_set: str) -> PinnedManifest:
    """Hash the digest that stands beside a golden set, without which no shard would run it."""
    name = digest_path(PurePosixPath(golden_set)).as_posix()
    try:
        return PinnedManifest(name, source_digest(source, name))
    except UnfetchableError as error:
        raise EngineError(f"--manifest={golden_set}: {name}{error}") from None

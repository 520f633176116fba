"""The folder of an engine's run: where the shards' run directories lie, and those that workers send are put down."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path

import msgspec

from pytest_benchbench.engines import EngineError
from pytest_benchbench.engines.artifact_source import without_credentials
from pytest_benchbench.engines.shard_job import (
    SHARED_FILE,
    Installation,
    PinnedManifest,
    ShardJob,
    ShardResult,
    directory_name,
)
from pytest_benchbench.evidence.writing import encode_document, write_atomically
from pytest_benchbench.manifests.new_folders import FolderExistsError, new_folder
from pytest_benchbench.manifests.sharding import Shard

SHARDS = "shards"
LOGS = "logs"
MERGED = "merged"
PLAN = "engine.json"

_FINISHED = frozenset({0, 1})
"""Exit codes of a run that has nothing to go on with; 21 has."""


class _Plan(msgspec.Struct, frozen=True):
    """What a folder's shards are, as ``engine.json`` says it. Arguments may hold secrets: their digest stands for them.

    Attributes:
        shards: How many there are.
        arguments_sha256: Of the arguments of pytest, as a JSON list.
        project: Where pytest is called on the workers.
        artifacts: Where manifests and artifacts are fetched from, without credentials.
        manifests: What is fetched first.
        installation: By what the run was begun.
    """

    shards: int
    arguments_sha256: str
    project: str
    artifacts: str | None
    manifests: tuple[PinnedManifest, ...]
    installation: Installation

    @classmethod
    def of(cls, jobs: Sequence[ShardJob]) -> _Plan:
        job = jobs[0]
        arguments = hashlib.sha256(msgspec.json.encode(job.arguments)).hexdigest()
        artifacts = None if job.artifacts is None else without_credentials(job.artifacts)
        return cls(len(jobs), arguments, job.project, artifacts, job.manifests, Installation.here())

    def change(self, now: _Plan) -> str | None:
        """Say in what the command of now differs; ``None`` if it does not."""
        if (difference := self.installation.difference(now.installation)) is not None:
            return f"by another installation: this one {difference}"
        for name, label in (
            ("shards", f"with another number of shards ({self.shards})"),
            ("arguments_sha256", "with other arguments for pytest"),
            ("project", f"with another --project-dir ({self.project})"),
            ("artifacts", f"with other --artifacts ({self.artifacts})"),
            ("manifests", "with other manifests, or other bytes in them"),
        ):
            if getattr(self, name) != getattr(now, name):
                return label
        return None


class _RunDocument(msgspec.Struct):
    exit_status: int | None = None


class Landing:
    """Keeps what the shards of one run leave.

    Args:
        folder: Where.
        jobs: The shards.
    """

    def __init__(self, folder: Path, jobs: Sequence[ShardJob]) -> None:
        self.folder = folder
        self.jobs = jobs
        self._landed: dict[str, Path] = {}

    @classmethod
    def begin(cls, folder: Path, jobs: Sequence[ShardJob]) -> Landing:
        """Make the folder, and let the workers that see it write into it.

        Raises:
            EngineError: It exists, or cannot be made.
        """
        landing = cls(folder, jobs)
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir()
            landing.shards.mkdir()
            write_atomically(folder / PLAN, encode_document(_Plan.of(jobs)))
            write_atomically(landing.shards / SHARED_FILE, jobs[0].run.encode())
        except FileExistsError:
            raise EngineError(
                f"--output-dir={folder}: exists already; name a new folder, or go on there by --resume"
            ) from None
        except OSError as error:
            raise EngineError(f"--output-dir={folder}: {error.strerror or error}") from None
        return landing

    @classmethod
    def go_on(cls, folder: Path, jobs: Sequence[ShardJob]) -> Landing:
        """Take up a run that was broken off; its finished shards have landed.

        Args:
            folder: Where.
            jobs: The shards as the command describes them now; they must be those of the folder.

        Raises:
            EngineError: It is no such folder, or something else is asked of it now.
        """
        if (change := _plan_of(folder).change(_Plan.of(jobs))) is not None:
            raise EngineError(f"--resume: {folder} was begun {change}; give the same, or name a new folder")
        landing = cls(folder, jobs)
        write_atomically(landing.shards / SHARED_FILE, jobs[0].run.encode())
        for job in jobs:
            tries = [landing.shards / job.name, *landing.shards.glob(f"{job.name}.*")]
            finished = (path for path in tries if _is_finished(path))
            if (path := min(finished, default=None)) is not None:
                landing._landed[job.shard] = path
        return landing

    @staticmethod
    def planned_shards(folder: Path) -> int:
        """Give the number of shards of a run that was broken off.

        Raises:
            EngineError: There is none.
        """
        return _plan_of(folder).shards

    @property
    def missing(self) -> list[ShardJob]:
        """The shards that are still to be run."""
        return [job for job in self.jobs if job.shard not in self._landed]

    @property
    def shards(self) -> Path:
        """The folder of the run directories."""
        return self.folder / SHARDS

    @property
    def directories(self) -> list[Path]:
        """The run directories of the shards that were run to their end, by the shards' numbers."""
        return [self._landed[shard] for shard in sorted(self._landed, key=lambda shard: Shard.parse(shard).index)]

    def place_for_the_whole(self) -> Path:
        """Give the folder of the merged run, over no earlier one: that of a run that was gone on with has another name."""
        return _free(self.folder / MERGED)

    def keep(self, result: ShardResult) -> None:
        """Note where a shard's run directory is; put its files down if they were sent.

        Raises:
            EngineError: There is no such directory here, or the files cannot be written.
        """
        if result.files is not None:
            try:
                path = _put_down(self.shards, directory_name(result.shard), result.files)
            except FolderExistsError as error:
                raise EngineError(str(error), 21) from None
            except OSError as error:
                raise EngineError(f"{self.shards}: {error.strerror or error}", 21) from None
        else:
            path = self.shards / os.path.basename(result.directory or "")  # noqa: PTH119 - a name that was sent
        if not (path / "run.json").is_file():
            raise EngineError(f"shard {result.shard}: its run directory {path} did not arrive here", 21)
        self._landed[result.shard] = path

    def keep_log(self, result: ShardResult) -> Path:
        """Write the end of what a shard's pytest printed.

        Returns:
            The file.
        """
        path = self.folder / LOGS / f"{directory_name(result.shard)}.log"
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, result.log.encode())
        return path


def _plan_of(folder: Path) -> _Plan:
    try:
        return msgspec.json.decode((folder / PLAN).read_bytes(), type=_Plan)
    except (OSError, msgspec.DecodeError):
        raise EngineError(f"--resume: {folder}: there is no run to go on with") from None


def _is_finished(path: Path) -> bool:
    try:
        document = msgspec.json.decode((path / "run.json").read_bytes(), type=_RunDocument)
    except (OSError, msgspec.DecodeError):
        return False
    return document.exit_status in _FINISHED


def _free(path: Path) -> Path:
    """Give a path at which nothing is: this one, or the same with a number."""
    numbered = (path.with_name(f"{path.name}.{number}") for number in count(2))
    return next(place for place in chain([path], numbered) if not os.path.lexists(place))


def _put_down(folder: Path, name: str, files: dict[str, bytes]) -> Path:
    """Write a run directory that was sent, in one step and over nothing that is there."""
    path = _free(folder / name)  # a worker with this file system may have left something before it was lost
    with new_folder(path) as beside:
        for file, content in files.items():
            if os.path.basename(file) != file or file in ("", ".", ".."):  # noqa: PTH119 - a name that was sent
                raise OSError(f"a worker sent a file of the name {file!r}")
            write_atomically(beside / file, content)
    return path

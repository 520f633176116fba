"""What a worker does for one shard: fetch its files if need be, run pytest in a process, give back what that left."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from pytest_benchbench.engines import UnfetchableError
from pytest_benchbench.engines.artifact_cache import ArtifactCache
from pytest_benchbench.engines.artifact_source import open_source
from pytest_benchbench.engines.materialising import materialise
from pytest_benchbench.engines.pytest_process import let_go, own_cache, run_pytest
from pytest_benchbench.engines.shard_job import SHARED_FILE, Installation, ShardJob, ShardResult, manifest_value
from pytest_benchbench.engines.shard_process import GRACE_SECONDS
from pytest_benchbench.evidence.writing import EvidenceInUseError, EvidenceWriter
from pytest_benchbench.manifests.sharding import Shard

LOCK_SECONDS = 6 * GRACE_SECONDS
"""How long the pytest of a lost worker may hold on to its run directory before another one is begun."""

LOCK_POLL_SECONDS = 0.2

MAX_RETURNED_BYTES = 1 << 30
"""Largest run directory that a worker without shared file system gives back (1 GiB)."""

MAX_TRIES = 100
"""Run directories of one shard that may lie side by side before a worker refuses to make another one."""

_OF_THE_WHOLE = ("--bench-gate=off", "--bench-html=off")
"""Whoever merges the shards decides, and draws the page."""


_SPLIT = "--bench-split="


class _CannotRunError(Exception):
    """Why nothing can be run here; one line."""


class _Running:
    """The processes that this worker runs, by the word of their run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: dict[str, set[subprocess.Popen[bytes]]] = defaultdict(set)
        self._stopped: set[str] = set()

    @contextmanager
    def added(self, run: str, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Know of a process as long as it runs."""
        with self._lock:
            self._processes[run].add(process)
            stopped = run in self._stopped
        if stopped:
            let_go(process)
        try:
            yield
        finally:
            with self._lock:
                self._processes[run].discard(process)

    def stop(self, run: str) -> None:
        """End the processes of a run, those that are still to come included."""
        with self._lock:
            self._stopped.add(run)
            processes = list(self._processes[run])
        for process in processes:
            let_go(process)


_RUNNING = _Running()


def installation() -> bytes:
    """Describe what is installed in this process, encoded."""
    return msgspec.json.encode(Installation.here())


def stop_run(run: str) -> None:
    """End what this worker runs for a run that was given up."""
    _RUNNING.stop(run)


def run_shard(expected: bytes, job: bytes) -> bytes:
    """Run one shard.

    Args:
        expected: The ``Installation`` of whoever wants it, encoded.
        job: The ``ShardJob``, encoded; it is not looked at where something else is installed.

    Returns:
        The ``ShardResult``, encoded.
    """
    wanted = msgspec.json.decode(expected, type=Installation)
    if (difference := wanted.difference(Installation.here())) is not None:
        return msgspec.msgpack.encode(ShardResult("", fault=difference))
    given = msgspec.json.decode(job, type=ShardJob)
    try:
        result = _run(given)
    except _CannotRunError as fault:
        result = ShardResult(given.shard, fault=str(fault))
    except UnfetchableError as error:
        result = ShardResult(given.shard, fault=str(error), passing=error.passing)
    except OSError as error:
        result = ShardResult(given.shard, fault=f"{error.filename or 'a file'}: {error.strerror or error}", passing=True)
    return msgspec.msgpack.encode(result)


def _run(job: ShardJob) -> ShardResult:
    if not os.path.isdir(job.project):  # noqa: PTH112 - Path raises on too long a name
        raise _CannotRunError(
            f"there is no folder {job.project}; say where the project lies on the workers by --project-dir"
        )
    with _fetched(job) as arguments:
        if _shares_file_system(job):
            return _run_in(job, arguments, Path(job.directory), shared=True)
        with tempfile.TemporaryDirectory(prefix="benchbench-", ignore_cleanup_errors=True) as directory:
            return _run_in(job, arguments, Path(directory), shared=False)


@contextmanager
def _fetched(job: ShardJob) -> Iterator[Sequence[str]]:
    """Give the arguments with the paths at which the manifests lie on this machine."""
    if job.artifacts is None:
        yield job.arguments
        return
    cache = ArtifactCache(_cache_folder(job), open_source(job.artifacts))
    with cache.work_folder() as work:
        materialise(cache, job.manifests, Shard.parse(job.shard), work, split=_split_of(job.arguments))
        placed = iter(job.manifests)
        yield [
            *(
                argument if manifest_value(argument) is None else f"--manifest={work / next(placed).name}"
                for argument in job.arguments
            ),
            f"--bench-manifest-root={work}",
        ]


def _split_of(arguments: Sequence[str]) -> str | None:
    """Give the split that arguments of pytest name; of one that only the project's configuration names nothing is known."""
    given = [argument.removeprefix(_SPLIT) for argument in arguments if argument.startswith(_SPLIT)]
    return given[-1] if given else None


def _cache_folder(job: ShardJob) -> Path:
    if job.cache is not None:
        return Path(job.cache)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pytest-benchbench"


def _shares_file_system(job: ShardJob) -> bool:
    try:
        return (Path(job.directory) / SHARED_FILE).read_text(encoding="utf-8") == job.run
    except (OSError, ValueError):
        return False


def _run_in(job: ShardJob, arguments: Sequence[str], directory: Path, *, shared: bool) -> ShardResult:
    """Run the shard below a folder that may hold what earlier tries left."""
    for name in (job.name, *(f"{job.name}.{number}" for number in range(2, MAX_TRIES + 1))):
        path = directory / name
        resumed = os.path.lexists(path)
        if resumed and not _can_go_on(path):
            continue
        place = f"--bench-resume={path}" if resumed else f"--bench-run-dir={path}"
        with own_cache(job.arguments, job.project) as own:  # the project's has the ids of the rows of all other shards
            command = [*arguments, f"--bench-shard={job.shard}", *_OF_THE_WHOLE, place, *own]
            code, log = run_pytest(command, job.project, known_to=partial(_RUNNING.added, job.run))
        if not path.is_dir() or shared:
            kept = name if path.is_dir() else None
            return ShardResult(job.shard, exit_code=code, directory=kept, log=log, resumed=resumed)
        return ShardResult(job.shard, exit_code=code, files=_files_of(path), log=log)
    raise _CannotRunError(f"{directory / job.name}: {MAX_TRIES} tries are there already; remove them")


def _can_go_on(path: Path) -> bool:
    """Say whether the run of an earlier try can be gone on with: it has begun, and nobody writes it any more.

    The worker of that try is given up by the scheduler; its pytest ends soon after it. One that does not is left alone, and
    its evidence too.
    """
    evidence = path / "evidence.jsonl"
    deadline = time.monotonic() + LOCK_SECONDS
    while (path / "run.json").is_file() and evidence.is_file():
        try:
            EvidenceWriter(evidence, append=True).abandon()
        except EvidenceInUseError:
            if time.monotonic() > deadline:
                return False
            time.sleep(LOCK_POLL_SECONDS)
        else:
            return True
    return False


def _files_of(path: Path) -> dict[str, bytes]:
    """Read the files of a run directory.

    Raises:
        _CannotRunError: They are too large to be sent.
    """
    files = [file for file in sorted(path.iterdir()) if file.is_file() and not file.name.startswith(".")]
    size = sum(file.stat().st_size for file in files)
    if size > MAX_RETURNED_BYTES:
        raise _CannotRunError(
            f"the run directory has {size} bytes, more than the {MAX_RETURNED_BYTES} that are sent; "
            "make more shards, or give an --output-dir that the workers share"
        )
    return {file.name: file.read_bytes() for file in files}

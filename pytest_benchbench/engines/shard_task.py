"""What a worker does for one shard: fetch its files if need be, run pytest in a process, give back what that left."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO

import msgspec

from pytest_benchbench.engines import UnfetchableError
from pytest_benchbench.engines.artifact_cache import ArtifactCache
from pytest_benchbench.engines.artifact_source import open_source
from pytest_benchbench.engines.materialising import materialise
from pytest_benchbench.engines.shard_job import SHARED_FILE, Installation, ShardJob, ShardResult, manifest_value
from pytest_benchbench.engines.shard_process import GRACE_SECONDS
from pytest_benchbench.evidence.writing import EvidenceInUseError, EvidenceWriter
from pytest_benchbench.manifests.sharding import Shard

LOG_BYTES = 64 * 1024
"""As much is kept of the end of what pytest printed."""

LOCK_SECONDS = 6 * GRACE_SECONDS
"""How long the pytest of a lost worker may hold on to its run directory before another one is begun."""

LOCK_POLL_SECONDS = 0.2

MAX_RETURNED_BYTES = 1 << 30
"""Largest run directory that a worker without shared file system gives back (1 GiB)."""

MAX_TRIES = 100
"""Run directories of one shard that may lie side by side before a worker refuses to make another one."""

_CONFIGURATIONS = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")


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
            _let_go(process)
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
            _let_go(process)


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
        materialise(cache, job.manifests, Shard.parse(job.shard), work)
        placed = iter(job.manifests)
        yield [
            *(
                argument if manifest_value(argument) is None else f"--manifest={work / next(placed).name}"
                for argument in job.arguments
            ),
            f"--bench-manifest-root={work}",
        ]


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
        with _own_cache(job) as own:
            code, log = _pytest(job, [*arguments, f"--bench-shard={job.shard}", "--bench-gate=off", place, *own])
        if not path.is_dir() or shared:
            kept = name if path.is_dir() else None
            return ShardResult(job.shard, exit_code=code, directory=kept, log=log, resumed=resumed)
        return ShardResult(job.shard, exit_code=code, files=_files_of(path), log=log)
    raise _CannotRunError(f"{directory / job.name}: {MAX_TRIES} tries are there already; remove them")


@contextmanager
def _own_cache(job: ShardJob) -> Iterator[Sequence[str]]:
    """Give the arguments by which pytest has a cache of its own: it would read the ids of the rows of all other shards.

    Where the cache is switched off there is nothing to be said about it; pytest may even refuse to be told.
    """
    given = [*job.arguments, os.environ.get("PYTEST_ADDOPTS", "")]
    for name in _CONFIGURATIONS:
        with suppress(OSError):
            given.append((Path(job.project) / name).read_text(encoding="utf-8", errors="replace"))
    if any("no:cacheprovider" in text for text in given):
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="benchbench-cache-", ignore_cleanup_errors=True) as folder:
        yield ["-o", f"cache_dir={folder}"]


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


def _pytest(job: ShardJob, arguments: Sequence[str]) -> tuple[int, str]:
    """Run pytest until it ends; it is ended with this process, in whatever way that dies.

    Returns:
        Its exit code and the end of what it printed.
    """
    command = [sys.executable, "-m", "pytest", *arguments]
    process = subprocess.Popen(  # noqa: S603 - no shell; the arguments are the user's own
        [sys.executable, "-m", "pytest_benchbench.engines.shard_process", *command],
        cwd=job.project,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # an interrupt at the terminal is for whoever wants the run, not for its parts
    )
    assert process.stdout is not None
    tail = _Tail(process.stdout)
    with process.stdout, _RUNNING.added(job.run, process):
        reading = threading.Thread(target=tail.read, daemon=True)
        reading.start()
        code = process.wait()
        reading.join()
    _let_go(process)
    return code, tail.text


def _environment() -> dict[str, str]:
    """Give this worker's environment without what would make pytest believe that it runs inside another one."""
    inner = ("PYTEST_XDIST_", "PYTEST_CURRENT_TEST", "PYTEST_VERSION")
    return {name: value for name, value in os.environ.items() if not name.startswith(inner)}


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Close the pipe by which a process knows that somebody wants it."""
    assert process.stdin is not None
    with nullcontext() if process.stdin.closed else process.stdin:
        pass


class _Tail:
    """The end of what a process prints."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._kept = bytearray()

    def read(self) -> None:
        """Read until the stream ends, and keep the last ``LOG_BYTES``."""
        while block := os.read(self._stream.fileno(), LOG_BYTES):
            self._kept += block
            del self._kept[:-LOG_BYTES]

    @property
    def text(self) -> str:
        """What was kept."""
        return bytes(self._kept).decode("utf-8", "replace")


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

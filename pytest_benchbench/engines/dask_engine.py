"""Shards on the workers of a dask.distributed scheduler: one task each, and those of lost workers again."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec

from pytest_benchbench.engines import EngineError
from pytest_benchbench.engines.artifact_source import INSTALL
from pytest_benchbench.engines.pytest_process import exit_text, last_line
from pytest_benchbench.engines.shard_job import Installation, ShardJob, ShardResult
from pytest_benchbench.engines.shard_process import KILLED_BY_SIGNAL
from pytest_benchbench.engines.shard_task import installation, run_shard, stop_run

if TYPE_CHECKING:
    from pathlib import Path

Client: TypeAlias = Any
"""``distributed.Client``; its package is optional, and typed in parts only."""

Future: TypeAlias = Any
"""``distributed.Future``."""

CONNECT_SECONDS = 30
"""How long a scheduler may take to answer."""

POLL_SECONDS = 2.0
"""How often it is looked whether any worker is left."""

RESULTS = frozenset({0, 1, 21})
"""Exit codes of pytest with which a shard was run to its end: all met, failures, incomplete evidence."""

INCOMPLETE = 21

_LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio")
"""Dask gives some of them levels and handlers of their own."""


class Listener(Protocol):
    """Is told what happens while shards run."""

    def done(self, result: ShardResult, worker: str) -> None:
        """Take a shard that was run to its end."""

    def note(self, line: str) -> None:
        """Take what happened besides."""

    def keep_log(self, result: ShardResult) -> Path:
        """Write down what the pytest of a shard printed; say where."""


@dataclass(frozen=True, slots=True)
class _Try:
    job: ShardJob
    number: int


class _TryFailedError(Exception):
    """A try of a shard that came to nothing although the shard may be run: one line."""


@contextlib.contextmanager
def connected(scheduler: str) -> Iterator[Client]:
    """Connect to a scheduler.

    Args:
        scheduler: Its address, such as ``tcp://10.0.0.1:8786``, or the file that ``dask scheduler --scheduler-file`` wrote.

    Raises:
        EngineError: The extra is not installed, or nobody answers.
    """
    distributed = import_distributed()
    place: dict[str, Any] = {"scheduler_file": scheduler} if os.path.isfile(scheduler) else {"address": scheduler}  # noqa: PTH113
    try:
        client = distributed.Client(**place, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # an address of no known kind, a file that is none, nobody there, no loop within ten seconds
        raise EngineError(f"--scheduler={scheduler}: no scheduler answers there ({one_line(error)})") from None
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):  # there may be nobody left to say goodbye to
            client.close(timeout=CONNECT_SECONDS)


def import_distributed() -> Any:
    """Import dask.distributed, and let it be silent about what is told here in a line.

    Raises:
        EngineError: It is not installed; the message has the command.
    """
    try:
        import distributed
    except ImportError as error:
        raise EngineError(f"--engine: needs dask.distributed ({one_line(error)}); {INSTALL}") from None
    be_silent()
    return distributed


def be_silent() -> None:
    """Let dask and what it runs on log nothing in this process: they show whole tracebacks of what is told in a line."""
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def await_workers(client: Client, workers: int, seconds: float) -> int:
    """Wait until some workers are there, and hold that the same is installed in each of them as here.

    Args:
        client: A connection.
        workers: How many, at least 1.
        seconds: How long to wait.

    Returns:
        The number of threads of all workers that are there: as many shards run at the same time.

    Raises:
        EngineError: They did not come in time, or one differs; it is named.
    """
    try:
        client.wait_for_workers(workers, timeout=seconds)
    except TimeoutError:
        there = len(client.nthreads())
        raise EngineError(
            f"{there} of {workers} workers came within {seconds:g} s; start more, or wait longer by --wait"
        ) from None
    try:
        client.run_on_scheduler(installation)
    except Exception as error:  # whatever hinders the scheduler from importing it
        raise EngineError(
            f"the scheduler cannot import pytest-benchbench ({one_line(error)}); install it there too"
        ) from None
    here = Installation.here()
    for worker, answer in sorted(client.run(installation, on_error="return").items()):
        if isinstance(answer, BaseException):
            raise EngineError(f"worker {worker} cannot import pytest-benchbench ({one_line(answer)}); install it there too")
        if (difference := here.difference(msgspec.json.decode(answer, type=Installation))) is not None:
            raise EngineError(f"worker {worker} {difference}; install the same on every worker")
    return sum(client.nthreads().values())


def run_shards(
    client: Client, jobs: Sequence[ShardJob], *, retries: int, patience: float, listener: Listener
) -> dict[str, str]:
    """Run every shard to its end, once.

    A shard whose worker is lost, or whose pytest was ended by a signal, is run again; on a shared file system it goes on
    where its lost try stopped.

    Args:
        client: A connection.
        jobs: The shards.
        retries: How often a shard is begun again that came to nothing; by itself dask begins it again after each of the
            first lost workers, three unless it is configured otherwise.
        patience: Seconds for which there may be no worker at all.
        listener: Is told of each shard at once.

    Returns:
        The shards that were given up, with the reason.

    Raises:
        EngineError: A shard cannot be run at all, the scheduler is lost, or all workers are. What runs is ended then.
    """
    expected = msgspec.json.encode(Installation.here())
    ended: SimpleQueue[Future] = SimpleQueue()
    running: dict[Any, tuple[Future, _Try]] = {}
    lost: dict[str, str] = {}

    def begin(one: _Try) -> None:
        key = f"benchbench-{one.job.run}-{one.job.name}-try-{one.number}"
        future = client.submit(_task, expected, msgspec.json.encode(one.job), key=key, pure=False)
        running[future.key] = future, one
        future.add_done_callback(ended.put)

    try:
        for job in jobs:
            begin(_Try(job, 1))
        while running:
            future = _next(ended, client, patience)
            _, one = running[future.key]
            try:
                result, worker = _take(future, one.job, listener)
            except _TryFailedError as failure:
                if one.number <= retries:
                    listener.note(f"shard {one.job.shard}: begun again: {failure}")
                    begin(_Try(one.job, one.number + 1))
                else:
                    listener.note(f"shard {one.job.shard}: given up: {failure}")
                    lost[one.job.shard] = str(failure)
            else:
                listener.done(result, worker)
            del running[future.key]
            future.release()
    except BaseException:
        _stop(client, jobs[0].run, [future for future, _ in running.values()])
        raise
    return lost


def _task(expected: bytes, job: bytes) -> tuple[str, bytes]:
    """Run one shard in a worker, and say in which."""
    from distributed import get_worker

    return get_worker().address, run_shard(expected, job)


def _next(ended: SimpleQueue[Future], client: Client, patience: float) -> Future:
    """Wait for the next shard that comes to an end.

    Raises:
        EngineError: There was no worker for too long.
    """
    waited = 0.0
    while waited < patience:
        try:
            return ended.get(timeout=min(POLL_SECONDS, patience))
        except Empty:
            waited = waited + POLL_SECONDS if not client.nthreads() else 0.0
    raise EngineError(f"no worker is left, and none came within {patience:g} s; start some and run again", INCOMPLETE)


def _take(future: Future, job: ShardJob, listener: Listener) -> tuple[ShardResult, str]:
    """Get what a shard gave back, if it was run to its end.

    Raises:
        _TryFailedError: It may be run to its end at another try.
        EngineError: It cannot.
    """
    if future.status == "cancelled":
        raise EngineError("the scheduler is lost; start it and its workers, and run again", INCOMPLETE)
    try:
        worker, encoded = future.result()
    except Exception as error:  # whatever ended the task
        if type(error).__name__ == "KilledWorker":
            raise _TryFailedError("the workers died that ran it") from None
        raise _TryFailedError(one_line(error)) from None
    result = msgspec.msgpack.decode(encoded, type=ShardResult)
    shard = f"shard {job.shard} on {worker}"
    if result.fault is not None:
        if result.passing:
            raise _TryFailedError(f"on {worker}: {result.fault}")
        raise EngineError(f"{shard}: {result.fault}")
    code = result.exit_code
    assert code is not None
    if code in RESULTS and (result.directory or result.files):
        return result, worker
    log = listener.keep_log(result)
    if code > KILLED_BY_SIGNAL:
        raise _TryFailedError(f"pytest on {worker} was {exit_text(code)}; {log}")
    if code in RESULTS:
        raise EngineError(f"{shard}: pytest left no run directory: {last_line(result.log)}; {log}")
    status = 2 if code in (4, 5) else INCOMPLETE
    raise EngineError(f"{shard}: pytest {exit_text(code)}: {last_line(result.log)}; {log}", status)


def _stop(client: Client, run: str, futures: list[Future]) -> None:
    """End what still runs, as far as there is somebody who can be told."""
    if client.status != "running":
        return
    with contextlib.suppress(Exception):
        client.cancel(futures, force=True)
        client.run(stop_run, run, on_error="ignore")


def one_line(error: BaseException) -> str:
    """Write what an error says in one line."""
    return " ".join(str(error).split()) or type(error).__name__

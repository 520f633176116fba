"""Workers on this machine: processes of one thread each, reachable by this machine alone."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
from collections.abc import Iterator

from pytest_benchbench.engines import EngineError
from pytest_benchbench.engines.dask_engine import CONNECT_SECONDS, Client, be_silent, import_distributed, one_line


@contextlib.contextmanager
def local_workers(count: int | None) -> Iterator[Client]:
    """Start a scheduler and workers, and end them afterwards.

    Args:
        count: How many workers; by default one for each processor.

    Raises:
        EngineError: The extra is not installed, or they cannot be started.
    """
    distributed = import_distributed()
    try:
        with _deaf_to_interrupts():
            started = distributed.LocalCluster(
                n_workers=count or os.cpu_count() or 1,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # without one it would want a port that another cluster may have
                memory_limit=None,  # what needs memory are the workers' own processes, which dask does not see
                silence_logs=logging.CRITICAL,  # what matters of them is told here in a line
            )
    except Exception as error:  # whatever hinders dask from starting processes
        raise EngineError(f"--engine local: no workers could be started ({one_line(error)})") from None
    with (
        started as cluster,
        distributed.Client(cluster, timeout=CONNECT_SECONDS, set_as_default=False) as client,
    ):
        client.run(be_silent)
        yield client


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let processes that are started now ignore the interrupt at the terminal: whoever started them ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

"""``benchbench run``: the shards of a benchmark on a distributed engine, merged into one run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_benchbench.cli.finite_numbers import FiniteRange
from pytest_benchbench.cli.merge import tell_ci
from pytest_benchbench.engines import EngineError
from pytest_benchbench.engines.dask_engine import INCOMPLETE, Client, await_workers, connected, run_shards
from pytest_benchbench.engines.landing import SHARDS, Landing
from pytest_benchbench.engines.local import local_workers
from pytest_benchbench.engines.shard_job import ShardResult, plan_jobs, refuse_engine_options
from pytest_benchbench.evidence.merging import MergeError
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.recorded_run import RecordedRunError
from pytest_benchbench.gates.policy import LoadedPolicy, PolicyError, load_policy
from pytest_benchbench.session.merging import merge_runs

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

SHARDS_PER_WORKER = 2
"""So many that a slow worker does not keep all others waiting, so few that models are seldom loaded."""


@click.command("run")
@click.option(
    "--engine",
    type=click.Choice(["local", "dask"]),
    default="local",
    show_default=True,
    help="local: worker processes on this machine; dask: the workers of a running dask.distributed scheduler.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Where the scheduler of --engine dask listens, such as tcp://10.0.0.1:8786, or its scheduler file.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 4096),
    help="local: how many processes [one for each processor]; dask: how many to wait for before it begins [1].",
)
@click.option(
    "--shards",
    type=click.IntRange(1),
    help=f"In how many parts the rows are cut [{SHARDS_PER_WORKER} for each worker thread].",
)
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    required=True,
    help="New folder for the shards' runs and the merged one; best on a file system that the workers share.",
)
@click.option(
    "--artifacts",
    metavar="URL",
    help="Folder or fsspec URL below which --manifest lies; workers fetch what their rows name. [the paths as they are]",
)
@click.option("--resume", is_flag=True, help="Go on with the run in --output-dir that was broken off: run what is missing.")
@click.option("--cache-dir", metavar="DIR", help="Where workers keep what they fetched [~/.cache/pytest-benchbench].")
@click.option("--project-dir", metavar="DIR", help="Where the project lies on the workers [the current folder].")
@click.option("--gate", metavar="POLICY", help="Policy that decides about the merged run.")
@click.option(
    "--retries",
    type=click.IntRange(0, 100),
    default=2,
    show_default=True,
    help="How often a shard is begun again that dask gave up or a signal ended.",
)
@click.option(
    "--wait",
    type=FiniteRange(0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long there may be too few workers at the beginning, or none at all later.",
)
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED, metavar="-- [PYTEST_ARGS]...")
def command(
    engine: str,
    scheduler: str | None,
    workers: int | None,
    shards: int | None,
    output_dir: Path,
    artifacts: str | None,
    cache_dir: str | None,
    project_dir: str | None,
    resume: bool,
    gate: str | None,
    retries: int,
    wait: float,
    pytest_args: tuple[str, ...],
) -> None:
    """Run a benchmark in shards on many workers, and merge what they leave.

    Every worker runs pytest with the arguments after "--" on its part of the rows. Shards of lost workers are run again.
    Exit codes are those of the merged run: 0, 1 failures, 20 gate not passed, 21 incomplete; and 2 for wrong use.
    """
    try:
        refuse_engine_options(pytest_args)
        policy = _policy(gate)
        with _client(engine, scheduler, workers) as client:
            threads = await_workers(client, workers or 1, wait)
            jobs = plan_jobs(
                shards or (Landing.planned_shards(output_dir) if resume else SHARDS_PER_WORKER * threads),
                pytest_args,
                directory=Path(os.path.abspath(output_dir)) / SHARDS,  # noqa: PTH100 - what is a link stays one
                project=project_dir or str(Path.cwd()),
                artifacts=artifacts,
                cache=cache_dir,
            )
            landing = (Landing.go_on if resume else Landing.begin)(output_dir, jobs)
            with _shown(landing) as listener:
                lost = run_shards(client, landing.missing, retries=retries, patience=wait, listener=listener)
    except EngineError as error:
        raise _RunError(error) from None
    except KeyboardInterrupt:
        raise _RunError(EngineError(f"interrupted; go on with --resume --output-dir={output_dir}", INCOMPLETE)) from None
    raise SystemExit(_merge(landing, lost, policy))


def _merge(landing: Landing, lost: dict[str, str], policy: LoadedPolicy | None) -> int:
    """Merge what landed, and say how it went.

    Returns:
        The exit code of the whole.
    """
    if not landing.directories:
        raise _RunError(EngineError("no shard was run to its end; nothing was merged", INCOMPLETE))
    try:
        merged = merge_runs(landing.directories, landing.place_for_the_whole(), policy)
    except (MergeError, RecordedRunError, EvidenceError) as error:
        raise click.ClickException(str(error)) from None
    for note in merged.notes:
        click.echo(f"note: {note}", err=True)
    for line in merged.lines():
        click.echo(line)
    click.echo(f"report: {merged.path / 'report.md'}")
    tell_ci(merged)
    if lost:
        click.echo(f"{len(lost)} of {len(landing.jobs)} shards were given up; run them by --resume")
    return INCOMPLETE if lost else merged.exit_status


def _policy(gate: str | None) -> LoadedPolicy | None:
    """Load the policy before anything is run, so that a wrong one is no surprise at the end."""
    try:
        return None if gate in (None, "off") else load_policy(gate, directory=Path.cwd())
    except PolicyError as error:
        raise EngineError(f"--gate: {error}") from None


@contextmanager
def _client(engine: str, scheduler: str | None, workers: int | None) -> Iterator[Client]:
    if engine == "local":
        if scheduler is not None:
            raise EngineError("--scheduler goes with --engine dask")
        with local_workers(workers) as client:
            yield client
    elif scheduler is None:
        raise EngineError("--engine dask: name its scheduler by --scheduler")
    else:
        with connected(scheduler) as client:
            yield client


class _Shown:
    """Shows shards as they come to their end: a progress bar on a terminal, plain lines elsewhere."""

    def __init__(self, landing: Landing, bar: ProgressBar[int] | None) -> None:
        self._landing = landing
        self._bar = bar

    def done(self, result: ShardResult, worker: str) -> None:
        self._landing.keep(result)
        if self._bar is not None:
            self._bar.update(1)
            return
        resumed = ", went on with a lost try" if result.resumed else ""
        ended = len(self._landing.jobs) - len(self._landing.missing)
        click.echo(f"shard {result.shard}: exit code {result.exit_code} on {worker}{resumed} ({ended} done)", err=True)

    def note(self, line: str) -> None:
        click.echo(f"\n{line}" if self._bar is not None else line, err=True)

    def keep_log(self, result: ShardResult) -> Path:
        return self._landing.keep_log(result)


@contextmanager
def _shown(landing: Landing) -> Iterator[_Shown]:
    total, missing = len(landing.jobs), len(landing.missing)
    if not sys.stderr.isatty():
        click.echo(f"{missing} of {total} shards to run", err=True)
        yield _Shown(landing, None)
        return
    with click.progressbar(length=total, label=f"{total} shards", file=sys.stderr, show_pos=True) as bar:
        bar.update(total - missing)
        yield _Shown(landing, bar)


class _RunError(click.ClickException):
    """Shows one line and exits with the code that belongs to it."""

    def __init__(self, error: EngineError) -> None:
        super().__init__(str(error))
        self.status = error.status

    @property
    def exit_code(self) -> int:  # type: ignore[override]  # a class's constant elsewhere
        return self.status

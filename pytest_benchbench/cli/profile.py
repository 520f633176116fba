"""``benchbench profile``: what whole processes cost that run a manifest."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pytest_benchbench.adapters.registry import installed_registry
from pytest_benchbench.engines import EngineError
from pytest_benchbench.engines.process_profile import ProcessProfile, check_arguments, read_manifests
from pytest_benchbench.evidence.writing import encode_document, write_atomically
from pytest_benchbench.manifests.dataset import TEST_SPLIT
from pytest_benchbench.manifests.new_folders import FolderExistsError, new_folder
from pytest_benchbench.reports.profile_document import Process, ProfiledManifest, build_profile, measured_nothing
from pytest_benchbench.reports.profile_report import profile_lines, render_profile

INCOMPLETE = 21

Ended = Callable[[ProfiledManifest, Process], None]


_PYTEST_ARGUMENTS = "pytest_benchbench.profile.pytest_arguments"


class _BeforeDashes(click.Command):
    """Takes the words before ``--``; those behind it are pytest's, and click would mix them with the manifests."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            dashes = args.index("--")
            args, ctx.meta[_PYTEST_ARGUMENTS] = args[:dashes], args[dashes + 1 :]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "-- [PYTEST_ARGS]..."]


@click.command("profile", cls=_BeforeDashes)
@click.argument("manifests", nargs=-1, required=True, metavar="MANIFEST...")
@click.option(
    "--repeat",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    help="Fresh processes for each manifest, in turns over the manifests.",
)
@click.option("--output-dir", type=click.Path(path_type=Path), required=True, help="New folder for report and runs.")
@click.option("--split", metavar="NAME", help="Split that is profiled; needed where rows have splits.")
@click.option("--suite", metavar="PATH", help="Suite that runs the manifests. [the built-in one]")
@click.option("--json", "as_json", is_flag=True, help="Print profile.json instead of lines for people.")
@click.pass_context
def command(
    context: click.Context,
    manifests: tuple[str, ...],
    repeat: int,
    output_dir: Path,
    split: str | None,
    suite: str | None,
    as_json: bool,
) -> None:
    """Measure what whole processes cost: wall time, processor time and peak memory of pytest over each MANIFEST.

    A watermark manifest names one adapter only; a dataset is profiled by each --bench-adapter, one after the other.
    Arguments after "--" go to pytest, such as --bench-adapter. The runs stay in the output folder, beside profile.json and
    profile.md. An adapter that needs the network is unavailable unless
    --bench-network=allow is among these arguments.

    Exit codes: 0 done, 1 a process died or the profile was interrupted, 2 wrong use, 21 no row of a manifest was answered.
    """
    arguments: list[str] = context.meta.get(_PYTEST_ARGUMENTS, [])
    try:
        check_arguments(arguments)
        profiled = read_manifests(manifests, installed_registry(), arguments=arguments, split=split)
        _tell_of_openings(profiled, repeat)
        load = _load()
        with new_folder(output_dir) as beside:
            _run(ProcessProfile(profiled, beside, arguments=arguments, suite=suite), profiled, repeat)
            document = build_profile(profiled, repeat=repeat, suite=suite, split=split, load=load)
            write_atomically(beside / "profile.json", encode_document(document))
            write_atomically(beside / "profile.md", render_profile(document).encode())
    except EngineError as error:
        raise _WrongUse(str(error)) from None
    except FolderExistsError:
        raise _WrongUse(f"--output-dir={output_dir}: exists already; name a new folder") from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or output_dir}: {error.strerror or error}") from None
    if as_json:
        click.echo(encode_document(document).decode(), nl=False)
    else:
        for line in profile_lines(document):
            click.echo(line)
        click.echo(f"report: {output_dir / 'profile.md'}")
    raise SystemExit(_exit_code(document))


def _run(profile: ProcessProfile, manifests: list[ProfiledManifest], repeat: int) -> None:
    """Run, and tell of each process; what ran before an interrupt is kept, if any of it came to its end."""
    with _shown(len(manifests) * repeat) as ended:
        try:
            for manifest, process in profile.run(repeat):
                ended(manifest, process)
        except KeyboardInterrupt:
            if not any(manifest.measured for manifest in manifests):
                raise


def _tell_of_openings(manifests: list[ProfiledManifest], repeat: int) -> None:
    """Say how often a test split will be opened: each process is a run."""
    opening = repeat * sum(manifest.split == TEST_SPLIT for manifest in manifests)
    if opening:
        click.echo(
            f"note: --split={TEST_SPLIT}: each of {opening} processes opens the test split, an attempt of its own in the "
            "ledger; profile another split to leave it closed",
            err=True,
        )


def _exit_code(document: dict[str, Any]) -> int:
    lines = document["manifests"]
    if any(line["died"] for line in lines):
        return 1
    return INCOMPLETE if any(measured_nothing(line) for line in lines) else 0


def _load() -> tuple[float, float, float] | None:
    """Give the load averages of the last 1, 5 and 15 minutes; ``None`` where the system has none."""
    try:
        return os.getloadavg()
    except (AttributeError, OSError):
        return None


@contextmanager
def _shown(total: int) -> Iterator[Ended]:
    """Show each process when it ends: a progress bar on a terminal, plain lines elsewhere."""
    if sys.stderr.isatty():
        with click.progressbar(length=total, label=f"{total} processes", file=sys.stderr, show_pos=True) as bar:
            yield lambda manifest, process: bar.update(1)
        return
    click.echo(f"{total} process{'' if total == 1 else 'es'} to run", err=True)

    def ended(manifest: ProfiledManifest, process: Process) -> None:
        cost = process.cost
        spent = f"{cost.wall_s:.2f} s, {cost.peak_bytes / 2**20:.1f} MiB" if cost else "cost unknown"
        fault = f"; {process.fault}" if process.fault else ""
        click.echo(f"{manifest.name}, repetition {process.repetition}: {spent}{fault}", err=True)

    yield ended


class _WrongUse(click.ClickException):
    """Shows its lines and exits with 2."""

    exit_code = 2

"""``benchbench cohort stress``: the seeded derivatives of a dataset's originals."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import click

from pytest_benchbench.cohorts import CohortError, CohortUsageError
from pytest_benchbench.cohorts.stress import DEFAULT_SEED, NAME, Progress, StressSettings, build_stress, parameters_of
from pytest_benchbench.cohorts.stress_originals import MOST_WORKERS, default_workers, read_originals
from pytest_benchbench.cohorts.stress_plan import StressPlan, TooSmall, plan_stress
from pytest_benchbench.cohorts.stress_transforms import find_transforms
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.manifests.reading import Manifest, ManifestChangedError, ManifestError, read_manifest

_MOST_SEED = 2**53 - 1


@click.command(NAME)
@click.option(
    "--from",
    "base",
    required=True,
    type=click.Path(exists=True, dir_okay=False),
    help="Dataset manifest of the originals; their files are verified.",
)
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    help="New folder for manifest.jsonl, transforms.jsonl, cohort.json and artifacts/.",
)
@click.option(
    "--transform",
    "names",
    metavar="NAME",
    multiple=True,
    help="What is made of each original; repeatable. All of the release contract if absent; the documentation lists them.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, _MOST_SEED),
    default=DEFAULT_SEED,
    show_default=True,
    help="From which, with baseId and transform, the seed of each row is derived.",
)
@click.option(
    "--too-small",
    type=click.Choice(get_args(TooSmall)),
    default="row",
    show_default=True,
    help="What is left out where an original is no larger than a resize asks for: that row, the transform for all, or the "
    "original with all its rows.",
)
@click.option(
    "--artifact-root",
    "--bench-artifact-root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A directory besides the manifest's own in which originals may lie; repeatable.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, MOST_WORKERS),
    default=default_workers,
    help="Threads; they change nothing that is written.  [as many as processors, at most 8]",
)
@click.option("--plan", "planning", is_flag=True, help="Verify the originals and print the planned rows; build nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def command(
    base: str,
    output_dir: Path | None,
    names: tuple[str, ...],
    seed: int,
    too_small: TooSmall,
    roots: tuple[Path, ...],
    workers: int,
    planning: bool,
    as_json: bool,
) -> None:
    """Derivatives of a dataset's originals: recompressed, resized, cropped, filtered, shared, with metadata and without.

    Every row keeps split, base, source, family, content group, licence and split group of its original. The originals are
    rows of the set too.
    """
    if not planning and as_json:
        raise click.UsageError("--json goes with --plan.")
    if not planning and output_dir is None:
        raise click.UsageError("Missing option '--output-dir' (or '--plan').")
    settings = StressSettings(seed, too_small, workers)
    try:
        transforms = find_transforms(names)
        if output_dir is not None and not planning and os.path.lexists(output_dir):
            raise CohortError(f"{output_dir}: exists already; name a new folder")  # before everything is verified
        with _opened(base, outside_allowed=bool(roots)) as manifest:
            with _bar("verifying") as progress:
                originals = read_originals(manifest, transforms, roots=roots, workers=workers, progress=progress)
            plan = plan_stress(originals, transforms, too_small)
            if output_dir is None or planning:
                click.echo(_plan_json(manifest, plan, settings) if as_json else _plan_text(manifest, plan, settings))
            else:
                _build(manifest, plan, output_dir, settings)
    except CohortUsageError as error:
        raise click.UsageError(str(error)) from None
    except CohortError as error:
        raise click.ClickException(str(error)) from None
    except (ManifestError, ManifestChangedError) as error:
        click.echo(str(error), err=True)
        raise SystemExit(1) from None


@contextmanager
def _opened(base: str, *, outside_allowed: bool) -> Iterator[Manifest]:
    manifest = read_manifest(Path(base).resolve(), display=base, media_types={}, outside_allowed=outside_allowed)
    try:
        yield manifest
    finally:
        manifest.close()


@contextmanager
def _bar(label: str) -> Iterator[Progress]:
    """Show a bar on a terminal."""
    with click.progressbar(length=1, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:

        def advance(done: int, expected: int) -> None:
            bar.length = expected
            bar.update(1)

        yield advance


def _build(manifest: Manifest, plan: StressPlan, folder: Path, settings: StressSettings) -> None:
    with _bar(f"building {NAME}") as progress:
        built = build_stress(manifest, plan, folder, settings, progress=progress)
    for line in _notes(plan):
        click.echo(line)
    if built.copies:
        click.echo(f"copies of their original, byte for byte: {_counted(built.copies, 'row')}; transforms.jsonl says which")
    click.echo(f"{built.rows} rows: {built.manifest}")


def _plan_text(manifest: Manifest, plan: StressPlan, settings: StressSettings) -> str:
    images = f"{len(plan.originals)} {'original' if len(plan.originals) == 1 else 'originals'}"
    lines = [
        f"{NAME} of {manifest.display}: {images}, seed {settings.seed}",
        _columns("transform", "full-res", "thumbnail", "rows", "too small", "copies"),
    ]
    for planned in plan.counts:
        figures = (planned.full_res, planned.thumbnail, planned.total, planned.left_out, planned.copies)
        lines.append(_columns(planned.name, *figures))
    return "\n".join([*lines, *_notes(plan), f"{plan.rows} rows planned"])


def _plan_json(manifest: Manifest, plan: StressPlan, settings: StressSettings) -> str:
    document: dict[str, Any] = {
        "recipe": NAME,
        "parameters": parameters_of(manifest, plan, settings),
        "originals": len(plan.originals),
        "transforms": [{**asdict(planned), "total": planned.total} for planned in plan.counts],
        "left_out_bases": plan.left_out_bases,
        "left_out_transforms": list(plan.left_out_transforms),
        "uneven_bases": plan.uneven_bases,
        "planned": plan.rows,
    }
    return encode_document(document).decode().removesuffix("\n")


def _notes(plan: StressPlan) -> list[str]:
    """Say what is missing, and what a gate will make of it."""
    notes = []
    if plan.left_out_bases:
        notes.append(f"left out, with all their rows: {_counted(plan.left_out_bases, 'original')} too small for a resize")
    if plan.left_out_transforms:
        notes.append(f"left out, because an original is too small: {', '.join(plan.left_out_transforms)}")
    if missing := sum(planned.left_out for planned in plan.counts):
        notes.append(f"left out: {_counted(missing, 'row')} of originals that are too small; nothing is scaled up")
    if plan.uneven_bases:
        notes.append(
            f"uneven: {_counted(plan.uneven_bases, 'base')} without a pair of transform and resolution group that others "
            "have; a policy that requires all-seen fails them (see --too-small)"
        )
    return notes


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _columns(first: str, *rest: object) -> str:
    return f"{first:<20}" + "".join(f"{cell:>11}" for cell in rest)

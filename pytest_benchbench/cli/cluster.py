"""``benchbench cluster``: propose split groups for images that look alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

import click

from pytest_benchbench.artifacts.manifest_files import verify_manifests
from pytest_benchbench.cli.dataset_findings import image_progress
from pytest_benchbench.cli.new_output import refuse_output
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.manifests.faults import MAX_FAULTS_KEPT, shown, shown_text
from pytest_benchbench.manifests.gathering import BuildingError
from pytest_benchbench.manifests.placing import Place
from pytest_benchbench.manifests.reading import CaseRef, Manifest, ManifestChangedError, ManifestError, read_manifest
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES
from pytest_benchbench.validation.clustering import Cluster, Clustering, cluster, clustered_rows
from pytest_benchbench.validation.columns import read_columns
from pytest_benchbench.validation.finding import RuleOutcome
from pytest_benchbench.validation.hash_pairs import MAX_DISTANCE
from pytest_benchbench.validation.image_measures import ImagesUnmeasuredError, demand_library, measure_images
from pytest_benchbench.validation.near_duplicates import find_look_alikes, not_compared

_BASES_NAMED = 5


@click.command("cluster")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, dir_okay=False))
@click.option("--output", required=True, type=click.Path(path_type=Path), help="The manifest to write; it must not exist.")
@click.option(
    "--near-distance",
    type=click.IntRange(0, MAX_DISTANCE),
    default=MAX_DISTANCE,
    show_default=True,
    help="The most bits of 256 in which images differ that look alike.",
)
@click.option(
    "--artifact-root",
    "--bench-artifact-root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A directory besides the manifest's own in which images may lie; repeatable.",
)
@click.option("--workers", type=click.IntRange(1), help="Processes that read images.  [one for each processor]")
@click.option("--json", "as_json", is_flag=True, help="Print what belongs together as JSON.")
def command(
    files: tuple[str, ...],
    output: Path,
    near_distance: int,
    roots: tuple[Path, ...],
    workers: int | None,
    as_json: bool,
) -> None:
    """Propose split groups for images that look alike.

    The rows of all FILEs, dataset manifests, are written to a new manifest in which bases that look alike, that have rows
    with the same bytes, or that had a group in common share one splitGroup. Nothing else is changed, above all no split: a
    group in several splits is named, and benchbench validate refuses it until its rows are moved.
    """
    refuse_output(output)
    try:
        demand_library()
        place = Place(output, outside_allowed=bool(roots))
        with ExitStack() as stack:
            manifests = [stack.enter_context(closing(one)) for one in _read(files, roots)]
            columns = read_columns(manifests)
            with image_progress(len(columns)) as progress:
                measures = measure_images(manifests, roots=roots, workers=workers, progress=progress)
            found = find_look_alikes(columns, measures, near_distance)
            clustering = cluster(columns, found)
            rows = place.write(clustered_rows(manifests, clustering, place), onto=None, media_types=KERNEL_MEDIA_TYPES)
    except ImagesUnmeasuredError as error:
        raise click.UsageError(str(error)) from None
    except (BuildingError, ManifestError, ManifestChangedError) as error:
        _end(str(error))
    _warn(not_compared(columns, measures), clustering)
    if as_json:
        document = {
            "output": str(output),
            "rows": rows,
            "rows_compared": found.compared,
            "clusters": [asdict(one) for one in clustering.clusters],
        }
        click.echo(encode_document(document).decode(), nl=False)
        return
    for line in _lines(clustering):
        click.echo(line)
    click.echo(f"{output}: {rows} {'row' if rows == 1 else 'rows'}, {found.compared} compared")


def _read(files: tuple[str, ...], roots: tuple[Path, ...]) -> Iterator[Manifest]:
    """Open the manifests one after another, each validated, with its files verified."""
    seen: dict[str, CaseRef] = {}
    for file in files:
        manifest = read_manifest(
            Path(file).resolve(), display=file, media_types=KERNEL_MEDIA_TYPES, seen=seen, outside_allowed=bool(roots)
        )
        if manifest.kind != "dataset":
            manifest.close()
            raise BuildingError(f"{file}: has {manifest.kind} rows; split groups are for dataset manifests")
        if faults := verify_manifests([manifest], roots=roots):
            manifest.close()
            more = [f"... and {len(faults) - MAX_FAULTS_KEPT} more faults"] if len(faults) > MAX_FAULTS_KEPT else []
            raise BuildingError("\n".join(faults[:MAX_FAULTS_KEPT] + more))
        yield manifest


def _lines(clustering: Clustering) -> Iterator[str]:
    joined = [one for one in clustering.clusters if one.changed]
    for one in joined[:MAX_FAULTS_KEPT]:
        yield _line(one)
    if (more := len(joined) - MAX_FAULTS_KEPT) > 0:
        yield f"... and {more} more {'group' if more == 1 else 'groups'}"
    if not joined:
        yield "nothing to join"


def _line(one: Cluster) -> str:
    named = ", ".join(shown(base) for base in one.bases[:_BASES_NAMED])
    if (more := len(one.bases) - _BASES_NAMED) > 0:
        named += f" and {more} more"
    details = [f"{len(one.bases)} bases", f"{one.rows} rows"]
    if one.closest is not None:
        details.append(f"closest {one.closest} bits")
    if len(one.merged) > 1:
        details.append(f"merges {', '.join(shown(group) for group in one.merged[:_BASES_NAMED])}")
    return f"{shown_text(one.group)}: {', '.join(details)}: {named}"


def _warn(outcomes: list[RuleOutcome], clustering: Clustering) -> None:
    lines = [str(finding) for outcome in outcomes for finding in outcome.kept]
    lines += [
        f"warning: group {shown(one.group)} is in {' and '.join(one.splits)}, which validate refuses: move it to one split"
        for one in clustering.clusters
        if len(one.splits) > 1
    ]
    for line in lines[:MAX_FAULTS_KEPT]:
        click.echo(line, err=True)
    if (more := len(lines) - MAX_FAULTS_KEPT) > 0:
        click.echo(f"... and {more} more {'warning' if more == 1 else 'warnings'}", err=True)


def _end(message: str) -> NoReturn:
    click.echo(message, err=True)
    raise SystemExit(1)

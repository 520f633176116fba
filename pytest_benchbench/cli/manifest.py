"""``benchbench manifest``: write a manifest from files of one's own."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import click
import msgspec
from click.core import ParameterSource

from pytest_benchbench.adapters.registry import AdapterRegistrationError, installed_registry
from pytest_benchbench.manifests.dataset import Split
from pytest_benchbench.manifests.dataset_rows import (
    TREE_RULE,
    Defaults,
    DescribedImage,
    dataset_rows,
    images_of_table,
    images_of_tree,
)
from pytest_benchbench.manifests.faults import MAX_FAULTS_KEPT
from pytest_benchbench.manifests.gathering import SUFFIXES, BuildingError, Gathered, gather
from pytest_benchbench.manifests.placing import Place, exists
from pytest_benchbench.manifests.reading import Manifest, ManifestChangedError, ManifestError, read_manifest
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object
from pytest_benchbench.manifests.watermark import Arm, Expectation, Medium, State, Transform
from pytest_benchbench.manifests.watermark_rows import SharedFields, find_references, watermark_rows

_WATERMARK_OPTIONS = (
    "adapter",
    "arm",
    "state",
    "expected",
    "reference_dir",
    "media_type",
    "source_revision",
    "transform_revision",
    "transform_parameters",
)

_DATASET_OPTIONS = ("split", "license_", "content_group", "source")


def _parameters(context: click.Context, parameter: click.Parameter, value: str) -> dict[str, Any]:
    try:
        parsed, problems = parse_object(value.encode("utf-8", "surrogateescape"))
    except MalformedJsonError as error:
        raise click.BadParameter(str(error)) from None
    for name, message in problems:
        raise click.BadParameter(f"{name}: {message}")
    return parsed


@click.command("manifest")
@click.argument("given", nargs=-1, required=True, metavar="FILES_OR_FOLDER...", type=click.Path(exists=True, path_type=Path))
@click.option("--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The manifest to write.")
@click.option("--kind", type=click.Choice(["watermark", "dataset"]), default="watermark", show_default=True)
@click.option("--append", is_flag=True, help="Add rows to the manifest if it exists, whose rows stay as they are.")
@click.option(
    "--allow-outside", is_flag=True, help="Name files outside the manifest's directory; a run needs --bench-artifact-root."
)
@click.option("--adapter", help="Watermark: the detector that is asked.")
@click.option("--arm", type=click.Choice(get_args(Arm)), help="Watermark: the files' part in the evaluation.")
@click.option("--state", type=click.Choice(get_args(State)), help="Watermark: what the files are.")
@click.option("--expected", type=click.Choice(get_args(Expectation)), help="Watermark: the right answer.")
@click.option(
    "--reference-dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Watermark: the folder with the reference of each file, under the same name; its files are no cases.",
)
@click.option(
    "--media-type",
    type=click.Choice(get_args(Medium)),
    help="Watermark: what an adapter is asked about that is not installed here.",
)
@click.option("--source-revision", default="user-files", show_default=True, help="Watermark: where the files come from.")
@click.option("--transform", help="What was done to the files.  [none; unrecorded if the state is attacked or removed]")
@click.option("--transform-revision", default="user-files", show_default=True, help="Watermark: revision of what did it.")
@click.option(
    "--transform-parameters",
    metavar="JSON",
    default="{}",
    callback=_parameters,
    help="Watermark: its parameters, an object.",
)
@click.option("--split", type=click.Choice(get_args(Split)), help="Dataset: the role of the rows.")
@click.option("--license", "license_", help="Dataset: licence or other reuse basis of the files.")
@click.option("--content-group", default="unspecified", show_default=True, help="Dataset: what the images show or are.")
@click.option("--source", default="user-files", show_default=True, help="Dataset: source of generated images.")
def command(given: tuple[Path, ...], output: Path, kind: str, append: bool, allow_outside: bool, **options: Any) -> None:
    """Write a manifest from files of one's own.

    Watermark: every media file is a case that has the given arm, state and expectation. Its name gives case_id and pair_id.

    Dataset: a folder in which images lie as real/<source>/... or ai/<generatorFamily>/[<generatorModel>/]..., or a CSV file
    with the columns path and label (0 real, 1 AI) and any other field of a row.

    Hidden files are passed over. The manifest is validated as a run would before it is put into place; an existing one is
    never overwritten.
    """
    _refuse_options_of_the_other_kind(kind)
    media_types = _media_types(options["adapter"], options["media_type"])
    make = _watermark if kind == "watermark" else _dataset
    try:
        place = Place(output, outside_allowed=allow_outside)
        with _existing(place, kind, media_types, append=append) as onto:
            number, rows = make(given, place, onto, media_types, options)
            with _progress(rows, number) as watched:
                count = place.write(watched, onto=onto, media_types=media_types)
    except (BuildingError, ManifestError, ManifestChangedError, AdapterRegistrationError) as error:
        click.echo(str(error), err=True)
        raise SystemExit(1) from None
    click.echo(f"{output}: {count} {'row' if count == 1 else 'rows'}")


def _refuse_options_of_the_other_kind(kind: str) -> None:
    context = click.get_current_context()
    for name in _DATASET_OPTIONS if kind == "watermark" else _WATERMARK_OPTIONS:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{_option(name)} does not go with --kind {kind}")


def _option(name: str) -> str:
    return "--" + name.strip("_").replace("_", "-")


@contextmanager
def _progress(rows: Iterator[msgspec.Struct], number: int) -> Iterator[Iterable[msgspec.Struct]]:
    if not sys.stderr.isatty():
        yield rows
        return
    with click.progressbar(rows, length=number, label="hashing", file=sys.stderr) as watched:
        yield watched


def _media_types(adapter: str | None, media_type: str | None) -> Mapping[str, frozenset[str]]:
    declared = {adapter: frozenset({media_type})} if adapter and media_type else {}
    return ChainMap(installed_registry().media_types(), declared)  # type: ignore[arg-type]  # only read from


@contextmanager
def _existing(
    place: Place, kind: str, media_types: Mapping[str, frozenset[str]], *, append: bool
) -> Iterator[Manifest | None]:
    """Open the manifest that stands there, if rows may be added to it."""
    if not place.path.exists():
        yield None
        return
    if not append:
        raise BuildingError(exists(place.display))
    manifest = read_manifest(
        place.path, display=place.display, media_types=media_types, outside_allowed=place.outside_allowed
    )
    try:
        if manifest.kind != kind:
            raise BuildingError(f"{place.display}: has {manifest.kind} rows; write {kind} rows to a manifest of their own")
        yield manifest
    finally:
        manifest.close()


def _watermark(
    given: tuple[Path, ...],
    place: Place,
    onto: Manifest | None,
    media_types: Mapping[str, frozenset[str]],
    options: dict[str, Any],
) -> tuple[int, Iterator[msgspec.Struct]]:
    _demand(options, "adapter", "arm", "state", "expected", kind="watermark")
    adapter, references = options["adapter"], options["reference_dir"]
    gathered = gather(given, _wanted(adapter, options["media_type"], media_types), leave_out=references)
    _name_skipped(gathered)
    if not gathered.files:
        raise BuildingError("there is no file to make a row of")
    unrecorded = options["state"] in ("attacked", "removed")
    shared = SharedFields(
        adapter=adapter,
        arm=options["arm"],
        state=options["state"],
        expected=options["expected"],
        source_revision=options["source_revision"],
        transform=Transform(
            name=options["transform"] or ("unrecorded" if unrecorded else "none"),
            revision=options["transform_revision"],
            parameters=options["transform_parameters"],
        ),
    )
    of_file = {} if references is None else find_references(gathered.files, references)
    return len(gathered.files), watermark_rows(gathered.files, shared, place, references=of_file, onto=onto)


def _dataset(
    given: tuple[Path, ...],
    place: Place,
    onto: Manifest | None,
    media_types: Mapping[str, frozenset[str]],
    options: dict[str, Any],
) -> tuple[int, Iterator[msgspec.Struct]]:
    said = {"split": options["split"], "license": options["license_"]}
    defaults = Defaults(
        fields={
            **{field: value for field, value in said.items() if value is not None},
            "contentGroup": options["content_group"],
            "transform": options["transform"] or "none",
        },
        generated_source=options["source"],
    )
    images: list[DescribedImage] = []
    for path in given:
        if path.is_dir():
            _demand(options, "split", "license_", kind="dataset")
            gathered = gather([path], {"image"})
            _name_skipped(gathered)
            images.extend(images_of_tree(gathered.files, defaults))
        elif path.suffix.lower() == ".csv":
            images.extend(images_of_table(path, defaults))
        else:
            raise click.UsageError(f"{path}: give a CSV file, or the folder in which images lie as {TREE_RULE}")
    if not images:
        raise BuildingError("there is no image to make a row of")
    return len(images), dataset_rows(images, place, onto=onto)


def _wanted(adapter: str, media_type: str | None, media_types: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Say which media the adapter is asked about."""
    known = media_types.get(adapter)
    if known is None:
        raise click.UsageError(
            f"unknown adapter {adapter!r}; known: {', '.join(sorted(media_types))}; "
            "say what another one is asked about by --media-type"
        )
    if media_type is not None and media_type not in known:
        raise click.UsageError(f"{adapter} is asked about {' or '.join(sorted(known))}, not {media_type}")
    wanted = known & SUFFIXES.keys() if media_type is None else frozenset({media_type})
    if not wanted:
        raise click.UsageError(f"{adapter} is asked about {' or '.join(sorted(known))}, of which this kind has no rows")
    return wanted


def _demand(options: dict[str, Any], *names: str, kind: str) -> None:
    for name in names:
        if not options[name]:
            raise click.UsageError(f"a {kind} manifest needs {_option(name)}")


def _name_skipped(gathered: Gathered) -> None:
    for reason in gathered.skipped[:MAX_FAULTS_KEPT]:
        click.echo(f"left out: {reason}", err=True)
    if (more := len(gathered.skipped) - MAX_FAULTS_KEPT) > 0:
        click.echo(f"... and {more} more left out", err=True)

"""``benchbench validate``: say what is wrong with a manifest."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from pytest_benchbench.adapters.registry import AdapterRegistrationError, installed_registry
from pytest_benchbench.artifacts.manifest_files import verify_manifests
from pytest_benchbench.artifacts.media import MEDIA_TYPES
from pytest_benchbench.cli.dataset_findings import (
    as_json as dataset_json,
    doubt,
    finding_lines,
    image_progress,
    summary_lines,
)
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.manifests.faults import MAX_FAULTS_KEPT, Fault
from pytest_benchbench.manifests.kinds import SCHEMAS
from pytest_benchbench.manifests.reading import CaseRef, Manifest, ManifestChangedError, ManifestError, read_manifest
from pytest_benchbench.manifests.watermark import UNKNOWN_ADAPTER
from pytest_benchbench.validation.examination import DatasetExamination, ExaminationSettings, examine_dataset
from pytest_benchbench.validation.hash_pairs import MAX_DISTANCE
from pytest_benchbench.validation.image_measures import ImagesUnmeasuredError


@dataclass(slots=True)
class _Finding:
    """What was found out about one manifest; also the shape of ``--json``."""

    file: str
    valid: bool
    kind: str | None
    rows: int | None
    sha256: str | None
    files_verified: bool
    faults: list[str]
    fault_count: int


@click.command("validate")
@click.argument("files", nargs=-1, metavar="FILE...", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--schema",
    is_flag=False,
    flag_value="watermark",
    type=click.Choice(list(SCHEMAS)),
    help="Print the JSON Schema of a row and check nothing. [watermark if no kind is given]",
)
@click.option("--adapter-name", "adapter_names", multiple=True, help="A further adapter that rows may name; repeatable.")
@click.option(
    "--artifact-root",
    "--bench-artifact-root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A directory besides the manifest's own in which files may lie; repeatable.",
)
@click.option("--no-files", is_flag=True, help="Do not look at the files that the rows name.")
@click.option(
    "--no-near-duplicates", is_flag=True, help="Dataset: read how images are made, but do not compare what they show."
)
@click.option(
    "--near-distance",
    type=click.IntRange(0, MAX_DISTANCE),
    default=MAX_DISTANCE,
    show_default=True,
    help="Dataset: the most bits of 256 in which images differ that look alike.",
)
@click.option("--workers", type=click.IntRange(1), help="Dataset: processes that read images.  [one for each processor]")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(
    files: tuple[str, ...],
    schema: str | None,
    adapter_names: tuple[str, ...],
    roots: tuple[Path, ...],
    no_files: bool,
    no_near_duplicates: bool,
    near_distance: int,
    workers: int | None,
    as_json: bool,
) -> None:
    """Say what is wrong with a manifest.

    Every rule that a run applies, and the SHA-256 of every file that a row names. Case ids must differ over all FILEs.
    Dataset manifests are taken together as one dataset: leaks between splits, images that look alike, shortcuts to the
    label, and what its roles will demand. One line for each fault on standard error, and exit code 1; warnings change
    nothing in it.
    """
    if schema is not None:
        click.echo(encode_document(SCHEMAS[schema]()).decode(), nl=False)
        return
    if not files:
        raise click.UsageError("Missing argument 'FILE...'.")
    if len({Path(file).resolve() for file in files}) < len(files):
        raise click.UsageError("The same manifest is given twice.")
    media_types = ChainMap(
        installed_registry().media_types(),  # type: ignore[arg-type]  # only read from
        dict.fromkeys(adapter_names, frozenset(MEDIA_TYPES)),
    )
    settings = ExaminationSettings(
        files=not no_files, near_duplicates=not no_near_duplicates, distance=near_distance, roots=roots, workers=workers
    )
    seen: dict[str, CaseRef] = {}
    opened: list[Manifest] = []
    try:
        findings = [_examine(file, media_types, seen, opened, settings) for file in files]
        examination = _examine_datasets(opened, settings, findings)
    except AdapterRegistrationError as error:
        raise click.ClickException(str(error)) from None
    except ImagesUnmeasuredError as error:
        raise click.UsageError(f"{error}; or leave that out by --no-near-duplicates") from None
    finally:
        for manifest in opened:
            manifest.close()
    _show(findings, examination, as_json=as_json)
    if not all(finding.valid for finding in findings):
        raise SystemExit(1)


def _examine(
    file: str,
    media_types: Mapping[str, frozenset[str]],
    seen: dict[str, CaseRef],
    opened: list[Manifest],
    settings: ExaminationSettings,
) -> _Finding:
    try:
        manifest = read_manifest(
            Path(file).resolve(), display=file, media_types=media_types, seen=seen, outside_allowed=bool(settings.roots)
        )
    except ManifestError as error:
        return _Finding(file, False, None, None, None, False, [_line(fault) for fault in error.faults], error.total)
    opened.append(manifest)
    try:
        faults = verify_manifests([manifest], roots=settings.roots) if settings.files else []
    except ManifestChangedError as error:
        faults = [str(error)]
    return _Finding(
        file,
        not faults,
        manifest.kind,
        manifest.rows,
        manifest.sha256,
        settings.files,
        faults[:MAX_FAULTS_KEPT],
        len(faults),
    )


def _examine_datasets(
    opened: list[Manifest], settings: ExaminationSettings, findings: list[_Finding]
) -> DatasetExamination | None:
    """Look at the dataset manifests that could be read as one dataset; an error makes all of them invalid."""
    datasets = [manifest for manifest in opened if manifest.kind == "dataset"]
    if not datasets:
        return None
    of_datasets = [finding for finding in findings if finding.kind == "dataset"]
    try:
        with image_progress(sum(manifest.rows for manifest in datasets)) as progress:
            examination = examine_dataset(datasets, settings, progress)
    except ManifestChangedError as error:
        of_datasets[0].faults.append(str(error))
        of_datasets[0].fault_count += 1
        of_datasets[0].valid = False
        return None
    for finding in of_datasets:
        finding.valid = finding.valid and examination.is_valid
    return examination


def _line(fault: Fault) -> str:
    """Write a fault; here nobody has asked a conftest, so an unknown adapter can be declared."""
    if fault.field == "adapter" and fault.message.startswith(UNKNOWN_ADAPTER):
        return f"{fault}; if a conftest registers it, declare it by --adapter-name"
    return str(fault)


def _show(findings: list[_Finding], examination: DatasetExamination | None, *, as_json: bool) -> None:
    if as_json:
        document = {
            "valid": all(finding.valid for finding in findings),
            "manifests": [asdict(one) for one in findings],
            "dataset": None if examination is None else dataset_json(examination),
        }
        click.echo(encode_document(document).decode(), nl=False)
        return
    for finding in findings:
        if finding.valid:
            doubted = doubt(examination) if examination is not None and finding.kind == "dataset" else ""
            click.echo(f"{finding.file}: {finding.rows} {'row' if finding.rows == 1 else 'rows'}, valid{doubted}")
            continue
        for fault in finding.faults:
            click.echo(fault, err=True)
        if (more := finding.fault_count - len(finding.faults)) > 0:
            click.echo(f"... and {more} more {'fault' if more == 1 else 'faults'}", err=True)
    if examination is not None:
        for line in finding_lines(examination):
            click.echo(line, err=True)
        for line in summary_lines(examination):
            click.echo(line)

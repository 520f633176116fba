"""``benchbench validate``: say what is wrong with a manifest."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import click

from pytest_benchbench.adapters.registry import AdapterRegistrationError, installed_registry
from pytest_benchbench.artifacts.manifest_files import verify_manifests
from pytest_benchbench.artifacts.media import MEDIA_TYPES
from pytest_benchbench.cli import dataset_findings, golden_set_findings
from pytest_benchbench.cli.findings import finding_lines
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.manifests.faults import MAX_FAULTS_KEPT, Fault
from pytest_benchbench.manifests.golden_set_hash import check_frozen
from pytest_benchbench.manifests.golden_set_reading import locate_golden_set
from pytest_benchbench.manifests.kinds import SCHEMAS
from pytest_benchbench.manifests.reading import CaseRef, Manifest, ManifestChangedError, ManifestError, read_manifest
from pytest_benchbench.manifests.watermark import UNKNOWN_ADAPTER
from pytest_benchbench.validation.examination import DatasetExamination, ExaminationSettings, examine_dataset
from pytest_benchbench.validation.golden_set import GoldenExamination, GoldenSettings, examine_golden_set
from pytest_benchbench.validation.hash_pairs import MAX_DISTANCE
from pytest_benchbench.validation.image_measures import ImagesUnmeasuredError
from pytest_benchbench.validation.phone_numbers import DEFAULT_REGIONS, UnknownRegionError


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
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Golden set: the day on which it is looked at; no date in it may be later.",
)
@click.option(
    "--phone-region",
    "regions",
    metavar="CC",
    multiple=True,
    default=DEFAULT_REGIONS,
    show_default=True,
    help="Golden set: country whose telephone numbers are recognised without +; repeatable.",
)
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
    as_of: datetime | None,
    regions: tuple[str, ...],
    as_json: bool,
) -> None:
    """Say what is wrong with a manifest.

    Every rule that a run applies, and the SHA-256 of every file that a row names. Case ids must differ over all FILEs.
    Dataset manifests are taken together as one dataset: leaks between splits, images that look alike, shortcuts to the
    label, and what its roles will demand. Golden sets are taken each by itself: the digest beside it, balance, provenance,
    reviewers, texts that are nearly the same, personal data. One line for each fault on standard error, and exit code 1;
    warnings change nothing in it.
    """
    if schema is not None:
        click.echo(encode_document(SCHEMAS[schema]()).decode(), nl=False)
        return
    if not files:
        raise click.UsageError("Missing argument 'FILE...'.")
    if len({Path(file).resolve() for file in files}) < len(files):
        raise click.UsageError("The same manifest is given twice.")
    registry = installed_registry()
    media_types = ChainMap(
        registry.media_types(),  # type: ignore[arg-type]  # only read from
        dict.fromkeys(adapter_names, frozenset(MEDIA_TYPES)),
    )
    settings = ExaminationSettings(
        files=not no_files, near_duplicates=not no_near_duplicates, distance=near_distance, roots=roots, workers=workers
    )
    golden_settings = GoldenSettings(
        adapters=(*registry.names(), *adapter_names), as_of=None if as_of is None else as_of.date(), regions=regions
    )
    seen: dict[str, CaseRef] = {}
    opened: list[Manifest] = []
    try:
        findings = [_examine(file, media_types, seen, opened, settings) for file in files]
        examination = _examine_datasets(opened, settings, findings)
        golden = _examine_golden_sets(opened, golden_settings, findings)
    except AdapterRegistrationError as error:
        raise click.ClickException(str(error)) from None
    except ImagesUnmeasuredError as error:
        raise click.UsageError(f"{error}; or leave that out by --no-near-duplicates") from None
    except UnknownRegionError as error:
        raise click.UsageError(f"--phone-region: {error}") from None
    finally:
        for manifest in opened:
            manifest.close()
    _show(findings, examination, golden, as_json=as_json)
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
        with dataset_findings.image_progress(sum(manifest.rows for manifest in datasets)) as progress:
            examination = examine_dataset(datasets, settings, progress)
    except ManifestChangedError as error:
        _spoil(of_datasets[0], str(error))
        return None
    for finding in of_datasets:
        finding.valid = finding.valid and examination.is_valid
    return examination


def _examine_golden_sets(
    opened: list[Manifest], settings: GoldenSettings, findings: list[_Finding]
) -> list[GoldenExamination]:
    """Look at each golden set that could be read; an error, or a digest that is not its own, makes it invalid."""
    examinations = []
    by_file = {finding.file: finding for finding in findings}
    for manifest in opened:
        if manifest.kind != "golden-set":
            continue
        finding = by_file[manifest.display]
        try:
            check_frozen(manifest.path, manifest.sha256, display=manifest.display)
        except ManifestError as error:
            _spoil(finding, str(error))
        try:
            located = locate_golden_set(manifest.path, display=manifest.display)
        except ManifestError:
            located = None
        if located is None or located.sha256 != manifest.sha256:
            _spoil(finding, f"{manifest.display}: the manifest was changed while it was looked at")
            continue
        examination = examine_golden_set(located, manifest.display, settings)
        finding.valid = finding.valid and examination.is_valid
        examinations.append(examination)
    return examinations


def _spoil(finding: _Finding, fault: str) -> None:
    """Add a fault to what was found out about a manifest."""
    finding.faults.append(fault)
    finding.fault_count += 1
    finding.valid = False


def _line(fault: Fault) -> str:
    """Write a fault; here nobody has asked a conftest, so an unknown adapter can be declared."""
    if fault.field == "adapter" and fault.message.startswith(UNKNOWN_ADAPTER):
        return f"{fault}; if a conftest registers it, declare it by --adapter-name"
    return str(fault)


def _show(
    findings: list[_Finding],
    examination: DatasetExamination | None,
    golden: list[GoldenExamination],
    *,
    as_json: bool,
) -> None:
    if as_json:
        document = {
            "valid": all(finding.valid for finding in findings),
            "manifests": [asdict(one) for one in findings],
            "dataset": None if examination is None else dataset_findings.as_json(examination),
            "golden_sets": [golden_set_findings.as_json(one) for one in golden],
        }
        click.echo(encode_document(document).decode(), nl=False)
        return
    for finding in findings:
        if finding.valid:
            doubted = ""
            if examination is not None and finding.kind == "dataset":
                doubted = dataset_findings.doubt(examination)
            click.echo(f"{finding.file}: {finding.rows} {'row' if finding.rows == 1 else 'rows'}, valid{doubted}")
            continue
        for fault in finding.faults:
            click.echo(fault, err=True)
        if (more := finding.fault_count - len(finding.faults)) > 0:
            click.echo(f"... and {more} more {'fault' if more == 1 else 'faults'}", err=True)
    if examination is not None:
        _tell(finding_lines(examination), dataset_findings.summary_lines(examination))
    for one in golden:
        _tell(finding_lines(one), golden_set_findings.summary_lines(one))


def _tell(findings: Iterable[str], summary: Iterable[str]) -> None:
    for line in findings:
        click.echo(line, err=True)
    for line in summary:
        click.echo(line)

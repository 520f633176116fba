"""``benchbench validate``: say what is wrong with a manifest."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import msgspec

from pytest_benchbench.adapters.registry import AdapterRegistrationError, installed_registry
from pytest_benchbench.artifacts.manifest_files import verify_manifests
from pytest_benchbench.artifacts.media import MEDIA_TYPES
from pytest_benchbench.manifests.faults import MAX_FAULTS_KEPT, Fault
from pytest_benchbench.manifests.kinds import SCHEMAS
from pytest_benchbench.manifests.reading import CaseRef, ManifestChangedError, ManifestError, read_manifest
from pytest_benchbench.manifests.watermark import UNKNOWN_ADAPTER


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
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(
    files: tuple[str, ...],
    schema: str | None,
    adapter_names: tuple[str, ...],
    roots: tuple[Path, ...],
    no_files: bool,
    as_json: bool,
) -> None:
    """Say what is wrong with a manifest.

    Every rule that a run applies, and the SHA-256 of every file that a row names. Case ids must differ over all FILEs.
    One line for each fault on standard error, and exit code 1.
    """
    if schema is not None:
        click.echo(msgspec.json.format(msgspec.json.encode(SCHEMAS[schema]()), indent=2).decode())
        return
    if not files:
        raise click.UsageError("Missing argument 'FILE...'.")
    if len({Path(file).resolve() for file in files}) < len(files):
        raise click.UsageError("The same manifest is given twice.")
    media_types = ChainMap(
        installed_registry().media_types(),  # type: ignore[arg-type]  # only read from
        dict.fromkeys(adapter_names, frozenset(MEDIA_TYPES)),
    )
    seen: dict[str, CaseRef] = {}
    try:
        findings = [_examine(file, media_types, seen, roots, no_files=no_files) for file in files]
    except AdapterRegistrationError as error:
        raise click.ClickException(str(error)) from None
    _show(findings, as_json=as_json)
    if not all(finding.valid for finding in findings):
        raise SystemExit(1)


def _examine(
    file: str,
    media_types: Mapping[str, frozenset[str]],
    seen: dict[str, CaseRef],
    roots: tuple[Path, ...],
    *,
    no_files: bool,
) -> _Finding:
    try:
        manifest = read_manifest(
            Path(file).resolve(), display=file, media_types=media_types, seen=seen, outside_allowed=bool(roots)
        )
    except ManifestError as error:
        return _Finding(file, False, None, None, None, False, [_line(fault) for fault in error.faults], error.total)
    try:
        faults = [] if no_files else verify_manifests([manifest], roots=roots)
    except ManifestChangedError as error:
        faults = [str(error)]
    finally:
        manifest.close()
    return _Finding(
        file,
        not faults,
        manifest.kind,
        manifest.rows,
        manifest.sha256,
        not no_files,
        faults[:MAX_FAULTS_KEPT],
        len(faults),
    )


def _line(fault: Fault) -> str:
    """Write a fault; here nobody has asked a conftest, so an unknown adapter can be declared."""
    if fault.field == "adapter" and fault.message.startswith(UNKNOWN_ADAPTER):
        return f"{fault}; if a conftest registers it, declare it by --adapter-name"
    return str(fault)


def _show(findings: list[_Finding], *, as_json: bool) -> None:
    if as_json:
        document = {"valid": all(finding.valid for finding in findings), "manifests": [asdict(one) for one in findings]}
        click.echo(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
        return
    for finding in findings:
        if finding.valid:
            click.echo(f"{finding.file}: {finding.rows} {'row' if finding.rows == 1 else 'rows'}, valid")
            continue
        for fault in finding.faults:
            click.echo(fault, err=True)
        if (more := finding.fault_count - len(finding.faults)) > 0:
            click.echo(f"... and {more} more {'fault' if more == 1 else 'faults'}", err=True)

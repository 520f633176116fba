"""``benchbench freeze``: put down the digest of a golden set, so that no run takes another set for it."""

from __future__ import annotations

import re
from pathlib import Path

import click

from pytest_benchbench.cli.new_output import write_output
from pytest_benchbench.evidence.writing import write_atomically
from pytest_benchbench.manifests.faults import ManifestError
from pytest_benchbench.manifests.golden_set_hash import NotFrozenError, digest_line, digest_path, frozen_digest
from pytest_benchbench.manifests.golden_set_reading import locate_golden_set

_DIGEST = re.compile(r"[0-9a-f]{64}")


def _read_digest(context: click.Context, option: click.Parameter, given: str | None) -> str | None:
    if given is not None and not _DIGEST.fullmatch(given):
        raise click.BadParameter("expected the whole SHA-256 that stands there: 64 lower-case hex digits")
    return given


@click.command("freeze")
@click.argument("file", metavar="GOLDEN.json", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--accept-change",
    "accepted",
    metavar="OLD_SHA256",
    callback=_read_digest,
    help="The set was changed on purpose: replace this digest, which has to be the one that stands there.",
)
def command(file: str, accepted: str | None) -> None:
    """Write the SHA-256 of a golden set beside it.

    The set is read strictly first. Its digest goes into GOLDEN.sha256, as sha256sum writes it; commit both. Runs refuse a
    set that has none, or another one. Where the digest of another content stands already, nothing is written and the exit
    code is 1, unless --accept-change names that digest.
    """
    path = Path(file).resolve()
    try:
        located = locate_golden_set(path, display=file)
        standing = _standing(path, accepted)
    except ManifestError as error:
        raise click.ClickException(str(error)) from None
    beside = Path(file).with_name(digest_path(path).name)
    if standing == located.sha256:
        click.echo(f"{file}: frozen already: {standing}")
        return
    if standing is not None and standing != accepted:
        raise click.ClickException(
            f"{file}: its SHA-256 is {located.sha256}, but {beside} says {standing}: it was changed since it was frozen; "
            f"restore it, or if the change is meant, give it another version and --accept-change {standing}"
        )
    try:
        line = digest_line(path, located.sha256)
        if standing is None:
            write_output(digest_path(path), line)
        else:
            write_atomically(digest_path(path), line)
    except NotFrozenError as error:
        raise click.ClickException(f"{beside} {error}") from None
    except OSError as error:
        raise click.ClickException(f"{beside}: cannot be written: {error.strerror or error}") from None
    samples = len(located.golden_set.samples)
    click.echo(f"{beside}: {located.sha256} of {samples} {'sample' if samples == 1 else 'samples'}; commit both files")


def _standing(path: Path, accepted: str | None) -> str | None:
    """Read the digest that stands beside a golden set.

    Raises:
        click.ClickException: What stands there is none, or not the one whose change was accepted.
    """
    beside = digest_path(path).name
    try:
        standing = frozen_digest(path)
    except NotFrozenError as error:
        raise click.ClickException(f"{beside} beside {path.name} {error}; nothing was written") from None
    if accepted is not None and standing is None:
        raise click.ClickException(f"--accept-change: there is no {beside} whose digest could be replaced; leave it out")
    if accepted is not None and standing != accepted:
        raise click.ClickException(f"--accept-change {accepted}: {beside} says {standing}; nothing was written")
    return standing

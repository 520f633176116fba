"""``benchbench freeze``: put down the digest of a golden set, so that no run takes another set for it."""

from __future__ import annotations

import re
from pathlib import Path

import click

from pytest_benchbench.evidence.writing import write_atomically
from pytest_benchbench.manifests.faults import ManifestError, shown_text
from pytest_benchbench.manifests.golden_set_hash import SUFFIX, NotFrozenError, digest_line, digest_path, frozen_digest
from pytest_benchbench.manifests.golden_set_reading import locate_golden_set
from pytest_benchbench.manifests.new_files import new_file

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
    named, beside = shown_text(file), _shown_beside(Path(file), path)
    if path.suffix == SUFFIX:
        raise click.ClickException(f"{named}: has the name that its own digest would have; let it end in .json")
    try:
        located = locate_golden_set(path, display=named)
    except ManifestError as error:
        raise click.ClickException(str(error)) from None
    standing = _standing(path, accepted, beside)
    if standing == located.sha256:
        click.echo(f"{named}: frozen already: {standing}")
        return
    if standing is not None and standing != accepted:
        raise click.ClickException(
            f"{named}: its SHA-256 is {located.sha256}, but {beside} says {standing}: it was changed since it was frozen; "
            f"restore it, or if the change is meant, give it another version and --accept-change {standing}"
        )
    _write(path, located.sha256, beside, is_new=standing is None)
    samples = len(located.golden_set.samples)
    click.echo(f"{beside}: {located.sha256} of {samples} {'sample' if samples == 1 else 'samples'}; commit both files")


def _shown_beside(given: Path, path: Path) -> str:
    """Name the file of the digest as the user would: it stands beside the set itself, not beside a link to it."""
    if not given.is_symlink():
        return shown_text(str(given.with_name(digest_path(path).name)))
    here, there = Path.cwd(), digest_path(path)
    return shown_text(str(there.relative_to(here) if there.is_relative_to(here) else there))


def _standing(path: Path, accepted: str | None, beside: str) -> str | None:
    """Read the digest that stands beside a golden set.

    Raises:
        click.ClickException: What stands there is none, or not the one whose change was accepted.
    """
    try:
        standing = frozen_digest(path)
    except NotFrozenError as error:
        raise click.ClickException(f"{beside}: {error}; nothing was written: restore it, or remove it first") from None
    if accepted is not None and standing is None:
        raise click.ClickException(f"--accept-change: there is no {beside} whose digest could be replaced; leave it out")
    if accepted is not None and standing != accepted:
        raise click.ClickException(f"--accept-change {accepted}: {beside} says {standing}; nothing was written")
    return standing


def _write(path: Path, sha256: str, beside: str, *, is_new: bool) -> None:
    """Write the digest, whole or not at all.

    Raises:
        click.ClickException: It cannot be written, or somebody else has just done it.
    """
    try:
        line = digest_line(path, sha256)
        if is_new:
            with new_file(digest_path(path)) as file:
                file.write(line)
        else:
            write_atomically(digest_path(path), line)
    except NotFrozenError as error:
        raise click.ClickException(f"{beside}: {error}") from None
    except FileExistsError:
        raise click.ClickException(f"{beside}: was just written by somebody else; freeze again") from None
    except OSError as error:
        raise click.ClickException(f"{beside}: cannot be written: {error.strerror or error}") from None

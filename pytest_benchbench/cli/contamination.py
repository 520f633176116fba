"""``benchbench contamination``: whether training configurations and corpora hold samples of the holdout split."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NoReturn

import click
import msgspec

from pytest_benchbench import __version__
from pytest_benchbench.cli.finite_numbers import FiniteRange
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.manifests.faults import ManifestError, shown, shown_text
from pytest_benchbench.manifests.golden_set_hash import check_frozen, digest_path
from pytest_benchbench.manifests.golden_set_reading import LocatedSet, locate_golden_set
from pytest_benchbench.manifests.locked_files import LockHeldError, append_synced, locked_file, sync_folder
from pytest_benchbench.validation.added_files import AddedFilesError, added_since
from pytest_benchbench.validation.contamination import THRESHOLD, Holdout
from pytest_benchbench.validation.contamination_audit import Audit, audit
from pytest_benchbench.validation.contamination_files import MAX_BYTES, PassedOver, files_under
from pytest_benchbench.validation.contamination_search import FoundOverlap, Search, search
from pytest_benchbench.validation.shingles import SHINGLE_WORDS

INCOMPLETE = 21

_PASSED_OVER_TOLD = 20
"""Files that were not looked into, in lines for people, those that may be a text first; JSON has more of them."""

_SAID = {
    "id": "its id",
    "text": "its text, word for word",
    "shingles": "{share:.0%} of its runs of {size} words",
}


@click.command("contamination")
@click.option(
    "--golden",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The golden set, with its .sha256 beside it.",
)
@click.option(
    "--against", multiple=True, metavar="PATH...", type=click.Path(path_type=Path), help="Files and folders to look through."
)
@click.option(
    "--diff", "base", metavar="BASE", help="Look through the files that git says were added or changed since BASE."
)
@click.option(
    "--threshold",
    type=FiniteRange(0.05, 1.0),
    default=THRESHOLD,
    show_default=True,
    help=f"Share of a sample's runs of {SHINGLE_WORDS} words in one file that is an overlap.",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    default=MAX_BYTES,
    show_default=True,
    help="Text of one file that is looked at.",
)
@click.option(
    "--leave-out",
    "left_out",
    multiple=True,
    metavar="PATTERN",
    help="Files that need not be looked into, such as '*.zip': told as left out, and no reason for exit code 21.",
)
@click.option(
    "--audit", "wants_audit", is_flag=True, help="Plant overlaps of every kind, and make sure that they are found."
)
@click.option(
    "--audit-log", metavar="FILE", type=click.Path(path_type=Path), help="Append what the audit found to this file."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines for people.")
@click.argument("paths", nargs=-1, metavar="", type=click.Path(path_type=Path))
def command(
    golden: Path,
    against: tuple[Path, ...],
    base: str | None,
    threshold: float,
    max_bytes: int,
    left_out: tuple[str, ...],
    wants_audit: bool,
    audit_log: Path | None,
    as_json: bool,
    paths: tuple[Path, ...],
) -> None:
    """Look for samples of a golden set's holdout split in what detectors are trained or tuned on.

    Found are a sample's id as a whole token, its text whatever its case, punctuation, line breaks and escapes, and a file
    that has half of its runs of words. File, line, id and kind are told, never the text.

    --audit makes a temporary corpus, plants every sample into it in every way, looks for all, and with --audit-log appends
    date, golden set, version and result to a file of JSON lines.

    Exit codes: 0 nothing found, 1 an overlap or a failed audit, 2 wrong use, 21 nothing found but a file could not be looked
    into, or folders that have no text.
    """
    wanted = [*against, *paths]
    if sum((bool(wanted), base is not None, wants_audit)) != 1:
        raise click.UsageError("give one of --against PATH..., --diff BASE and --audit")
    if audit_log is not None and not wants_audit:
        raise click.UsageError("--audit-log belongs to --audit")
    located = _read(golden)
    if wants_audit:
        _audit(located, threshold, audit_log, as_json=as_json)
        return
    for path in wanted:
        if not os.path.lexists(path):
            raise click.UsageError(f"--against {shown_text(str(path))}: there is nothing of that name")
    files = [_left_out(file, left_out) for file in (files_under(wanted) if base is None else _added(base))]
    holdout = Holdout(located.golden_set.samples, threshold=threshold)
    found = _search(holdout, files, (golden, digest_path(golden)), max_bytes)
    is_blind = _is_blind(found, wanted)
    if as_json:
        document = _document(located, holdout, found) | {"complete": not (found.gaps or is_blind)}
        click.echo(encode_document(document).decode(), nl=False)
    else:
        _tell(located, holdout, found)
    if found.total:
        sys.exit(1)
    if is_blind and not found.gaps:
        click.echo("not one file was looked into, so nothing is known: name what the detectors are trained on", err=True)
    if found.gaps or is_blind:
        sys.exit(INCOMPLETE)


def _is_blind(found: Search, wanted: Sequence[Path]) -> bool:
    """Say whether folders were given and no text was in them; files may be given by a hook, and be pictures."""
    return not found.files and any(path.is_dir() for path in wanted)


def _read(golden: Path) -> LocatedSet:
    display = shown_text(str(golden))
    try:
        located = locate_golden_set(golden, display=display)
        check_frozen(golden.resolve(), located.sha256, display=display)
    except ManifestError as error:
        _refuse(str(error))
    if not any(sample.split == "holdout" for sample in located.golden_set.samples):
        _refuse(f"{display}: has no sample of the split holdout, so there is nothing to look for")
    return located


def _left_out(file: Path | PassedOver, patterns: Sequence[str]) -> Path | PassedOver:
    """Pass a file over whose path or name fits a pattern."""
    path = Path(file.file) if isinstance(file, PassedOver) else file
    for pattern in patterns:
        if fnmatchcase(path.name, pattern) or fnmatchcase(str(path), pattern):
            return PassedOver(str(path), f"left out by --leave-out {pattern}", is_gap=False)
    return file


def _added(base: str) -> list[Path | PassedOver]:
    try:
        # a link that was committed names something that is a file of its own, or lies elsewhere
        added = added_since(base, Path.cwd())
    except AddedFilesError as error:
        _refuse(f"--diff {shown(base)}: {shown_text(str(error))}")
    here = Path.cwd()
    named = [path.relative_to(here) if path.is_relative_to(here) else path for path in added]
    links = [PassedOver(str(path), "a symbolic link, not followed", is_gap=False) for path in named if path.is_symlink()]
    others = [path for path in named if not path.is_symlink()]
    folders = [PassedOver(str(path), "a repository of its own", is_gap=False) for path in others if path.is_dir()]
    return [*links, *folders, *files_under(path for path in others if not path.is_dir())]


def _search(holdout: Holdout, files: Sequence[Path | PassedOver], rightful: Sequence[Path], max_bytes: int) -> Search:
    if not sys.stderr.isatty():
        return search(holdout, files, leave_out=rightful, max_bytes=max_bytes)
    length = sum(file.stat().st_size for file in files if isinstance(file, Path) and file.is_file())
    with click.progressbar(length=length, label="looking", file=sys.stderr) as bar:
        return search(holdout, files, leave_out=rightful, max_bytes=max_bytes, progress=lambda count: bar.update(count))


def _tell(located: LocatedSet, holdout: Holdout, found: Search) -> None:
    for each in found.overlaps:
        click.echo(f"{shown_text(each.file)}:{each.overlap.line}: {shown(each.overlap.sample)}: {_said(each)}")
    if (more := found.total - len(found.overlaps)) > 0:
        click.echo(f"... and {more} more overlaps")
    told = sorted(found.passed_over, key=lambda passed: not passed.is_gap)[:_PASSED_OVER_TOLD]
    for passed in told:
        click.echo(f"{shown_text(passed.file)}: not looked into: {shown_text(passed.reason)}")
    if (more := found.total_passed_over - len(told)) > 0:
        click.echo(f"... and {more} more files not looked into")
    for names, lack in (
        (holdout.without_text, "looked for by id alone"),
        (holdout.without_shingles, "too short for --threshold"),
    ):
        if names:
            click.echo(f"note: {len(names)} of the samples are {lack}: {_some(names)}")
    if holdout.alone:
        click.echo(f"note: plain ids are looked for only where they stand alone: {_some(sorted(holdout.alone))}")
    overlaps = "no overlap" if not found.total else f"{found.total} {'overlap' if found.total == 1 else 'overlaps'}"
    files = f"{found.files:,} {'file' if found.files == 1 else 'files'} ({found.bytes:,} bytes)"
    gaps = ""
    if found.gaps:
        unseen = f"{found.gaps:,} {'file' if found.gaps == 1 else 'files'}"
        gaps = f"; {unseen} that may hold a text not looked into, or not to the end"
    name = shown_text(located.golden_set.name)
    click.echo(f"{overlaps} with {len(holdout.ids):,} holdout samples of {name} in {files}{gaps}")


def _said(found: FoundOverlap) -> str:
    share = 0.0 if found.overlap.share is None else found.overlap.share
    return f"{found.overlap.kind}: {_SAID[found.overlap.kind].format(share=share, size=SHINGLE_WORDS)}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(shown(name) for name in names[:5]) + more


def _document(located: LocatedSet, holdout: Holdout, found: Search) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "golden_set": _identity(located),
        "threshold": holdout.threshold,
        "shingle_words": SHINGLE_WORDS,
        "samples": len(holdout.ids),
        "ids_looked_for_alone": sorted(holdout.alone),
        "without_text": list(holdout.without_text),
        "without_shingles": list(holdout.without_shingles),
        "files": found.files,
        "bytes": found.bytes,
        "overlaps_total": found.total,
        "overlaps": [
            {"file": each.file, "line": each.overlap.line, "sample": each.overlap.sample, "kind": each.overlap.kind}
            | ({} if each.overlap.share is None else {"share": each.overlap.share})
            for each in found.overlaps
        ],
        "not_looked_into_total": found.total_passed_over,
        "not_looked_into": [
            {"file": passed.file, "reason": passed.reason, "gap": passed.is_gap} for passed in found.passed_over
        ],
    }


def _identity(located: LocatedSet) -> dict[str, str]:
    golden_set = located.golden_set
    return {"name": golden_set.name, "version": golden_set.version, "sha256": located.sha256}


def _audit(located: LocatedSet, threshold: float, log: Path | None, *, as_json: bool) -> None:
    try:
        outcome = audit(located.golden_set.samples, threshold=threshold)
    except OSError as error:
        raise click.ClickException(f"--audit: the temporary corpus cannot be written: {error.strerror or error}") from None
    record = {
        "schema_version": 1,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "golden_set": _identity(located),
        "package_version": __version__,
        "threshold": threshold,
        "planted": dict(outcome.planted),
        "caught": dict(outcome.caught),
        "false_alarms": outcome.false_alarms,
        "passed": outcome.is_passed,
    }
    line = msgspec.json.encode(record) + b"\n"
    if log is not None:
        _append(log, line)
    if as_json:
        click.echo(line.decode(), nl=False)
    else:
        _tell_audit(outcome, log)
    if not outcome.is_passed:
        sys.exit(1)


def _tell_audit(outcome: Audit, log: Path | None) -> None:
    for name, count in outcome.planted.items():
        click.echo(f"{name}: {outcome.caught[name]} of {count} planted overlaps found")
    for name, sample in outcome.missed:
        click.echo(f"missed: {shown(sample)} in {name}")
    if outcome.false_alarms:
        click.echo(f"false alarms in the file that holds none: {outcome.false_alarms}")
    click.echo(
        f"audit {'passed' if outcome.is_passed else 'failed'}" + (f", recorded in {shown_text(str(log))}" if log else "")
    )


def _append(log: Path, line: bytes) -> None:
    """Append a line to the audit file, whose earlier lines are never changed.

    Raises:
        click.ClickException: It cannot be written, or ends within a line.
    """
    name = shown_text(str(log))
    try:
        with locked_file(log) as file:
            end = os.lseek(file, 0, os.SEEK_END)
            if end:
                os.lseek(file, end - 1, os.SEEK_SET)
                if os.read(file, 1) != b"\n":
                    raise click.ClickException(f"{name}: its last line is not finished; nothing is appended to it")
            append_synced(file, end, line)
        sync_folder(log.parent)
    except LockHeldError as error:
        raise click.ClickException(shown_text(str(error))) from None
    except OSError as error:
        raise click.ClickException(f"{name}: cannot be written: {error.strerror or error}") from None


def _refuse(message: str) -> NoReturn:
    click.echo(f"Error: {message}", err=True)
    sys.exit(2)

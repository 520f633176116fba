"""The files that git says were added or changed since a commit: in later commits, in the work tree, or not yet in git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_SECONDS = 120

_SAFE = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "diff.external=",
    "-c",
    "core.quotePath=false",
)
"""Nothing that a repository's configuration names is run."""


class AddedFilesError(Exception):
    """Git cannot say; one line."""


def added_since(base: str, directory: Path) -> list[Path]:
    """List the files that differ from where the present commit parted from another one.

    Files that are gone are left out; files that git does not know and does not ignore are in it. Submodules are left out.

    Args:
        base: A branch, tag or commit.
        directory: Somewhere in the work tree; all of the tree is looked at.

    Returns:
        Paths below the tree's root, sorted, whatever characters are in their names.

    Raises:
        AddedFilesError: There is no git, no work tree, or no such commit.
    """
    commit = _line(directory, base, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    root = Path(os.fsdecode(_line(directory, None, "rev-parse", "--show-toplevel")))
    parted = _ask(root, "merge-base", os.fsdecode(commit), "HEAD")
    start = os.fsdecode(parted.stdout.strip()) if parted.returncode == 0 and parted.stdout.strip() else os.fsdecode(commit)
    changed = _names(
        root, "diff", "--name-only", "-z", "--no-renames", "--diff-filter=d", "--no-ext-diff", "--no-textconv",
        "--ignore-submodules=all", start, "--",
    )  # fmt: skip
    unknown = _names(root, "ls-files", "-z", "--others", "--exclude-standard")
    return [root / os.fsdecode(name) for name in sorted(changed | unknown)]


def _names(root: Path, *arguments: str) -> set[bytes]:
    done = _ask(root, *arguments)
    if done.returncode:
        raise AddedFilesError(f"git {arguments[0]} failed: {_said(done)}")
    return {name for name in done.stdout.split(b"\0") if name}


def _line(directory: Path, base: str | None, *arguments: str) -> bytes:
    done = _ask(directory, *arguments)
    if done.returncode or not done.stdout.strip():
        if base is not None and not _said(done):
            raise AddedFilesError(
                f"git knows no commit {base!r}; in CI, fetch it (a shallow clone has the last commit only)"
            )
        raise AddedFilesError(f"{directory}: git says: {_said(done) or 'nothing'}")
    return done.stdout.rstrip(b"\n")


def _ask(directory: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat"}
    try:
        return subprocess.run(  # noqa: S603 - no shell, and what the user gave is no option
            ["git", *_SAFE, *arguments],  # noqa: S607 - the user's own git
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except OSError as error:
        raise AddedFilesError(f"git cannot be run: {error.strerror or error}") from None
    except (subprocess.TimeoutExpired, ValueError) as error:
        raise AddedFilesError(f"git {arguments[0]}: {error}") from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    text = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return text[0][:200] if text else ""

"""The digest that stands beside a golden set: as long as the two agree, the set is the one that was frozen."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path, PurePath
from typing import TypeVar

from pytest_benchbench.manifests.faults import ManifestError, refused, shown_text
from pytest_benchbench.manifests.regular_files import open_regular

SUFFIX = ".sha256"

_MAX_BYTES = 4096 + 80
"""Of a digest's file: a digest and the longest name."""

_LINE = re.compile(rb"([0-9A-Fa-f]{64})(?: [ *]([^\r\n]+))?\r?\n?")
"""A digest in hex, as ``sha256sum`` writes it with the name of the file, or alone."""

_AnyPath = TypeVar("_AnyPath", bound=PurePath)


class NotFrozenError(Exception):
    """What stands beside a golden set is no digest of it; the message says why, without the place."""


def digest_path(golden_set: _AnyPath) -> _AnyPath:
    """Say where the digest of a golden set stands: ``golden-set-v1.sha256`` for ``golden-set-v1.json``."""
    return golden_set.with_suffix(SUFFIX)


def frozen_digest(golden_set: Path) -> str | None:
    """Read the digest that stands beside a golden set.

    Args:
        golden_set: The set; symbolic links are resolved already.

    Returns:
        64 lower-case hex digits; ``None`` where there is no such file.

    Raises:
        NotFrozenError: What stands there is no digest of this file.
    """
    path = digest_path(golden_set)
    if not os.path.lexists(path):
        return None
    try:
        with open_regular(path) as file:
            text = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise NotFrozenError(f"cannot be read: {error.strerror or error}") from None
    match = _LINE.fullmatch(text)
    if match is None:
        raise NotFrozenError("is not one line of 64 hex digits and the file's name, as sha256sum writes it")
    if match[2] is not None and os.fsdecode(match[2]) != golden_set.name:
        raise NotFrozenError(f"is about {shown_text(os.fsdecode(match[2]))}, not about {golden_set.name}")
    return match[1].decode().lower()


def digest_line(golden_set: Path, sha256: str) -> bytes:
    """Write the digest of a golden set as ``sha256sum`` does, which then checks it too.

    Raises:
        NotFrozenError: The file's name cannot stand in such a line.
    """
    name = os.fsencode(golden_set.name)
    if set(name) & set(b"\\\r\n"):
        raise NotFrozenError("cannot name the file: there is a backslash or a line end in its name; rename it")
    return sha256.encode() + b"  " + name + b"\n"


def check_frozen(golden_set: Path, sha256: str, *, display: str) -> None:
    """Make sure that a golden set is the one that was frozen.

    Args:
        golden_set: The set; symbolic links are resolved already.
        sha256: Digest of the file as it is.
        display: What to call it in messages.

    Raises:
        ManifestError: It is not, or was never frozen; the message says what to do.
    """
    name = digest_path(golden_set).name
    command = f"benchbench freeze {shlex.quote(display)}"
    try:
        frozen = frozen_digest(golden_set)
    except NotFrozenError as error:
        raise _unfrozen(display, f"{name} beside it {error}") from None
    if frozen is None:
        raise _unfrozen(display, f"not frozen: there is no {name} beside it; to freeze it: {command}")
    if frozen != sha256:
        raise _unfrozen(
            display,
            f"changed since it was frozen: its SHA-256 is {sha256}, {name} says {frozen}; restore the file, "
            f"or if the change is meant: {command} --accept-change {frozen}",
        )


def _unfrozen(display: str, message: str) -> ManifestError:
    return refused(display, None, message)

"""From a path in a manifest to bytes that are known to be the pinned ones."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from pytest_benchbench.manifests.faults import shown_text

MAX_ARTIFACT_BYTES = 1 << 30
"""Largest artifact that is read (1 GiB). A larger file is refused before a byte of it is read."""

_MAX_THREADS = 8
_FILES_OF_A_TASK = 16
_TASKS_IN_FLIGHT_PER_THREAD = 2
_SMALL_BYTES = 32 * 1024

# A final symbolic link and a FIFO that wait behind the name are not followed and not waited for. Windows has neither flag.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
)


FilePath: TypeAlias = str | os.PathLike[str]


class ArtifactPathError(Exception):
    """A path that leaves the directories in which artifacts may lie."""


class ArtifactUnreadableError(Exception):
    """A file that is missing, not a regular file, too large, or that the system does not let us read."""


class ArtifactMismatchError(Exception):
    """A file whose bytes are not those that the manifest pins."""


class _RefusedFileError(Exception):
    """Why a file is not read, as what follows its name: `` is a directory, not a file``."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that a manifest names.

    Attributes:
        path: As ``resolve_artifact`` returned it.
        sha256: The pinned digest, 64 lower-case hex digits.
        origin: Where it is pinned, for messages: ``cases.jsonl:17: sha256``.
        path_origin: Where its path stands, ``cases.jsonl:17: path``: the place of a file that is not there. By default
            ``origin``.
        written: The path as the manifest writes it, for messages; by default the file's name.
    """

    path: FilePath
    sha256: str
    origin: str
    path_origin: str | None = None
    written: str | None = None


def resolve_artifact(relative: str, *, base: Path, roots: Sequence[Path]) -> str:
    """Resolve a manifest's path, every symbolic link on the way included.

    Args:
        relative: The path as the manifest writes it; relative to ``base``.
        base: The manifest's directory.
        roots: Further directories in which artifacts may lie (``--bench-artifact-root``).

    Returns:
        The real path, inside ``base`` or one of ``roots``; a text, because a ``Path`` for each row would take longer than
        resolving it. Whether there is a file is not looked at.

    Raises:
        ArtifactPathError: The path leads elsewhere, or is none.
    """
    real_base = _real_directory(os.fspath(base))
    try:
        if (inside := _without_links(real_base, relative)) is not None:
            return inside
        real = os.path.realpath(os.path.join(real_base, relative))  # noqa: PTH118 - by far quicker than Path's
    except (ValueError, OSError) as error:  # a NUL, an unencodable character
        raise ArtifactPathError(f"{shown_text(relative)} is not a path: {error}") from None
    if any(Path(real).is_relative_to(_real_directory(os.fspath(directory))) for directory in [base, *roots]):
        return real
    raise ArtifactPathError(
        f"{shown_text(relative)} leaves the manifest's directory; move the file there or allow its directory by "
        "--bench-artifact-root"
    )


@lru_cache(maxsize=256)
def _real_directory(directory: str) -> str:
    """Resolve a manifest's or the user's own directory, once for all its rows."""
    return os.path.realpath(directory)


def _without_links(real_base: str, relative: str) -> str | None:
    """Give the real path at once where no part of ``relative`` is a symbolic link or leads up; ``None`` if one may be.

    Most paths are of this kind, and resolving them whole would look at every directory above the manifest for every row.
    """
    parts = relative.split("/")
    if os.sep != "/" or not parts[0] or ".." in parts:
        return None
    path = real_base
    for part in parts:
        if part in {"", "."}:
            continue
        path = f"{path}/{part}"
        try:
            if stat.S_ISLNK(os.lstat(path).st_mode):
                return None
        except OSError:
            return None
    return path


def read_verified(path: FilePath, sha256: str) -> bytes:
    """Read a file and check its digest; the bytes returned are the bytes hashed.

    Args:
        path: As ``resolve_artifact`` returned it; a symbolic link put there since is refused.
        sha256: The pinned digest, 64 lower-case hex digits.

    Raises:
        ArtifactUnreadableError: No regular file is there, it is larger than ``MAX_ARTIFACT_BYTES``, it changed while it was
            read, or the system refuses.
        ArtifactMismatchError: The digest differs.
    """
    try:
        descriptor, size = _open_regular(path)
        try:
            data = _read(descriptor, size)
        finally:
            os.close(descriptor)
    except _RefusedFileError as refusal:
        raise ArtifactUnreadableError(f"{_name(path)}{refusal}") from None
    except OSError as error:
        raise ArtifactUnreadableError(f"{_name(path)}{_system_refusal(error)}") from None
    if len(data) != size:
        raise ArtifactUnreadableError(f"{_name(path)} changed while it was read")
    actual = hashlib.sha256(data).hexdigest()
    if actual != sha256:
        raise ArtifactMismatchError(f"{_name(path)}{_mismatch(actual, sha256)}")
    return data


def _read(descriptor: int, size: int) -> bytes:
    """Read a file whole, and a byte beyond its size if there is one: a file object would make twice the calls."""
    pieces = [os.read(descriptor, size + 1)]
    missing = size - len(pieces[0])
    while missing > 0 and pieces[-1]:  # a disk may give less at once
        pieces.append(os.read(descriptor, missing + 1))
        missing -= len(pieces[-1])
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def preflight(files: Iterable[NamedFile | str], *, threads: int | None = None) -> list[str]:
    """Check every file that the manifests name, each once however many rows name it.

    Some dozens of files per thread are in flight at any time. What stays in memory for each file is its digest (some 200
    bytes; 200 MB for a million files), never its bytes.

    Args:
        files: In manifest order; consumed as the work proceeds. A text in place of a file is the line of a fault that was
            found before, such as a path that leads elsewhere; it comes back at its place.
        threads: How many files are hashed at the same time; by default the number of processors, at most 8.

    Returns:
        One line for each row whose file is missing, unreadable or different, in the order of ``files``. What is wrong with a
        path stands under the path's place, another digest under the digest's.
    """
    threads = threads or min(_MAX_THREADS, os.cpu_count() or 1)
    faults: list[str] = []
    found: dict[bytes, bytes | str] = {}
    waiting: deque[tuple[list[NamedFile | str], list[bytes], Future[list[bytes | str]]]] = deque()

    def settle() -> None:
        block, new, future = waiting.popleft()
        found.update(zip(new, future.result(), strict=True))
        for named in block:
            fault = named if isinstance(named, str) else _fault(named, found[_key(named.path)])
            if fault is not None:
                faults.append(fault)

    begun: set[bytes] = set()
    rest = iter(files)
    with ThreadPoolExecutor(threads, thread_name_prefix="benchbench-preflight") as pool:
        while block := list(islice(rest, _FILES_OF_A_TASK)):
            # A file that an earlier block names is hashed there: when the turn of this block comes, that one's has been.
            new = {
                key: named.path for named in block if not isinstance(named, str) and (key := _key(named.path)) not in begun
            }
            begun.update(new)
            waiting.append((block, list(new), pool.submit(_digests, list(new.values()))))
            if len(waiting) >= threads * _TASKS_IN_FLIGHT_PER_THREAD:
                settle()
        while waiting:
            settle()
    return faults


def _key(path: FilePath) -> bytes:
    return hashlib.blake2b(os.fsencode(path), digest_size=16).digest()


def _digests(paths: Iterable[FilePath]) -> list[bytes | str]:
    return [_digest(path) for path in paths]


def _digest(path: FilePath) -> bytes | str:
    """Hash a file; a text says why that cannot be done, as what follows its name."""
    try:
        descriptor, _ = _open_regular(path)
        with os.fdopen(descriptor, "rb") as file:
            seen = hashlib.sha256(file.read(_SMALL_BYTES))
            # its buffer of 256 KiB costs more than a small file
            return hashlib.file_digest(file, lambda: seen).digest() if file.peek(1) else seen.digest()
    except _RefusedFileError as refusal:
        return str(refusal)
    except OSError as error:
        return _system_refusal(error)


def _fault(named: NamedFile, found: bytes | str | None) -> str | None:
    name = _name(named.path) if named.written is None else shown_text(named.written)
    if isinstance(found, bytes):
        actual = found.hex()
        return None if actual == named.sha256 else f"{named.origin}: {name}{_mismatch(actual, named.sha256)}"
    return f"{named.path_origin or named.origin}: {name}{found}"


def _name(path: FilePath) -> str:
    return shown_text(os.path.basename(os.fsdecode(path)))  # noqa: PTH119 - most paths are texts here


def _mismatch(actual: str, pinned: str) -> str:
    return f" has {actual}, the manifest says {pinned}"


def _open_regular(path: FilePath) -> tuple[int, int]:
    """Open a regular file of bounded size, and nothing else; give its descriptor, which the caller closes, and its size.

    The type is looked at before opening, because opening a device can do things, and after it, because the name may have
    been given to something else in between.
    """
    _demand_acceptable(os.lstat(path))
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        _demand_acceptable(status)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status.st_size


def _demand_acceptable(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise _RefusedFileError(" is a directory, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise _RefusedFileError(" is not a regular file")
    if status.st_size > MAX_ARTIFACT_BYTES:
        raise _RefusedFileError(f" has {status.st_size} bytes, more than the {MAX_ARTIFACT_BYTES} that an artifact may have")


def _system_refusal(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return ": there is no such file"
    return f": {(error.strerror or type(error).__name__).lower()}"

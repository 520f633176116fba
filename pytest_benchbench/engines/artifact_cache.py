"""Artifacts near to where they are used: kept by digest, and nothing is used whose bytes are not the pinned ones."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from pytest_benchbench.artifacts.verification import MAX_ARTIFACT_BYTES
from pytest_benchbench.engines import UnfetchableError
from pytest_benchbench.engines.artifact_source import ArtifactSource, blocks_of, confined_name

MAX_MANIFEST_BYTES = 8 << 30
"""Largest manifest that is fetched (8 GiB): eight million rows of a kibibyte."""

_ATTEMPTS = 4
"""Another process may damage what this one has just repaired, but not for ever."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


class ArtifactCache:
    """Files by their SHA-256, filled from a source; any number of processes may use one folder at the same time.

    A file is fetched beside its place, hashed on the way, synced, and renamed into place only if its digest is the pinned
    one. Each placed file is hashed again; if what was cached was damaged it is fetched anew. Nothing is ever removed.

    Args:
        folder: Where the files are kept; made if need be.
        source: Where they come from.
    """

    def __init__(self, folder: Path, source: ArtifactSource) -> None:
        self._folder = folder
        self._source = source

    @contextlib.contextmanager
    def work_folder(self) -> Iterator[Path]:
        """Give a new, empty folder on the file system of the cache, and remove it afterwards.

        Raises:
            UnfetchableError: It cannot be made.
        """
        try:
            above = self._folder / "work"
            above.mkdir(parents=True, exist_ok=True)
            made = tempfile.TemporaryDirectory(dir=above, ignore_cleanup_errors=True)
        except OSError as error:
            raise UnfetchableError(f"{self._folder}: {error.strerror or error}", passing=True) from None
        with made as work:
            yield Path(work)

    def place(self, name: str, sha256: str, root: Path, *, below: str = "", limit: int = MAX_ARTIFACT_BYTES) -> Path:
        """Put a file below a folder, as a hard link into the cache where the file system has such, else as a copy.

        Args:
            name: The file's path below ``root``.
            sha256: The pinned digest, 64 lower-case hex digits.
            root: A folder in which nobody else writes; no links in it.
            below: The folder of the source that ``root`` stands for; by default the source itself.
            limit: The largest size in bytes.

        Returns:
            The placed file. One that stands there already is left as it is: whoever reads it verifies it.

        Raises:
            UnfetchableError: The name leads elsewhere, the file is missing, too large or another one, or the disk is full.
        """
        if _SHA256.fullmatch(sha256) is None:  # it becomes a path
            raise UnfetchableError(": the pinned SHA-256 is not 64 lower-case hex digits")
        name = confined_name(name)
        target, cached = root / name, self._folder / "sha256" / sha256[:2] / sha256
        try:
            if target.exists():
                return target
            target.parent.mkdir(parents=True, exist_ok=True)
            for _ in range(_ATTEMPTS):
                if _linked(cached, target):
                    if _digest_of(target) == sha256:
                        return target
                    target.unlink()
                self._fetch(f"{below}/{name}" if below else name, sha256, cached, limit)
        except OSError as error:
            raise UnfetchableError(f": {error.strerror or error}", passing=True) from None
        raise UnfetchableError(f": {cached} is damaged each time it was fetched", passing=True)

    def _fetch(self, name: str, sha256: str, cached: Path, limit: int) -> None:
        """Fetch a file into the cache, over what is there: that was found missing or damaged."""
        cached.parent.mkdir(parents=True, exist_ok=True)
        descriptor, beside = tempfile.mkstemp(dir=cached.parent, prefix=f".{sha256}.")
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
                actual = self._copy(name, file, limit)
                if actual != sha256:
                    raise UnfetchableError(f" has {actual}, the manifest says {sha256}")
                file.flush()
                os.fsync(file.fileno())
            os.chmod(beside, 0o444)  # noqa: PTH101 - a text
            os.replace(beside, cached)  # noqa: PTH105 - a text; another process may have put the same bytes there
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)  # noqa: PTH108 - a text
            raise

    def _copy(self, name: str, file: IO[bytes], limit: int) -> str:
        digest, size = hashlib.sha256(), 0
        for block in blocks_of(self._source, name):
            size += len(block)
            if size > limit:
                raise UnfetchableError(f" has more than the {limit} bytes that it may have")
            digest.update(block)
            file.write(block)
        return digest.hexdigest()


def source_digest(source: ArtifactSource, name: str) -> str:
    """Hash a file of a source: the digest by which a manifest is pinned for all shards of a run.

    Raises:
        UnfetchableError: It cannot be read, is named in a way that leads elsewhere, or exceeds ``MAX_MANIFEST_BYTES``.
    """
    digest, size = hashlib.sha256(), 0
    for block in blocks_of(source, confined_name(name)):
        size += len(block)
        if size > MAX_MANIFEST_BYTES:
            raise UnfetchableError(f" has more than the {MAX_MANIFEST_BYTES} bytes that it may have")
        digest.update(block)
    return digest.hexdigest()


def _linked(cached: Path, target: Path) -> bool:
    """Make a file out of a cached one, by a hard link if that can be; false if nothing regular is cached."""
    try:
        if not stat.S_ISREG(os.lstat(cached).st_mode):
            return False
        os.link(cached, target, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except FileExistsError:  # another row placed it at this moment
        return True
    except (OSError, NotImplementedError):  # another file system, or one without hard links, or too many of them
        shutil.copyfile(cached, target, follow_symlinks=False)
    return True


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

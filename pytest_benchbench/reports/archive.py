"""A folder and some documents as one ZIP whose bytes depend on their contents alone."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pytest_benchbench.manifests.faults import shown_text
from pytest_benchbench.manifests.new_files import new_file

MAX_FILES = 10_000
"""Files of an archive."""

MAX_TOTAL_BYTES = 2_000_000_000
"""Bytes of all files of an archive: from 2^31 on, names included, ZIP needs an extension that not every reader has."""

MAX_NAME_BYTES = 240
"""Of a file's path in the archive: more cannot be unpacked everywhere."""

_CHUNK_BYTES = 1 << 20

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP can tell; every file has it."""

_MODE = stat.S_IFREG | 0o644

_UNIX = 3

_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

_UNPORTABLE = re.compile(
    r'[\\:*?"<>|]|[. ](?=/|$)|(?<![^/])(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³]|conin\$|conout\$)(?=[./]|$)', re.IGNORECASE
)
"""What some systems do not let stand in a path, or read otherwise: the last of it are names of devices."""


class ArchiveError(Exception):
    """A file that cannot be packed, or an archive that cannot be written; one line that names it."""


class Archive:
    """A ZIP that grows file by file.

    Files are stored as they are, without compression: what a compressor gives depends on its version, and the same contents
    are to give the same bytes everywhere. Times are 1980-01-01, modes ``rw-r--r--``.

    Args:
        file: Where it is written.

    Attributes:
        digests: SHA-256 of every file so far, by its path in the archive.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=False)
        self._alike: dict[str, str] = {}
        self._folders: dict[str, str] = {}
        self._left = MAX_TOTAL_BYTES
        self.digests: dict[str, str] = {}

    def add_folder(self, folder: Path) -> None:
        """Add every file below a folder, by its path from there, in the order of the paths' bytes.

        A file is opened once: the bytes that are packed are those that were hashed. Folders without a file are not kept.

        Raises:
            ArchiveError: Something below it is neither file nor folder, such as a symbolic link, a name is unportable, there
                are too many files, or they are too large.
        """
        for name, path in sorted(_walk(folder), key=lambda entry: entry[0].encode("utf-8", "surrogateescape")):
            self._refuse(name, str(path))
            try:
                with _open(path) as file:
                    self._write(name, _chunks(file), str(path))
            except OSError as error:
                raise ArchiveError(f"{shown_text(str(path))}: cannot be read: {error.strerror or error}") from None

    def add(self, name: str, data: bytes) -> None:
        """Add a document.

        Raises:
            ArchiveError: A file of the name is there already, or the archive becomes too large.
        """
        self._refuse(name, name)
        self._write(name, iter([data]), name)

    def sums(self) -> bytes:
        """Give the digests of all files so far as ``sha256sum`` writes and checks them."""
        return b"".join(f"{digest}  {name}\n".encode() for name, digest in sorted(self.digests.items()))

    def close(self) -> None:
        """Write the directory of the ZIP, without which nobody can read it."""
        self._zip.close()

    def _refuse(self, name: str, place: str) -> None:
        """Refuse a name that is not the same file wherever the archive is unpacked."""
        fault = _name_fault(name)
        if fault is None and len(self.digests) >= MAX_FILES:
            fault = f"more than {MAX_FILES} files"
        alike, *above = (_caseless(part) for part in (name, *_folders_of(name)))
        taken = self._alike.get(alike) or self._folders.get(alike)
        if taken := taken or next((self._alike[folder] for folder in above if folder in self._alike), None):
            fault = fault or f"the same name as {shown_text(taken)} where letters of both cases are alike"
        if fault is not None:
            raise ArchiveError(f"{shown_text(place)}: {fault}")
        self._alike[alike] = name
        self._folders.update(dict.fromkeys(above, name))

    def _write(self, name: str, chunks: Iterator[bytes], place: str) -> None:
        info = zipfile.ZipInfo(name, _EPOCH)
        info.create_system = _UNIX
        info.external_attr = _MODE << 16
        hasher = hashlib.sha256()
        with self._zip.open(info, "w") as entry:
            for chunk in chunks:
                self._left -= len(chunk)
                if self._left < 0:
                    raise ArchiveError(f"{shown_text(place)}: with it there are more than {MAX_TOTAL_BYTES} bytes")
                hasher.update(chunk)
                entry.write(chunk)
        self.digests[name] = hasher.hexdigest()


@contextmanager
def new_archive(path: Path) -> Iterator[Archive]:
    """Make an archive that appears whole or not at all.

    Args:
        path: Nothing may be there; its folder must exist.

    Yields:
        The archive to fill.

    Raises:
        ArchiveError: There is something at ``path``, or it cannot be written.
    """
    try:
        with new_file(path) as file:
            archive = Archive(file)
            try:
                yield archive
            finally:
                archive.close()  # in any case, while there is a file: else the garbage collector tries it later
    except FileExistsError:
        raise ArchiveError(f"{path}: exists already, and nothing is overwritten; name a new file") from None
    except OSError as error:
        raise ArchiveError(f"{path}: cannot be written: {error.strerror or error}") from None


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK_BYTES):
        yield chunk


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield every file below a folder, with its path from there."""
    waiting = [("", folder)]
    seen = 0
    while waiting:
        prefix, directory = waiting.pop()
        try:
            entries = list(os.scandir(directory))
        except OSError as error:
            raise ArchiveError(f"{shown_text(str(directory))}: cannot be read: {error.strerror or error}") from None
        for entry in entries:
            seen += 1
            if seen > 2 * MAX_FILES:
                raise ArchiveError(f"{shown_text(str(folder))}: more than {MAX_FILES} files")
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append((f"{name}/", Path(entry.path)))
            elif entry.is_file(follow_symlinks=False):
                yield name, Path(entry.path)
            else:
                kind = "a symbolic link" if entry.is_symlink() else "neither a file nor a folder"
                raise ArchiveError(f"{shown_text(entry.path)}: is {kind}; pack files only")


def _open(path: Path) -> BinaryIO:
    """Open a file that is one, even if something else has taken its place since it was listed."""
    descriptor = os.open(path, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ArchiveError(f"{shown_text(str(path))}: is no regular file; pack files only")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _folders_of(name: str) -> list[str]:
    """Give the path of every folder that a file lies in."""
    return [name[:place] for place, character in enumerate(name) if character == "/"]


def _caseless(name: str) -> str:
    """Give what is equal for names that some system takes for one (Unicode, definition D145)."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def _name_fault(name: str) -> str | None:
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "the name is not Unicode; rename the file"
    if size > MAX_NAME_BYTES:
        return f"the path is longer than {MAX_NAME_BYTES} bytes"
    if not name.isprintable() or (found := _UNPORTABLE.search(name)):
        what = f"{found.group()!r}" if name.isprintable() and found else "a character that cannot be seen"
        return f"the path has {what} in it, which cannot be unpacked everywhere; rename the file"
    return None

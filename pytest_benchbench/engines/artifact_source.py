"""Where artifacts come from when workers share no file system: a folder, or anything that fsspec opens by a URL."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import quote

from pytest_benchbench.artifacts.verification import ArtifactPathError, resolve_artifact
from pytest_benchbench.engines import UnfetchableError

INSTALL = "pip install 'pytest-benchbench[dask]'"

_BLOCK_BYTES = 1 << 20

_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]*@")

_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""A link or a pipe that waits behind the name is not followed and not waited for. Windows has neither flag."""


class ArtifactSource(Protocol):
    """A place that holds manifests and their files under relative names."""

    def open(self, name: str) -> IO[bytes]:
        """Open a file for reading.

        Args:
            name: Its path below the source, ``/`` between its parts, none of them ``..`` or empty.

        Raises:
            UnfetchableError: It is not there or cannot be opened.
        """


def confined_name(name: str) -> str:
    """Give a relative path in its plain form, without ``.`` and empty parts.

    Raises:
        UnfetchableError: It is absolute, leads upwards, or is no path.
    """
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or (os.name == "nt" and re.search(r"[\\:]", name)):
        raise UnfetchableError(" leaves the manifest's folder, where an engine has all its files from")
    if not parts or any(character < " " for character in name):
        raise UnfetchableError(" is not the name of a file")
    return "/".join(parts)


def open_source(url: str) -> ArtifactSource:
    """Find out what a source is.

    Args:
        url: A folder, or a URL that fsspec knows, such as ``s3://bucket/cohort``.

    Raises:
        UnfetchableError: fsspec, or what it needs for such a URL, is not installed, or there is nothing there; the whole
            message.
    """
    if is_folder(url):
        return _folder(url)
    try:
        from fsspec.core import url_to_fs
        from fsspec.implementations.local import LocalFileSystem
    except ImportError:
        raise UnfetchableError(f"--artifacts={without_credentials(url)}: needs fsspec; {INSTALL}") from None
    try:
        filesystem, root = url_to_fs(url)
    except Exception as error:  # what a file system raises is its own affair
        raise UnfetchableError(f"--artifacts={without_credentials(url)}: {_one_line(error)}") from None
    if isinstance(filesystem, LocalFileSystem):
        return _folder(root)
    return _RemoteSource(filesystem, str(root))


def is_folder(url: str) -> bool:
    """Say whether a source is written as a path of this machine."""
    return "://" not in url and "::" not in url


def blocks_of(source: ArtifactSource, name: str) -> Iterator[bytes]:
    """Yield the bytes of a file, some at a time.

    Raises:
        UnfetchableError: It cannot be opened, or not be read to its end.
    """
    with source.open(name) as file:
        while True:
            try:
                block = file.read(_BLOCK_BYTES)
            except Exception as error:  # what a file system raises is its own affair
                raise UnfetchableError(f": {_one_line(error)}", passing=True) from None
            if not block:
                return
            yield block


def without_credentials(text: str) -> str:
    """Write a text without the user names and passwords of the URLs in it."""
    return _CREDENTIALS.sub("", text)


def _folder(path: str) -> ArtifactSource:
    if not os.path.isdir(path):  # noqa: PTH112 - Path raises on too long a name
        raise UnfetchableError(f"--artifacts={path}: no such folder")
    return _FolderSource(Path(path).absolute())


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return without_credentials(f"{type(error).__name__}: {text}" if text else type(error).__name__)


class _FolderSource:
    """A folder; no link leads out of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, name: str) -> IO[bytes]:
        try:
            path = resolve_artifact(name, base=self._folder, roots=())
            if not stat.S_ISREG(os.lstat(path).st_mode):  # before opening: opening a device can do things
                raise UnfetchableError(" is not a regular file")
            file = open(os.open(path, _FLAGS), "rb")  # noqa: PTH123, SIM115 - a descriptor; the caller closes it
        except ArtifactPathError:
            raise UnfetchableError(" leaves the folder of --artifacts") from None
        except FileNotFoundError:
            raise UnfetchableError(": there is no such file") from None
        except OSError as error:
            raise UnfetchableError(f": {(error.strerror or type(error).__name__).lower()}", passing=True) from None
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise UnfetchableError(" is not a regular file")
        return file


class _RemoteSource:
    """A folder of a file system of fsspec."""

    def __init__(self, filesystem: Any, root: str) -> None:
        self._filesystem = filesystem
        self._root = root.rstrip("/")
        protocols = filesystem.protocol
        names = {protocols} if isinstance(protocols, str) else set(protocols)
        self._is_web = bool(names & {"http", "https"})

    def open(self, name: str) -> IO[bytes]:
        name = quote(name) if self._is_web else name  # a file may be called what a web address gives a meaning to
        path = f"{self._root}/{name}" if self._root else name
        try:
            file: IO[bytes] = self._filesystem.open(path, "rb")
        except KeyError:  # so an archive says it in older versions of fsspec
            raise UnfetchableError(": there is no such file") from None
        except FileNotFoundError as error:
            if (cause := error.__cause__) is None or isinstance(cause, (FileNotFoundError, KeyError)):
                raise UnfetchableError(": there is no such file") from None
            raise UnfetchableError(f": {_one_line(cause)}", passing=True) from None  # a web server that does not answer
        except Exception as error:  # what a file system raises is its own affair
            raise UnfetchableError(f": {_one_line(error)}", passing=True) from None
        return file

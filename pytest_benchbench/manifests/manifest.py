"""What every validated manifest is to those who run it: where its cases stand, and the rows read again one by one."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import msgspec

from pytest_benchbench.manifests.lines import Lines
from pytest_benchbench.manifests.rows import Kind, ManifestKind


class ManifestChangedError(Exception):
    """The file is no longer what was validated."""


class CaseRef(msgspec.Struct, frozen=True, gc=False):
    """Where a case stands.

    Attributes:
        case_id: Its identity.
        line: The line on which it begins, 1 for the first.
        offset: The byte at which it begins.
        file: The manifest as the user named it.
        pointer: Where it stands in a manifest that is one JSON document, such as ``/samples/17`` (RFC 6901).
    """

    case_id: str
    line: int
    offset: int
    file: str
    pointer: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class ManifestRow(NamedTuple):
    """A row with the SHA-256 of its bytes, which are taken without byte-order mark and line end."""

    case: Any
    row_sha256: str


class NamedArtifact(NamedTuple):
    """A file that a row names.

    Attributes:
        origin: The place of its digest, such as ``cases.jsonl:17: sha256``.
        path_origin: The place of its path.
        path: As the row writes it.
        sha256: The pinned digest.
    """

    origin: str
    path_origin: str
    path: str
    sha256: str


class Manifest(ABC):
    """A validated manifest. It keeps its file open, so that renaming another one over it changes nothing here.

    Args:
        path: The file.
        display: The file as the user named it.
        kind: What its rows are.
        file: The open file.
        stamp: What ``stamp_of`` said before it was validated.
        sha256: Digest of the whole file.
        total_rows: How many rows the whole file has.
        adapters: See below.
        rows: How many rows were read.

    Attributes:
        path: Absolute path.
        directory: Where it lies; what its rows name is relative to it.
        display: The file as the user named it.
        name: The file's name.
        kind: What its rows are.
        sha256: Digest of the whole file.
        rows: How many rows were read: those of the shard, or all.
        split_rows: How many of them are of the split that was asked for, or all.
        total_rows: How many rows the whole file has.
        adapters: Where the cases of that split stand, by the adapter's name and in the order of the file; the name is
            ``None`` for a kind whose rows name no adapter.
        splits: The splits that rows of its kind can be of; none for a kind without.
        id_field: The field that is the identity of a row.
        private: Fields of its rows that evidence leaves out.
        text_field: That of them which holds the artifact itself, if rows hold a text.
        about: What the document says of itself, beside its rows, that a run records.
    """

    about: Mapping[str, str] = MappingProxyType({})

    def __init__(
        self,
        path: Path,
        display: str,
        kind: Kind,
        file: BufferedReader,
        *,
        stamp: tuple[int, int],
        sha256: str,
        total_rows: int,
        adapters: dict[str | None, list[CaseRef]],
        rows: int,
    ) -> None:
        self.path = path
        self.display = display
        self.name = path.name
        self.directory = path.parent
        self.kind: ManifestKind = kind.name
        self.sha256 = sha256
        self.total_rows = total_rows
        self.adapters = adapters
        self.rows = rows
        self.split_rows = sum(len(refs) for refs in adapters.values())
        self.splits = kind.splits
        self.id_field = kind.id_field
        self.private = kind.private
        self.text_field = kind.text_field
        self._file = file
        self._stamp = stamp

    @abstractmethod
    def read(self, ref: CaseRef) -> ManifestRow:
        """Read a row again.

        Raises:
            ManifestChangedError: The file was changed since it was validated.
        """

    @abstractmethod
    def artifacts(self) -> Iterator[NamedArtifact]:
        """Yield every file that a row names, in the order of the manifest; a file named twice comes twice.

        Raises:
            ManifestChangedError: The file was changed since it was validated.
        """

    @abstractmethod
    def row_splits(self) -> Iterator[str]:
        """Yield the split of each row of the whole file, of whatever shard; nothing for a kind without splits.

        Raises:
            ManifestChangedError: The file was changed since it was validated.
        """

    def lines(self) -> Iterator[bytes]:
        """Yield every line of the file without its end, of whatever split and shard, some of which nobody has validated.

        Raises:
            ManifestChangedError: The file was changed since it was validated.
        """
        self._check_unchanged()
        self._file.seek(0)
        return (line for _, _, line in Lines(self._file))

    def close(self) -> None:
        """Close the file; no row can be read afterwards."""
        self._file.close()

    def _check_unchanged(self) -> None:
        """Compare size and time of change, and only where they differ the bytes: touching a file changes nothing."""
        if (now := stamp_of(self._file)) != self._stamp:
            self._file.seek(0)
            if hashlib.file_digest(self._file, "sha256").hexdigest() != self.sha256:
                self._changed(None)
            self._stamp = now

    def _changed(self, line: int | None) -> NoReturn:
        raise changed(self.display, line)


def changed(display: str, line: int | None = None) -> ManifestChangedError:
    """Make the error about a file that is no longer what was validated."""
    place = display if line is None else f"{display}:{line}"
    return ManifestChangedError(f"{place}: the manifest was changed after it was validated")


def stamp_of(file: BufferedReader) -> tuple[int, int]:
    """Give size and time of change of an open file: while neither differs, nothing was changed."""
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns

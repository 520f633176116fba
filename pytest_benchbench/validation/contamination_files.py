"""The files that are looked through for holdout samples: which ones, and their text in pieces, whatever they are."""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from pytest_benchbench.manifests.regular_files import open_regular

MAX_BYTES: Final = 16 << 30
"""Of one file, decompressed."""

_PIECE = 1 << 20

_LONGEST_LINE = 4 << 20
"""Characters; a longer line is cut at white space, or wherever it must be."""

_HEAD = 8192
"""Bytes in which a text has no NUL."""

_GZIP = b"\x1f\x8b"
_PACKED = {
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bzip2",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"ARROW1": "Arrow",
    b"Rar!\x1a\x07": "rar",
    b"\x04\x22\x4d\x18": "LZ4",
    b"\x1f\x9d": "compress",
    _GZIP: "gzip twice",
    b"%PDF-": "PDF",
}

_TAR = b"ustar"
_TAR_AT = 257

_PARQUET = b"PAR1"

_ROWS_AT_ONCE = 256

_MAX_ROW_GROUP = 4 << 30
"""Bytes of a group of rows, unpacked, as the file itself states them."""

_VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})


@dataclass(frozen=True, slots=True, order=True)
class PassedOver:
    """A file that was not looked into, or not to its end.

    Attributes:
        file: Its path.
        reason: Why, without a full stop.
        is_gap: Whether it may be a text that nobody has looked at: what was found is then not all.
    """

    file: str
    reason: str
    is_gap: bool


class NotLookedInto(Exception):  # noqa: N818 - said of a file, no fault
    """The rest of a file is not looked into.

    Args:
        reason: Why.
        is_gap: As of ``PassedOver``.
    """

    def __init__(self, reason: str, *, is_gap: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_gap = is_gap


def files_under(paths: Iterable[Path]) -> Iterator[Path | PassedOver]:
    """List the files at and under some paths, each once, in the order of their names.

    Folders of version control are left out. A symbolic link that is a path itself is followed; one that is found under a
    path is not, because what it names either is found by its own name or lies elsewhere.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        for found in _under(path):
            if isinstance(found, PassedOver):
                yield found
                continue
            try:
                status = found.stat()
            except OSError as error:
                yield PassedOver(str(found), error.strerror or str(error), is_gap=True)
                continue
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                yield found


def _under(path: Path) -> Iterator[Path | PassedOver]:
    if not path.is_dir():
        yield path
        return
    gaps: list[PassedOver] = []

    def note(error: OSError) -> None:
        gaps.append(PassedOver(str(error.filename), error.strerror or str(error), is_gap=True))

    for folder, folders, names in os.walk(path, onerror=note):
        folders[:] = sorted(name for name in folders if name not in _VERSION_CONTROL)
        for name in sorted({*names, *folders}):
            at = Path(folder, name)
            if at.is_symlink():
                yield PassedOver(str(at), "a symbolic link, not followed", is_gap=False)
            elif name not in folders:
                yield at
    yield from gaps


def text_pieces(path: Path, *, max_bytes: int = MAX_BYTES, piece_bytes: int = _PIECE) -> Iterator[tuple[int, str, int]]:
    """Read the text of a file, UTF-8 or with a byte-order mark UTF-16 or UTF-32, plain or by gzip, in memory of some pieces.

    What is no UTF-8 becomes a character that is part of no word. Of a Parquet file each row is a line, its texts are cells.

    Args:
        path: A regular file, or a link to one.
        max_bytes: The most bytes of text that are looked at.
        piece_bytes: How much is read at once.

    Yields:
        Number of the line on which a piece begins; the piece, whole lines but for very long ones; the bytes read for it.

    Raises:
        NotLookedInto: The file, or its rest, cannot be read as text or is too large.
    """
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD)
            file.seek(0)
            if head.startswith(_PARQUET):
                yield from _rows(file, max_bytes)
            elif head.startswith(_GZIP):
                with gzip.GzipFile(fileobj=file) as unpacked:
                    head = unpacked.read(_HEAD)
                    unpacked.seek(0)
                    yield from _pieces(unpacked, head, max_bytes, piece_bytes)
            else:
                yield from _pieces(file, head, max_bytes, piece_bytes)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise NotLookedInto(f"damaged gzip: {error}", is_gap=True) from None
    except (OSError, ValueError) as error:
        raise NotLookedInto(str(getattr(error, "strerror", None) or error), is_gap=True) from None


def _pieces(file: BinaryIO | gzip.GzipFile, head: bytes, max_bytes: int, piece_bytes: int) -> Iterator[tuple[int, str, int]]:
    decoder = codecs.getincrementaldecoder(_encoding(head))("replace")
    line, pending, total, unreported = 1, "", 0, 0
    while data := file.read(piece_bytes):
        total += len(data)
        unreported += len(data)
        if total > max_bytes:
            raise NotLookedInto(f"more than {max_bytes:,} bytes", is_gap=True)
        text = pending + decoder.decode(data)
        cut = text.rfind("\n") + 1
        if not cut and len(text) < _LONGEST_LINE:
            pending = text
            continue
        cut = cut or max(text.rfind(" "), text.rfind("\t")) + 1 or len(text)
        yield line, text[:cut], unreported
        line += text.count("\n", 0, cut)
        pending, unreported = text[cut:], 0
    yield line, pending + decoder.decode(b"", final=True), unreported


def _rows(file: BinaryIO, max_bytes: int) -> Iterator[tuple[int, str, int]]:
    """Read the texts of a Parquet file, those in lists and structures too.

    Raises:
        NotLookedInto: pyarrow is missing, or the file is damaged or too large.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise NotLookedInto(
            "Parquet; pip install 'pytest-benchbench[parquet]' to have it looked into", is_gap=True
        ) from None
    try:
        table = parquet.ParquetFile(file)
        groups = range(table.metadata.num_row_groups)
        if any(table.metadata.row_group(group).total_byte_size > _MAX_ROW_GROUP for group in groups):
            raise NotLookedInto(f"Parquet with a row group of more than {_MAX_ROW_GROUP:,} bytes", is_gap=True)
        line, total = 1, 0
        for batch in table.iter_batches(batch_size=_ROWS_AT_ONCE):
            rows = ["\t".join(" ".join(text.split()) for text in _texts(row)) for row in batch.to_pylist()]
            text = "".join(f"{row}\n" for row in rows)
            total += len(text)
            if total > max_bytes:
                raise NotLookedInto(f"more than {max_bytes:,} bytes", is_gap=True)
            yield line, text, len(text)
            line += len(rows)
    except (pyarrow.ArrowException, ArithmeticError, LookupError) as error:  # of dates that Python or its zones do not have
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise NotLookedInto(f"damaged Parquet: {said[:200]}", is_gap=True) from None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _encoding(head: bytes) -> str:
    """Tell the encoding by the beginning of a file.

    Raises:
        NotLookedInto: It is no text.
    """
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):  # the first two bytes of one are those of UTF-16
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for magic, name in _PACKED.items():
        if head.startswith(magic):
            raise NotLookedInto(f"packed ({name}); unpack it to have it looked into", is_gap=True)
    if head.startswith(_TAR, _TAR_AT):
        raise NotLookedInto("packed (tar); unpack it to have it looked into", is_gap=True)
    if b"\0" in head:
        raise NotLookedInto("binary", is_gap=False)
    return "utf-8-sig"

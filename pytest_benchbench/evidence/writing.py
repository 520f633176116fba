"""Writing evidence and run files so that a crash loses nothing that was finished."""

from __future__ import annotations

import os
import secrets
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from pytest_benchbench.evidence.observation import EvidenceRow

if sys.platform != "win32":
    import fcntl

FSYNC_SECONDS = 1.0

_CHUNK_BYTES = 64 * 1024


class EvidenceWriteError(Exception):
    """Evidence cannot be written any more: a full disk, a quota, a device that fails.

    Args:
        path: The file.
        error: What the system said.
    """

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"{path}: {error.strerror or error}")


class EvidenceInUseError(Exception):
    """Another process writes this evidence at this moment."""


class EvidenceWriter:
    """Appends rows to a file: each row is written at once, and the file is synced about once a second and at the end.

    While a writer lives it holds an advisory lock on the file, which the system releases when the process dies. Where the
    system or the file system knows no such lock, there is none.

    Args:
        path: Must not exist, unless rows are appended.
        append: Go on with a file, which is made if it is missing. Nothing is changed before the first row is written or
            ``cut_unfinished_line`` is called.

    Raises:
        FileExistsError: ``path`` exists.
        EvidenceInUseError: Another writer has the file.
        OSError: It cannot be opened.
    """

    def __init__(self, path: Path, *, append: bool = False) -> None:
        self._path = path
        flags = os.O_RDWR | os.O_CREAT | (0 if append else os.O_EXCL) | getattr(os, "O_BINARY", 0)
        self._file: int | None = os.open(path, flags, 0o666)
        try:
            _lock(self._file, path)
        except BaseException:
            self.abandon()
            raise
        self._end = os.lseek(self._file, 0, os.SEEK_END)
        self._encoder = msgspec.json.Encoder()
        self._synced = time.monotonic()

    def cut_unfinished_line(self) -> int:
        """Take away what a killed writer left behind the last line end; it was never acknowledged.

        Returns:
            How many bytes were cut off.

        Raises:
            EvidenceWriteError: The file cannot be cut.
        """
        file = self._open_file()
        try:
            size = os.lseek(file, 0, os.SEEK_END)
            self._end = _end_of_lines(file, size)
            if self._end != size:
                os.ftruncate(file, self._end)
            os.lseek(file, self._end, os.SEEK_SET)
        except OSError as error:
            raise EvidenceWriteError(self._path, error) from None
        return size - self._end

    def write(self, row: EvidenceRow) -> None:
        """Append one row; when this returns, the row survives the death of the process.

        Raises:
            EvidenceWriteError: The row could not be written or synced; what was written of it is taken back.
        """
        file = self._open_file()
        line = self._encoder.encode(row) + b"\n"
        try:
            _write_whole(file, line)
            if (now := time.monotonic()) - self._synced >= FSYNC_SECONDS:
                os.fsync(file)
                self._synced = now
            self._end += len(line)  # inside: an interrupt finds the row either taken back or counted
        except OSError as error:
            _cut(file, self._end)
            raise EvidenceWriteError(self._path, error) from None
        except BaseException:
            _cut(file, self._end)
            raise

    def close(self) -> None:
        """Sync and close, and let go of the lock.

        Raises:
            EvidenceWriteError: The file cannot be synced; it is closed nevertheless.
        """
        if self._file is None:
            return
        try:
            os.fsync(self._file)
        except OSError as error:
            raise EvidenceWriteError(self._path, error) from None
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close without syncing."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _open_file(self) -> int:
        if self._file is None:
            raise ValueError(f"{self._path}: the evidence is closed")
        return self._file


def append_line(path: Path, line: bytes) -> None:
    """Append one line to a file, which is made if it is missing. An unterminated last line is cut off before.

    Raises:
        EvidenceWriteError: It cannot be written; the file is as it was.
    """
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            end = _end_of_lines(file, os.lseek(file, 0, os.SEEK_END))
            os.ftruncate(file, end)
            os.lseek(file, end, os.SEEK_SET)
            try:
                _write_whole(file, line + b"\n")
            except BaseException:
                _cut(file, end)
                raise
        finally:
            os.close(file)
    except OSError as error:
        raise EvidenceWriteError(path, error) from None


def _write_whole(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _cut(file: int, end: int) -> None:
    """Take back what was partly written; where even that fails, readers pass over the unterminated line."""
    with suppress(OSError):
        os.ftruncate(file, end)
        os.lseek(file, end, os.SEEK_SET)


def _end_of_lines(file: int, size: int) -> int:
    """Find the byte behind the last line end, from the end of the file backwards; 0 where there is none."""
    end = size
    while end > 0:
        begin = max(0, end - _CHUNK_BYTES)
        os.lseek(file, begin, os.SEEK_SET)
        newline = os.read(file, end - begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
        end = begin
    return 0


def _lock(file: int, path: Path) -> None:
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise EvidenceInUseError(f"{path}: another process is writing it; wait for its end") from None
    except OSError:  # some network file systems know no locks
        return


def write_atomically(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step: written beside, synced, renamed. Readers see the old file or the new one."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")  # no process id: containers begin anew at 1
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def encode_document(document: Any) -> bytes:
    """Encode a JSON document for people and machines: indented, keys in the given order, a final newline.

    Texts that JSON cannot carry are escaped: names of files that this system's locale cannot read have lone surrogates.
    """
    try:
        data = msgspec.json.encode(document)
    except UnicodeEncodeError:
        data = msgspec.json.encode(_carried(msgspec.to_builtins(document)))
    return msgspec.json.format(data, indent=2) + b"\n"


def _carried(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_carried(name): _carried(inner) for name, inner in value.items()}
    return [_carried(inner) for inner in value] if isinstance(value, list | tuple) else value

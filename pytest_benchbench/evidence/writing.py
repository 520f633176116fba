"""Writing evidence and run files so that a crash loses nothing that was finished."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import IO, Any

import msgspec

from pytest_benchbench.evidence.observation import EvidenceRow

FSYNC_SECONDS = 1.0


class EvidenceWriter:
    """Appends rows to a new file: each row is flushed, and the file is synced about once a second and at the end.

    Args:
        path: Must not exist.

    Raises:
        FileExistsError: ``path`` exists.
    """

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("xb")
        self._encoder = msgspec.json.Encoder()
        self._synced = time.monotonic()

    def write(self, row: EvidenceRow) -> None:
        """Append one row; when this returns, the row survives the death of the process."""
        self._file.write(self._encoder.encode(row) + b"\n")
        self._file.flush()
        if (now := time.monotonic()) - self._synced >= FSYNC_SECONDS:
            os.fsync(self._file.fileno())
            self._synced = now

    def close(self) -> None:
        """Sync and close."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


def write_atomically(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step: written beside, synced, renamed. Readers see the old file or the new one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
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
    """Encode a JSON document for people and machines: indented, keys in the given order, a final newline."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"

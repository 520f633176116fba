"""The directory of one run: where it goes, how it begins, what it ends with."""

from __future__ import annotations

import os
import secrets
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.writing import EvidenceWriter, encode_document, write_atomically

STATE_DIR = ".benchbench"


class RunDirectoryError(Exception):
    """The directory exists already or cannot be made; one line."""


def new_run_id(now: datetime) -> str:
    """Make the id of a run: UTC time and four random bytes, so that two runs of one second differ."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"


def state_directory(project: Path) -> Path:
    """Give the project's directory for runs and cohorts, made if need be; it ignores itself in version control.

    Raises:
        OSError: It cannot be made.
    """
    directory = project / STATE_DIR
    directory.mkdir(exist_ok=True)
    ignore = directory / ".gitignore"
    if not ignore.exists():
        write_atomically(ignore, b"*\n")
    return directory


class RunDirectory:
    """The directory of one run: ``run.json``, ``evidence.jsonl``, the report and the gate's decision.

    Args:
        path: Must not exist.
        begin: What ``run.json`` says from the start.

    Raises:
        RunDirectoryError: ``path`` exists or cannot be made.
    """

    def __init__(self, path: Path, begin: dict[str, Any]) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir()
        except OSError as error:
            taken = os.path.lexists(path)
            reason = "exists already; a run never overwrites another" if taken else error.strerror or error
            raise RunDirectoryError(f"{path}: {reason}") from None
        try:
            self.write_json("run.json", begin)
            self._writer = EvidenceWriter(self.evidence)
        except BaseException:
            shutil.rmtree(path)
            raise

    @property
    def evidence(self) -> Path:
        """The file of observations."""
        return self.path / "evidence.jsonl"

    def record(self, row: EvidenceRow) -> None:
        """Keep one row of evidence for good."""
        self._writer.write(row)

    def close_evidence(self) -> None:
        """Finish the file of observations."""
        self._writer.close()

    def write_json(self, name: str, document: Any) -> None:
        """Put a JSON document into the directory in one step."""
        write_atomically(self.path / name, encode_document(document))

    def write_text(self, name: str, text: str) -> None:
        """Put a text into the directory in one step."""
        write_atomically(self.path / name, text.encode())

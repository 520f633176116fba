"""The directory of one run: where it goes, how it begins, what it ends with."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.recorded_run import EVIDENCE, RUN
from pytest_benchbench.evidence.writing import (
    EvidenceInUseError,
    EvidenceWriteError,
    EvidenceWriter,
    append_line,
    encode_document,
    write_atomically,
)
from pytest_benchbench.session.in_flight import InFlight

STATE_DIR = ".benchbench"

FAILURES = "failures.jsonl"

RUN_PLACE = "benchbench_run_place"
"""What a worker knows the run directory by; it is not there yet when the worker starts."""


class RunDirectoryError(Exception):
    """The directory exists already, or it or a file of it cannot be written; one line."""


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


def prepare_project(project: Path) -> None:
    """Make the project's directory for runs, if need be.

    Raises:
        RunDirectoryError: It cannot be made.
    """
    try:
        state_directory(project)
    except OSError as error:
        raise RunDirectoryError(f"no run directory can be made in {project}: {error}") from None


def run_place(given: Path | None, project: Path, run_id: str) -> Path:
    """Say where a new run goes; nothing is made.

    Args:
        given: Where the user wants it; ``None`` for the place below the project.
        project: The project.
        run_id: The run's name.
    """
    return project / STATE_DIR / "runs" / run_id if given is None else given


class RunDirectory:
    """The directory of one run: ``run.json``, ``evidence.jsonl``, the report and the gate's decision.

    Args:
        path: The directory.
        writer: What appends to its evidence.
    """

    def __init__(self, path: Path, writer: EvidenceWriter) -> None:
        self.path = path
        self._writer = writer
        self.in_flight = InFlight(path)

    @classmethod
    def make(cls, path: Path, begin: dict[str, Any], when_made: Callable[[], None]) -> RunDirectory:
        """Make the directory of a new run.

        Args:
            path: Must not exist.
            begin: What ``run.json`` says from the start.
            when_made: Is called when there is a place for evidence, before ``begin`` is written; may complete it.

        Raises:
            RunDirectoryError: ``path`` exists or cannot be made; nothing is left of it, as after any error of ``when_made``.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir()
        except OSError as error:
            taken = os.path.lexists(path)
            reason = "exists already; a run never overwrites another" if taken else error.strerror or error
            raise RunDirectoryError(f"{path}: {reason}") from None
        writer = None
        try:
            writer = EvidenceWriter(path / EVIDENCE)
            when_made()
            write_atomically(path / RUN, encode_document(begin))  # last: a directory that has it can be gone on with
        except BaseException as error:
            if writer is not None:
                writer.abandon()
            shutil.rmtree(path, ignore_errors=True)
            if isinstance(error, (OSError, EvidenceInUseError)):
                raise RunDirectoryError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
            raise
        return cls(path, writer)

    @classmethod
    def go_on(cls, path: Path, writer: EvidenceWriter, document: dict[str, Any]) -> RunDirectory:
        """Go on with the run of a directory.

        Args:
            path: The directory.
            writer: What holds its evidence; an unterminated last line is cut off.
            document: What ``run.json`` says from now on.

        Raises:
            RunDirectoryError: It cannot be written.
        """
        try:
            for unfinished in path.glob(".*.partial"):
                unfinished.unlink(missing_ok=True)
            writer.cut_unfinished_line()
            write_atomically(path / RUN, encode_document(document))
        except (OSError, EvidenceWriteError) as error:
            raise RunDirectoryError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
        return cls(path, writer)

    @property
    def evidence(self) -> Path:
        """The file of observations."""
        return self.path / EVIDENCE

    def record(self, row: EvidenceRow) -> None:
        """Keep one row of evidence for good.

        Raises:
            EvidenceWriteError: It cannot be written.
        """
        self._writer.write(row)

    def record_failure(self, node: str, attempt: int) -> None:
        """Keep that a row's test failed although its observation did not: by an assertion of the suite, or in teardown.

        Evidence does not know that, and a later session that goes on with the run must exit as this one does.

        Raises:
            EvidenceWriteError: It cannot be written.
        """
        append_line(self.path / FAILURES, json.dumps({"attempt": attempt, "node": node}).encode())

    def close_evidence(self) -> None:
        """Finish the file of observations.

        Raises:
            EvidenceWriteError: It cannot be synced; it is closed nevertheless.
        """
        self._writer.close()

    def abandon_evidence(self) -> None:
        """Close the file of observations as it is."""
        self._writer.abandon()

    def write_json(self, name: str, document: Any) -> None:
        """Put a JSON document into the directory in one step.

        Raises:
            RunDirectoryError: It cannot be written.
        """
        self._put(name, encode_document(document))

    def write_text(self, name: str, text: str) -> None:
        """Put a text into the directory in one step.

        Raises:
            RunDirectoryError: It cannot be written.
        """
        self._put(name, text.encode())

    def write_bytes(self, name: str, data: bytes) -> None:
        """Put a file into the directory in one step.

        Raises:
            RunDirectoryError: It cannot be written.
        """
        self._put(name, data)

    def remove(self, name: str) -> None:
        """Take a file out of the directory, if it is there.

        Raises:
            RunDirectoryError: It cannot be removed.
        """
        try:
            (self.path / name).unlink(missing_ok=True)
        except OSError as error:
            raise RunDirectoryError(f"{self.path / name}: {error.strerror or error}") from None

    def _put(self, name: str, data: bytes) -> None:
        try:
            write_atomically(self.path / name, data)
        except OSError as error:
            raise RunDirectoryError(f"{self.path / name}: {error.strerror or error}") from None

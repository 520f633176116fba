"""What the directory of a run says of it: ``run.json`` read back, and the parts that a merged run consists of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.manifests.regular_files import open_regular
from pytest_benchbench.manifests.sharding import Shard, ShardError

RUN = "run.json"
EVIDENCE = "evidence.jsonl"
REPORT = "report.json"
FAILURES = "failures.jsonl"

MAX_RUN_BYTES = 64 * 1024 * 1024
"""Of ``run.json``."""

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]

_Moment = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00$")]
"""UTC; of two of them the later one is the greater text."""


ALTERED = "no report was made from its evidence as it is"
"""What a part lacks that is altered."""


class RecordedRunError(Exception):
    """A directory that is not that of a run, or damaged; one line that names it."""


class Planned(msgspec.Struct, frozen=True):
    """What became of the planned rows of a run; see ``session/accounting.py``.

    Attributes:
        rows: Planned.
        selected: Those that were to run.
        left_out: Those that the user left out.
        lost: Those that were to run and never ended.
    """

    rows: _Count
    selected: _Count
    left_out: _Count
    lost: _Count


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One run that is part of a merged one, as ``merged_from`` lists it.

    Attributes:
        run_id: Its name.
        shard: Which shard it ran; null for a run of all rows.
        name: Name of its directory.
        evidence_sha256: Of its complete lines.
        evidence_lines: How many there are.
        evidence_bytes: How long they are.
        exit_status: Its exit code; null if it never finished, as are ``planned`` and ``finished``.
        planned: What became of its rows.
        interrupted: Whether its session was interrupted.
        started: When it began.
        finished: When it ended.
        is_altered: Whether its evidence was not what its report had been made from, or there was no report.
        has_failed: Whether something failed, by its exit code or, where that hides it, by what it kept of failed tests.
    """

    run_id: str
    shard: str | None
    name: str
    evidence_sha256: str
    evidence_lines: _Count
    evidence_bytes: _Count
    exit_status: int | None
    planned: Planned | None
    interrupted: bool
    started: _Moment
    finished: _Moment | None
    is_altered: bool = False
    has_failed: bool = False

    @property
    def cut(self) -> Shard | None:
        """The shard.

        Raises:
            ShardError: It is none.
        """
        return None if self.shard is None else Shard.parse(self.shard)

    @property
    def label(self) -> str:
        """The part as people know it, wherever its directory lies."""
        return one_line(f"{self.name} ({f'shard {self.shard}' if self.shard else f'run {self.run_id}'})")


class _Manifest(msgspec.Struct):
    name: str
    kind: str
    sha256: str
    rows: _Count
    shard_rows: _Count | None = None


class _Package(msgspec.Struct):
    kernel_sha256: str


class _Options(msgspec.Struct):
    verify: str
    shard: str | None = None
    require_available: bool = False


class _File(msgspec.Struct):
    sha256: str


class _Inputs(msgspec.Struct):
    evidence: _File


class _Report(msgspec.Struct):
    inputs: _Inputs


class _Run(msgspec.Struct):
    schema_version: Literal[1]
    run_id: str
    package: _Package
    project: dict[str, Any]
    manifests: list[_Manifest]
    options: _Options
    versions: dict[str, Any]
    machine: dict[str, Any]
    started: _Moment
    planned: Planned | None = None
    decoding: dict[str, _Count] = {}
    interrupted: bool = False
    finished: _Moment | None = None
    exit_status: int | None = None
    merged_from: list[Part] | None = None


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A directory with a run in it.

    Attributes:
        path: The directory, as it was given.
        document: ``run.json``, of the shape that a run writes.
        parts: The runs that it consists of: itself, or those that were merged into it. Those of a run that was not merged
            know nothing of their evidence yet.
        is_merged: Whether it was merged from others.
        require_available: Whether unavailable rows are failures.
    """

    path: Path
    document: dict[str, Any]
    parts: tuple[Part, ...]
    is_merged: bool
    require_available: bool

    @property
    def evidence(self) -> Path:
        """The file of observations."""
        return self.path / EVIDENCE

    def is_altered(self, sha256: str) -> bool:
        """Say whether the evidence is not what the report of the finished run was made from, or no report says what it was.

        Args:
            sha256: Of the evidence as it is.
        """
        return "finished" in self.document and self._reported_sha256() != sha256

    def _reported_sha256(self) -> str | None:
        try:
            with open_regular(self.path / REPORT) as file:
                report = msgspec.json.decode(file.read(MAX_RUN_BYTES), type=_Report)
        except (OSError, ValueError, RecursionError):
            return None
        return report.inputs.evidence.sha256


def read_run(path: Path) -> RecordedRun:
    """Read what a directory says of its run.

    Raises:
        RecordedRunError: It holds no run, or what it says is damaged.
    """
    file = path / RUN
    try:
        with open_regular(file) as opened:
            data = opened.read(MAX_RUN_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise RecordedRunError(f"{path}: not the directory of a run (it has no {RUN})") from None
    except (OSError, ValueError) as error:
        raise RecordedRunError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MAX_RUN_BYTES:
        raise RecordedRunError(f"{file}: larger than {MAX_RUN_BYTES} bytes")
    try:
        document = msgspec.json.decode(data)
        run = msgspec.convert(document, _Run)
        parts = tuple(run.merged_from) if run.merged_from else (_itself(path, run),)
        for part in parts:
            _ = part.cut
    except RecursionError:
        raise RecordedRunError(f"{file}: nested too deeply") from None
    except (ValueError, ShardError) as error:
        raise RecordedRunError(f"{file}: not the description of a run: {error}") from None
    if not (path / EVIDENCE).is_file():
        raise RecordedRunError(f"{path}: it has no {EVIDENCE}")
    merged_bytes = sum(part.evidence_bytes for part in parts)
    if run.merged_from and (path / EVIDENCE).stat().st_size != merged_bytes:
        raise RecordedRunError(f"{path / EVIDENCE}: is not what was merged: it has not {merged_bytes} bytes")
    return RecordedRun(path, document, parts, bool(run.merged_from), run.options.require_available)


def _itself(path: Path, run: _Run) -> Part:
    has_finished = run.finished is not None
    return Part(
        run_id=run.run_id,
        shard=run.options.shard,
        name=path.resolve().name,
        evidence_sha256="",
        evidence_lines=0,
        evidence_bytes=0,
        exit_status=run.exit_status if has_finished else None,
        planned=run.planned if has_finished else None,
        interrupted=run.interrupted,
        started=run.started,
        finished=run.finished,
        has_failed=_has_failed(path, run.exit_status if has_finished else None),
    )


def _has_failed(path: Path, exit_status: int | None) -> bool:
    """Say whether something failed that evidence need not show: a test without a detector, a suite's own assertion.

    Exit codes other than 0, 1 and 5 hide it; then it is told by the tests that failed although their observation did not.
    """
    if exit_status in (0, 1, 5):
        return exit_status == 1
    try:
        return (path / FAILURES).stat().st_size > 0
    except OSError:
        return False

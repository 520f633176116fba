"""Scores from evidence: the attempts that count, with what a row has of its case and its scorer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from pytest_benchbench.evidence.grouping import VERDICT_STANDINGS, standing
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow
from pytest_benchbench.evidence.recorded_run import RecordedRunError
from pytest_benchbench.evidence.repeated_run import RepeatedRun, read_repeated_run
from pytest_benchbench.evidence.run_facts import RunFacts
from pytest_benchbench.evidence.score_manifest import JOINED, ScoreManifest
from pytest_benchbench.evidence.score_row import TERMINAL, ScoreRow, is_told, status_problem
from pytest_benchbench.evidence.score_source import ScoreError, ScoreSource
from pytest_benchbench.manifests.faults import FaultLog, shown
from pytest_benchbench.manifests.field_types import is_free_of_control, is_hex
from pytest_benchbench.manifests.golden_set import KIND as GOLDEN_SET
from pytest_benchbench.manifests.rows import check_fields
from pytest_benchbench.manifests.strict_json import Problem

KIND: Final = "dataset"
"""The kind of manifest whose rows have labels."""

OF_SCORER: Final = (
    "rawScore",
    "pixelScore",
    "evaluationMode",
    "modelSha256",
    "calibratorSha256",
    "preprocessingVersion",
    "provider",
)


class ScoreProblemError(Exception):
    """A row of evidence that is no score row.

    Attributes:
        problems: Field and fault of each.
    """

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems)
        self.problems = problems


class RecordedScores(ScoreSource):
    """The settled rows of evidence.

    Args:
        path: The directory of a run, or a file of evidence.
        manifest: The manifest that rows are joined with.
        adapter: Take the rows of this adapter only; ``None`` for all of them.

    Raises:
        ScoreError: The evidence, or what the run says of itself, cannot be read.
    """

    def __init__(self, path: Path, manifest: ScoreManifest | None, adapter: str | None) -> None:
        try:
            self._run: RepeatedRun = read_repeated_run(path)
            super().__init__(path, manifest, RunFacts.of(self._run))
        except (EvidenceError, RecordedRunError) as error:
            raise ScoreError(str(error)) from None
        self._adapter = adapter
        self.sha256 = self._run.evidence.sha256

    @property
    def file(self) -> Path:
        """The file of evidence."""
        return self._run.evidence.path

    def _rows(self, log: FaultLog) -> Iterator[ScoreRow]:
        named: set[str] = set()
        has_adapter = False
        try:
            for number, settled in self._run.evidence.numbered():
                row = settled.row
                if self._adapter not in (None, row.key.adapter):
                    continue
                has_adapter = True
                named.add(row.manifest.sha256)
                try:
                    scored = score_row(settled)
                except ScoreProblemError as error:
                    for name, message in error.problems:
                        log.add(number + 1, name, message)
                    continue
                scored.line = number + 1
                yield scored
        except EvidenceError as error:
            raise ScoreError(str(error)) from None
        if self._adapter is not None and not has_adapter:
            log.add(None, None, f"no row is of the adapter {shown(self._adapter)}")
        self.manifest_sha256s = tuple(sorted(named))


def score_row(settled: SettledRow) -> ScoreRow:
    """Take a score row from a settled row of evidence; its ``line`` is 0.

    A row without an answer has its terminal status, and no score whatever the scorer said: ``detection.status`` where that
    is a terminal name, else the outcome. A row whose attempts gave different verdicts is ``unstable``: terminal too.

    Raises:
        ScoreProblemError: It is none: of another kind, a verdict instead of a score, or a field that is none.
    """
    row = settled.row
    if row.kind != KIND:
        lack = "figures of their own, in benchmark.json" if row.kind == GOLDEN_SET else "no labels"
        raise ScoreProblemError([("kind", f"{shown(row.kind)} rows have {lack}; scores are those of a {KIND} manifest")])
    case, detection = row.case, row.detection
    status = _status(settled)
    values: dict[str, Any] = {name: case[name] for name in JOINED if name in case}
    scorer = detection.scorer or {}
    values.update({name: scorer[name] for name in OF_SCORER if name in scorer})
    values |= {"id": row.key.case_id, "status": status, "score": detection.score}
    if status != "scored":
        values |= {"score": None, "rawScore": None, "pixelScore": None}
    try:
        scored = msgspec.convert(values, ScoreRow)
    except msgspec.ValidationError:
        scored = None
    if scored is None or not _is_sound(scored):
        raise ScoreProblemError(_problems(values))
    if (problem := status_problem(scored)) is not None:
        raise ScoreProblemError([(_place(problem[0] or ""), problem[1])])
    scored.adapter = row.key.adapter
    return scored


def status_of(settled: SettledRow) -> str:
    """Say how a row ended: as ``standing`` does, and an error by the terminal name that its scorer gave it, if any."""
    found, status = standing(settled), settled.row.detection.status
    return status if found == "error" and status in TERMINAL else found


def _status(settled: SettledRow) -> str:
    status = status_of(settled)
    if status in VERDICT_STANDINGS and status != "scored":
        raise ScoreProblemError([("detection.status", f"{shown(status)} is a verdict, not a score")])
    return status


def _is_sound(row: ScoreRow) -> bool:
    """Say whether the texts hold to what their types cannot say."""
    digests = (row.modelSha256, row.calibratorSha256)
    return is_free_of_control(row.id) and is_told(row) and all(digest is None or is_hex(digest) for digest in digests)


def _problems(values: dict[str, Any]) -> list[Problem]:
    problems: list[Problem] = []
    check_fields(values, ScoreRow, "", frozenset(), problems)
    return [(_place(name or ""), message) for name, message in problems]


def _place(name: str) -> str:
    """Give the path at which evidence keeps a field."""
    if name == "id":
        return "key.case_id"
    if name in OF_SCORER:
        return f"detection.scorer.{name}"
    return f"case.{name}" if name in JOINED else f"detection.{name}"

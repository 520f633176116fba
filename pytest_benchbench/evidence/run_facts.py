"""What a run says of itself that bears on what its scores may authorise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.recorded_run import RecordedRunError
from pytest_benchbench.evidence.repeated_run import RepeatedRun


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of ``run.json``.

    Attributes:
        lost: Planned rows that never ended; ``None`` where nobody knows.
        left_out: Planned rows that the user left out; ``None`` where nobody knows.
        gaps: What the run lacks, one line each; evidence without a ``run.json`` lacks the knowledge whether it is all.
        select: The conditions of ``--bench-select``, as they were given.
        split: The split that was opened; ``None`` where none was named.
        is_lazy: Whether artifacts were verified only as they were read.
        attempt: How often the test split had been opened with this run, by the ledger; ``None`` where nobody knows.
        ledger: The name of the ledger.
        manifests: Name and SHA-256 of each manifest.
    """

    lost: int | None
    left_out: int | None
    gaps: tuple[str, ...]
    select: tuple[str, ...]
    split: str | None
    is_lazy: bool
    attempt: int | None
    ledger: str | None
    manifests: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, run: RepeatedRun) -> RunFacts:
        """Take the facts from what was read of a run.

        Raises:
            RecordedRunError: What it says is of another shape than a run writes.
        """
        document = run.document
        options, opening = _mapping(run, document, "options"), _mapping(run, document, "opening")
        attempt, select = opening.get("attempt"), options.get("select") or []
        if attempt is not None and (isinstance(attempt, bool) or not isinstance(attempt, int) or attempt < 1):
            raise RecordedRunError(f"{run.path}: opening.attempt: expected a number from 1 on")
        if not isinstance(select, list):
            raise RecordedRunError(f"{run.path}: options.select: expected an array")
        return cls(
            lost=run.planned.lost if run.planned else None,
            left_out=run.planned.left_out if run.planned else None,
            gaps=run.gaps,
            select=tuple(map(one_line, select)),
            split=_text(options.get("split")),
            is_lazy=options.get("verify") == "lazy",
            attempt=attempt,
            ledger=_text(opening.get("ledger")),
            manifests=tuple((one_line(each["name"]), one_line(each["sha256"])) for each in document.get("manifests", ())),
        )


def _mapping(run: RepeatedRun, document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = document.get(name) or {}
    if not isinstance(value, dict):
        raise RecordedRunError(f"{run.path}: {name}: expected an object")
    return value


def _text(value: Any) -> str | None:
    return None if value is None else one_line(value)

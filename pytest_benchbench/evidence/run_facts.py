"""What a run says of itself that bears on what its scores may authorise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.opened_split import opening_of
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
        is_lazy: Whether artifacts were verified only as they were read; ``None`` where nobody knows.
        attempt: It is the n-th opening of its test split; ``None`` for a run that opened none, as far as is known.
        ledger: The name of the ledger that counts.
        manifests: Name and SHA-256 of each manifest.
    """

    lost: int | None
    left_out: int | None
    gaps: tuple[str, ...]
    select: tuple[str, ...]
    split: str | None
    is_lazy: bool | None
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
        options, opening = document.get("options", {}), opening_of(document)
        select = options.get("select") or []
        if not isinstance(select, list):
            raise RecordedRunError(f"{run.path}: options.select: expected an array")
        return cls(
            lost=run.planned.lost if run.planned else None,
            left_out=run.planned.left_out if run.planned else None,
            gaps=run.gaps,
            select=tuple(map(one_line, select)),
            split=_text(options.get("split")),
            is_lazy=options["verify"] == "lazy" if options else None,
            attempt=None if opening is None else opening.attempt,
            ledger=None if opening is None else one_line(opening.ledger),
            manifests=tuple((one_line(each["name"]), one_line(each["sha256"])) for each in document.get("manifests", ())),
        )


def _text(value: Any) -> str | None:
    return None if value is None else one_line(value)

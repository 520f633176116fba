"""What is wrong, or suspicious, about a dataset or a golden set: the rule, the rows and one line for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pytest_benchbench.manifests.faults import shown, shown_text

MAX_ROWS_NAMED = 5
"""Rows that a finding names; ``row_count`` says how many there are."""

MAX_KEPT_OF_RULE = 100
"""Findings of one rule that are kept; the rest is counted."""

Severity = Literal["error", "warning"]


class FoundRow(NamedTuple):
    """A row that a finding is about.

    Attributes:
        id: Its identity.
        line: Its line, 1 for the first.
        file: The manifest as the user named it.
    """

    id: str
    line: int
    file: str

    def __str__(self) -> str:
        return f"{shown(self.id)} ({shown_text(self.file)}:{self.line})"


class TextPlace(NamedTuple):
    """What stands where in a sample, told without the characters themselves.

    Attributes:
        field: The field of the sample, such as ``text``.
        offset: Number of the first character, 0 for the first of the field.
        kind: What stands there, such as ``email``.
    """

    field: str
    offset: int
    kind: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about a dataset or a golden set that somebody has to look at.

    Attributes:
        rule: Name of the rule, never to be given another meaning.
        severity: A dataset with an ``error`` must not be measured; a ``warning`` is for people to judge.
        rows: The rows, at most ``MAX_ROWS_NAMED``, by id: which ones are named does not depend on the order of rows. Empty
            when the finding is about the whole.
        row_count: How many rows it is about.
        message: What is wrong and what to do, without the rows and without a full stop.
        file: The manifest, or the manifests, of a finding without rows.
        place: Where in the only row, where it is about some characters of it.
    """

    rule: str
    severity: Severity
    rows: tuple[FoundRow, ...]
    message: str
    row_count: int
    file: str = ""
    place: TextPlace | None = None

    def __str__(self) -> str:
        place = f"{shown_text(self.rows[0].file)}:{self.rows[0].line}" if self.rows else shown_text(self.file)
        grade = "warning: " if self.severity == "warning" else ""
        named = ", ".join(str(row) for row in self.rows)
        if (more := self.row_count - len(self.rows)) > 0 and self.rows:
            named += f" and {more} more"
        return f"{place}: {grade}{self.rule}: {self.message}" + (f": {named}" if named else "")


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What one rule found.

    Attributes:
        rule: Its name.
        severity: Of its findings.
        kept: The first findings, at most ``MAX_KEPT_OF_RULE``, by what they are about.
        total: How many there are.
    """

    rule: str
    severity: Severity
    kept: tuple[Finding, ...]
    total: int


def has_errors(outcomes: Iterable[RuleOutcome]) -> bool:
    """Say whether a rule found an error."""
    return any(outcome.total and outcome.severity == "error" for outcome in outcomes)


def warned(rule: str, file: str, messages: Sequence[str]) -> RuleOutcome:
    """Give the warnings of a rule about the whole dataset."""
    kept = tuple(Finding(rule, "warning", (), message, 0, file) for message in messages[:MAX_KEPT_OF_RULE])
    return RuleOutcome(rule, "warning", kept, len(messages))

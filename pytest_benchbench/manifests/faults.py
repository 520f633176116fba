"""What is wrong with a manifest, one line for each fault."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

MAX_FAULTS_KEPT = 20
"""Faults that are shown; the rest is counted."""

MAX_SHOWN = 60
"""Characters of a value or key that a fault shows."""

MAX_TEXT_SHOWN = 300
"""Characters of a path or of a parser's message that a fault shows."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a manifest.

    Attributes:
        file: The file as the user named it.
        line: 1 for the first line; ``None`` when the fault is the file's.
        field: The field as it stands in the row, ``transform.parameters.quality`` for a nested one; ``None`` when the fault
            is the line's.
        message: What is wrong, without a full stop.
        case: What the fault is in, where a line does not tell: a sample of a golden set, by its id.
    """

    file: str
    line: int | None
    field: str | None
    message: str
    case: str | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(part for part in (place, self.case, self.field, self.message) if part is not None)


class ManifestError(Exception):
    """A manifest that must not be used.

    Args:
        faults: The first faults, in the order of the file.
        total: How many there are.
    """

    def __init__(self, faults: tuple[Fault, ...], total: int) -> None:
        super().__init__(faults, total)
        self.faults = faults
        self.total = total

    def __str__(self) -> str:
        lines = [str(fault) for fault in self.faults]
        if (more := self.total - len(self.faults)) > 0:
            lines.append(f"... and {more} more {'fault' if more == 1 else 'faults'}")
        return "\n".join(lines)


@dataclass(slots=True)
class FaultLog:
    """Keeps the first faults of one file and counts all.

    Attributes:
        file: The file as the user named it.
        kept: At most ``MAX_FAULTS_KEPT`` faults.
        total: How many were added.
    """

    file: str
    kept: list[Fault] = field(default_factory=list)
    total: int = 0

    def add(self, line: int | None, name: str | None, message: str, *, case: str | None = None) -> None:
        """Count a fault, and keep it if it is one of the first."""
        self.total += 1
        if len(self.kept) < MAX_FAULTS_KEPT:
            self.kept.append(Fault(self.file, line, name, message, case))

    def check(self) -> None:
        """End here if there was a fault.

        Raises:
            ManifestError: There was one.
        """
        if self.total:
            raise ManifestError(tuple(self.kept), self.total)


def refused(file: str, line: int | None, message: str) -> ManifestError:
    """Make the error of a single fault that is not about a field."""
    return ManifestError((Fault(file, line, None, message),), 1)


def schema_fault(error: Exception) -> str:
    """Turn msgspec's "Expected `str`, got `int` - at `$.rules[0].id`" into "rules[0].id: expected str, got int"."""
    field, reason = schema_fault_parts(error)
    return f"{field}: {reason}" if field else reason


def schema_fault_parts(error: Exception) -> tuple[str, str]:
    """Give the field, empty for the whole, and the reason of what ``schema_fault`` says."""
    matched = re.fullmatch(r"(?s)(.*) - at `\$\.?(.*)`", str(error))
    reason, field = (shown_text(part) for part in (matched.groups() if matched else (str(error), "")))
    return field, (reason[:1].lower() + reason[1:]).replace("`", "")


def shown(value: object) -> str:
    """Write a value from a file as one short printable line, whatever it holds."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return _shortened(repr(value) if isinstance(value, str) else json.dumps(value))


def shown_key(key: str) -> str:
    """Write a key from a file, quoted only where it is not plain."""
    return _shortened(key if key and key.isprintable() else repr(key))


def shown_text(text: str) -> str:
    """Write a path or a message that quotes a file as one printable line, unchanged where it is one and not very long.

    What a terminal would obey, line ends among it, is escaped: a file cannot forge lines of a report or colour them.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return _shortened(text, MAX_TEXT_SHOWN)


def _shortened(text: str, limit: int = MAX_SHOWN) -> str:
    return text if len(text) <= limit else f"{text[: limit - 3]}..."

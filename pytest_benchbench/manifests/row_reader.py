"""Reading one line as one row: quickly where nothing can be wrong, exactly where something may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from pytest_benchbench.manifests.field_types import MAX_ID_LENGTH
from pytest_benchbench.manifests.kinds import kind_of_members
from pytest_benchbench.manifests.rows import RowContext, RowKind, examine
from pytest_benchbench.manifests.strict_json import MalformedJsonError, Problem, parse_object


@dataclass(frozen=True, slots=True)
class Examined:
    """The outcome of the exact look at a line.

    Attributes:
        case: The row, if nothing is wrong with it.
        problems: What is wrong with it.
        malformed: Whether the line is no JSON object at all.
        case_id: Its identity, if it has one, whatever else is wrong.
    """

    case: Any
    problems: list[Problem]
    malformed: bool = False
    case_id: str | None = None


class RowReader:
    """Reads the rows of one kind.

    Args:
        kind: What the rows should be.
        context: What their rules need.
    """

    def __init__(self, kind: RowKind, context: RowContext) -> None:
        self._kind = kind
        self._context = context
        self._decode = msgspec.json.Decoder(kind.row).decode
        self._decode_plain = msgspec.json.Decoder().decode
        self._encode = msgspec.json.Encoder().encode
        self._sound_members = kind.sound_members

    def accept(self, line: bytes) -> Any | None:
        """Read a line in which surely nothing is wrong; ``None`` when ``examine`` must look.

        A parser takes the last of repeated keys in silence. Two things show that a line repeats none. Every member needs a
        colon: a line with no more colons than the row has members has no member besides. And a line that is written back
        byte for byte has every key once, as what was written from has.
        """
        try:
            case = self._decode(line)
            members = self._sound_members(case, self._context)
            if line.count(b":") <= members:
                return case
            if not members:
                return None
            written = self._encode(case)
            if written == line:
                return case
            compact = msgspec.json.format(line, indent=-1)
            if written == compact or self._encode(self._decode_plain(line)) == compact:
                return case
        except (msgspec.DecodeError, RecursionError):
            pass
        return None

    def examine(self, line: bytes) -> Examined:
        """Read a line and say everything that is wrong with it."""
        try:
            value, problems = parse_object(line)
        except MalformedJsonError as error:
            return Examined(None, [(None, str(error))], malformed=True)
        kind = kind_of_members(value)
        if kind not in (None, self._kind.name) and self._kind.id_field not in value:
            return Examined(None, [(None, f"a {kind} row in a {self._kind.name} manifest")])
        spoiled = frozenset(name.split(".")[0].split("[")[0] for name, _ in problems if name is not None)
        problems += examine(value, self._kind, self._context, spoiled=spoiled)
        found = value.get(self._kind.id_field)
        case_id = found if isinstance(found, str) and len(found) <= MAX_ID_LENGTH else None
        if problems:
            return Examined(None, problems, case_id=case_id)
        try:
            return Examined(self._decode(line), [], case_id=case_id)
        except msgspec.DecodeError as error:  # the two parsers disagree about what JSON is: then it is refused
            return Examined(None, [(None, str(error))], case_id=case_id)

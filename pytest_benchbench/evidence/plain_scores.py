"""Plain score rows: JSON Lines as the release contract shows them, read strictly and streamed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from pytest_benchbench.evidence.score_row import NAMES, ScoreRow, is_told, status_problem
from pytest_benchbench.evidence.score_source import ScoreSource
from pytest_benchbench.manifests.faults import FaultLog, shown_text
from pytest_benchbench.manifests.field_types import is_hex
from pytest_benchbench.manifests.lines import MAX_LINE_BYTES, Lines
from pytest_benchbench.manifests.reading import TOO_LONG
from pytest_benchbench.manifests.regular_files import open_regular
from pytest_benchbench.manifests.rows import check_fields
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object

_KEY = re.compile(rb'"[ \t\r]*:')


class PlainScores(ScoreSource):
    """A file of score rows."""

    @property
    def file(self) -> Path:
        """The file itself."""
        return self.path

    def _rows(self, log: FaultLog) -> Iterator[ScoreRow]:
        try:
            with open_regular(self.path) as file:
                lines = Lines(file)
                yield from _plain_rows(lines, log)
        except OSError as error:
            log.add(None, None, f"cannot be read: {error.strerror or error}")
            return
        if self.sha256 not in ("", lines.sha256):
            log.add(None, None, "was changed while it was read")
        self.sha256 = lines.sha256


def _plain_rows(lines: Lines, log: FaultLog) -> Iterator[ScoreRow]:
    decode = msgspec.json.Decoder(ScoreRow).decode
    as_tuple = msgspec.structs.astuple
    members = len(ScoreRow.__struct_fields__) - 1  # the line is never None
    known_digests: set[str] = set()
    for number, _, line in lines:
        if len(line) > MAX_LINE_BYTES:
            log.add(number, None, TOO_LONG)
            continue
        try:
            row = decode(line)
        except (ValueError, RecursionError):
            _say_what_is_wrong(line, number, log, is_cut=not lines.terminated)
            continue
        named = members - as_tuple(row).count(None)
        is_sound = row.id.isprintable() and is_told(row) and (line.count(b":") <= named or _repeats_nothing(line, named))
        for digest in (row.modelSha256, row.calibratorSha256):
            if digest is not None and digest not in known_digests:
                if is_hex(digest):
                    known_digests.add(digest)
                else:
                    is_sound = False
        if not is_sound and _say_what_is_wrong(line, number, log, is_cut=not lines.terminated):
            continue
        if row.status is None:
            row.status = "scored"
        if (problem := status_problem(row)) is not None:
            log.add(number, *problem)
            continue
        row.line, row.adapter = number, None
        yield row


def _repeats_nothing(line: bytes, named: int) -> bool:
    """Say whether surely no key stands twice in a line that was decoded: a parser takes the last of them in silence.

    Args:
        line: The line.
        named: How many known members it has.
    """
    keys = len(_KEY.findall(line))  # at least as many as there are, since a key may be quoted inside a text
    if keys <= named:
        return True
    try:
        return keys <= _members(msgspec.json.decode(line))
    except (ValueError, RecursionError):  # inside a field that is ignored
        return False


def _members(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_members, value.values()))
    return sum(map(_members, value)) if isinstance(value, list) else 0


def _say_what_is_wrong(line: bytes, number: int, log: FaultLog, *, is_cut: bool) -> bool:
    """Look at a line exactly, and say whether something is wrong with it."""
    before = log.total
    try:
        value, problems = parse_object(line)
    except MalformedJsonError as error:
        log.add(number, None, f"{'the last line is cut off: ' if is_cut else ''}{error}")
        return True
    spoiled = frozenset(name.split(".")[0].split("[")[0] for name, _ in problems if name is not None)
    known = {name: value[name] for name in NAMES if name in value}
    check_fields(known, ScoreRow, "", spoiled, problems)
    for name, message in problems:
        log.add(number, name, message)
    if log.total == before:
        try:
            msgspec.json.decode(line, type=ScoreRow)
        except (ValueError, RecursionError) as error:  # the two parsers disagree about what JSON is: then it is refused
            log.add(number, None, shown_text(str(error)))
    return log.total > before

"""One JSON object over many lines, read by the strict rules; the elements of one of its arrays come with their places."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_benchbench.manifests.faults import shown_key
from pytest_benchbench.manifests.lines import BYTE_ORDER_MARK
from pytest_benchbench.manifests.strict_json import MAX_DEPTH, Problem, parse_value

_SPACE = re.compile(r"[ \t\n\r]*+")


class MalformedDocumentError(Exception):
    """The bytes are no JSON object.

    Args:
        line: Where they stop being one, 1 for the first line.
        message: Why.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class Element:
    """A value of the document, and where it stands.

    Attributes:
        value: As plain JSON values; what is at fault in it is ``None``.
        problems: What is wrong inside it, by the rules of ``strict_json``.
        line: The line on which it begins, 1 for the first.
        begin: Its first byte in the document.
        end: The byte behind it.
    """

    value: Any
    problems: list[Problem]
    line: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A parsed document.

    Attributes:
        line: The line on which the object begins.
        members: Its members; of one that stands twice the first.
        elements: Those of the array that was asked for; ``None`` where no array of this name is a member.
        repeated: Names that stand twice, with the line of the later one.
    """

    line: int
    members: dict[str, Element]
    elements: list[Element] | None
    repeated: list[tuple[str, int]]


def parse_document(data: bytes, array: str) -> JsonDocument:
    """Parse a whole file that must be one JSON object.

    Args:
        data: UTF-8 with or without byte-order mark.
        array: The member whose elements are given one by one; its value is not among ``members`` where it is an array.

    Raises:
        MalformedDocumentError: It is not UTF-8, not JSON, or not an object.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, begin = data.count(b"\n", 0, error.start) + 1, data.rfind(b"\n", 0, error.start) + 1
        raise MalformedDocumentError(line, f"not UTF-8 at byte {error.start - begin + 1} of the line") from None
    try:
        return _Parser(text, array).parse(1 if data.startswith(BYTE_ORDER_MARK) else 0)
    except json.JSONDecodeError as error:
        raise MalformedDocumentError(error.lineno, f"not JSON at column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise MalformedDocumentError(1, f"nested deeper than {MAX_DEPTH} levels") from None


class _Parser:
    """Parses one text, and counts lines and bytes as it goes.

    Args:
        text: The document.
        array: The member whose elements are wanted.
    """

    def __init__(self, text: str, array: str) -> None:
        self._text = text
        self._array = array
        self._is_ascii = text.isascii()
        self._at, self._line, self._byte = 0, 1, 0
        self._end = 0

    def parse(self, begin: int) -> JsonDocument:
        at = self._space(begin)
        line, _ = self._place(at)
        members: dict[str, Element] = {}
        elements: list[Element] | None = None
        repeated: list[tuple[str, int]] = []
        for key, value_at in self._members(at):
            is_array = key == self._array and self._text.startswith("[", value_at)
            place = self._place(value_at)
            if key in members or (key == self._array and elements is not None):
                repeated.append((key, place[0]))
                self._element(value_at, shown_key(key))
            elif is_array:
                elements = list(self._elements(value_at))
            else:
                members[key] = self._element(value_at, shown_key(key))
        return JsonDocument(line, members, elements, repeated)

    def _members(self, at: int) -> Iterator[tuple[str, int]]:
        """Yield each name with the place of its value, which must be parsed before the next is asked for."""
        at = self._space(self._expect("{", at))
        if self._text.startswith("}", at):
            return self._finish(at + 1)
        while True:
            if not self._text.startswith('"', at):
                raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self._text, at)
            key, problems, end = parse_value(self._text, at, None)
            if problems:
                raise json.JSONDecodeError("Half of a surrogate pair in a name", self._text, at)
            yield key, self._space(self._expect(":", self._space(end)))
            at = self._space(self._end)
            if self._text.startswith("}", at):
                return self._finish(at + 1)
            at = self._space(self._expect(",", at))

    def _elements(self, at: int) -> Iterator[Element]:
        at = self._space(at + 1)
        if self._text.startswith("]", at):
            self._end = at + 1
            return
        while True:
            yield self._element(at, None)
            at = self._space(self._end)
            if self._text.startswith("]", at):
                self._end = at + 1
                return
            at = self._space(self._expect(",", at))

    def _element(self, at: int, place: str | None) -> Element:
        line, begin = self._place(at)
        value, problems, self._end = parse_value(self._text, at, place)
        _, end = self._place(self._end)
        return Element(value, problems, line, begin, end)

    def _finish(self, at: int) -> None:
        if (at := self._space(at)) != len(self._text):
            raise json.JSONDecodeError("Extra data", self._text, at)

    def _expect(self, character: str, at: int) -> int:
        if not self._text.startswith(character, at):
            raise json.JSONDecodeError(f"Expecting {character!r}", self._text, at)
        return at + 1

    def _space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        assert match is not None
        return match.end()

    def _place(self, at: int) -> tuple[int, int]:
        """Give the line and the byte of a character; asked about characters in the order of the text."""
        self._line += self._text.count("\n", self._at, at)
        self._byte += at - self._at if self._is_ascii else len(self._text[self._at : at].encode())
        self._at = at
        return self._line, self._byte

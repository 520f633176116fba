"""The slow, exact look at one line of JSON: everything a lenient parser would let pass, with the place where it stands."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from pytest_benchbench.manifests.faults import shown, shown_key

MAX_DEPTH = 64
"""Objects and arrays inside one another; evidence repeats the row one level deeper, and must be readable everywhere."""

Problem = tuple[str | None, str]
"""The field and what is wrong with it; no field when it is the whole line."""


class MalformedJsonError(Exception):
    """The line is no JSON object; the message says where it stops being one."""


@dataclass(frozen=True, slots=True)
class _Refused:
    """Stands in the parsed value for something that JSON does not have, until its place is known."""

    message: str


class _Members(list[tuple[str, Any]]):
    """An object as it was written: every member, repeated keys too."""


def parse_object(line: bytes) -> tuple[dict[str, Any], list[Problem]]:
    """Parse a line that must be one JSON object.

    Args:
        line: UTF-8, without byte-order mark and line end.

    Returns:
        The object, and what is wrong inside it: repeated keys, numbers that are none, texts that cannot be encoded, levels
        beyond ``MAX_DEPTH``. What is at fault is ``None`` in the object.

    Raises:
        MalformedJsonError: The line is not UTF-8, not JSON, or not an object.
    """
    if not line.strip(b" \t\r"):
        raise MalformedJsonError("blank line")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedJsonError(f"not UTF-8 at byte {error.start + 1} of the line") from None
    if text.startswith("\ufeff"):
        raise MalformedJsonError("a byte-order mark may stand only at the beginning of the file")
    try:
        members = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise MalformedJsonError(f"not JSON at column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise MalformedJsonError(f"nested deeper than {MAX_DEPTH} levels") from None
    if not isinstance(members, _Members):
        raise MalformedJsonError(f"expected a JSON object, got {_plain(members)}")
    problems: list[Problem] = []
    return _settle(members, None, 1, problems), problems


def parse_value(text: str, at: int, place: str | None) -> tuple[Any, list[Problem], int]:
    """Parse the value that begins at a character of a longer text, by the same rules as ``parse_object``.

    Args:
        text: JSON, decoded.
        at: Where the value begins.
        place: What stands before the places of problems inside it.

    Returns:
        The value, what is wrong inside it, and the character behind it.

    Raises:
        json.JSONDecodeError: There is no JSON value.
        RecursionError: It is nested too deep to be looked at.
    """
    value, end = _DECODER.raw_decode(text, at)
    problems: list[Problem] = []
    return _settle(value, place, 1, problems), problems, end


def too_deep(value: Any, levels: int) -> bool:
    """Say whether a parsed value holds objects or arrays more than ``levels`` deep, itself being the first."""
    if not isinstance(value, (dict, list)):
        return False
    if levels == 0:
        return True
    return any(too_deep(inner, levels - 1) for inner in (value.values() if isinstance(value, dict) else value))


def _settle(value: Any, place: str | None, depth: int, problems: list[Problem]) -> Any:
    """Turn what was parsed into plain values, and note what is wrong with where it stands."""
    if isinstance(value, _Refused):
        problems.append((place, value.message))
        return None
    if isinstance(value, str):
        if _has_lone_surrogate(value):
            problems.append((place, "half of a surrogate pair: the text cannot be encoded"))
            return None
        return value
    if not isinstance(value, list):
        return value
    if depth > MAX_DEPTH:
        problems.append((place, f"nested deeper than {MAX_DEPTH} levels"))
        return None
    if not isinstance(value, _Members):
        return [_settle(inner, f"{place}[{index}]", depth + 1, problems) for index, inner in enumerate(value)]
    settled: dict[str, Any] = {}
    for key, inner in value:
        inside = shown_key(key) if place is None else f"{place}.{shown_key(key)}"
        if _has_lone_surrogate(key):
            problems.append((inside, "half of a surrogate pair: the key cannot be encoded"))
        elif key in settled:
            problems.append((inside, "this key stands twice"))
        else:
            settled[key] = _settle(inner, inside, depth + 1, problems)
    return settled


def _has_lone_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def _plain(value: Any) -> str:
    return f"{value.message}" if isinstance(value, _Refused) else shown(value)


def _float(text: str) -> float | _Refused:
    number = float(text)
    return number if math.isfinite(number) else _Refused(f"{text[:20]} is beyond the range of numbers")


def _int(text: str) -> int | _Refused:
    try:
        return int(text)
    except ValueError:  # Python bounds the digits, because the conversion is quadratic
        return _Refused(f"a number of {len(text)} digits")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Members,
    parse_float=_float,
    parse_int=_int,
    parse_constant=lambda name: _Refused(f"{name} is no JSON number"),
)

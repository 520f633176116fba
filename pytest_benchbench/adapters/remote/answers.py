"""Reads vendors' answers: strict where the score comes from, and of the rest only numbers and short names of classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pytest_benchbench.adapters.remote.discretion import Discretion
from pytest_benchbench.adapters.remote.errors import UnreadableAnswer
from pytest_benchbench.adapters.remote.wire import Reply
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object

MAX_KEPT_BYTES = 2048
"""Of one member of an answer, as JSON: more is no handful of numbers."""

MAX_CREDITS = 1_000_000
"""Of one call."""

MAX_KEYS_SHOWN = 12

MAX_KEYS_CHARACTERS = 320
"""Of the names that a message shows, so that its beginning is not cut off in the evidence."""

LEAST_WORDS = 3
"""So many names that are words of the text are no names of an answer's shape. One or two may be by chance."""

_CLASS = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}", re.ASCII)
_KEY = re.compile(r"[A-Za-z_.][A-Za-z0-9_.-]{0,39}", re.ASCII)
_MESSAGE_PLACES = (
    ("error",),
    ("error", "message"),
    ("message",),
    ("detail",),
    ("ErrorMessage",),
    ("errorMessage",),
    ("Message",),
    ("title",),
)
_EXACT = 2**53
"""Whole numbers below it are read back by everyone as they are."""

_ROUNDING = 1e-6
"""By so much a sum of probabilities may pass 1."""


def parse(reply: Reply, discretion: Discretion, text: str) -> dict[str, Any]:
    """Parse a successful answer as strict JSON: no name twice, no NaN, no endless nesting.

    Args:
        reply: The answer.
        discretion: What may be repeated of it.
        text: The sample, which messages must not repeat.

    Raises:
        UnreadableAnswer: It is something else; its first fault is named.
    """
    kind = reply.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise UnreadableAnswer(f"the answer is {discretion.repeated(kind, text) or 'of no type'}, not application/json")
    if reply.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnreadableAnswer("the answer is compressed, which was not asked for")
    try:
        document, problems = parse_object(reply.body)
    except MalformedJsonError as error:
        raise UnreadableAnswer(f"the answer: {discretion.repeated(str(error), text)}") from None
    if problems:
        place, message = problems[0]
        where = "" if place is None else f", at {discretion.repeated(place, text)}"
        raise UnreadableAnswer(f"the answer: {discretion.repeated(message, text)}{where}")
    return document


def vendor_message(reply: Reply, discretion: Discretion, text: str) -> str:
    """Give the vendor's own words about a refusal, as far as they can be repeated; else what kind of answer it is.

    No vendor documents the shape of its errors: the usual names are looked for.
    """
    kind = reply.headers.get("content-type", "").split(";")[0].strip().lower()
    if not kind.endswith("json"):
        return f"({discretion.repeated(kind, text)})" if kind else ""
    try:
        document, _ = parse_object(reply.body)
    except MalformedJsonError:
        return "(broken JSON)"
    found = (inner(document, *path) for path in _MESSAGE_PLACES)
    return next((discretion.repeated(said, text) for said in found if isinstance(said, str) and said.strip()), "")


def keys_seen(value: Any, discretion: Discretion, text: str) -> str:
    """Name the keys of an object, and of the objects in it: enough to see its shape, and nothing of what it holds."""
    names: list[str] = []
    inner_names: list[str] = []
    for name, inner in value.items() if isinstance(value, Mapping) else ():
        names.append(_shown_key(name))
        if isinstance(inner, list) and inner:
            inner = inner[0]
        if isinstance(inner, Mapping):
            inner_names.extend(f"{_shown_key(name)}.{_shown_key(key)}" for key in inner)
    every = [*_unless_words(sorted(names), text), *_unless_words(sorted(inner_names), text)]
    more = len(every) - MAX_KEYS_SHOWN
    shown = ", ".join(every[:MAX_KEYS_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return f"keys seen: {discretion.repeated(shown, text, most=MAX_KEYS_CHARACTERS) if every else 'none'}"


def inner(value: Any, *path: str) -> Any:
    """Follow names into objects; ``None`` where one is not there."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def fraction(value: Any, place: str) -> float:
    """Take a number in [0, 1].

    Raises:
        UnreadableAnswer: It is something else. A number is shown, so that another scale is recognised.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UnreadableAnswer(f"{place}: expected a number in [0, 1], got {_kind(value)}")
    if not 0 <= value <= 1:
        shown = f"{value!r}" if abs(value) < _EXACT else "a giant one"
        raise UnreadableAnswer(f"{place}: expected a number in [0, 1], got {shown}")
    return float(value) + 0.0  # no negative zero


def canonical(probability: float, place: str) -> float:
    """Put a probability on the scale from 0 to 100.

    Args:
        probability: 0 or more.
        place: What it is made of, for the message.

    Raises:
        UnreadableAnswer: It is more than 1 by more than rounding explains.
    """
    if probability > 1.0 + _ROUNDING:
        raise UnreadableAnswer(f"{place}: {probability:g} is more than 1")
    return 100.0 * min(probability, 1.0)


def name(value: Any, place: str) -> str:
    """Take a short name of a model or a version.

    Raises:
        UnreadableAnswer: It is something else.
    """
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise UnreadableAnswer(f"{place}: expected a short name, got {_kind(value)}")
    return value


def billed_credits(value: Any) -> int | None:
    """Give the credits that a vendor says it billed for one call; ``None`` where that is no number that could be one."""
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 <= value <= MAX_CREDITS else None


def optional_name(value: Any) -> str | None:
    """Give a short name, such as an id, or ``None`` for anything else."""
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None


def kept(value: Any, names: Iterable[str]) -> dict[str, Any]:
    """Keep what is known by name and is a finite number, the name of a class, or an object of these.

    Args:
        value: An object of an answer.
        names: What is kept of it.

    Returns:
        Plain JSON without any text that could be the sample's.
    """
    found = {}
    for key in names:
        plain = _plain(inner(value, key), levels=3)
        if plain is not None and len(msgspec.json.encode(plain)) <= MAX_KEPT_BYTES:
            found[key] = plain
    return found


def _plain(value: Any, levels: int) -> Any:
    if isinstance(value, (bool, int, float)):
        return value if isinstance(value, float) or abs(value) < _EXACT else None  # the parser let no NaN pass
    if isinstance(value, str):
        return value if _CLASS.fullmatch(value) else None
    if isinstance(value, Mapping) and levels and len(value) <= 16:
        members = {key: _plain(member, levels - 1) for key, member in value.items() if _KEY.fullmatch(key)}
        return {key: member for key, member in members.items() if member is not None} or None
    return None


def _unless_words(names: list[str], text: str) -> list[str]:
    """Count the names in place of showing them where so many are words of the text that they tell what it is about."""
    words = set(re.findall(r"\w+", text.lower()))
    known = [name for name in names if name.rpartition(".")[2].lower() in words]
    if len(known) < LEAST_WORDS:
        return names
    return [*(name for name in names if name not in known), f"({len(known)} words of the text)"]


def _shown_key(key: str) -> str:
    return key if _KEY.fullmatch(key) else "(no plain name)"


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    kinds = {bool: "a truth value", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return kinds.get(type(value), type(value).__name__)

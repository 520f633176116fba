"""Field types that every kind of row shares.

The patterns are for the published JSON Schema alone: a regular expression inside msgspec costs more than the rest of the
decoding. The functions here check the same on a decoded row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta

from pytest_benchbench.manifests.faults import shown

HEX_DIGITS = b"0123456789abcdef"

MAX_ID_LENGTH = 200

CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""Unicode category Cc."""

Digest = Annotated[
    str,
    Meta(
        min_length=64, max_length=64, extra_json_schema={"pattern": "^[0-9a-f]{64}$", "examples": ["0123456789abcdef" * 4]}
    ),
]
"""SHA-256 in lower-case hex."""

Identifier = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_ID_LENGTH,
        extra_json_schema={"not": {"pattern": r"[\u0000-\u001f\u007f-\u009f]"}},
    ),
]
"""Any text of 1 to 200 characters without control characters."""

FilePath = Annotated[
    str, Meta(min_length=1, extra_json_schema={"pattern": r"^(?!/)(?!\.\.(?:/|(?![\s\S])))", "not": {"pattern": r"\u0000"}})
]
"""A relative path with ``/`` between its parts."""

Text = Annotated[str, Meta(min_length=1, extra_json_schema={"pattern": r"\S"})]
"""A text that says something: one of its characters can be seen, see ``says_something``."""

Integer64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer that every JSON reader and every random generator can take."""


def described(description: str, expected: str, **extra: Any) -> Meta:
    """Describe a field for the schema, and say for faults what it should have been.

    Args:
        description: For the JSON Schema.
        expected: Completes "expected ...".
        extra: ``holds`` and ``bare``, see ``rows``.
    """
    return Meta(description=description, extra={"expected": expected, **extra})


def digest_field(description: str, *, nullable: bool = False) -> Meta:
    """Describe a field of type ``Digest``."""
    or_null = " or null" if nullable else ""
    return described(description, f"64 lower-case hex digits{or_null}", holds=is_hex, bare=True)


def identifier_field(description: str) -> Meta:
    """Describe a field of type ``Identifier``."""
    expected = f"a text of 1 to {MAX_ID_LENGTH} characters without control characters"
    return described(description, expected, holds=is_free_of_control)


def text_field(description: str, *, nullable: bool = False) -> Meta:
    """Describe a field of type ``Text``."""
    return described(description, "a text that is not blank" + (", or null" if nullable else ""), holds=says_something)


def choice_field(description: str, choices: Any, *, nullable: bool = False) -> Meta:
    """Describe a field that is one of a few texts, given as their ``Literal``."""
    *others, last = [*get_args(choices), "null"] if nullable else get_args(choices)
    return described(description, f"{', '.join(others)} or {last}")


def path_field(description: str, *, nullable: bool = False) -> Meta:
    """Describe a field of type ``FilePath``; whether it may leave the manifest's directory, the row's rules decide."""
    expected = "a path without NUL that is not empty" + (", or null" if nullable else "")
    return described(description, expected, holds=is_free_of_nul)


def is_hex(text: str) -> bool:
    """Say whether a text consists of lower-case hex digits."""
    return not text.encode().translate(None, HEX_DIGITS)  # a third of the time of a regular expression


def is_free_of_control(text: str) -> bool:
    """Say whether no character is a control character (Unicode category Cc)."""
    return text.isprintable() or CONTROL_CHARACTERS.search(text) is None


def says_something(text: str) -> bool:
    """Say whether any character can be seen: neither white space alone nor characters without a shape name anything."""
    return (text.isprintable() and text != "" and not text.isspace()) or any(
        character.isprintable() and not character.isspace() for character in text
    )


def all_say_something(texts: Iterable[str | None]) -> bool:
    """Say whether each of the texts that are there says something; see ``says_something``."""
    told = list(filter(None, texts))
    # most rows are plain: the only white space that can be printed is a space, so what is left of each text can be seen
    return ("".join(told).isprintable() and all(map(str.strip, told))) or all(map(says_something, told))


def is_free_of_nul(text: str) -> bool:
    """Say whether the operating system can take the text as a path."""
    return "\0" not in text


def surely_allowed(path: str, outside_allowed: bool) -> bool:
    """Look quickly: true means that ``path_problem`` and the field's own check find nothing, false that they may."""
    return "\0" not in path and (outside_allowed or (path[0] != "/" and ".." not in path))


def path_problem(path: str, *, outside_allowed: bool) -> str | None:
    """Say why a path does not stay in the manifest's directory, by its text alone; symbolic links are checked elsewhere.

    Returns:
        What is wrong with it, or ``None``.
    """
    if outside_allowed:
        return None
    if path.startswith("/"):
        return f"absolute path {shown(path)}: paths are relative to the manifest's directory"
    depth = 0
    for part in path.split("/"):
        depth += {"": 0, ".": 0, "..": -1}.get(part, 1)
        if depth < 0:
            return f"{shown(path)} leaves the manifest's directory"
    return None


def schema_document(row: type[msgspec.Struct], title: str) -> dict[str, Any]:
    """Make the JSON Schema (2020-12) of one row; rules over several fields are the caller's to add."""
    schema = msgspec.json.schema(row)
    name = row.__name__
    root: dict[str, Any] = schema["$defs"].pop(name)
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **root, "title": title}
    if schema["$defs"]:
        document["$defs"] = schema["$defs"]
    return document

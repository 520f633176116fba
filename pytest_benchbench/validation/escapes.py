"""Texts inside strings of JSON, YAML or source code, read without knowing which: backslash escapes become what they mean."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([nrtbfv0\"'\\/ ]))")

_SIMPLE = {"n": " ", "r": " ", "t": "\t", "b": " ", "f": " ", "v": " ", "0": " "}

_LARGEST = 0x10FFFF


def without_escapes(text: str) -> str:
    """Replace escapes as JSON, YAML and most languages have them.

    Line breaks become spaces, so that a line stays a line, whatever it holds. A backslash that begins no escape stays.
    """
    if "\\" not in text:
        return text
    replaced = _ESCAPE.sub(_meaning, text)
    if any("\ud800" <= character <= "\udfff" for character in replaced):
        return replaced.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # pairs become one character
    return replaced


def _meaning(match: re.Match[str]) -> str:
    simple = match[4]
    if simple is not None:
        return _SIMPLE.get(simple, simple)
    code = int(match[1] or match[2] or match[3], 16)
    return chr(code) if code <= _LARGEST and code != 0x0A else " "

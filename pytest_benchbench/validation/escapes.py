"""Texts inside strings of JSON, YAML or source code, read without knowing which: backslash escapes become what they mean."""

from __future__ import annotations

import re

import numpy as np

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([nrtbfv0\"'\\/ ]))")

_SIMPLE = {"n": " ", "r": " ", "t": "\t", "b": " ", "f": " ", "v": " ", "0": " "}

_STAND_IN = "\0"
"""Two backslashes while the others are replaced."""

_NO_ESCAPE = -1
_MEANINGS = np.full(256, _NO_ESCAPE, np.int16)
for _sign in "nrtbfv0\"'/ ":
    _MEANINGS[ord(_sign)] = ord(_SIMPLE.get(_sign, _sign))
_MEANINGS[ord("\\")] = ord(_STAND_IN)

_STANDS_IN = (_STAND_IN, "\\x00", "\\u0000", "\\U00000000")
"""How a text can have it itself."""

_SURROGATE = re.compile("[\ud800-\udfff]")

_LARGEST = 0x10FFFF


def without_escapes(text: str) -> str:
    """Replace escapes as JSON, YAML and most languages have them.

    Line breaks become spaces, so that a line stays a line, whatever it holds. A backslash that begins no escape stays.
    """
    if "\\" not in text:
        return text
    replaced = _ESCAPE.sub(_meaning, text) if any(spelt in text for spelt in _STANDS_IN) else _replaced(text)
    if _SURROGATE.search(replaced):
        return replaced.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # pairs become one character
    return replaced


def _replaced(text: str) -> str:
    """Do what the pattern does: by whole arrays, but for numbers of characters, which are few in most texts.

    While two backslashes are something else, every backslash that is left begins a number, or no escape.
    """
    written = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    backslashes = np.flatnonzero(written == ord("\\"))
    order = np.arange(len(backslashes))
    follows = np.concatenate([[False], backslashes[1:] == backslashes[:-1] + 1])
    in_run = order - np.maximum.accumulate(np.where(follows, 0, order))
    begins = backslashes[in_run % 2 == 0]  # the second of two is what the first one means
    begins = begins[begins + 1 < len(written)]
    meanings = _MEANINGS[written[begins + 1]]
    begins, meanings = begins[meanings != _NO_ESCAPE], meanings[meanings != _NO_ESCAPE]
    replaced, kept = written.copy(), np.ones(len(written), np.bool_)
    replaced[begins + 1] = meanings
    kept[begins] = False
    text = replaced[kept].tobytes().decode("utf-8", "surrogatepass")
    if any(f"\\{sign}" in text for sign in "uUx"):
        text = _ESCAPE.sub(_meaning, text)
    return text.replace(_STAND_IN, "\\")


def _meaning(match: re.Match[str]) -> str:
    simple = match[4]
    if simple is not None:
        return _SIMPLE.get(simple, simple)
    code = int(match[1] or match[2] or match[3], 16)
    return chr(code) if code <= _LARGEST and code != 0x0A else " "

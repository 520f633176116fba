"""Finds pieces of a text in what somebody else wrote, whatever stands between the letters and however they are escaped."""

from __future__ import annotations

import base64
import html
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

QUOTED_LETTERS = 16
"""So many letters and digits in a row that also stand in a text are a piece of it. Of a shorter text, all of it."""

_ESCAPED = re.compile(
    r"(?:%(?:25)*[0-9A-Fa-f]{2})+"  # of URLs, escaped once more or not
    r"|(?:\\+x[0-9A-Fa-f]{2})+|(?:\\+u[0-9A-Fa-f]{4})+|\\+U[0-9A-Fa-f]{8}|\\+[abfnrtv]"  # of Python and JSON
    r"|&(?:amp;)*#(?:[0-9]{1,7}|[xX][0-9A-Fa-f]{1,6});|&(?:amp;)*[A-Za-z]{2,8};"  # of HTML
)
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{22,}")
"""What may be base64 or hex of a piece."""

_LEAST_DECODED = 8
"""Letters of a piece that is looked for in what may be base64: chance makes shorter ones."""

_HEX_PAIR = re.compile(r"(?:%(?:25)*|x)([0-9A-Fa-f]{2})")


class Quotations:
    """Finds pieces of some texts in foreign ones.

    Letters and digits alone are compared, case aside: words may be separated, cut and set in lines otherwise than in the
    text, and be escaped as URLs, JSON, Python or HTML do it, or encoded in base64 or hex.

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)

    def spans(self, foreign: str) -> list[tuple[int, int]]:
        """Say where a foreign text repeats one of the texts.

        Returns:
            Begin and end of each piece, in characters of the foreign text; they may overlap.
        """
        found: list[tuple[int, int]] = []
        readings = [_letters(foreign, _plain(foreign))]
        if _ESCAPED.search(foreign):
            readings.append(_letters(foreign, _unescaped(foreign)))
        for letters, places in readings:
            for size, pieces in self._pieces.items():
                found.extend(
                    (places[begin][0], places[begin + size - 1][1])
                    for begin in range(len(letters) - size + 1)
                    if letters[begin : begin + size] in pieces
                )
        for encoded in _ENCODED.finditer(foreign):
            decoded = ["".join(_folded(text)) for text in _decodings(encoded[0])]
            if any(
                letters[begin : begin + size] in pieces
                for size, pieces in self._pieces.items()
                if size >= _LEAST_DECODED
                for letters in decoded
                for begin in range(len(letters) - size + 1)
            ):
                found.append(encoded.span())
        return found

    @cached_property
    def _pieces(self) -> dict[int, set[str]]:
        pieces: defaultdict[int, set[str]] = defaultdict(set)
        for text in self._texts:
            letters = "".join(_folded(text))
            if size := min(QUOTED_LETTERS, len(letters)):
                pieces[size].update(letters[begin : begin + size] for begin in range(len(letters) - size + 1))
        return dict(pieces)


def _folded(text: str) -> Iterator[str]:
    return (letter for letter in text.casefold() if letter.isalnum())


def _letters(foreign: str, parts: Iterable[tuple[int, int, str]]) -> tuple[str, list[tuple[int, int]]]:
    """Give the letters of a text, and for each of them from where to where it is written there."""
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    for begin, end, part in parts:
        for letter in _folded(part):
            letters.append(letter)
            places.append((begin, end))
    return "".join(letters), places


def _plain(foreign: str) -> Iterator[tuple[int, int, str]]:
    return ((place, place + 1, character) for place, character in enumerate(foreign))


def _unescaped(foreign: str) -> Iterator[tuple[int, int, str]]:
    at = 0
    for escaped in _ESCAPED.finditer(foreign):
        yield from ((place, place + 1, foreign[place]) for place in range(at, escaped.start()))
        yield escaped.start(), escaped.end(), _decoded(escaped[0])
        at = escaped.end()
    yield from ((place, place + 1, foreign[place]) for place in range(at, len(foreign)))


def _decodings(run: str) -> Iterator[str]:
    """Give what a run of characters stands for if it is hex, or base64 that was cut out at any place."""
    if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", run):
        yield bytes.fromhex(run).decode("utf-8", "ignore")
    plain = run.translate({ord("-"): "+", ord("_"): "/"})
    for begin in range(4):
        whole = plain[begin:]
        yield base64.b64decode(whole[: len(whole) // 4 * 4]).decode("utf-8", "ignore")


def _decoded(escaped: str) -> str:
    """Give what an escape stands for; nothing for one that stands for no character."""
    if escaped[0] == "&":
        return html.unescape("&" + escaped[1:].replace("amp;", ""))
    if escaped[0] == "\\":
        match (codes := escaped.replace("\\", ""))[0]:
            case "u":
                return bytes.fromhex(codes.replace("u", "")).decode("utf-16-be", "ignore")
            case "U":
                return chr(code) if (code := int(codes[1:], 16)) <= 0x10FFFF else ""
            case "x":
                pass
            case _:
                return ""
    data = bytes.fromhex("".join(_HEX_PAIR.findall(escaped)))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")

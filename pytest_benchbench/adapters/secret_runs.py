"""Parts of secrets in texts, without their beginning or their end: vendors show what they like of a key.

A part is found in any writing: both the secrets and the text are brought to one, in which all stretches of some length are
compared.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

LONGEST_UNKNOWN = 16
"""A part of so many characters is recognised of every secret: more than most words and beginnings of addresses have."""

LEAST_WHOLE_CHARACTERS = 16
"""Of a shorter secret no part is told from ordinary words."""

LEAST_END = 4
"""So many characters are shown of keys where the others are left out."""

_ESCAPES = re.compile(
    r"(?P<bytes>(?:%(?:25)*[89a-f][0-9a-f])+|(?:\\+x[89a-f][0-9a-f])+)"
    r"|%(?:25)*(?P<url>[0-7][0-9a-f])"
    r"|\\+(?:x(?P<python>[0-7][0-9a-f])|(?P<pair>ud[89ab][0-9a-f]{2}\\+ud[c-f][0-9a-f]{2})"
    r"|u(?P<unit>[0-9a-f]{4})|(?P<bare>[^\\]|$))"
    r"|&(?:amp;)*(?P<entity>#[0-9]{1,9}|#x[0-9a-f]{1,8}|lt|gt|quot|apos);"
    r"|&(?P<ampersand>(?:amp;)+)",
    re.IGNORECASE | re.DOTALL,
)
_MARK = re.compile(r"…|\.{3,}|\*{3,}|•+")
_CONTROLS = str.maketrans("\n\r\t\b\f", "nrtbf")
"""Of an escaped control character the letter stays."""


def least_run(secret: str) -> int | None:
    """Say from how many characters on a part of a secret is cut out; ``None`` where the secret is too short for that."""
    return min(LONGEST_UNKNOWN, len(secret) // 2) if len(secret) >= LEAST_WHOLE_CHARACTERS else None


class SecretRuns:
    """Parts of secrets.

    Args:
        secrets: With each what it looks like where it is encoded as a whole: in hex, in base64.
    """

    def __init__(self, secrets: Mapping[str, Iterable[str]]) -> None:
        self._secrets = sorted(secrets, key=len, reverse=True)
        self._runs: dict[int, set[str]] = defaultdict(set)
        for secret, encoded in secrets.items():
            if (least := least_run(secret)) is not None:
                for written in (secret, *encoded):
                    for form in (_folded(written), _plain(written)[0]):
                        self._runs[least].update(form[at : at + least] for at in range(len(form) - least + 1))
        self._probes = [
            (least // 2, least - least // 2 + 1, _stretches(runs, least // 2)) for least, runs in self._runs.items()
        ]

    def may_occur_in(self, text: str) -> bool:
        """Look quickly whether a text can hold a part of a secret."""
        if _MARK.search(text):
            return True
        return self._may_hold(_folded(text)) or (_ESCAPES.search(text) is not None and self._may_hold(_plain(text)[0]))

    def _may_hold(self, folded: str) -> bool:
        # a run has so many places for a stretch of half its length that one of them is looked at
        return any(
            folded[at : at + length] in stretches
            for length, step, stretches in self._probes
            for at in range(0, len(folded) - length + 1, step)
        )

    def mask(self, text: str, hidden: str) -> str:
        """Cut parts of secrets out of a text."""
        spans = []
        if self._may_hold(folded := _folded(text)):
            spans += [(at, at + length) for at, length in self._found(folded)]
        if _ESCAPES.search(text):
            plain, places = _plain(text)
            if self._may_hold(plain):
                spans += [(places[at][0], places[at + length - 1][1]) for at, length in self._found(plain)]
        if spans:
            text = _without(text, spans, hidden)
        return self._without_ends(text, hidden)

    def _found(self, folded: str) -> Iterator[tuple[int, int]]:
        for least, runs in self._runs.items():
            for at in range(len(folded) - least + 1):
                if folded[at : at + least] in runs:
                    yield at, least

    def _without_ends(self, text: str, hidden: str) -> str:
        """Cut out the last and first characters of a secret next to a mark that says that the others were left out."""
        spans = []
        for mark in _MARK.finditer(text):
            spans += [span for span in (self._first(text, mark.start()), self._last(text, mark.end())) if span]
        return _without(text, spans, hidden) if spans else text

    def _first(self, text: str, end: int) -> tuple[int, int] | None:
        for secret in self._secrets:
            for length in range(min(len(secret) - 1, LONGEST_UNKNOWN), LEAST_END - 1, -1):
                start = end - length
                if text.endswith(secret[:length], 0, end) and not (start > 0 and text[start - 1].isalnum()):
                    return start, end
        return None

    def _last(self, text: str, start: int) -> tuple[int, int] | None:
        for secret in self._secrets:
            for length in range(min(len(secret) - 1, LONGEST_UNKNOWN), LEAST_END - 1, -1):
                if text.startswith(secret[-length:], start) and not text[start + length : start + length + 1].isalnum():
                    return start, start + length
        return None


def _stretches(runs: Iterable[str], length: int) -> frozenset[str]:
    return frozenset(run[at : at + length] for run in runs for at in range(len(run) - length + 1))


def _folded(text: str) -> str:
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join(lower if len(lower := character.lower()) == 1 else character for character in text)


def _plain(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Undo all escapes and cases, and say of each character where it stands in the text."""
    characters: list[str] = []
    spans: list[tuple[int, int]] = []
    end = 0

    for match in _ESCAPES.finditer(text):
        characters += text[end : match.start()]
        spans += [(at, at + 1) for at in range(end, match.start())]
        meant = _meant(match)
        characters += meant
        spans += [match.span()] * len(meant)
        end = match.end()
    characters += text[end:]
    spans += [(at, at + 1) for at in range(end, len(text))]
    return _folded("".join(characters).translate(_CONTROLS)), spans


def _meant(match: re.Match[str]) -> str:
    said = match[0]
    if match["bytes"]:
        pairs = re.findall(r"(?:%(?:25)*|\\+x)([0-9a-f]{2})", said, re.IGNORECASE)
        return bytes.fromhex("".join(pairs)).decode("utf-8", "replace")
    if code := match["url"] or match["python"] or match["unit"]:
        return chr(int(code, 16))
    if match["pair"]:
        high, low = re.findall(r"u([0-9a-f]{4})", said, re.IGNORECASE)
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
    if match["entity"]:
        return html.unescape(f"&{match['entity'].lower()};")
    return "&" if match["ampersand"] else match["bare"]


def _without(text: str, spans: Iterable[tuple[int, int]], hidden: str) -> str:
    """Put a mark in place of all stretches of a text; of those that touch each other one."""
    parts, end = [], -1
    for first, last in sorted(spans):
        if first > end:
            parts += [text[max(end, 0) : first], hidden]
        end = max(end, last)
    return "".join([*parts, text[max(end, 0) :]])

"""Keeping texts of a golden set out of everything that quotes them: messages, tracebacks, what a detector tells besides."""

from __future__ import annotations

import json
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any

import msgspec

from pytest_benchbench.artifacts.quotations import Quotations
from pytest_benchbench.evidence.observation import DetectionRecord

QUOTED = 12
"""From so many characters in a row on that stand in a text, case aside, a quotation is one. Of a shorter text, all of it."""

WITHHELD = "[text withheld]"

NAMES = frozenset({"vendor", "plan", "apiVersion", "requestedModel", "model", "mixed", "scanId"})
"""Members of ``detection.scorer`` that tell detectors apart. A text may name a model, and the model is the same for it."""

LONGEST_NAME = 100


class WithheldTexts:
    """Finds what some texts have in common with foreign ones, also where these quote them escaped, or their words alone.

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        self._quotations = Quotations(self._texts)

    def hide(self, foreign: str) -> str:
        """Replace every quotation in a foreign text by ``[text withheld]``; one that quotes nothing is given as it is."""
        if len(foreign) < self._shortest:
            return foreign
        folded = _folded(foreign)
        hidden = bytearray(len(foreign))
        for size, parts in self._parts.items():
            for begin in range(len(folded) - size + 1):
                if folded[begin : begin + size] in parts:
                    hidden[begin : begin + size] = b"\x01" * size
        for begin, end in self._quotations.spans(foreign):
            hidden[begin:end] = b"\x01" * (end - begin)
        if not any(hidden):
            return foreign
        told: list[str] = []
        for place, character in enumerate(foreign):
            if not hidden[place]:
                told.append(character)
            elif place == 0 or not hidden[place - 1]:
                told.append(WITHHELD)
        return "".join(told)

    def hide_in(self, value: Any) -> Any:
        """Hide quotations in the texts of a JSON value, names of members among them."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, list):
            return [self.hide_in(inner) for inner in value]
        if isinstance(value, dict):
            return {self.hide(name): self.hide_in(inner) for name, inner in value.items()}
        return value

    def hide_in_answer(self, detection: DetectionRecord) -> DetectionRecord:
        """Hide quotations in what a detector answered."""
        told = {name: getattr(detection, name) for name in ("label", "reason", "temporal")}
        changes = {name: self._hide_words(self.hide_in(value)) for name, value in told.items() if value is not None}
        if (scorer := detection.scorer) is not None:
            names = {name: value for name, value in scorer.items() if name in NAMES and _is_name(value)}
            rest = {name: value for name, value in scorer.items() if name not in names}
            changes["scorer"] = names | self._hide_words(self.hide_in(rest))
        return msgspec.structs.replace(detection, **changes) if changes else detection

    def _hide_words(self, value: Any) -> Any:
        """Hide texts and names of members of a JSON value that are no quotation each, and are one in their order."""
        if not isinstance(value, (dict, list)):
            return value
        strings = list(_strings(value))
        hidden: set[int] = set()
        for kinds in ((True, False), (True,), (False,)):
            places = [place for place, (is_name, _) in enumerate(strings) if is_name in kinds]
            starts = list(accumulate((len(strings[place][1]) + 1 for place in places), initial=0))
            for begin, end in self._quotations.spans(" ".join(strings[place][1] for place in places)):
                first, last = bisect_right(starts, begin) - 1, bisect_left(starts, end)
                hidden.update(places[first:last])
        return _without(value, iter(range(len(strings))), hidden) if hidden else value

    @cached_property
    def _shortest(self) -> int:
        return min(map(_least, self._texts), default=QUOTED)

    @cached_property
    def _parts(self) -> dict[int, set[str]]:
        """What a quotation of each text holds at least, by length: made when the first foreign text is long enough."""
        parts: defaultdict[int, set[str]] = defaultdict(set)
        for text in self._texts:
            size = max(1, _least(text))
            for written in _ways_of_writing(text):
                parts[size].update(written[begin : begin + size] for begin in range(len(written) - size + 1))
        return dict(parts)


def _strings(value: Any) -> Iterator[tuple[bool, str]]:
    """Yield the texts of a JSON value and the names of its members, and whether it is a name, in their order."""
    if isinstance(value, str):
        yield False, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield True, name
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _without(value: Any, places: Iterator[int], hidden: Container[int]) -> Any:
    """Replace what ``_strings`` yields at some places."""
    if isinstance(value, str):
        return WITHHELD if next(places) in hidden else value
    if isinstance(value, list):
        return [_without(inner, places, hidden) for inner in value]
    if isinstance(value, dict):
        told = {}
        for name, inner in value.items():
            shown = WITHHELD if next(places) in hidden else name
            told[shown] = _without(inner, places, hidden)
        return told
    return value


def _least(text: str) -> int:
    """Give from how many characters on a quotation of a text is one, however its letters are composed."""
    text = text.strip()
    return min(QUOTED, len(text), *(len(unicodedata.normalize(form, text)) for form in ("NFC", "NFKC")))


def _ways_of_writing(text: str) -> set[str]:
    """Give a text as it is, without white space around it, on one line, and escaped as Python and JSON do.

    All that with its letters composed or not, as foreign software may write them.
    """
    text = text.strip()
    ways: set[str] = set()
    for spelt in {text, *(unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD"))}:
        escaped = (repr(spelt)[1:-1], ascii(spelt)[1:-1], json.dumps(spelt)[1:-1], repr(spelt.encode())[2:-1])
        ways |= set(map(_folded, (spelt, " ".join(spelt.split()), *escaped)))
    return ways


def _folded(text: str) -> str:
    """Fold the case where that leaves every character at its place."""
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_NAME

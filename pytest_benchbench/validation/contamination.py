"""Whether what a detector is trained or tuned on holds samples that it is to be measured on: by id, text and shingles.

What is read comes in pieces of whole lines; what is found does not depend on where a file is cut.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.manifests.golden_set import HOLDOUT, GoldenSample
from pytest_benchbench.validation.escapes import without_escapes
from pytest_benchbench.validation.shingles import (
    SHINGLE_WORDS,
    shingle_sequence,
    shingles_of,
    word_hashes,
    words,
    words_with_lines,
)

THRESHOLD: Final = 0.5
"""Share of a sample's shingles in one file from which on they count as an overlap."""

SHORT_WORDS: Final = 8
"""A text of fewer words is looked for only where it stands alone: as a whole line, string or cell."""

FEWEST_SHINGLES: Final = 8
"""A sample of fewer shingles is not looked for by them: a common phrase would be half of it."""

_LEVELS = 3
"""As it is written, its escapes read once, and twice: JSON inside JSON."""

_BITS = 20
"""Of a shingle that are looked up first, in a table of 1 MiB."""

_NEVER = np.iinfo(np.int64).max

Kind = Literal["id", "text", "shingles"]

Hashes = NDArray[np.uint64]
Lines = NDArray[np.int64]


@dataclass(frozen=True, slots=True, order=True)
class Overlap:
    """A sample in a file.

    Attributes:
        line: Where it begins, 1 for the first line; of shingles the line that has most of them.
        sample: The sample's id.
        kind: ``id``: its id; ``text``: all its words, one after the other; ``shingles``: part of its runs of words.
        share: Of its shingles, in [0, 1]; 1 for a text, ``None`` for an id.
    """

    line: int
    sample: str
    kind: Kind
    share: float | None = field(default=None, compare=False)


class Holdout:
    """What is looked for: the samples of a golden set's holdout split.

    Args:
        samples: Of a golden set; others than those of the holdout split are passed over.
        threshold: As ``THRESHOLD``, in (0, 1].

    Attributes:
        ids: Of the samples, in their order.
        threshold: As given.
        alone: Ids that are so plain (a number, one word, fewer than four characters) that they are looked for only where
            they stand alone: as a whole line, string or cell.
        without_text: Ids of samples without a word, which are looked for by id alone.
        without_shingles: Ids of samples that are too short to be looked for by shingles.
    """

    def __init__(self, samples: Iterable[GoldenSample], *, threshold: float = THRESHOLD) -> None:
        chosen = [sample for sample in samples if sample.split == HOLDOUT]
        self.ids = tuple(sample.id for sample in chosen)
        self.threshold = threshold
        self.alone = frozenset(name for name in self.ids if _is_plain(name))
        found = [words(sample.text) for sample in chosen]
        self.without_text = tuple(name for name, of_text in zip(self.ids, found, strict=True) if not of_text)
        self._patterns = [re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])") for name in self.ids]
        self.texts: list[Hashes] = [word_hashes(of_text) for of_text in found]
        self._hash_of = {
            word: number
            for of_text, hashes in zip(found, self.texts, strict=True)
            for word, number in zip(of_text, hashes.tolist(), strict=True)
        }
        self._ids_by_word: defaultdict[int, list[tuple[int, frozenset[int]]]] = defaultdict(list)
        for index, name in enumerate(self.ids):
            numbers = dict(zip(of_id := words(name), word_hashes(of_id).tolist(), strict=True))
            self._hash_of |= numbers
            self._ids_by_word[numbers[max(of_id, key=len)] if of_id else 0].append((index, frozenset(numbers.values())))
        own = [shingles_of(of_text) for of_text in found]
        self.without_shingles = tuple(
            name for name, of_text in zip(self.ids, own, strict=True) if 0 < len(of_text) < FEWEST_SHINGLES
        )
        self.known = np.unique(np.concatenate([*own, np.empty(0, np.uint64)]))
        self.places = [np.searchsorted(self.known, of_text) for of_text in own]
        self._table = np.zeros(1 << _BITS, np.bool_)
        self._table[self.known & np.uint64((1 << _BITS) - 1)] = True
        self.short = [index for index, text in enumerate(self.texts) if 0 < len(text) < SHORT_WORDS]
        self.heads: defaultdict[int, list[int]] = defaultdict(list)
        for index, text in enumerate(self.texts):
            if len(text) >= SHORT_WORDS:
                head = int(np.searchsorted(self.known, shingle_sequence(text[:SHINGLE_WORDS], SHINGLE_WORDS)[0]))
                self.heads[head].append(index)
        self.longest = max((len(text) for text in self.texts), default=0)

    def hashes_of(self, found: Sequence[str]) -> Hashes:
        """Hash words; those of no sample are all 0, because no shingle that has one is looked for."""
        return np.fromiter(map(self._hash_of.get, found, repeat(0)), np.uint64, len(found))

    def look_up(self, sequence: Hashes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Find known shingles in a sequence: their places in it, and their places in ``known``."""
        at = np.flatnonzero(self._table[sequence & np.uint64((1 << _BITS) - 1)])
        place = np.searchsorted(self.known, sequence[at])
        place[place == len(self.known)] = 0
        real = self.known[place] == sequence[at] if len(self.known) else np.zeros(len(at), np.bool_)
        return at[real], place[real]

    def ids_in(self, text: str, hashes: Hashes) -> Iterator[tuple[int, int]]:
        """Find ids in a text with these words: for each the sample's number and the line of the first, 0 for the first."""
        present = {0, *np.unique(hashes[hashes != 0]).tolist()}
        for word in self._ids_by_word.keys() & present:
            for index, needed in self._ids_by_word[word]:
                if needed <= present and (line := self._line_of_id(index, text)) is not None:
                    yield index, line

    def _line_of_id(self, index: int, text: str) -> int | None:
        name, pattern = self.ids[index], self._patterns[index]
        match = pattern.search(text)
        while match is not None:
            begin, end = _line_around(text, match.start())
            if name not in self.alone or name in units_of(text[begin:end]):
                return text.count("\n", 0, begin)
            match = pattern.search(text, end)
        return None


class FileScanner:
    """Looks for the samples in one file.

    Args:
        holdout: What is looked for.
    """

    def __init__(self, holdout: Holdout) -> None:
        self._holdout = holdout
        self._first_line = np.full(len(holdout.known), _NEVER)
        self._texts: dict[int, int] = {}
        self._ids: dict[int, int] = {}
        self._tails: list[_Tail] = [_Tail.empty()] * _LEVELS
        self._whole: list[tuple[int, Hashes]] = [(0, np.empty(0, np.uint64))] * _LEVELS

    def feed(self, text: str, line: int) -> None:
        """Look at the next piece of the file.

        Args:
            text: Whole lines; where a line is very long a part of it that ends at white space.
            line: Number of the line on which it begins.
        """
        previous: tuple[_Tail, str, _Tail] | None = None
        for level in range(_LEVELS):
            shown = text
            if previous is not None:
                before, shown, after = previous
                text = without_escapes(shown)
                if text == shown and self._tails[level] == before:
                    self._tails[level] = after  # nothing that the level above has not seen
                    self._whole[level] = self._whole[level - 1]
                    previous = before, shown, after
                    continue
            before = self._tails[level]
            after = self._look(text, shown, line, before, level)
            self._tails[level] = after
            previous = before, text, after

    def finish(self) -> list[Overlap]:
        """Give what was found in the whole file, sorted: each sample once by id, and once by text or else by shingles."""
        holdout = self._holdout
        for count, found in self._whole:
            for index in holdout.short:
                if count == len(holdout.texts[index]) and np.array_equal(found, holdout.texts[index]):
                    self._texts.setdefault(index, 1)
        overlaps = [Overlap(line, holdout.ids[index], "id") for index, line in self._ids.items()]
        overlaps += [Overlap(line, holdout.ids[index], "text", 1.0) for index, line in self._texts.items()]
        for index, places in enumerate(holdout.places):
            if index in self._texts or len(places) < FEWEST_SHINGLES:
                continue
            lines = self._first_line[places]
            lines = lines[lines != _NEVER]
            share = len(lines) / len(places)
            if share >= holdout.threshold:
                numbers, counts = np.unique(lines, return_counts=True)
                overlaps.append(Overlap(int(numbers[counts.argmax()]), holdout.ids[index], "shingles", share))
        return sorted(overlaps)

    def _look(self, text: str, shown: str, line: int, tail: _Tail, level: int) -> _Tail:
        """Look at a piece at one level; ``shown`` is the same as the level above has it, where its strings can be told."""
        found, lines = words_with_lines(text)
        hashes = self._holdout.hashes_of(found)
        self._remember_whole(hashes, level)
        for index, before in self._holdout.ids_in(text, hashes):
            _keep_first(self._ids, index, line + before)
        for index in self._holdout.short:
            if (alone := self._standing_alone(index, hashes, lines, (text, shown))) is not None:
                _keep_first(self._texts, index, line + alone)
        joined = _Tail(np.concatenate([tail.hashes, hashes]), np.concatenate([tail.lines, lines + line]))
        at, places = self._holdout.look_up(shingle_sequence(joined.hashes, SHINGLE_WORDS))
        np.minimum.at(self._first_line, places, joined.lines[at])
        self._look_for_texts(joined, at, places)
        return joined.last(max(self._holdout.longest, SHINGLE_WORDS) - 1)

    def _look_for_texts(self, joined: _Tail, at: NDArray[np.intp], places: NDArray[np.intp]) -> None:
        for head in self._holdout.heads.keys() & set(places.tolist()):
            starts = at[places == head]
            for index in self._holdout.heads[head]:
                text = self._holdout.texts[index]
                ends = starts + len(text) - 1
                whole = starts[ends < len(joined.hashes)]
                likely = whole[joined.hashes[whole + len(text) - 1] == text[-1]]
                for start in likely.tolist():
                    if np.array_equal(joined.hashes[start : start + len(text)], text):
                        _keep_first(self._texts, index, int(joined.lines[start]))
                        break

    def _standing_alone(self, index: int, hashes: Hashes, lines: Lines, spellings: tuple[str, str]) -> int | None:
        """Give the first line of a piece, 0 for its first, in which a short text stands alone."""
        wanted = self._holdout.texts[index]
        starts = np.arange(max(0, len(hashes) - len(wanted) + 1))
        for place, word in enumerate(wanted):
            starts = starts[hashes[starts + place] == word]
        candidates = np.unique(lines[starts][lines[starts] == lines[starts + len(wanted) - 1]])
        if not len(candidates):
            return None
        written = [spelling.split("\n") for spelling in spellings]
        for number in candidates.tolist():
            units = [unit for lines_of in written for unit in units_of(lines_of[number])]
            if any(np.array_equal(word_hashes(words(unit)), wanted) for unit in units):
                return int(number)
        return None

    def _remember_whole(self, hashes: Hashes, level: int) -> None:
        """Keep the words of a file as long as it may be one short text."""
        count, kept = self._whole[level]
        count += len(hashes)
        kept = np.concatenate([kept, hashes]) if count < SHORT_WORDS else kept[:0]
        self._whole[level] = count, kept


@dataclass(frozen=True, slots=True, eq=False)
class _Tail:
    """The last words that were read, and their lines."""

    hashes: Hashes
    lines: Lines

    @classmethod
    def empty(cls) -> _Tail:
        return cls(np.empty(0, np.uint64), np.empty(0, np.int64))

    def last(self, count: int) -> _Tail:
        return _Tail(self.hashes[-count:].copy(), self.lines[-count:].copy())

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Tail)
            and np.array_equal(self.hashes, other.hashes)
            and np.array_equal(self.lines, other.lines)
        )

    __hash__ = None  # type: ignore[assignment]


_QUOTED = re.compile(r'"((?:[^"\\]|\\(?:.|$))*)(?:"|$)')  # one that nothing ends goes to the end, so that time is linear
_BETWEEN_CELLS = "\t,;|"


def units_of(line: str) -> list[str]:
    """Give what may stand alone in a line: the line, its quoted strings, its cells, and what stands behind a colon.

    White space, and the signs that lists, quotes and code put around a value, are taken off.
    """
    quoted = _QUOTED.findall(line)
    parts = [line, *quoted, *map(without_escapes, quoted)]
    parts += [cell for sign in _BETWEEN_CELLS if sign in line for cell in line.split(sign)]
    parts += [behind for part in list(parts) for _, colon, behind in (part.partition(":"),) if colon]
    return [part.strip("\"'`[](){}<>- \t\r\n") for part in parts] + [part.strip() for part in parts]


def _is_plain(name: str) -> bool:
    has_letter = any(character.isalpha() for character in name)
    return len(name) < 4 or not has_letter or all(character.isalpha() for character in name)


def _line_around(text: str, place: int) -> tuple[int, int]:
    end = text.find("\n", place)
    return text.rfind("\n", 0, place) + 1, len(text) if end < 0 else end


def _keep_first(found: dict[int, int], index: int, line: int) -> None:
    found[index] = min(line, found.get(index, line))

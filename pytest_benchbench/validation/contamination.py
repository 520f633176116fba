"""Whether what a detector is trained or tuned on holds samples that it is to be measured on: by id, text and shingles.

What is read comes in pieces of whole lines; what is found does not depend on where a file is cut.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.manifests.golden_set import HOLDOUT, GoldenSample
from pytest_benchbench.validation.escapes import without_escapes
from pytest_benchbench.validation.known_words import FoundWords, KnownWords, in_utf8
from pytest_benchbench.validation.shingles import (
    SHINGLE_WORDS,
    shingle_sequence,
    shingles_at,
    shingles_of,
    spelling,
    word_hashes,
    words,
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
        of_ids = [words(name) for name in self.ids]
        vocabulary = list(dict.fromkeys(word for of_text in [*found, *of_ids] for word in of_text))
        number_of = {word: number for number, word in enumerate(vocabulary)}
        self._vocabulary = KnownWords(in_utf8(vocabulary))
        self._hashes = np.append(word_hashes(vocabulary), np.uint64(0))
        self._numbers = [np.array([number_of[word] for word in dict.fromkeys(of_text)], np.int64) for of_text in found]
        self._ids_by_word: defaultdict[int, list[tuple[int, list[int]]]] = defaultdict(list)
        for index, of_id in enumerate(of_ids):
            rarest = number_of[max(of_id, key=len)] if of_id else len(vocabulary)
            self._ids_by_word[rarest].append((index, [number_of[word] for word in of_id]))
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

    def words_of(self, text: str) -> FoundWords:
        """Find the words of a text that occur in samples and ids."""
        return self._vocabulary.find(spelling(text))

    def hashes_of(self, found: FoundWords) -> Hashes:
        """Hash words; those of no sample are all 0, because no shingle that has one is looked for."""
        return self._hashes[found.numbers]

    def present(self, found: FoundWords) -> NDArray[np.bool_]:
        """Say which words of samples and ids are among these; the last is for all others, and always there."""
        present = np.zeros(len(self._hashes), np.bool_)
        present[found.numbers] = True
        present[-1] = True
        return present

    def may_hold(self, present: NDArray[np.bool_], index: int) -> bool:
        """Say whether all words of a sample's text are there."""
        return bool(present[self._numbers[index]].all())

    def look_up(self, hashes: Hashes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Find known shingles in a sequence of words: their places in it, and their places in ``known``."""
        is_word = hashes != 0
        count = max(0, len(hashes) - SHINGLE_WORDS + 1)
        whole = np.ones(count, np.bool_)
        for place in range(SHINGLE_WORDS):
            whole &= is_word[place : place + count]
        at = np.flatnonzero(whole)
        shingles = shingles_at(hashes, at, SHINGLE_WORDS)
        likely = self._table[shingles & np.uint64((1 << _BITS) - 1)]
        at, shingles = at[likely], shingles[likely]
        place = np.searchsorted(self.known, shingles)
        place[place == len(self.known)] = 0
        real = self.known[place] == shingles if len(self.known) else np.zeros(len(at), np.bool_)
        return at[real], place[real]

    def ids_in(self, text: str, present: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """Find ids in a text with these words: for each the sample's number and the line of the first, 0 for the first."""
        for word, of_word in self._ids_by_word.items():
            if not present[word]:
                continue
            for index, needed in of_word:
                if present[needed].all() and (line := self._line_of_id(index, text)) is not None:
                    yield index, line

    def _line_of_id(self, index: int, text: str) -> int | None:
        name, pattern = self.ids[index], self._patterns[index]
        first = text.find(name)  # quicker than the pattern, which mostly has nothing to look at
        match = None if first < 0 else pattern.search(text, first)
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
        has_shingles = bool((self._first_line != _NEVER).any())
        for index, places in enumerate(holdout.places if has_shingles else ()):
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
        holdout = self._holdout
        found = holdout.words_of(text)
        hashes, present = holdout.hashes_of(found), holdout.present(found)
        self._remember_whole(hashes, level)
        for index, before in holdout.ids_in(text, present):
            _keep_first(self._ids, index, line + before)
        for index in holdout.short:
            if not holdout.may_hold(present, index):
                continue
            if (alone := self._standing_alone(index, hashes, found, (text, shown))) is not None:
                _keep_first(self._texts, index, line + alone)
        joined = _Joined(tail, hashes, found, line)
        at, places = holdout.look_up(joined.hashes)
        np.minimum.at(self._first_line, places, joined.lines(at))
        self._look_for_texts(joined, at, places)
        return joined.last(max(holdout.longest, SHINGLE_WORDS) - 1)

    def _look_for_texts(self, joined: _Joined, at: NDArray[np.intp], places: NDArray[np.intp]) -> None:
        for head in self._holdout.heads.keys() & set(places.tolist()):
            starts = at[places == head]
            for index in self._holdout.heads[head]:
                text = self._holdout.texts[index]
                ends = starts + len(text) - 1
                whole = starts[ends < len(joined.hashes)]
                likely = whole[joined.hashes[whole + len(text) - 1] == text[-1]]
                for start in likely.tolist():
                    if np.array_equal(joined.hashes[start : start + len(text)], text):
                        _keep_first(self._texts, index, int(joined.lines(np.array([start]))[0]))
                        break

    def _standing_alone(self, index: int, hashes: Hashes, found: FoundWords, spellings: tuple[str, str]) -> int | None:
        """Give the first line of a piece, 0 for its first, in which a short text stands alone."""
        wanted = self._holdout.texts[index]
        starts = np.flatnonzero(hashes[: max(0, len(hashes) - len(wanted) + 1)] == wanted[0])
        for place, word in enumerate(wanted):
            starts = starts[hashes[starts + place] == word]
        lines = found.lines(starts)
        candidates = np.unique(lines[lines == found.lines(starts + len(wanted) - 1)])
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

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Tail)
            and np.array_equal(self.hashes, other.hashes)
            and np.array_equal(self.lines, other.lines)
        )

    __hash__ = None  # type: ignore[assignment]


class _Joined:
    """The last words of what was read before, and those of a piece behind them.

    Args:
        tail: What was read before.
        hashes: Of the words of the piece.
        found: Its words.
        line: Number of the line on which it begins.
    """

    def __init__(self, tail: _Tail, hashes: Hashes, found: FoundWords, line: int) -> None:
        self.hashes = np.concatenate([tail.hashes, hashes])
        self._tail, self._found, self._line = tail, found, line

    def lines(self, at: NDArray[np.intp]) -> Lines:
        """Give the lines of words by their places, which are sorted."""
        before = int(np.searchsorted(at, len(self._tail.hashes)))
        behind = self._found.lines(at[before:] - len(self._tail.hashes))
        return np.concatenate([self._tail.lines[at[:before]], behind + self._line])

    def last(self, count: int) -> _Tail:
        """Keep so many words."""
        at = np.arange(max(0, len(self.hashes) - count), len(self.hashes))
        return _Tail(self.hashes[at], self.lines(at))


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

"""Texts that say the same: normalised words, their digest, and shingles (runs of words) that two texts share.

Shingles, resemblance and containment: A. Z. Broder, "On the resemblance and containment of documents", 1997.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

SHINGLE_WORDS: Final = 5
"""Words in a shingle: few enough that some stay whole where one word in ten is another, enough that strangers share few."""

Shingles = NDArray[np.uint64]
"""The hashed shingles of a text, sorted, each once."""

_KEPT_HASHES = 1 << 20
"""Words whose hashes are remembered; then all are forgotten, so that a hostile file cannot fill the memory."""

_LONGEST_KEPT = 64
"""Characters of a word whose hash is remembered."""

_FORMAT = "Cf"
_WORD_CATEGORIES = frozenset("LMN")

_WITHOUT_SPACES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
"""Scripts that put no spaces between words: every character counts as a word."""


class _Separating(dict[int, str | None]):
    """A table for ``str.translate``, filled as characters come up: what is no part of a word becomes a space."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        category = unicodedata.category(character)
        if character == "\n":
            replacement: str | None = character  # separates as a space does, and lines can be counted by it
        elif category == _FORMAT:
            replacement = None
        elif category[0] not in _WORD_CATEGORIES:
            replacement = " "
        elif any(first <= code <= last for first, last in _WITHOUT_SPACES):
            replacement = f" {character} "
        else:
            replacement = character
        self[code] = replacement
        return replacement


_separating = _Separating()

_ASCII = "".join(map(chr, range(128))).lower().translate(_separating).encode().ljust(256)
"""The same for ASCII alone, as a table for ``bytes.translate``."""

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_BREAK = re.compile(r"[ \n]")

_MOSTLY_ASCII = 1.1
"""Bytes to a character up to which only the words are folded that need it."""

_hashes: dict[str, int] = {}


def words(text: str) -> list[str]:
    """Give the words of a text in one spelling, however it is typeset.

    Compatibility forms become plain (NFKC: ligatures, full-width letters, superscripts), case is folded, and runs of
    letters, marks and numbers are words. Punctuation, symbols, control characters and white space only separate: ``don't``
    gives two words, whichever apostrophe it has. Invisible format characters (soft hyphen, zero-width space) are dropped.
    In scripts that put no spaces between words every character is a word.

    A line break always separates: the words of a text are those of its lines, one line after the other.
    """
    return spelling(text).decode("utf-8", "surrogatepass").split()


def spelling(text: str) -> bytes:
    """Give the words of a text as ``words`` does, in UTF-8, with white space around them and its line breaks kept."""
    if text.isascii():
        return text.encode("ascii").translate(_ASCII)
    if len(text.encode("utf-8", "surrogatepass")) > len(text) * _MOSTLY_ASCII:
        return _separated(text).encode("utf-8", "surrogatepass")
    parts, done = [], 0
    for match in _NOT_ASCII.finditer(text):
        if match.start() < done:
            continue
        # between spaces nothing depends on what stands beyond them
        begin = max(done, text.rfind(" ", done, match.start()) + 1, text.rfind("\n", done, match.start()) + 1)
        ended = _BREAK.search(text, match.end())
        end = len(text) if ended is None else ended.start()
        parts += [
            text[done:begin].encode("ascii").translate(_ASCII),
            _separated(text[begin:end]).encode("utf-8", "surrogatepass"),
        ]
        done = end
    return b"".join([*parts, text[done:].encode("ascii").translate(_ASCII)])


def normalised(text: str) -> str:
    """Give the words of a text with one space between them; empty for a text without words."""
    return " ".join(words(text))


def text_sha256(text: str) -> str:
    """Compute the SHA-256 of a text's normalised form in UTF-8, as 64 lower-case hex digits.

    Texts without words all have that of nothing: look at ``words`` before a match is called one.
    """
    return words_sha256(words(text))


def words_sha256(found: Sequence[str]) -> str:
    """Compute the SHA-256 that ``text_sha256`` gives for a text with these words."""
    return hashlib.sha256(" ".join(found).encode("utf-8", "surrogatepass")).hexdigest()


def shingles(text: str, size: int = SHINGLE_WORDS) -> Shingles:
    """Hash every run of words of a text.

    Args:
        text: Any text.
        size: Words in a shingle, at least 1.

    Returns:
        64-bit numbers, the same in every process and on every machine; sorted, each once. A text of fewer words, but at
        least one, has a single shingle of all of them; a text without words has none.

    Raises:
        ValueError: The size is less than 1.
    """
    return shingles_of(words(text), size)


def shingles_of(found: Sequence[str], size: int = SHINGLE_WORDS) -> Shingles:
    """Hash every run of these words, as ``shingles`` does with those of a text.

    Raises:
        ValueError: The size is less than 1.
    """
    if size < 1:
        raise ValueError(f"a shingle has at least one word: {size!r}")
    return np.unique(shingle_sequence(word_hashes(found), min(size, max(1, len(found)))))


def word_hashes(found: Sequence[str]) -> NDArray[np.uint64]:
    """Hash words, each to 64 bits of BLAKE2b; array of shape (words,)."""
    known = _hashes
    if len(known) > _KEPT_HASHES:
        known.clear()
    try:
        return np.fromiter(map(known.__getitem__, found), np.uint64, len(found))
    except KeyError:
        return np.fromiter(map(_hash, found), np.uint64, len(found))


def shingle_sequence(hashes: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """Hash every run of words, in order, with repetitions.

    Args:
        hashes: Of the words, shape (words,).
        size: Words in a shingle, at least 1.

    Returns:
        Shape (words - size + 1,), empty where there are fewer words: number i stands for the words from i on.
    """
    count = max(0, len(hashes) - size + 1)
    mixed = np.zeros(count, np.uint64)
    for place in range(size):
        mixed = _mixed(mixed ^ hashes[place : place + count])
    return mixed


def shingles_at(hashes: NDArray[np.uint64], at: NDArray[np.intp], size: int) -> NDArray[np.uint64]:
    """Hash the runs of words that begin at some places, as ``shingle_sequence`` does with every run; shape (places,)."""
    mixed = np.zeros(len(at), np.uint64)
    for place in range(size):
        mixed = _mixed(mixed ^ hashes[at + place])
    return mixed


def jaccard(one: Shingles, other: Shingles) -> float:
    """Give the share of the shingles of two texts that both have, in [0, 1]; 0 where neither has any.

    Args:
        one: As ``shingles`` gives them.
        other: Of the other text, shingles of the same size.
    """
    common = len(np.intersect1d(one, other, assume_unique=True))
    union = len(one) + len(other) - common
    return common / union if union else 0.0


def containment(part: Shingles, whole: Shingles) -> float:
    """Give the share of a text's shingles that another text has too, in [0, 1]; 0 where the first has none.

    Args:
        part: As ``shingles`` gives them.
        whole: Of the other text, shingles of the same size.
    """
    return len(np.intersect1d(part, whole, assume_unique=True)) / len(part) if len(part) else 0.0


def _separated(text: str) -> str:
    """Spell a text in one way, with white space around its words and its line breaks where they are."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    # folding can bring up characters that have a compatibility form or fold once more
    folded = unicodedata.normalize("NFKC", folded.translate(_separating)).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_separating)


def _hash(word: str) -> int:
    found = _hashes.get(word)
    if found is None:
        digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        found = int.from_bytes(digest, "little")
        if len(word) <= _LONGEST_KEPT:
            _hashes[word] = found
    return found


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread bits, so that the order of words counts: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))

"""Which texts a local detector of English AI text is asked about: a number for any other would be an answer to nothing."""

from __future__ import annotations

from typing import Annotated

import msgspec

from pytest_benchbench.adapters.base import Detection, Sample
from pytest_benchbench.artifacts.text import Text

MINIMUM_WORDS = 50
"""Below some fifty words the numbers of such detectors say more about the length than about the text."""

_ASCII_SHARE = 0.8
"""Share of a text's letters that a detector must see which knows ASCII alone; accents of West European languages pass."""

_LONGEST_BLANK = 300
"""White space in one run. What splits text into paragraphs or sentences by a pattern takes quadratic time in it."""


class MinimumWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options that these detectors share.

    Attributes:
        minimum_words: Texts of fewer words, runs of characters between white space with a letter or digit in them, are
            ``too-small``.
    """

    minimum_words: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = MINIMUM_WORDS


def text_of(sample: Sample) -> str:
    """Take the text out of a sample.

    Raises:
        TypeError: The sample is no decoded text.
    """
    if not isinstance(sample.decoded, Text):
        raise TypeError(f"expected a decoded text, not {type(sample.decoded).__name__}")
    return sample.decoded.text


def count_words(text: str) -> int:
    """Count the runs of characters between white space that have a letter or a digit."""
    return sum(any(character.isalnum() for character in word) for word in text.split())


def not_asked(text: str, *, minimum_words: int, maximum_characters: int, ascii_only: bool = True) -> Detection | None:
    """Say why a detector is not asked about a text; ``None`` if it is.

    Args:
        text: The text.
        minimum_words: The fewest words.
        maximum_characters: The most characters.
        ascii_only: Whether the detector sees nothing but ASCII, and English is what it knows.

    Returns:
        ``too-small`` or ``unsupported``, with a reason that quotes nothing of the text.
    """
    if len(text) > maximum_characters:
        return Detection(
            "unsupported", reason=f"up to {maximum_characters:,} characters are looked at, it has {len(text):,}"
        )
    words = count_words(text)
    if words < minimum_words:
        return Detection("too-small", reason=f"{_words(minimum_words)} or more are needed, it has {words}")
    if not ascii_only:
        return None
    blank = longest = 0
    for character in text:
        blank = blank + 1 if character.isspace() else 0
        longest = max(longest, blank)
    if longest > _LONGEST_BLANK:
        return Detection(
            "unsupported", reason=f"{longest:,} characters of white space in one run, more than {_LONGEST_BLANK:,}"
        )
    letters = [character for character in text if character.isalpha()]
    seen = sum(character.isascii() for character in letters)
    if seen < _ASCII_SHARE * len(letters):
        return Detection(
            "unsupported", reason=f"{seen} of {len(letters)} letters are ASCII, and the detector sees no others"
        )
    return None


def limits_in_words(*, minimum_words: int, maximum_characters: int) -> str:
    """Say in a decision rule what ``not_asked`` does for a detector of ASCII text."""
    return (
        f"fewer than {_words(minimum_words)} are too-small; more than {maximum_characters:,} characters, or fewer than "
        f"{_ASCII_SHARE:.0%} of the letters in ASCII, are unsupported"
    )


def _words(count: int) -> str:
    return "1 word" if count == 1 else f"{count:,} words"

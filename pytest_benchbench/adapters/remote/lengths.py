"""How long a text may be for a vendor, and how many words it has: decided before anything is sent or paid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


def count_words(text: str) -> int:
    """Count words: runs of characters between white space, as ``str.split`` finds them.

    The one rule of all vendors here. None documents its own, so that a bill may differ, most of all for languages that
    write no spaces.
    """
    return len(text.split())


@dataclass(frozen=True, slots=True)
class Lengths:
    """The lengths that a vendor documents.

    Attributes:
        characters: Least number of characters (Unicode code points).
        words: Least number of words.
        most_characters: Largest number of characters, ``None`` where none is documented.
    """

    characters: int = 1
    words: int = 1
    most_characters: int | None = None

    def refusal(self, text: str) -> tuple[Literal["too-small", "unsupported"], str] | None:
        """Say why a text is not sent: the terminal status and one line; ``None`` for a text that can be."""
        characters, words = len(text), count_words(text)
        if characters < self.characters:
            return "too-small", f"{characters} characters, and {self.characters} are needed"
        if words < self.words:
            return "too-small", f"{words} words, and {self.words} are needed"
        if self.most_characters is not None and characters > self.most_characters:
            return "unsupported", f"{characters} characters, and {self.most_characters} are the most"
        return None

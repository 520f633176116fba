"""When two names of a source or a family are the same name, spelled differently."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_INVISIBLE = "Cf"
"""The category of zero-width spaces, soft hyphens and marks of direction."""


@lru_cache(maxsize=4096)
def spelled_alike(name: str) -> str:
    """Give what all spellings of a name have in common.

    Neither case, width, composed letters, white space nor invisible characters tell apart. ``RAISE`` and ``raise ``
    are one collection, and it is not held out because a manifest spells it in two ways.

    Args:
        name: As a row writes it.

    Returns:
        The same text for every spelling; for comparing, not for showing.
    """
    seen = "".join(character for character in name if unicodedata.category(character) != _INVISIBLE)
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold()).split())


def different_names(names: Iterable[str]) -> int:
    """Count names, each once however it is spelled."""
    return len({spelled_alike(name) for name in names})

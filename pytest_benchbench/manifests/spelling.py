"""When two names of a source or a family are the same name, spelled differently."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=4096)
def spelled_alike(name: str) -> str:
    """Give what all spellings of a name have in common: neither case, width, composed letters nor white space tell apart.

    ``RAISE`` and ``raise `` are one collection, and it is not held out because a manifest spells it in two ways.

    Args:
        name: As a row writes it.

    Returns:
        The same text for every spelling; for comparing, not for showing.
    """
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).split())


def different_names(names: Iterable[str]) -> int:
    """Count names, each once however it is spelled."""
    return len({spelled_alike(name) for name in names})

"""Case ids from file names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, count

from pytest_benchbench.manifests.field_types import CONTROL_CHARACTERS

_LONGEST_PART = 120
"""Characters of a file's name that enter an id: enough room stays for what is added to make it unique."""


def unique_ids(wishes: Sequence[tuple[str, str]], taken: set[str]) -> Iterator[str]:
    """Give each case an id that nothing else has.

    Args:
        wishes: For each case a short id, and a longer one for when several cases wish the short one or it is taken. A number
            is added where the longer one is taken too.
        taken: Ids that exist; those given are added.
    """
    wanted = Counter(short for short, _ in wishes)
    for short, long in wishes:
        numbered = (f"{long}-{number}" for number in count(2))
        candidates = chain([short] if wanted[short] == 1 else [], [long], numbered)
        chosen = next(candidate for candidate in candidates if candidate not in taken)
        taken.add(chosen)
        yield chosen


def id_part(path: str) -> str:
    """Write a path as part of an id: folders joined by ``-``, control characters replaced, the end of it if it is long."""
    return CONTROL_CHARACTERS.sub("_", path.replace("/", "-"))[-_LONGEST_PART:]

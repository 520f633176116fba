"""Texts put together from templates, standing in for those of a language model: the same in every process and release."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final, TypeVar

import msgspec

GENERATOR: Final = "benchbench template generator 1"
"""Name and version; another wording or choice is another version."""

_Choice = TypeVar("_Choice")


class _Templates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the texts of one category are made of.

    Attributes:
        slots: What can stand in a place, by the name of the place.
        sentences: For each sentence of a text its possible wordings.
    """

    slots: dict[str, list[str]]
    sentences: list[list[str]]


def template_text(category: str, seed: int) -> str:
    """Put a text of 80 to 200 words together.

    Args:
        category: ``novel``, ``law`` or ``definition``.
        seed: Which one; another seed chooses other wordings.
    """
    templates = _templates()[category]
    fillers = {name: _choose(options, category, seed, name) for name, options in templates.slots.items()}
    sentences = (
        _choose(wordings, category, seed, str(place)).format_map(fillers)
        for place, wordings in enumerate(templates.sentences)
    )
    return " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences)


def _choose(options: Sequence[_Choice], category: str, seed: int, what: str) -> _Choice:
    digest = hashlib.sha256(f"{GENERATOR}/{category}/{seed}/{what}".encode()).digest()
    return options[int.from_bytes(digest[:8], "big") % len(options)]


@cache
def _templates() -> Mapping[str, _Templates]:
    data = resources.files(__package__).joinpath("phrases.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, _Templates])

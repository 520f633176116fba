"""Keys of vendors, and what may be repeated of what a vendor says: no key, no e-mail address, nothing of the text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.adapters.secrets import Secrets
from pytest_benchbench.artifacts.quotations import Quotations

MAX_SAID = 160
"""Characters of a vendor's own words that a message repeats."""

LEAST_KEY_CHARACTERS = 8
"""A shorter key could not be told from an ordinary word, and would not be hidden everywhere."""


class Credential:
    """A secret that shows itself nowhere: not as text, not as one of a frame's variables."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "***"

    def reveal(self) -> str:
        """Give the secret, at the very place where it is sent."""
        return self._value


def missing_variable(names: Sequence[str], environment: Mapping[str, str] = os.environ) -> str | None:
    """Name the first environment variable that is not set or holds nothing; ``None`` where all are set."""
    return next((name for name in names if not environment.get(name, "").strip()), None)


def read_credentials(names: Sequence[str], environment: Mapping[str, str] = os.environ) -> dict[str, Credential]:
    """Read keys from the environment, the one place where they may be.

    Raises:
        AdapterUnavailable: A variable is not set, or holds what cannot be a key; it is named, and its value is not shown.
    """
    if (missing := missing_variable(names, environment)) is not None:
        raise AdapterUnavailable(f"the environment variable {missing} is not set", f"export {missing}=...")
    found = {}
    for name in names:
        value = environment[name].strip()
        if not re.fullmatch(r"[\x21-\x7e]+", value):
            raise AdapterUnavailable(f"the environment variable {name} holds characters that no request can carry")
        if not LEAST_KEY_CHARACTERS <= len(value) <= 4096:
            raise AdapterUnavailable(f"the environment variable {name} holds {len(value)} characters: this is no key")
        found[name] = Credential(value)
    return found


class Discretion:
    """Decides what of a vendor's words may be repeated."""

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}
        self._known = Secrets({})

    def keep(self, credential: Credential) -> None:
        """Keep a secret out of what is repeated from now on."""
        value = credential.reveal()
        self._secrets = {**self._secrets, str(len(self._secrets)): value}
        self._known = Secrets({"": self._secrets})

    def masked(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Cut secrets out of plain JSON that is kept of an answer: a vendor may echo them where a name is expected."""
        masked: dict[str, Any] = self._known.mask_json(facts)
        return masked

    def repeated(self, said: str, text: str = "", *, most: int = MAX_SAID) -> str:
        """Give foreign words as one short line that can be shown.

        Args:
            said: What a vendor, a server or a library said.
            text: The sample that was asked about.
            most: Characters.

        Returns:
            At most ``most`` characters; a remark in their place where they repeat the sample.
        """
        masked = self._known.mask(said)
        line = "".join(character if character.isprintable() else "?" for character in " ".join(masked.split()))
        if len(line) > most:
            line = self._known.mask(f"{line[: most - 1]}…")
        return "(words of the text, left out)" if Quotations([text]).spans(line) else line

    def unquoted(self, facts: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Leave out members of what is kept of an answer whose names of classes, taken together, repeat the sample."""
        quotations = Quotations([text])
        return {name: value for name, value in facts.items() if not quotations.spans(" ".join(_names(value)))}


def _names(value: Any) -> Iterator[str]:
    """Yield the names of members and the texts of a JSON value, in their order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield name
            yield from _names(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _names(inner)

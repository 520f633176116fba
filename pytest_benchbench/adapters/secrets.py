"""Secrets that detectors are given, by their options or by the environment, and how they are kept out of what is written.

An option is secret that is declared so (``Secret``), or that holds text and whose name says so, unless it is declared not to
be. Its value is shown as ``***``, wherever options are shown: whether there was one can be compared, and nothing else. No
digest stands for it, from which a short one could be guessed.

Of texts that come from detectors (messages, reasons, tracebacks, captured output) the secrets that are known are cut out,
and so are the values of environment variables whose names say that they are secret, and long enough parts of both.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import msgspec

from pytest_benchbench.adapters.secret_runs import SecretRuns

if TYPE_CHECKING:
    from pytest_benchbench.adapters.pool import AdapterChoice
    from pytest_benchbench.adapters.registry import AdapterRegistry

Secret = Annotated[str, msgspec.Meta(extra={"secret": True})]
"""Type of an option whose value is never shown. ``Annotated[str, Meta(extra={"secret": False})]`` declares the opposite."""

HIDDEN = "***"

LEAST_OPTION_CHARACTERS = 4
"""A shorter secret cannot be told from an ordinary word: it is hidden as an option, not in texts."""

LEAST_VARIABLE_CHARACTERS = 8
"""The same for environment variables, whose names may say more than they mean."""

_WHOLE_CHARACTERS = 16
"""Of a secret that is as long, half is recognised too: others cut long texts off where they like."""

_LONGEST_SPELLED = 512
"""Characters of a secret that a pattern spells out: one of a whole file's would take seconds to compile."""

_SECRET_WORDS = ("key", "token", "secret", "password", "passwd", "passphrase", "credential", "credentials")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ORDINARY = frozenset({"true", "false", "none", "null"})


def is_secret_name(name: str) -> bool:
    """Say whether the name of an option or of an environment variable says that its value is secret.

    One of its words ends with ``key``, ``token``, ``secret``, ``password`` or the like: ``api_key``, ``accessToken``.
    """
    return any(part.lower().endswith(_SECRET_WORDS) for part in _PARTS.findall(name))


def secret_options(options: type[msgspec.Struct]) -> frozenset[str]:
    """Name the options of a class that are secret, as they are written on the command line."""
    secret = set()
    for field in msgspec.structs.fields(options):
        kinds = list(_kinds(field.type))
        extras = [kind.extra or {} for kind in kinds if isinstance(kind, msgspec.Meta)]
        declared = [extra["secret"] for extra in extras if "secret" in extra]
        if any(declared) if declared else str in kinds and is_secret_name(field.encode_name):
            secret.add(field.encode_name)
    return frozenset(secret)


def path_options(options: type[msgspec.Struct]) -> frozenset[str]:
    """Name the options of a class that are paths, as they are written on the command line.

    They are of type ``Path``, or declared so where a name may stand too: ``Annotated[str, Meta(extra={"path": True})]``.
    """
    return frozenset(
        field.encode_name
        for field in msgspec.structs.fields(options)
        if any(kind is Path or _is_declared_path(kind) for kind in _kinds(field.type))
    )


def _is_declared_path(kind: Any) -> bool:
    return isinstance(kind, msgspec.Meta) and (kind.extra or {}).get("path") is True


def _kinds(annotation: Any) -> Iterable[Any]:
    yield annotation
    for inner in get_args(annotation):
        yield from _kinds(inner)
    yield from getattr(annotation, "__metadata__", ())


class Secrets:
    """The secrets of a process, as far as they are known.

    Args:
        options: For each alias the secret options with their values.
        variables: Values of secret environment variables.
        paths: For each alias the options that are paths.
    """

    def __init__(
        self,
        options: Mapping[str, Mapping[str, str]],
        variables: Iterable[str] = (),
        paths: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self._options = options
        self._paths = paths or {}
        given = {value for values in options.values() for value in values.values()}
        known = {value for value in given if len(value) >= LEAST_OPTION_CHARACTERS and value.lower() not in _ORDINARY}
        known |= {value for value in variables if len(value) >= LEAST_VARIABLE_CHARACTERS}
        encoded = {value: _encoded(value) for value in known if len(value) >= LEAST_VARIABLE_CHARACTERS}
        known.update(*encoded.values())
        self._known = sorted(known, key=len, reverse=True)
        self._probes = {_probe(value) for value in known}
        self._pattern = re.compile("|".join(map(_pattern, self._known))) if known else None
        # parts of where a key lies are parts of where much else lies
        self._runs = SecretRuns({value: forms for value, forms in encoded.items() if not os.path.lexists(value)})

    @classmethod
    def of(cls, choices: Iterable[AdapterChoice], registry: AdapterRegistry, environment: Mapping[str, str]) -> Secrets:
        """Find the secrets of a process.

        Args:
            choices: The options that adapters were given.
            registry: The adapters, which declare what is secret; of one that cannot be imported the names alone tell.
            environment: The environment variables.
        """
        options, paths = {}, {}
        for choice in choices:
            if choice.values:
                try:
                    accepted = registry.resolve(choice.name).Options
                    names, paths[choice.alias] = secret_options(accepted), path_options(accepted)
                except Exception:  # who uses the adapter says what is wrong with it
                    names = frozenset(filter(is_secret_name, choice.values))
                options[choice.alias] = {name: value for name, value in choice.values.items() if name in names}
        return cls(options, (value for name, value in environment.items() if is_secret_name(name)), paths)

    def __bool__(self) -> bool:
        return self._pattern is not None

    def shown(self, choice: AdapterChoice) -> dict[str, str]:
        """Give the options of an adapter as they may be shown."""
        secret = self._options.get(choice.alias, {})
        return {name: HIDDEN if name in secret and value else value for name, value in choice.values.items()}

    def recorded(self, choice: AdapterChoice) -> dict[str, str]:
        """Give the options of an adapter as evidence keeps them: of a path its last part, not where it lies on a machine."""
        paths = self._paths.get(choice.alias, frozenset())
        return {name: Path(value).name if name in paths else value for name, value in self.shown(choice).items()}

    def argument(self, text: str) -> str:
        """Give a word of the command line as it may be shown."""
        for options in self._options.values():
            for name, value in options.items():
                if value:
                    text = text.replace(f"{name}={value}", f"{name}={HIDDEN}")
        return self.mask(text)

    def may_occur_in(self, encoded: str) -> bool:
        """Look quickly whether an encoded JSON document can hold a secret, whole or cut off."""
        folded = encoded.lower()
        return any(probe in folded for probe in self._probes) or self._runs.may_occur_in(encoded)

    def mask(self, text: str) -> str:
        """Cut known secrets out of a text."""
        if self._pattern is None:
            return text
        text = self._runs.mask(self._pattern.sub(HIDDEN, text), HIDDEN)
        return self._mask_end(text) if text.endswith("…") else text

    def _mask_end(self, text: str) -> str:
        """Cut out the beginning of a secret at which a text was cut off."""
        for secret in self._known:
            for length in range(len(secret) - 1, LEAST_OPTION_CHARACTERS - 1, -1):
                if text.endswith(secret[:length], 0, -1):
                    return f"{text[: -1 - length]}{HIDDEN}…"
        return text

    def mask_json(self, value: Any) -> Any:
        """Cut known secrets out of all texts and keys of a JSON value."""
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, list):
            return [self.mask_json(inner) for inner in value]
        if isinstance(value, dict):
            return {self.mask(key): self.mask_json(inner) for key, inner in value.items()}
        return value


NO_SECRETS = Secrets({})


def _beginning(secret: str) -> str:
    return secret if len(secret) < _WHOLE_CHARACTERS else secret[: min(len(secret), _LONGEST_SPELLED) // 2]


def _encoded(secret: str) -> set[str]:
    """Write a secret in hex and in base64, there as it looks behind any number of other bytes."""
    data = secret.encode("utf-8", "surrogatepass")
    encoded = {data.hex()}
    for before in range(3):
        written = base64.b64encode(b"\0" * before + data)[-(-before * 8 // 6) : (before + len(data)) * 8 // 6].decode()
        encoded |= {written, written.translate({ord("+"): "-", ord("/"): "_"})}
    return encoded


def _probe(secret: str) -> str:
    """Give a part of the beginning of a secret that looks the same, case aside, however the secret is escaped."""
    return max(re.findall(r"[a-z0-9]+", _beginning(secret).lower(), re.ASCII), key=len, default="")


def _pattern(secret: str) -> str:
    ways = [_spelled(secret)] if len(secret) <= _LONGEST_SPELLED else []  # the rest of a longer one is found by its parts
    if (beginning := _beginning(secret)) != secret:
        ways.append(rf"{_spelled(beginning)}[^\s'\"<>]*")
    pattern = "|".join(ways)
    return rf"(?i:{pattern})" if len(secret) >= LEAST_VARIABLE_CHARACTERS else pattern


def _spelled(secret: str) -> str:
    """Make a pattern of a secret whose characters may be escaped as URLs, JSON, Python and HTML do it, and once more."""
    return "".join(map(_character, secret))


@lru_cache(maxsize=1024)
def _character(character: str) -> str:
    if character.isascii() and character.isalnum():
        return character
    code, data = ord(character), character.encode("utf-8", "surrogatepass")
    units = character.encode("utf-16-be", "surrogatepass").hex()
    url = "".join(rf"%(?:25)*{byte:02x}" for byte in data)
    python = "".join(rf"\\+x{byte:02x}" for byte in data)
    escaped = "".join(rf"\\+u{units[at : at + 4]}" for at in range(0, len(units), 4))
    written = [rf"\\*{re.escape(character)}", rf"(?i:{url})", rf"(?i:{python})", rf"(?i:{escaped})"]
    written.append(rf"&(?:amp;)*(?i:#0*{code}|#x0*{code:x});")
    for form in (html.escape(character), json.dumps(character)[1:-1]):
        if len(form) > 2 and form[0] == "&":
            written.append(rf"&(?:amp;)*{re.escape(form[1:])}")
        elif len(form) == 2:
            written.append(rf"\\+{re.escape(form[1])}")
    # what is longest goes first: a character that begins its own escape must not end the match there
    return f"(?:{'|'.join(reversed(written))})"

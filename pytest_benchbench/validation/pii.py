"""Personal data in texts: where it stands and of what kind it is, and never what it says.

E-mail, IP and postal addresses are recognised by their form, telephone numbers by the package ``phonenumbers``, which knows
the numbering plans of all countries. Names of people are not recognised: that takes a language model, and misses many.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, Literal, NamedTuple

PiiKind = Literal["email", "ip-address", "phone", "postal-address", "street"]
"""``street`` is a guess: house number and street alone, without a postal code."""

MOST_OF_KIND: Final = 100
"""Findings of a kind in one text; what comes after them is not looked for."""


class Found(NamedTuple):
    """Something that may be personal data.

    Attributes:
        offset: Number of its first character, 0 for the first of the text.
        kind: What it is.
    """

    offset: int
    kind: PiiKind


def find_by_form(text: str) -> Iterator[Found]:
    """Find e-mail, IP and postal addresses, by kind and then by offset, of each kind the first ``MOST_OF_KIND``.

    Addresses that can be nobody's are left out: the domains that RFC 2606 and RFC 6761 reserve, and IP addresses that are
    not reached through the internet (RFC 6890), so that a text can be scrubbed by putting one of these in the place.

    The time is proportional to the length of the text, whatever it holds.
    """
    finders: tuple[tuple[PiiKind, Callable[[str], Iterator[int]]], ...] = (
        ("email", _emails),
        ("ip-address", _ip_addresses),
        ("postal-address", _postal_codes),
        ("street", _streets),
    )
    for kind, find in finders:
        yield from (Found(offset, kind) for offset in islice(find(text), MOST_OF_KIND))


_MARGIN = 200
"""More characters than the longest street or postal code has."""

_DIGITS = re.compile(r"[0-9]+")
_COLONS = re.compile(r":+")


def _matches(pattern: re.Pattern[str], text: str, needed: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Find a pattern where something stands without which it cannot match: in most of a text nothing need be looked at."""
    begin = end = 0
    for one in needed.finditer(text):
        if one.start() - _MARGIN > end:
            yield from pattern.finditer(text, begin, end)
            begin = one.start() - _MARGIN
        end = one.end() + _MARGIN
    yield from pattern.finditer(text, begin, min(end, len(text)))


_AT = re.compile(r"@(?<=[\w.+%-]@)(?=\w)")
_LOCAL_PART_END = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}\Z")
_DOMAIN = re.compile(r"(?:[\w-]{1,63}\.){1,8}([^\W\d_](?:[\w-]{0,61}\w)?)")
_RESERVED_ENDS = ("example", "example.com", "example.net", "example.org", "invalid", "localhost", "test")


def _emails(text: str) -> Iterator[int]:
    for at in _AT.finditer(text):
        domain = _DOMAIN.match(text, at.end())
        if domain is None or len(domain[1]) < 2 or _is_reserved(domain[0]):
            continue
        begin = max(0, at.start() - 64)
        local = _LOCAL_PART_END.search(text, begin, at.start())
        if local is not None:
            yield local.start()


def _is_reserved(domain: str) -> bool:
    name = domain.lower()
    return any(name == end or name.endswith(f".{end}") for end in _RESERVED_ENDS)


_IPV4 = re.compile(r"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?!\w|\.\w)")
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f:]{2,39}(?![\w:])")


def _ip_addresses(text: str) -> Iterator[int]:
    for match in _matches(_IPV4, text, _DIGITS):
        if _is_reached(match[0]):
            yield match.start()
    for match in _matches(_IPV6, text, _COLONS):
        if match[0].count(":") > 1 and _is_reached(match[0].rstrip(":") if not match[0].endswith("::") else match[0]):
            yield match.start()


def _is_reached(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False


_STATES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]|PR"
)
_POSTAL_CODES = (
    re.compile(rf"\b(?:{_STATES}),?[ \t\n]{{1,3}}[0-9]{{5}}(?:-[0-9]{{4}})?\b"),
    re.compile(r"\b(?:[A-Z]{1,2}[0-9][0-9A-Z]?[ \t][0-9][ABD-HJLNP-UW-Z]{2}|GIR[ \t]0AA)\b"),
    re.compile(r"\b[ABCEGHJ-NPRSTVXY][0-9][ABCEGHJ-NPRSTV-Z][ \t-][0-9][ABCEGHJ-NPRSTV-Z][0-9]\b"),
    re.compile(r"\bP\.?[ \t]?O\.?[ \t]Box[ \t][0-9]{1,6}\b", re.IGNORECASE),
)
"""Of the United States after the state, of the United Kingdom, of Canada; and boxes at a post office."""


def _postal_codes(text: str) -> Iterator[int]:
    for pattern in _POSTAL_CODES:
        yield from (match.start() for match in _matches(pattern, text, _DIGITS))


_STREET_KINDS = (
    "Alley|Avenue|Ave|Boulevard|Blvd|Circle|Close|Court|Crescent|Drive|Dr|Gardens|Highway|Hwy|Lane|Ln|Parkway|Pkwy|Place|Pl|"
    "Road|Rd|Row|Square|Sq|Street|St|Terrace|Way"
)
_STREETS = (
    re.compile(rf"\b[0-9]{{1,5}}[A-Za-z]?,?[ \t](?:[A-Z][\w.'-]{{0,30}}[ \t]){{1,4}}(?:{_STREET_KINDS})\b"),
    re.compile(r"\b[A-ZÄÖÜ][\wäöüß-]{1,40}(?:stra(?:ss|ß)e|str\.|weg|gasse|platz|allee)[ \t][0-9]{1,4}\b"),
)


def _streets(text: str) -> Iterator[int]:
    for pattern in _STREETS:
        yield from (match.start() for match in _matches(pattern, text, _DIGITS))


def in_order(found: Sequence[Found]) -> list[Found]:
    """Order what was found in a text by offset; a place that two recognisers found as one kind counts once."""
    return sorted(set(found))

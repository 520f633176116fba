"""Telephone numbers in texts, recognised by the numbering plans that the package ``phonenumbers`` carries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, Final

from pytest_benchbench.validation.pii import MOST_OF_KIND, Found

DEFAULT_REGIONS: Final = ("US", "GB")
"""Whose numbers are recognised without their international prefix."""

MOST_CHARACTERS: Final = 200_000
"""Characters between which numbers are looked for, over all texts of a set: about a minute for the worst of them."""

MISSING: Final = (
    "telephone numbers were not looked for: the package phonenumbers is missing; pip install 'pytest-benchbench[golden-set]'"
)

_RUN = re.compile(r"[+(\[0-9\uFF0B\uFF08\uFF10-\uFF19\u0660-\u0669\u06F0-\u06F9][\W\d_]{5,}")
"""Where a number can begin, up to the next letter; shorter ones are no number that reaches anybody."""

_DIGIT = re.compile(r"\d")
_FEWEST_DIGITS = 7
_AROUND = 12
"""Characters on both sides that tell whether a number stands alone, its extension among them."""

_FICTITIOUS = re.compile(r"[2-9][0-9]{2}55501[0-9]{2}")
"""National numbers of North America that are kept for films and books, so that they can stand where one was removed."""


class PhonesUncheckedError(Exception):
    """Nobody can tell whether there are telephone numbers; the message says why and what to do."""


class UnknownRegionError(Exception):
    """A region that the package does not know; the message names it."""


class PhoneFinder:
    """Finds telephone numbers, until it has looked at ``MOST_CHARACTERS``.

    Args:
        regions: ISO 3166 codes of two letters; numbers with an international prefix are recognised of every country.
        most_characters: See ``MOST_CHARACTERS``.

    Raises:
        PhonesUncheckedError: The package is missing.
        UnknownRegionError: There is no such region.
    """

    def __init__(self, regions: Sequence[str], *, most_characters: int = MOST_CHARACTERS) -> None:
        try:
            self._package: Any = import_module("phonenumbers")
        except ImportError:
            raise PhonesUncheckedError(MISSING) from None
        for region in regions:
            if region not in self._package.SUPPORTED_REGIONS:
                raise UnknownRegionError(f"no region {region!r}: two capital letters, such as US, GB or DE")
        self._regions: tuple[str | None, ...] = tuple(regions) or (None,)
        self._left = most_characters

    def find(self, text: str) -> Iterator[Found]:
        """Find the telephone numbers of a text, those that are valid in one of the regions; the first ``MOST_OF_KIND``.

        Raises:
            PhonesUncheckedError: So many digits stand in the texts that not all could be looked at.
        """
        return islice(self._found(text), MOST_OF_KIND)

    def _found(self, text: str) -> Iterator[Found]:
        for run in _RUN.finditer(text):
            if sum(1 for _ in islice(_DIGIT.finditer(text, *run.span()), _FEWEST_DIGITS)) < _FEWEST_DIGITS:
                continue
            begin = max(0, run.start() - _AROUND)
            window = text[begin : run.end() + _AROUND]
            self._left -= len(window)
            if self._left < 0:
                raise PhonesUncheckedError(
                    "not all telephone numbers were looked for: the texts hold more digits than any prose; remove them"
                )
            offsets = {offset for region in self._regions for offset in self._in_window(window, region)}
            yield from (Found(begin + offset, "phone") for offset in sorted(offsets))

    def _in_window(self, window: str, region: str | None) -> Iterator[int]:
        valid = self._package.Leniency.VALID
        for match in self._package.PhoneNumberMatcher(window, region, leniency=valid, max_tries=len(window) + 1):
            number = match.number
            national = str(number.national_number)
            if not (number.country_code == 1 and _FICTITIOUS.fullmatch(national)):
                yield match.start

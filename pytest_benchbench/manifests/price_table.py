"""What asking a paid detector costs: a table of the user, in which every price has its date and its source.

Amounts are exact: prices are read as decimal numbers, and sums are fractions.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from pytest_benchbench.manifests.faults import schema_fault_parts, shown
from pytest_benchbench.manifests.yaml_documents import YamlError, parse_yaml, read_bounded

Unit = Literal["word", "credit", "call"]

MAX_AMOUNT = 10**12
"""Larger amounts of money, and of units that a price is for, are refused."""

_AMOUNT = re.compile(r"[0-9]{1,13}(\.[0-9]{1,12})?")

_SHOWN_DIGITS = 6
"""Of a currency unit, behind the decimal point."""

_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1000, pattern=r"^\S(.*\S)?$")]


_NAMED_FIELD = re.compile(r"object (missing required|contains unknown) field (.*)", re.DOTALL)


class PriceTableError(Exception):
    """The table cannot be used; one line that names the file, the field and the value."""


@dataclass(frozen=True, slots=True)
class Price:
    """What one detector costs under one plan.

    Attributes:
        adapter: The registered name of the adapter.
        plan: The plan of the account, as the adapter calls it.
        unit: What is paid for.
        per: How many units the price is for, 1 or more.
        price: Of ``per`` units, 0 or more, in the currency of the table.
        as_of: When the price was read.
        source: Where.
    """

    adapter: str
    plan: str
    unit: Unit
    per: int
    price: Decimal
    as_of: datetime.date
    source: str

    def cost(self, units: int) -> Fraction:
        """Give what so many units cost, exactly: parts of ``per`` are charged in proportion."""
        return Fraction(self.price) * units / self.per


@dataclass(frozen=True, slots=True)
class PriceTable:
    """A table of prices.

    Attributes:
        display: The file as messages name it.
        sha256: Of its bytes.
        currency: Three capital letters.
        prices: At most one for each adapter and plan.
    """

    display: str
    sha256: str
    currency: str
    prices: tuple[Price, ...]

    def find(self, adapter: str, plan: str) -> Price | None:
        """Give the price of an adapter under a plan; ``None`` if the table has none."""
        return next((price for price in self.prices if (price.adapter, price.plan) == (adapter, plan)), None)


class _PriceEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    adapter: _Text
    plan: _Text
    unit: Unit
    per: Annotated[int, msgspec.Meta(ge=1, le=MAX_AMOUNT)]
    price: int | float | str
    as_of: datetime.date
    source: _Text


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    schema_version: Literal[1]
    currency: Annotated[str, msgspec.Meta(pattern=r"^[A-Z]{3}$")]
    prices: Annotated[tuple[_PriceEntry, ...], msgspec.Meta(min_length=1)]


_MEANT = {
    "schema_version": "1",
    "currency": "three capital letters such as USD",
    "prices": "a list of one price or more",
    "entry": f"an entry with {', '.join(_PriceEntry.__struct_fields__)}",
    "adapter": "a text without space around it",
    "plan": "a text without space around it",
    "unit": f"one of {', '.join(map(str, get_args(Unit)))}",
    "per": f"a whole number from 1 to {MAX_AMOUNT}",
    "price": "an amount such as 24.99",
    "as_of": "a date such as 2026-07-19",
    "source": "a text without space around it",
}
"""What each field has to be."""

_MISSING = {
    "adapter": "the adapter's name",
    "plan": "the plan as --bench-adapter=NAME:plan=... gives it",
    "as_of": "the day on which you read the price, such as 2026-07-19",
    "source": "where you read the price",
}
"""What to write where a field is missing, if more can be said."""


def read_price_table(path: Path, display: str, adapters: Collection[str]) -> PriceTable:
    """Read a table of prices.

    Args:
        path: A YAML file with ``schema_version`` 1, ``currency`` and the list ``prices``, whose entries have the fields of
            ``Price``, all of them.
        display: What to call it in messages.
        adapters: The names that an entry may be about.

    Raises:
        PriceTableError: It cannot be read, or an entry is at fault.
    """
    try:
        data = read_bounded(path, name=display)
        document = parse_yaml(data, name=display)
        if not isinstance(document, dict):
            raise PriceTableError(f"{display}: expected schema_version, currency and prices, got {_told(document)}")
        if (fault := _value_fault(document)) is not None:
            raise PriceTableError(f"{display}: {fault}")
        table = msgspec.convert(document, _Table)
    except YamlError as error:
        raise PriceTableError(str(error)) from None
    except msgspec.ValidationError as error:
        raise PriceTableError(f"{display}: {_schema_fault(error, document)}") from None
    prices: list[Price] = []
    for index, entry in enumerate(table.prices):
        field = f"{display}: prices[{index}]"
        if entry.adapter not in adapters:
            raise PriceTableError(f"{field}.adapter: no such adapter: {shown(entry.adapter)}; see: benchbench adapters")
        for number, other in enumerate(prices):
            if (other.adapter, other.plan) == (entry.adapter, entry.plan):
                named = f"{shown(entry.adapter)} with plan {shown(entry.plan)}"
                raise PriceTableError(f"{field}: {named} has a price already, prices[{number}]")
        amount = parse_amount(entry.price if isinstance(entry.price, str) else repr(entry.price))
        if amount is None:
            raise PriceTableError(f"{field}.price: expected an amount from 0 to {MAX_AMOUNT:.0e}, got {shown(entry.price)}")
        prices.append(Price(entry.adapter, entry.plan, entry.unit, entry.per, amount, entry.as_of, entry.source))
    return PriceTable(display, hashlib.sha256(data).hexdigest(), table.currency, tuple(prices))


def parse_amount(text: str) -> Decimal | None:
    """Read an amount of money: digits with at most one point, no sign, at most ``MAX_AMOUNT``; ``None`` if it is none."""
    if re.fullmatch(r"[0-9.]+e-[0-9]{1,2}", text):  # how Python writes small numbers
        text = format(Decimal(text), "f")
    if not _AMOUNT.fullmatch(text) or (amount := Decimal(text)) > MAX_AMOUNT:
        return None
    return amount


def show_amount(amount: Fraction | Decimal) -> str:
    """Write an amount for people: two digits behind the point, or as many as it has, rounded to a millionth."""
    fraction = Fraction(amount)
    whole, rest = divmod(round(fraction * 10**_SHOWN_DIGITS), 10**_SHOWN_DIGITS)
    digits = f"{rest:0{_SHOWN_DIGITS}d}".rstrip("0")
    return f"{whole}.{digits:0<2}"


def _value_fault(document: dict[str, object]) -> str | None:
    """Find a date with a time of day: where a date is meant, YAML reads one as soon as it is written."""
    entries = document.get("prices")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict) and isinstance(entry.get("as_of"), datetime.datetime):
            return f"prices[{index}].as_of: expected a date such as 2026-07-19, got {entry['as_of'].isoformat()}"
    return None


def _schema_fault(error: msgspec.ValidationError, document: dict[str, object]) -> str:
    """Name field, reason and value."""
    field, reason = schema_fault_parts(error)
    value: object = document
    for part in re.findall(r"[^.\[\]]+", field):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part)
    if (named := _NAMED_FIELD.fullmatch(reason)) is not None:
        place = f"{field}.{named[2]}" if field else named[2]
        if named[1] == "contains unknown":
            return f"{place}: no such field: expected {', '.join((_Table if not field else _PriceEntry).__struct_fields__)}"
        return f"{place}: is missing: write {(_MEANT | _MISSING)[named[2]]}"
    name = "entry" if re.fullmatch(r"prices\[\d+\]", field) else field.rpartition(".")[2]
    reason = f"expected {_MEANT[name]}" if name in _MEANT else reason
    return f"{field}: {reason}, got {_told(value)}" if field else reason


def _told(value: object) -> str:
    if isinstance(value, datetime.date):
        return value.isoformat()
    if value is None or isinstance(value, (str, int, float, bool, dict, list)):
        return shown(value)
    return type(value).__name__

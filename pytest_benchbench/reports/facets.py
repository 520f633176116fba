"""By what rows are told apart in a report: the series that they belong to and the properties of their cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from pytest_benchbench.evidence.grouping import Standing, facet
from pytest_benchbench.evidence.observation import EvidenceRow, Outcome

FieldValue = str | bytes | None
"""A value of a case's field: a text as it is, anything else as its canonical JSON, so that 1 and true are two values."""

_NOTHING: Mapping[str, Any] = {}

_encode = msgspec.json.Encoder(order="deterministic").encode


class Series(NamedTuple):
    """Rows that may be counted together: one adapter's answers inside one suite and parameter."""

    suite: str
    params: str | None
    adapter: str

    @classmethod
    def of(cls, row: EvidenceRow) -> Series:
        """Give the series that a row belongs to."""
        return cls(row.key.suite, row.key.params, row.key.adapter)


class Facets(NamedTuple):
    """The properties of a case by which rows are grouped; ``None`` where a case has none.

    Attributes:
        transform: The transform's name.
        expected: What the case expects, whatever an expectations file says.
        media_type: What the artifact is; attacks of one family name differ between media.
        family: What an attack shares with those that differ from it in strength only.
        strength: In the unit of its family; ``None`` where nothing varies.
        provider: Who made the carrier: ``provider`` of ``transform.parameters.source``.
        content_stratum: What the carrier shows, from there too.
        fields: The values of the fields that were asked for, in their order.
    """

    state: str | None = None
    transform: str | None = None
    arm: str | None = None
    expected: str | None = None
    media_type: str | None = None
    family: str | None = None
    strength: float | None = None
    provider: str | None = None
    content_stratum: str | None = None
    fields: tuple[FieldValue, ...] = ()

    @classmethod
    def of(cls, row: EvidenceRow, fields: Sequence[CaseField] = ()) -> Facets:
        """Give the properties of a row's case.

        Args:
            row: The evidence.
            fields: What else is asked for.
        """
        _, attack, source = transform_parts(row.case)
        attack = attack if isinstance(attack, dict) else _NOTHING
        source = source if isinstance(source, dict) else _NOTHING
        return cls(
            **{name: facet(row, name) for name in ("state", "transform", "arm", "expected", "media_type")},
            family=_text(attack.get("family")),
            strength=_number(attack.get("strength")),
            provider=_text(source.get("provider")),
            content_stratum=_text(source.get("content_stratum")),
            fields=tuple(field.of(row.case) for field in fields),
        )


class Kind(NamedTuple):
    """All that tables see of a row beside its artifact, base and numbers: a million rows are of some hundred kinds."""

    series: Series
    facets: Facets
    standing: Standing
    outcome: Outcome


class CaseField:
    """A field of the cases, or several fields together, named by path.

    Args:
        path: Names of members with dots between them, such as ``transform.parameters.attack.strength``; several such paths
            with commas between them make one field, whose value is the list of their values.

    Raises:
        ValueError: A name is empty.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._fields = [field.split(".") for field in path.split(",")]
        if not all(name for names in self._fields for name in names):
            raise ValueError(f"{path!r} is no field: expected names with dots between them, such as transform.name")

    def of(self, case: Mapping[str, Any]) -> FieldValue:
        """Give the field's value in a case; ``None`` where it has none, or null."""
        if len(self._fields) > 1:
            values = [_member(case, names) for names in self._fields]
            return None if all(value is None for value in values) else _encode(values)
        value = _member(case, self._fields[0])
        return value if value is None or isinstance(value, str) else _encode(value)


def _member(case: Mapping[str, Any], names: Sequence[str]) -> Any:
    value: Any = case
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    if isinstance(value, float) and value.is_integer():
        return int(value)  # 75 and 75.0 are one value
    return value


def field_value(value: FieldValue) -> Any:
    """Give what a case said, as JSON has it."""
    return msgspec.json.decode(value) if isinstance(value, bytes) else value


def field_order(value: FieldValue) -> tuple[int, float, str]:
    """Order the values of a field: none, numbers by size, texts, then all else by its JSON."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, str):
        return (2, 0.0, value)
    number = _number(field_value(value))
    return (3, 0.0, value.decode()) if number is None else (1, number, value.decode())


def transform_parts(case: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Give what a case says of its transform's name, of the attack and of the carrier's source, of whatever type it is."""
    transform = case.get("transform")
    if transform.__class__ is not dict:
        return transform, None, None
    parameters = transform.get("parameters")
    if parameters.__class__ is not dict:
        return transform.get("name"), None, None
    return transform.get("name"), parameters.get("attack"), parameters.get("source")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    """Give a JSON number as a float, -0 as 0; ``None`` for anything else, or for an integer beyond the range of floats."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value) + 0.0
    except OverflowError:
        return None
    return number if math.isfinite(number) else None

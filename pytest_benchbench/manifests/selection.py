"""Choosing rows by the values of their fields, for ``where=`` of a suite and ``--bench-select``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from pytest_benchbench.manifests.rows import Kind


class SelectionError(Exception):
    """A condition names a field that rows of this kind do not have."""


@dataclass(frozen=True, slots=True)
class RowSelection:
    """Conditions on a row: every field must have one of its wanted values.

    Attributes:
        wanted: Field name to the texts that are wanted. ``transform`` means the transform's name.
    """

    wanted: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, conditions: Iterable[tuple[str, str]], kind: Kind) -> RowSelection:
        """Gather conditions: several values of one field widen the choice, several fields narrow it.

        Raises:
            SelectionError: Rows of the kind have no such field, or none are chosen by it.
        """
        named = {field.encode_name: field.name for field in msgspec.structs.fields(kind.row)}
        fields = {field: name for field, name in named.items() if field not in kind.unselectable}
        wanted: dict[str, frozenset[str]] = {}
        for field, value in conditions:
            if field in kind.unselectable:
                raise SelectionError(f"no rows are chosen by {field}: what chooses them is recorded, and {field} is not")
            if field not in fields:
                raise SelectionError(f"rows have no field {field!r}; they have: {', '.join(fields)}")
            wanted[fields[field]] = wanted.get(fields[field], frozenset()) | {value}
        return cls(wanted)

    def __bool__(self) -> bool:
        return bool(self.wanted)

    def takes(self, row: msgspec.Struct) -> bool:
        """Say whether a row meets every condition."""
        return all(_text(getattr(row, field)) in values for field, values in self.wanted.items())


def _text(value: object) -> str:
    """Write a field's value as a command line would: null, true and false as in JSON, a transform by its name."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(getattr(value, "name", value))

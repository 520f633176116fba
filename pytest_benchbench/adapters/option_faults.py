"""What is wrong with an option of an adapter: which one, what was given and what is expected, in words for people."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import inspect

from pytest_benchbench.manifests.faults import schema_fault_parts, shown_text


def option_fault(options: type[msgspec.Struct], values: Mapping[str, str], error: ValueError) -> str:
    """Say ``wave=61: expected a whole number from 1 to 60``.

    Args:
        options: What the adapter accepts.
        values: What was given, as text.
        error: What converting it raised.

    Returns:
        One line; what the error itself says where it is not about the value of one option.
    """
    if not isinstance(error, msgspec.ValidationError):
        return str(error)
    name, said = schema_fault_parts(error)
    kinds = {field.encode_name: field.type for field in inspect.type_info(options).fields}  # type: ignore[attr-defined]
    if name not in values or name not in kinds:
        return f"{name}: {said}" if name else said
    expected = _expected(kinds[name])
    return f"{name}={shown_text(values[name])}: {f'expected {expected}' if expected else said}"


def _expected(kind: inspect.Type) -> str | None:
    """Say in words what a type accepts; ``None`` where its own error says more."""
    match kind:
        case inspect.Metadata(type=inner):
            return _expected(inner)
        case inspect.UnionType(types=types):
            some = [one for one in types if not isinstance(one, inspect.NoneType)]
            return _expected(some[0]) if len(some) == 1 else None
        case inspect.IntType():
            return f"a whole number{_range(kind)}"
        case inspect.FloatType():
            return f"a number{_range(kind)}"
        case inspect.BoolType():
            return "true or false"
        case inspect.LiteralType(values=values):
            return f"one of {', '.join(map(str, values))}"
        case _:
            return None


def _range(kind: inspect.IntType | inspect.FloatType) -> str:
    lowest = f"from {kind.ge:g}" if kind.ge is not None else f"above {kind.gt:g}" if kind.gt is not None else ""
    highest = f"to {kind.le:g}" if kind.le is not None else f"below {kind.lt:g}" if kind.lt is not None else ""
    if kind.le is not None and kind.ge is None:
        highest = f"up to {kind.le:g}"
    return "".join(f" {part}" for part in (lowest, highest) if part)

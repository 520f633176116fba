"""Columns for the lines of any part of a report: which there are, in which order, and how their values are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from pytest_benchbench.reports.html.view import (
    NOTHING,
    Cell,
    Field,
    Line,
    cell,
    interval_of,
    rate_fields,
    shown,
    value_field,
)
from pytest_benchbench.reports.pipe_tables import range_text
from pytest_benchbench.reports.wording import tells_verdicts

_SERIES = ("adapter", "suite", "params")

_FIRST = (
    *("state", "transform", "arm", "provider", "content_stratum", "value", "family", "attack", "strength", "from", "to"),
    *("quantity", "expected", "call", "pairs", "kept", "lost", "gained", "absent", "undecided", "kept_rate", "gained_rate"),
    *("rows", "rows_mismatch", "rows_known_mismatch", "rows_detected", "rows_not_detected"),
    *("rows_scored", "rows_unstable", "rows_error", "rows_unavailable", "rows_not_run"),
    *("artifacts", "artifacts_conflicting"),
    *("detected_rate_of_artifacts", "clustered95", "bases", "resolvable_false_positive_rate"),
)
"""What comes first, where it exists; the rest follows as it stands in the report."""

_ALWAYS = frozenset({"rows", "rows_detected", "rows_not_detected", "n", "artifacts"})
"""Columns that are shown although they may be 0 throughout."""

_VERDICTS = frozenset({"rows_detected", "rows_not_detected"})

_SAID_BY_THE_RATE = frozenset({"artifacts_detected", "artifacts_not_detected", "artifacts_scored", "certifies_erasure"})

_TITLES = {
    "detected_rate_of_artifacts": "rate (k/n)",
    "resolvable_false_positive_rate": "false positives not excluded up to",
    "artifacts_conflicting": "conflicting",
    "mcnemar_p": "McNemar p",
    "content_stratum": "content",
    "p50_ms": "p50 ms",
}


def identity_of(lines: Sequence[Line]) -> tuple[str, ...]:
    """Name what tells the series of a report apart: the adapter, and suite and parameters where they differ."""
    return ("adapter", *(name for name in ("suite", "params") if len({line[name] for line in lines}) > 1))


def fields_of(lines: Sequence[Line], identity: Sequence[str]) -> list[Field]:
    """Give the columns of some lines.

    Args:
        lines: Their members may be JSON values of any kind; rates, intervals and ranges are known by their members.
        identity: What of the series is shown, in this order.
    """
    names = dict.fromkeys(name for line in lines for name in line)
    first = [name for name in (*identity, *_FIRST) if name in names]
    rest = [name for name in names if name not in first and name not in _SERIES and name not in _SAID_BY_THE_RATE]
    always = _ALWAYS if tells_verdicts(lines) else _ALWAYS - _VERDICTS
    return [made for name in (*first, *rest) for made in _fields(name, [line.get(name) for line in lines], always)]


def _fields(name: str, values: Sequence[Any], always: Set[str]) -> Iterator[Field]:
    title = _TITLES.get(name, name.removeprefix("rows_").replace("_", " "))
    example = next((value for value in values if isinstance(value, Mapping) and value), None)
    if example is None:
        yield value_field(name, title, is_optional=name not in always)
    elif "wilson95_low" in example:
        has_own_name = name != "detected_rate_of_artifacts"
        yield from rate_fields(
            name, title, f"{title}: 95 % interval" if has_own_name else "95 % interval", is_optional=has_own_name
        )
    elif "effective_n" in example:
        yield Field("95 % interval by bases", lambda line: _clustered(line.get(name)), is_optional=True)
        yield Field("effective n", lambda line: cell((line.get(name) or {}).get("effective_n")), is_optional=True)
    elif "detected_in_all" in example:
        yield Field("bases", lambda line: cell((line.get(name) or {}).get("count")), is_optional=True)
        for part in ("detected_in_all", "detected_in_any"):
            yield from _inner_rates(name, part)
    elif {"min", "median", "max"} <= example.keys():
        yield Field(f"{title} (min / median / max)", lambda line: _range(line.get(name)), is_optional=True)
    elif all(isinstance(inner, Mapping) and "median" in inner for inner in example.values()):
        for part in sorted({part for value in values for part in value or ()}):
            yield _range_in(name, part)
    else:
        yield value_field(name, title, is_optional=True)


def _inner_rates(name: str, part: str) -> Iterator[Field]:
    title = part.replace("_", " ")
    for field in rate_fields(part, f"{title} (bases)", f"{title}: 95 % interval", is_optional=True):
        yield Field(field.title, lambda line, make=field.cell: make(line.get(name) or {}), is_optional=True)  # type: ignore[misc]


def _range_in(name: str, part: str) -> Field:
    title = part.replace("_", " ")
    return Field(f"{title} (min / median / max)", lambda line: _range((line.get(name) or {}).get(part)), is_optional=True)


def _range(value: Line | None) -> Cell:
    if value is None or value["median"] is None:
        return Cell(NOTHING, css="n")
    return Cell(shown(range_text(dict(value))), sort=repr(value["median"]), css="n")


def _clustered(value: Line | None) -> Cell:
    return Cell(NOTHING, css="n") if value is None else interval_of(value["low"], value["high"], None)

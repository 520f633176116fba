"""Figures of the performance suite, or of ``benchbench profile``, compared one by one."""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from pytest_benchbench.evidence.foreign_text import one_line

MAX_BYTES = 64 * 1024 * 1024
"""Of a file of figures."""

ENOUGH = 3
"""Values that show how much a figure scatters."""

MAX_SLOWDOWN = 1.2
"""How many times as bad a figure may be unless told otherwise."""

REPETITIONS = frozenset({"repeat", "repetitions", "processes", "evidence_bytes", "bytes"})
"""Parameters that say how often something was measured, or what came out: they may differ."""

_SMALLER_IS_BETTER = frozenset(
    {"seconds", "s", "ms", "us", "milliseconds", "microseconds", "mib", "mb", "kib", "kb", "bytes"}
)

Better = Literal["smaller", "larger"] | None


class FiguresError(Exception):
    """Files of figures that cannot be read or compared; one line."""


class Measured(msgspec.Struct):
    """One document of figures, as ``benchmarks/performance`` and ``benchbench profile`` write them."""

    schema_version: Literal[1]
    benchmark: str
    parameters: dict[str, Any]
    figures: dict[str, float]
    wanted: dict[str, str]
    samples: dict[str, Any]
    machine: dict[str, Any] = {}
    versions: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its noise.

    Attributes:
        value: The figure; the median where it was measured in several documents.
        low: The smallest of the values that it comes from; ``None`` where there are not enough to know.
        high: The largest.
        values: How many there are.
    """

    value: float
    low: float | None
    high: float | None
    values: int


def read_figures(path: Path) -> list[Measured]:
    """Read a file of one or several documents, one after the other: a measurement that was repeated and appended.

    Raises:
        FiguresError: It cannot be read, or is none.
    """
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except OSError as error:
        raise FiguresError(f"{path}: cannot be read: {error.strerror or error}") from None
    if data is None:
        raise FiguresError(f"{path}: larger than {MAX_BYTES} bytes")
    try:
        text = data.decode()
        found = [msgspec.convert(document, Measured) for document in _documents(text)]
    except RecursionError:
        raise FiguresError(f"{path}: nested too deeply") from None
    except ValueError as error:
        raise FiguresError(f"{path}: no figures of the performance suite: {one_line(error)}") from None
    if not found:
        raise FiguresError(f"{path}: no figures of the performance suite: it is empty")
    for document in found:
        for name, figure in document.figures.items():
            if not math.isfinite(figure):
                raise FiguresError(f"{path}: {one_line(name)}: not a finite number")
    return found


def _documents(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    place = 0
    while (match := re.compile(r"\s*").match(text, place)) is not None and match.end() < len(text):
        document, place = decoder.raw_decode(text, match.end())
        yield document


def compare_figures(
    old: Sequence[Measured], new: Sequence[Measured], *, max_slowdown: float | None = None, accepted: Set[str] = frozenset()
) -> dict[str, Any]:
    """Compare figures one by one.

    A figure is a regression if it is worse by more than the factor, and beyond the noise: the two differ by more than the
    ranges of the values that they come from are wide, both together. Of the same code, measured in 3 rounds that scatter by
    10 %, that is seen 3 times in 1,000, in 5 rounds once in 30,000 times.

    Which direction is worse is told by ``wanted`` (``<=`` or ``>=``), else by the unit in the figure's name: time and memory
    should be small. A figure of unknown direction or noise is shown and decides nothing.

    The values are those of the side's documents, if there are at least ``ENOUGH``. Else they are the list of numbers among
    the samples by whose name the figure's begins and in whose range it lies; else, as for a quotient, its noise is taken to
    be the widest of all lists.

    Args:
        old: What is compared with, at least one document.
        new: What is compared.
        max_slowdown: The factor, above 1.
        accepted: Parameters that may differ.

    Returns:
        A JSON document.

    Raises:
        FiguresError: They are not of one benchmark with the same parameters.
    """
    limit = MAX_SLOWDOWN if max_slowdown is None else max_slowdown
    _refuse_others([*old, *new], accepted)
    names = list(dict.fromkeys(name for document in old for name in document.figures))
    new_names = list(dict.fromkeys(name for document in new for name in document.figures))
    figures = [_compared(name, old, new, limit) for name in names if name in new_names]
    if not figures:
        raise FiguresError("there is nothing to compare: no figure is on both sides")
    return {
        "benchmark": new[0].benchmark,
        "figures": figures,
        "only_in_old": [name for name in names if name not in new_names],
        "only_in_new": [name for name in new_names if name not in names],
        "notes": list(_notes(old[0], new[0])),
        "rule": {"max_slowdown": limit},
        "regressions": [
            {
                "rule": "worse",
                "figure": figure["name"],
                "observed": figure["worse_by"],
                "allowed": limit,
                "text": f"{figure['name']}: {figure['worse_by']:.3g} times as bad, at most {limit:g} allowed",
            }
            for figure in figures
            if figure["is_regression"]
        ],
    }


def _refuse_others(documents: Sequence[Measured], accepted: Set[str]) -> None:
    first = documents[0]
    for other in documents[1:]:
        if other.benchmark != first.benchmark:
            raise FiguresError(
                f"these are different benchmarks: {one_line(first.benchmark)} and {one_line(other.benchmark)}"
            )
        for name in sorted({*first.parameters, *other.parameters} - REPETITIONS - accepted):
            was, now = (document.parameters.get(name) for document in (first, other))
            if was != now:
                told = f"{one_line(name)} is {one_line(json.dumps(was))} and {one_line(json.dumps(now))}"
                raise FiguresError(f"these are different measurements: {told} (--accept {one_line(name)} compares them)")


def _notes(old: Measured, new: Measured) -> Iterator[str]:
    for name in sorted({*old.machine, *new.machine}):
        if old.machine.get(name) != new.machine.get(name):
            yield f"another machine: {name} {one_line(old.machine.get(name))} -> {one_line(new.machine.get(name))}"
    for name in sorted({*old.versions, *new.versions}):
        if old.versions.get(name) != new.versions.get(name):
            yield f"{one_line(name)} {one_line(old.versions.get(name))} -> {one_line(new.versions.get(name))}"


def _compared(name: str, old: Sequence[Measured], new: Sequence[Measured], limit: float) -> dict[str, Any]:
    was, now = _figure(name, old), _figure(name, new)
    better = _better(name, [*old, *new])
    ratio = now.value / was.value if was.value > 0 and now.value > 0 else None
    worse_by = None if ratio is None or better is None else ratio if better == "smaller" else 1 / ratio
    beyond: bool | None = None
    if was.low is not None and was.high is not None and now.low is not None and now.high is not None:
        beyond = abs(now.value - was.value) > (was.high - was.low) + (now.high - now.low)
    return {
        "name": name,
        "better": better,
        "old": {"value": was.value, "low": was.low, "high": was.high, "values": was.values},
        "new": {"value": now.value, "low": now.low, "high": now.high, "values": now.values},
        "ratio": ratio,
        "worse_by": worse_by,
        "beyond_noise": beyond,
        "is_regression": bool(beyond) and worse_by is not None and worse_by > limit,
    }


def _better(name: str, documents: Sequence[Measured]) -> Better:
    wanted = {text.strip()[:1] for document in documents if (text := document.wanted.get(name))}
    if wanted == {"<"}:
        return "smaller"
    if wanted == {">"}:
        return "larger"
    words = set(re.split(r"[\s_/]+", name.lower()))
    return "smaller" if not wanted and words & _SMALLER_IS_BETTER and "second" not in words else None


def _figure(name: str, documents: Sequence[Measured]) -> Figure:
    values = [document.figures[name] for document in documents if name in document.figures]
    value = statistics.median(values)
    if len(values) >= ENOUGH:
        return Figure(value, min(values), max(values), len(values))
    ranges = [found for document in documents if name in document.figures if (found := _noise(name, document))]
    if not ranges:
        return Figure(value, None, None, len(values))
    low, high = min(found[0] for found in ranges), max(found[1] for found in ranges)
    return Figure(value, min(low, *values), max(high, *values), sum(found[2] for found in ranges))


def _noise(name: str, document: Measured) -> tuple[float, float, int] | None:
    """Give the range in which a figure of one document scatters, and how many values show it."""
    figure = document.figures[name]
    series = {path: numbers for path, numbers in _series("", document.samples) if len(numbers) >= ENOUGH}
    own = [path for path in series if f"{name} ".startswith(f"{path} ")]
    if own:
        numbers = series[max(own, key=len)]
        if min(numbers) <= figure <= max(numbers):
            return min(numbers), max(numbers), len(numbers)
    spreads = [(max(numbers) - min(numbers)) / statistics.median(numbers) for numbers in series.values() if min(numbers) > 0]
    if not spreads:
        return None
    half = abs(figure) * max(spreads)
    return figure - half, figure + half, min(map(len, series.values()))


def _series(path: str, samples: Any) -> Iterator[tuple[str, list[float]]]:
    """Yield the lists of numbers in what a script keeps, named by the words that lead to them.

    A list of objects with the same fields, one for each repetition, is a list for each of their numbers.
    """
    if isinstance(samples, Mapping):
        for name, value in samples.items():
            yield from _series(f"{path} {name}".strip(), value)
    elif isinstance(samples, list) and samples:
        if all(_is_number(value) for value in samples):
            yield path, [float(value) for value in samples]
        elif all(isinstance(value, Mapping) for value in samples):
            for name in samples[0]:
                numbers = [value.get(name) for value in samples]
                if all(_is_number(number) for number in numbers):
                    yield f"{path} {name}".strip(), [float(number) for number in numbers]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def figure_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Say what a comparison of figures found, in plain lines for a terminal; foreign text is as it came."""
    yield f"{document['old']['name']} -> {document['new']['name']}: {document['benchmark']}"
    for figure in document["figures"]:
        ratio = "" if figure["ratio"] is None else f", {figure['ratio']:.3g} times"
        known = {True: "beyond the noise", False: "within the noise", None: "noise unknown"}[figure["beyond_noise"]]
        direction = f"{figure['better']} is better" if figure["better"] else "no direction known"
        yield f"{figure['name']}: {_told(figure['old'])} -> {_told(figure['new'])}{ratio}, {known} ({direction})"
    for name in ("only_in_old", "only_in_new"):
        if document[name]:
            yield f"only in {document[name.removeprefix('only_in_')]['name']}: {', '.join(document[name])}"
    yield from (f"regression: {reason['text']}" for reason in document["regressions"])
    if not document["regressions"]:
        limit = document["rule"]["max_slowdown"]
        yield f"no regression (no figure is more than {limit:g} times as bad and beyond the noise)"


def _told(figure: Mapping[str, Any]) -> str:
    if figure["low"] is None:
        return f"{figure['value']:.4g}"
    return f"{figure['value']:.4g} [{figure['low']:.4g}, {figure['high']:.4g}]"

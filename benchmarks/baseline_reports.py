"""What the committed reports of ``docs/baselines`` say about a slice: detected of n, intervals, scores, bits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from baseline_studies import CARRIER, PATTERN, VOICE

from pytest_benchbench.statistics.intervals import wilson_interval

ROOT = Path(__file__).resolve().parents[1]

BASELINES = ROOT / "docs" / "baselines"

FIELDS = {"arm": "arm", "state": "state", "transform": "transform.name"} | {
    "carrier": CARRIER,
    "pattern": PATTERN,
    "voice": VOICE,
}
"""What a slice may be told by, and the field of the cases that this is."""

_TABLES = {("state",): "adapter_state", ("state", "transform"): "adapter_state_transform", ("arm",): "adapter_arm"}

ANY, NONE = "*", "-"
"""Values of a slice: any but none, and none."""


class NoSuchSliceError(LookupError):
    """A report has nothing about what is asked for; one line."""


@dataclass(frozen=True, slots=True)
class Count:
    """Detected of decided artifacts.

    Attributes:
        k: The detected.
        n: All of them.
    """

    k: int
    n: int

    def __str__(self) -> str:
        return f"{self.k}/{self.n}"

    @property
    def interval(self) -> str:
        """The 95 % Wilson interval in per cent, whole ones unless thousands of artifacts were counted."""
        low, high = wilson_interval(self.k, self.n) or (0.0, 1.0)
        decimals = 1 if self.n >= 1000 else 0
        return f"{100 * low:.{decimals}f}-{100 * high:.{decimals}f} %"

    @property
    def whole(self) -> str:
        """Both: ``5/9 (27-81 %)``."""
        return f"{self} ({self.interval})"


@cache
def report(study: str) -> dict[str, Any]:
    """Read the committed report of a study."""
    return json.loads((BASELINES / study / "report.json").read_bytes())


@cache
def _bits(study: str) -> list[dict[str, Any]]:
    return json.loads((BASELINES / study / "embedded-bits.json").read_bytes())["lines"]


def count(study: str, adapter: str, **where: str) -> Count:
    """Count what an adapter detected. Lines are added, so they must not share artifacts.

    Args:
        study: Whose report is asked.
        adapter: Name of the adapter.
        where: The slice, by names of ``FIELDS``: a value, several with ``|`` between them, ``ANY`` or ``NONE``.

    Raises:
        NoSuchSliceError: No table of the report is about these fields, or no line of it about these values.
    """
    rates = [line["detected_rate_of_artifacts"] for line in lines(study, adapter, **where)]
    return Count(sum(rate["k"] for rate in rates), sum(rate["n"] for rate in rates))


def lines(study: str, adapter: str, **where: str) -> list[dict[str, Any]]:
    """Give the lines of the table about exactly these fields that are in the slice; see ``count``."""
    results = report(study)["results"]
    if table := _TABLES.get(tuple(sorted(where))):
        told = [(line, line) for line in results["tables"][table]]
    else:
        wanted = {FIELDS[name] for name in where}
        path = next((path for path in results["by"] if set(path.split(",")) == wanted), None)
        if path is None:
            raise NoSuchSliceError(f"{study}: its report has no table by {', '.join(sorted(wanted))}")
        names = [name for field in path.split(",") for name, of in FIELDS.items() if of == field]
        told = [(line, dict(zip(names, line["value"], strict=True))) for line in results["by"][path] if line["value"]]
    found = [
        line
        for line, facets in told
        if line["adapter"] == adapter and all(_fits(facets[name], value) for name, value in where.items())
    ]
    if not found:
        raise NoSuchSliceError(f"{study}: nothing about {adapter} where {where}")
    return found


def _fits(value: str | None, wanted: str) -> bool:
    if wanted in (ANY, NONE):
        return (value is None) is (wanted == NONE)
    return value in wanted.split("|")


def scores(study: str, adapter: str, **where: str) -> str:
    """Give the scores of a slice, all of them up to three, else the smallest and the largest; see ``count``."""
    return _measured("score", study, adapter, **where)


def accuracies(study: str, adapter: str, **where: str) -> str:
    """Give the message bit accuracies of a slice in the same way; they are those of the message that came closest."""
    return _measured("message_bit_accuracy", study, adapter, **where)


def _measured(quantity: str, study: str, adapter: str, **where: str) -> str:
    ranges = [line[quantity] for line in lines(study, adapter, **where) if line[quantity]]
    runs = len(report(study)["runs"])
    steady = all(of["min"] == of["max"] for of in ranges if of["rows"] == runs)  # one artifact, the same in all runs
    if steady and sum(of["rows"] for of in ranges) <= 3 * runs:
        values = sorted(value for of in ranges for value in (of["min"], of["median"], of["max"])[_SHOWN[of["rows"] // runs]])
        return ", ".join(score(value) for value in values)
    return f"{score(min(of['min'] for of in ranges))} to {score(max(of['max'] for of in ranges))}"


_SHOWN = {1: slice(0, 1), 2: slice(0, 3, 2), 3: slice(0, 3)}
"""Of the smallest, the middle and the largest of so many values, those that are all of them."""


def score(value: float) -> str:
    """Write a score: three decimals, more where it would seem to be 0."""
    if value == 0:
        return "0"
    return f"{value:.3f}" if value >= 0.0005 else f"{value:.1e}"


def points(study: str, adapter: str) -> list[dict[str, Any]]:
    """Give the points of the only curve of an adapter in a study, the marked artifacts first, then from weak to strong.

    Raises:
        NoSuchSliceError: There is none, or there are several.
    """
    curves = [curve for curve in report(study)["results"]["robustness"] if curve["adapter"] == adapter]
    if len(curves) != 1:
        raise NoSuchSliceError(f"{study}: {len(curves)} curves of {adapter}")
    return curves[0]["points"]


def with_carriers(line: dict[str, Any]) -> str:
    """Write detected of n with both intervals: Wilson, and where artifacts share carriers the one that allows for it.

    Args:
        line: A line of a table, or a point of a curve.
    """
    counted = Count(line["detected_rate_of_artifacts"]["k"], line["detected_rate_of_artifacts"]["n"])
    clustered = line["clustered95"]
    if clustered is None:
        return counted.whole
    return f"{counted} ({counted.interval}, {100 * clustered['low']:.0f}-{100 * clustered['high']:.0f} %)"


def bits(study: str, adapter: str, transform: str, patterns: str) -> str:
    """Give the share of embedded bits that were read right, in per cent with one decimal.

    Args:
        study: One that counts bits.
        adapter: ``dwt-dct`` or ``dwt-dct-svd``.
        transform: ``embed`` for what was marked, else the attack's name.
        patterns: Names of messages with ``|`` between them.

    Raises:
        NoSuchSliceError: Nothing was counted there.
    """
    found = [
        line
        for line in _bits(study)
        if (line["adapter"], line["transform"]) == (adapter, transform) and line["pattern"] in patterns.split("|")
    ]
    if not found:
        raise NoSuchSliceError(f"{study}: no bits of {adapter} after {transform}")
    return f"{100 * sum(line['equal'] for line in found) / sum(line['bits'] for line in found):.1f}"

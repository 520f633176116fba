"""Figures of text detectors as plain lines and cells. Nothing is computed here: every number is in the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pytest_benchbench.reports.detector_figures import BUCKETS
from pytest_benchbench.reports.escaping import plain

Line = Mapping[str, Any]
TableLine = TypeVar("TableLine", bound=Mapping[str, Any])

RATES = ("accuracy", "precision", "recall", "fpr")

COUNTS = ("planned", "scored", "errors", "unavailable", "notRun")

CELLS = ("tp", "fp", "tn", "fn")

BUCKET_NAMES = tuple(f"{10 * place} to {10 * place + 10}" for place in range(BUCKETS))
"""Each bucket holds its lower bound, and the last one 100 too."""

COUNT_NAMES = ("planned", "scored", "errors", "unavailable", "not run")

RULE = (
    "A text is called AI when its score is at least 50, the same for every detector; AI is positive. This is no detector's "
    "best threshold. Texts without a score are in no figure and are counted apart. Intervals are Wilson's, of 95 %; what "
    "cannot be computed is a dash. Humanizer bypass is the share of humanized texts that score below 50: a higher one is "
    "better for the humanizer."
)

TIMES = (
    "Wall-clock milliseconds of the call that answered, waits left out; percentiles are observed values, with the observed "
    "values between which the percentile of all such calls lies with 95 % confidence. Recorded calls were made in an "
    "earlier session, whose answers were kept. Cold calls are in no percentile."
)


def golden_sets_of(results: Line) -> Sequence[Line]:
    """Give the golden sets of a report's results; none where it has no such rows."""
    found: Sequence[Line] = results.get("golden_sets") or ()
    return found


def banners(results: Line) -> list[str]:
    """Give what has to stand over every rendering, each banner once."""
    return list(dict.fromkeys(found["banner"] for found in golden_sets_of(results) if found.get("banner")))


def set_name(found: Line) -> str:
    """Name a golden set with its version, its split and, where there are several, the run; text is as it came."""
    of_set = found["goldenSet"]
    name = " ".join(of_set[part] for part in ("name", "version") if of_set[part]) or f"golden set {of_set['sha256'][:12]}"
    run = found.get("run")
    return f"{name}, split {found['split']}" + ("" if run is None else f", run {run}")


def table_rate(rate: Line) -> dict[str, Any]:
    """Give a rate with the names that tables know."""
    return {
        "k": rate["k"],
        "n": rate["n"],
        "rate": rate["value"],
        "wilson95_low": rate["lower"],
        "wilson95_high": rate["upper"],
    }


def detector_lines(results: Line) -> list[str]:
    """Say in one plain line for each detector what it comes to at the threshold, the banner first."""
    lines = list(banners(results))
    for found in golden_sets_of(results):
        name = plain(set_name(found))
        for detector in found["detectors"]:
            told = [f"{label} {_rate(detector[member])}" for label, member in _TOLD if detector[member]["n"]]
            lines.append(
                f"{plain(detector['alias'])} on {name}: {', '.join([*(told or ['no score']), *_without(detector)])}"
            )
    return lines


_TOLD = (("accuracy", "accuracy"), ("recall", "recall"), ("false positives", "fpr"), ("bypass", "humanizerBypass"))


def _rate(rate: Line) -> str:
    return f"{rate['value']:.4f} ({rate['k']}/{rate['n']}, {rate['lower']:.4f} to {rate['upper']:.4f})"


def _without(detector: Line) -> list[str]:
    without = detector["planned"] - detector["scored"]
    return [f"{without} without a score"] if without else []


def identity_fields(identity: Line) -> dict[str, Any]:
    """Give what tells a detector from others, by names for people."""
    return {
        "adapter": identity["name"],
        "version": identity["version"],
        "rule": identity["rule"],
        "vendor": identity.get("vendor"),
        "plan": identity.get("plan"),
        "API version": identity.get("apiVersion"),
        "requested model": identity.get("requestedModel"),
        "model": identity.get("model"),
        "mixed texts": identity.get("mixed"),
        "weights": [f"{weights['name']} {weights['sha256']}" for weights in identity.get("weights", ())],
        "varying": identity.get("varying"),
    }


def percentile_text(percentile: Line | None) -> str | None:
    """Write a percentile with its rank, and the observed times that bound it."""
    if percentile is None:
        return None
    told = f"{percentile['value']:.6g} (rank {percentile['rank']}"
    if percentile["low"] is None:
        return f"{told})"
    ranks = f"ranks {percentile['lowRank']} to {percentile['highRank']}"
    return f"{told}; {percentile['low']:.6g} to {percentile['high']:.6g}, {ranks})"


def threshold_text(found: Line) -> str:
    """Write the threshold that was taken from the tune split."""
    return "none: nothing is called AI" if found["threshold"] is None else f"{found['threshold']:.6g}"


def beside_golden_sets(results: Line, lines: Sequence[TableLine]) -> list[TableLine]:
    """Leave out of a table of verdicts the adapters that were asked about golden sets alone: a score is no verdict.

    Args:
        results: The results of a report.
        lines: Of one of its tables, each with its ``adapter``.

    Returns:
        The other lines, in their order. An adapter that answered about something else too keeps all of its lines.
    """
    of_sets: Counter[str] = Counter()
    for found in golden_sets_of(results):
        of_sets.update({detector["alias"]: detector["planned"] for detector in found["detectors"]})
    if not of_sets:
        return list(lines)
    rows: Counter[str] = Counter()
    for line in results["tables"]["adapter"]:
        rows[line["adapter"]] += line["rows"]
    return [line for line in lines if line["adapter"] not in of_sets or rows[line["adapter"]] != of_sets[line["adapter"]]]

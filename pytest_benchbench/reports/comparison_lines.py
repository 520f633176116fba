"""A comparison of rows as plain lines for a terminal. Nothing is computed here: every number is in the document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.reports.labelled_answers import NAMES, SIDES
from pytest_benchbench.reports.regressions import line_name
from pytest_benchbench.reports.wording import where

_EXPECTED = ("detected", "not_detected", *NAMES)

NAMED = 10
"""How many rows of a kind are named; all up to 1,000 are in the JSON."""

_TITLES = {
    "newly_wrong": "newly wrong",
    "verdict_lost": "verdict lost",
    "newly_right": "newly right",
    "verdict_new": "verdict new",
    "lost": "detection lost, where nothing is expected",
    "gained": "detection gained, where nothing is expected",
    "conflicting": "several answers of one adapter about one artifact, in no number",
}
_TITLES_OF_ADAPTERS = {
    **_TITLES,
    "newly_wrong": "right by {old} alone",
    "newly_right": "right by {new} alone",
    "verdict_lost": "verdict of {old} alone",
    "verdict_new": "verdict of {new} alone",
    "lost": "detected by {old} alone, where nothing is expected",
    "gained": "detected by {new} alone, where nothing is expected",
}


def comparison_lines(document: Mapping[str, Any]) -> list[str]:
    """Say what a comparison found.

    Args:
        document: What ``benchbench compare --json`` prints of rows.

    Returns:
        Lines without line ends and without control characters: what is compared, rows that changed, paired statistics,
        times, and the verdict.
    """
    return [plain(line) for line in _lines(document)]


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    old, new = document["old"]["name"], document["new"]["name"]
    is_adapters = document["compared"] == "adapters"
    yield f"{old} and {new} in one run" if is_adapters else f"{old} -> {new}"
    for detector in document["detectors"]:
        if detector["changed"]:
            yield f"{detector['adapter']}: {', '.join(_changed(detector))}"
    rows = document["rows"]
    alone = {name: rows[f"only_in_{side}"] for side, name in (("old", old), ("new", new))}
    told = "".join(f"; only {'of' if is_adapters else 'in'} {name}: {listing['count']}" for name, listing in alone.items())
    yield f"{rows['paired']} pairs of rows{told}"
    for name, listing in () if is_adapters else alone.items():
        yield from _listed(f"only in {name}", listing, _alone)
    for kind, threshold in document["thresholds"].items():
        yield f"labelled rows: a score of at least {threshold:g} calls {SIDES[kind].thing} AI"
    titles = _TITLES_OF_ADAPTERS if is_adapters else _TITLES
    for change, title in titles.items():
        yield from _listed(title.format(old=old, new=new), document["changes"][change], _flip)
    if scored := document["changes"]["counts"]["scored"]:
        yield f"scored, and held against nothing: {scored}; no rule decides about them"
    for line in document["lines"]:
        yield from _statistics(line)
    yield from _scores(document["scores"])
    for line in document["time"]:
        yield _time(line)
    if (memory := document.get("memory")) is not None:
        peaks = " -> ".join(_peak(memory[side]) for side in ("old", "new"))
        yield f"peak memory: {peaks} MiB, {memory['ratio']:.3g} times (how much runs scatter is unknown)"
    yield from _verdict(document)


def _changed(detector: Mapping[str, Any]) -> Iterator[str]:
    for name in detector["changed"]:
        if name == "version":
            then, now = (" or ".join(str(record["version"]) for record in detector[side]) for side in ("old", "new"))
            yield f"version {then} -> {now}"
        else:
            yield f"other {name}"


def _listed(title: str, listing: Mapping[str, Any], line: Callable[[Mapping[str, Any]], str]) -> Iterator[str]:
    if not listing["count"]:
        return
    yield f"{title}: {listing['count']}"
    yield from (f"  {line(entry)}" for entry in listing["listed"][:NAMED])
    if (beyond := listing["count"] - min(NAMED, len(listing["listed"]))) > 0:
        yield f"  ... and {beyond} more"


def _alone(entry: Mapping[str, Any]) -> str:
    return f"{_row(entry)}: {entry['answer']}"


def _flip(entry: Mapping[str, Any]) -> str:
    told = entry["reason"] if (score := entry.get("score")) is None else f"score {score:.6g}"
    reason = f" ({told})" if told else ""
    expected = f"expected {entry['expected']}, " if entry["expected"] in _EXPECTED else ""
    return f"{_row(entry)}: {expected}{entry['old']} -> {entry['new']}{reason}"


def _row(entry: Mapping[str, Any]) -> str:
    params = f"[{entry['params']}]" if entry["params"] else ""
    return f"{where(dict(entry))}: {entry['case_id']}{params}: {entry['adapter']}"


def _statistics(line: Mapping[str, Any]) -> Iterator[str]:
    yield f"{'as expected' if line['quantity'] == 'as_expected' else 'detected'}, {line_name(line)}:"
    yield _unit("artifacts", line["artifacts"])
    if line["bases"] is not None:
        yield _unit("bases with all of their rows", line["bases"])


def _unit(name: str, unit: Mapping[str, Any]) -> str:
    old, new, change, p = unit["old"], unit["new"], unit["change"], unit["sign_p"]
    told = f"{100 * change['difference']:+.1f} points, 95 % {100 * change['low']:+.1f} to {100 * change['high']:+.1f}"
    test = "" if p is None else f", p {p:.2g}"
    return (
        f"  {name}: {old['k']} -> {new['k']} of {unit['n']} ({told}); {unit['better']} better, {unit['worse']} worse{test}"
    )


def _scores(scores: Mapping[str, Any] | None) -> Iterator[str]:
    if scores is None or not scores["moved"]:
        return
    for line in scores["lines"]:
        if line["moved"]:
            params = f"[{line['params']}]" if line["params"] else ""
            told = f"on average {line['mean_change']:+.4g}, at most {line['largest_change']:+.4g}"
            yield f"scores of {line['adapter']}{params}: {line['moved']} of {line['n']} moved, {told}"
    yield from (f"  {_row(entry)}: score {entry['old']:.6g} -> {entry['new']:.6g}" for entry in scores["largest"][:NAMED])


def _time(line: Mapping[str, Any]) -> str:
    name = line["adapter"] if line["adapter"] == line["new_adapter"] else f"{line['adapter']} and {line['new_adapter']}"
    return (
        f"{line['call']} calls, {name}: p50 {_both(line, 'p50_ms')}, p95 {_both(line, 'p95_ms')} ms{_ratio(line['change'])}"
    )


def _both(line: Mapping[str, Any], name: str) -> str:
    return " -> ".join(_percentile(line[side], name) for side in ("old", "new"))


def _percentile(calls: Mapping[str, Any] | None, name: str) -> str:
    if calls is None:
        return "-"
    interval = calls["intervals"][name]
    told = f" [{interval['low_ms']:.4g}, {interval['high_ms']:.4g}]" if interval else ""
    return f"{calls[name]:.4g}{told}"


def _ratio(change: Mapping[str, Any] | None) -> str:
    if change is None:
        return ""
    told = f"; row by row {change['ratio']:.3g} times as long"
    if change["low"] is None:
        return f"{told} (too few rows to know the noise)"
    judged = "beyond the noise" if change["beyond_noise"] else "within the noise"
    return f"{told}, {judged} ({change['low']:.3g} to {change['high']:.3g})"


def _peak(side: Mapping[str, Any]) -> str:
    several = f" [{side['min_mib']:.4g}, {side['max_mib']:.4g}]" if side["processes"] > 1 else ""
    return f"{side['max_mib']:.4g}{several}"


def _verdict(document: Mapping[str, Any]) -> Iterator[str]:
    reasons: Sequence[Mapping[str, Any]] | None = document["regressions"]
    if reasons is None:
        return
    yield from (f"regression: {reason['text']}" for reason in reasons)
    if not reasons:
        yield f"no regression ({rule_text(document['rule'])})"


def rule_text(rule: Mapping[str, Any]) -> str:
    """Say in a few words by which rule it was decided."""
    texts = [
        f"newly wrong <= {rule['allow_flips']}",
        f"verdicts lost <= {rule['allow_lost']}",
        f"no net loss with p < {rule['alpha']:g}",
    ]
    if rule["measured"] != "shown":
        texts.append(f"nor of detections {rule['measured']} where nothing is expected")
    if rule["max_slowdown"] is not None:
        texts.append(f"calls at most {rule['max_slowdown']:g} times as long")
    return ", ".join(texts)

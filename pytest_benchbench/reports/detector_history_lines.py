"""The judgement of a series as plain lines for a terminal. Nothing is computed here: every number is in the document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from pytest_benchbench.reports.detector_figures import Identity
from pytest_benchbench.reports.detector_outcomes import identity_text
from pytest_benchbench.reports.escaping import plain

RUNS = 20
"""How many of the last runs are listed; all are in the JSON."""

COMMIT = 12
"""Characters of a digest or commit that are shown."""

_READINGS = {
    "several": "several together, and that is not surprising",
    "common": "look for a common cause: the set, the harness, the pipeline, before any vendor",
}


def history_lines(document: Mapping[str, Any]) -> list[str]:
    """Say what a series says.

    Args:
        document: What ``history_document`` gave.

    Returns:
        Lines without line ends and without control characters: the banner, the runs, a table of the last run by detector and
        metric, what moved together in it, notes, and the verdict.
    """
    return [plain(line) for line in _lines(document)]


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    if document["banner"] is not None:
        yield document["banner"]
    runs, last = document["runs"], len(document["runs"])
    yield f"{document['goldenSet']}: {last} run{'' if last == 1 else 's'}, chain {document['lastSha256'][:COMMIT]}"
    if last > RUNS:
        yield f"  ... {last - RUNS} earlier"
    for run in runs[-RUNS:]:
        yield from _run(run)
    rule = document["rule"]
    yield (
        f"rule: at least {rule['leastPoints']} points and p below {rule['alpha']} / detectors of the run ({rule['test']}), "
        f"against {rule['against']}; once: watch, twice in a row for the worse: alert"
    )
    yield from _aligned(list(_table(document["detectors"], last)))
    for shift in document["shifts"]:
        if shift["run"] == last:
            yield from _shift(shift, rule["leastPoints"])
    yield from (f"note: {note}" for note in document["notes"])
    yield from _power(document["detectors"], last)
    yield from _verdict(document)


def _run(run: Mapping[str, Any]) -> Iterator[str]:
    commit = "no commit" if run["commit"] is None else f"commit {run['commit'][:COMMIT]}"
    dirty = " (dirty)" if run["dirty"] else ""
    golden = run["goldenSet"]
    of = f"set {golden['version']} {golden['sha256'][:COMMIT]}"
    yield f"run {run['run']}: {run['date']}, {run['runId']}, {commit}{dirty}, {of}"
    for detector in run["detectors"]:
        identity = msgspec.convert(detector["identity"], Identity)
        reason = run["newBaseline"].get(detector["alias"])
        accepted = "" if reason is None else f"; new baseline: {reason}"
        yield f"  {detector['alias']}: {identity_text(identity)}; {detector['scored']} scored{accepted}"


def _table(detectors: Sequence[Mapping[str, Any]], last: int) -> Iterator[tuple[str, ...]]:
    yield ("detector", "metric", "value", "95 %", "against", "points", "95 %", "pairs", "p", "alpha", "verdict")
    for detector in detectors:
        for metric, judged in detector["metrics"].items():
            line = judged[-1]
            if line["run"] == last:
                yield (detector["alias"], metric, *_cells(line))


def _cells(line: Mapping[str, Any]) -> tuple[str, ...]:
    if line["value"] is None:
        return ("-", "-", "-", "-", "-", "0", "-", "-", f"{line['verdict']} (no such sample was scored)")
    value = (f"{line['k']} of {line['n']} = {line['value']:.3f}", f"{line['lower']:.3f} to {line['upper']:.3f}")
    if "points" not in line:
        against = "-" if line["against"] is None else f"run {line['against']}"
        told = "nothing to compare with" if line["against"] is None else "no sample in both"
        return (*value, against, "-", "-", "0", "-", f"{line['alpha']:.4g}", f"{line['verdict']} ({told})")
    p = "-" if line["p"] is None else f"{line['p']:.2g}"
    bounds = f"{line['pointsLower']:+.1f} to {line['pointsUpper']:+.1f}"
    numbers = f"{line['points']:+.1f}", bounds, str(line["pairs"]["n"]), p, f"{line['alpha']:.4g}"
    return (*value, f"run {line['against']}", *numbers, _judged(line))


def _judged(line: Mapping[str, Any]) -> str:
    if line["verdict"] == "untested":
        return "untested (too few samples were scored)"
    lost, gained = line["pairs"]["lost"], line["pairs"]["gained"]
    changed = f"{lost} lost, {gained} gained" if lost or gained else "no sample changed"
    again = ", again" if line["sustained"] else ""
    return f"{line['verdict']} ({line['direction']}{again}: {changed})"


def _shift(shift: Mapping[str, Any], least_points: int) -> Iterator[str]:
    moved = ", ".join(f"{each['alias']} {each['points']:+.1f}" for each in shift["moved"])
    so_many = f"{len(shift['moved'])} of {shift['of']} {shift['way']}"
    told = f"{shift['metric']}: {so_many} by {least_points} points or more ({moved})"
    if shift["reading"] == "single":
        yield f"{told}: a single detector; its own p says whether that is chance"
        return
    yield (
        f"{told}: at least so many would by chance with probability {shift['chance']:.2g} if detectors had nothing to do "
        f"with one another, but they read the same texts: {_READINGS[shift['reading']]}"
    )
    if shared := shift["sharedSamples"]["count"]:
        listed = shift["sharedSamples"]["listed"]
        more = f" and {shared - len(listed)} more" if shared > len(listed) else ""
        yield f"  {shared} samples changed so in several detectors: {', '.join(listed)}{more}"


def _verdict(document: Mapping[str, Any]) -> Iterator[str]:
    for verdict, name in (("alert", "alerts"), ("watch", "watches")):
        for each in document[name]:
            told = f"{each['points']:+.1f} points against run {each['against']}, {each['direction']}, p {each['p']:.2g}"
            yield f"{verdict}: {each['alias']} {each['metric']}: {told} < {each['alpha']:.4g}"
    if not document["alerts"]:
        yield "no alert"


def _power(detectors: Sequence[Mapping[str, Any]], last: int) -> Iterator[str]:
    """Say what one run of this size can show at all."""
    current = [detector["metrics"]["accuracy"][-1] for detector in detectors]
    seen = [line["chanceToSeeTenPoints"] for line in current if line["run"] == last and "points" in line]
    if seen:
        yield f"a true fall of the accuracy by 10 points is flagged in one run with probability {min(seen):.2f} or more"


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()

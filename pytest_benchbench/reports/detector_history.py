"""What a series of benchmarks says of each detector and metric: ok, watch or alert, and whether several moved together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Final

import msgspec

from pytest_benchbench.reports.detector_benchmark import DetectorBenchmark
from pytest_benchbench.reports.detector_figures import DetectorFigures
from pytest_benchbench.reports.detector_outcomes import Kind, asked, changes, identity_text, kind_of, outcomes, rate_of
from pytest_benchbench.reports.detector_series import Series
from pytest_benchbench.reports.detector_shifts import Moved, shifts
from pytest_benchbench.statistics.regression import (
    ALPHA,
    HIGHER_IS_BETTER,
    LEAST_POINTS,
    Judgement,
    Metric,
    SeriesRun,
    flips_needed,
    judge_series,
)
from pytest_benchbench.statistics.unchanged import flag_power

SCHEMA_VERSION: Final = 1

TRUE_FALL: Final = (0.12, 0.02)
"""The example of a change whose chance to be seen is told: so many samples lost, so many gained; 10 points."""


@dataclass(slots=True)
class _Detector:
    """One detector over the series: the entries that have it, and what they say of it."""

    entries: list[int] = field(default_factory=list)
    figures: list[DetectorFigures] = field(default_factory=list)


def history_document(series: Series) -> dict[str, Any]:
    """Judge a series.

    Args:
        series: As it was read.

    Returns:
        The content of ``benchbench history --json``: the ``rule``; the ``runs`` with what was measured when; ``detectors``
        with a judgement for each metric and run; ``shifts`` of each run, see ``shifts``; ``notes``; the ``alerts`` and
        ``watches`` of the last run, which the exit code is about; ``banner`` where an example set is among the runs. The
        first run is number 1.
    """
    benchmarks = [entry.benchmark for entry in series.entries]
    detectors = _detectors(benchmarks)
    moved: dict[tuple[int, Metric], dict[str, Moved]] = {}
    lines = [
        {
            "alias": detector.figures[-1].alias,
            "identity": msgspec.to_builtins(detector.figures[-1].identity),
            "runs": [place + 1 for place in detector.entries],
            "metrics": {metric: _metric(series, detector, metric, moved) for metric in HIGHER_IS_BETTER},
        }
        for detector in detectors.values()
    ]
    last = len(benchmarks)
    current = [
        {"alias": line["alias"], "metric": metric, **judged}
        for line in lines
        for metric, each in line["metrics"].items()
        for judged in each[-1:]
        if judged["run"] == last
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "type": "detector-history",
        "goldenSet": series.golden_set,
        "banner": next((benchmark.banner for benchmark in reversed(benchmarks) if benchmark.banner is not None), None),
        "lastSha256": series.last_sha256,
        "rule": {
            "alpha": ALPHA,
            "sharedBy": "detectors of the run",
            "leastPoints": LEAST_POINTS,
            "test": "exact paired McNemar, two-sided",
            "consecutiveRuns": 2,
            "against": "the last run that was not flagged",
            "higherIsBetter": dict(HIGHER_IS_BETTER),
        },
        "runs": list(_runs(series)),
        "detectors": lines,
        "shifts": [
            {"run": place + 1, **shift}
            for place in range(last)
            for metric in HIGHER_IS_BETTER
            for shift in shifts(metric, moved.get((place, metric), {}))
        ],
        "notes": [*_set_notes(benchmarks), *_detector_notes(detectors.values(), lines, last)],
        "alerts": [each for each in current if each["verdict"] == "alert"],
        "watches": [each for each in current if each["verdict"] == "watch"],
    }


def scoring(benchmark: DetectorBenchmark) -> list[DetectorFigures]:
    """Give the detectors that scored anything; alpha is shared by these."""
    return [detector for detector in benchmark.detectors if detector.scored]


def _detectors(benchmarks: Sequence[DetectorBenchmark]) -> dict[tuple[Kind, str], _Detector]:
    """Find the detectors of a series, in the order in which they came.

    A detector is what it is, whatever a run calls it. Only where one run has the same one twice do names tell them apart.
    """
    twice = {
        kind
        for benchmark in benchmarks
        for kind, count in Counter(kind_of(detector.identity) for detector in scoring(benchmark)).items()
        if count > 1
    }
    found: dict[tuple[Kind, str], _Detector] = {}
    for place, benchmark in enumerate(benchmarks):
        for figures in scoring(benchmark):
            kind = kind_of(figures.identity)
            detector = found.setdefault((kind, figures.alias if kind in twice else ""), _Detector())
            detector.entries.append(place)
            detector.figures.append(figures)
    return found


def _metric(
    series: Series, detector: _Detector, metric: Metric, moved: dict[tuple[int, Metric], dict[str, Moved]]
) -> list[dict[str, Any]]:
    """Judge one detector and metric in each run that has it, and note what moved."""
    runs = []
    for place, figures in zip(detector.entries, detector.figures, strict=True):
        entry = series.entries[place]
        told, about = outcomes(entry.benchmark, figures, metric), asked(entry.benchmark, metric)
        alpha = ALPHA / len(scoring(entry.benchmark))
        runs.append(SeriesRun(told, about, alpha, figures.alias in entry.newBaseline))
    lines = []
    for number, judgement in enumerate(judge_series(runs, higher_is_better=HIGHER_IS_BETTER[metric])):
        if judgement.step is not None and judgement.baseline is not None:
            seen = Moved(judgement.step, runs[judgement.baseline].outcomes, runs[number].outcomes)
            moved.setdefault((detector.entries[number], metric), {})[detector.figures[number].alias] = seen
        lines.append(_line(detector, number, metric, judgement, runs))
    return lines


def _line(
    detector: _Detector, number: int, metric: Metric, judgement: Judgement, runs: Sequence[SeriesRun]
) -> dict[str, Any]:
    rate = rate_of(detector.figures[number], metric)
    line = {
        "run": detector.entries[number] + 1,
        "value": rate.value,
        "k": rate.k,
        "n": rate.n,
        "lower": rate.lower,
        "upper": rate.upper,
        "verdict": judgement.verdict,
        "against": None if judgement.baseline is None else detector.entries[judgement.baseline] + 1,
        "alpha": runs[number].alpha,
    }
    if judgement.step is None or judgement.baseline is None:
        return line
    step, before = judgement.step, runs[judgement.baseline].outcomes
    change = step.transitions.change()
    assert change is not None, "a step has a pair"
    pairs = step.transitions.pairs
    return {
        **line,
        "direction": step.direction,
        "sustained": judgement.is_sustained,
        "points": step.points,
        "pointsLower": 100.0 * change.low,
        "pointsUpper": 100.0 * change.high,
        "p": step.p,
        "pairs": {**asdict(step.transitions), "n": pairs},
        "unpaired": {"before": len(before) - pairs, "now": len(runs[number].outcomes) - pairs},
        "flipsNeeded": flips_needed(step.alpha),
        "chanceToSeeTenPoints": _chance_to_see(pairs, step.alpha),
    }


@lru_cache(maxsize=1000)
def _chance_to_see(pairs: int, alpha: float) -> float:
    """Give how likely one run shows the example of a change; most runs of a series ask the same."""
    return flag_power(pairs, *TRUE_FALL, alpha, LEAST_POINTS)


def _runs(series: Series) -> Iterator[dict[str, Any]]:
    for number, entry in enumerate(series.entries, 1):
        benchmark = entry.benchmark
        yield {
            "run": number,
            "date": entry.date,
            "runId": entry.runId,
            "commit": entry.commit,
            "dirty": entry.dirty,
            "packageVersion": benchmark.run.packageVersion,
            "split": entry.split,
            "evidenceSha256": entry.evidenceSha256,
            "goldenSet": msgspec.to_builtins(benchmark.goldenSet),
            "newBaseline": entry.newBaseline,
            "detectors": [
                {"alias": detector.alias, "scored": detector.scored, "identity": msgspec.to_builtins(detector.identity)}
                for detector in benchmark.detectors
            ],
        }


def _set_notes(benchmarks: Sequence[DetectorBenchmark]) -> Iterator[str]:
    """Say where the golden set changed: only samples that stayed the same are paired."""
    for place in range(1, len(benchmarks)):
        before, now = benchmarks[place - 1], benchmarks[place]
        if before.goldenSet.sha256 == now.goldenSet.sha256:
            continue
        old, new = ({(each.id, each.sha256, each.label) for each in one.samples} for one in (before, now))
        yield (
            f"run {place + 1}: the golden set is another than in run {place} "
            f"({now.goldenSet.sha256[:12]}, {before.goldenSet.sha256[:12]} then): {len(old & new)} samples are the same, "
            f"{len(old - new)} are gone or changed, {len(new - old)} are new; only the same ones are compared"
        )


def _detector_notes(detectors: Iterable[_Detector], lines: Sequence[dict[str, Any]], last: int) -> Iterator[str]:
    for detector, line in zip(detectors, lines, strict=True):
        alias = line["alias"]
        if detector.entries[0] > 0:
            told = identity_text(detector.figures[0].identity)
            yield f"run {detector.entries[0] + 1}: {alias} ({told}) is compared with no run before: another detector, or new"
        for number in range(1, len(detector.entries)):
            before, now = detector.figures[number - 1], detector.figures[number]
            run = detector.entries[number] + 1
            if changed := list(changes(before.identity, now.identity)):
                yield f"run {run}: {now.alias}: {'; '.join(changed)}, since run {detector.entries[number - 1] + 1}"
            if missing := now.planned - now.scored:
                yield f"run {run}: {now.alias} scored {now.scored} of {now.planned} samples; {missing} are in no pair"
        if detector.entries[-1] + 1 < last:
            verdicts = {metric: judged[-1]["verdict"] for metric, judged in line["metrics"].items()}
            flagged = [f"{metric} {verdict}" for metric, verdict in verdicts.items() if verdict in ("watch", "alert")]
            told = f"; then: {', '.join(flagged)}" if flagged else ""
            yield f"{alias} scored nothing after run {detector.entries[-1] + 1}: nothing is said of it{told}"

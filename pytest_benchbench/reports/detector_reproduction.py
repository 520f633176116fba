"""Whether somebody else's run of a golden set agrees with a published one, and what of a difference is chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import msgspec

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.recorded_run import RUN
from pytest_benchbench.manifests.regular_files import open_regular
from pytest_benchbench.reports.detector_benchmark import (
    BENCHMARK,
    BenchmarkFileError,
    DetectorBenchmark,
    read_benchmark,
)
from pytest_benchbench.reports.detector_figures import DetectorFigures
from pytest_benchbench.reports.detector_history import scoring
from pytest_benchbench.reports.detector_outcomes import (
    Kind,
    changes,
    identity_text,
    kind_of,
    other_kind,
    outcomes,
    rate_of,
    several_in_one,
)
from pytest_benchbench.reports.detector_series import is_series, read_series
from pytest_benchbench.statistics.regression import ALPHA, HIGHER_IS_BETTER, Metric, paired_outcomes
from pytest_benchbench.statistics.transitions import Transitions
from pytest_benchbench.statistics.unchanged import difference_chance

SCHEMA_VERSION: Final = 1

_SNIFFED: Final = 256


class CannotReproduceError(Exception):
    """Two benchmarks that must not be held against one another; one line that says why."""


def benchmark_at(path: Path) -> DetectorBenchmark:
    """Read the benchmark that a path stands for: the directory of a run, a ``benchmark.json``, or a series (its last run).

    Raises:
        BenchmarkFileError: It cannot be read, or is none of them.
        SeriesError: The series is damaged.
    """
    if path.is_dir():
        if not (path / BENCHMARK).exists():
            is_run = (path / RUN).exists()
            told = "a run of one golden set writes it at its end, one of several does not" if is_run else "and it is no run"
            raise BenchmarkFileError(f"{path}: it has no {BENCHMARK}: {told}")
        return read_benchmark(path / BENCHMARK)
    try:
        with open_regular(path) as file:
            begin = file.read(_SNIFFED)
    except (OSError, ValueError) as error:
        raise BenchmarkFileError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return read_series(path).entries[-1].benchmark if is_series(begin) else read_benchmark(path)


def reproduction(published: DetectorBenchmark, mine: DetectorBenchmark, tolerance: float) -> dict[str, Any]:
    """Hold one run against a published one, detector by detector.

    Args:
        published: What was published.
        mine: What somebody else got.
        tolerance: Percentage points that a figure may differ by, 0 to 100; the decimal number as it is written.

    Returns:
        The content of ``benchbench reproduce --json``: both runs, ``detectors`` with each metric's figures, their difference
        on the samples that both scored and whether it is within the tolerance, what is ``notCompared`` and why, ``notes``,
        and ``outside``: the alias in the published run and the metric of each that is not.

    Raises:
        CannotReproduceError: Golden set, split or samples differ, or no detector is in both.
    """
    _check(published, mine)
    old, new = _by_kind(published), _by_kind(mine)
    compared = [(old[key], new[key]) for key in old if key in new]
    if not compared:
        reasons = [each["reason"] for each in _not_compared(published, mine, old, new) if each["side"] == "published"]
        raise CannotReproduceError(f"no detector is in both runs: {'; '.join(reasons) or 'the published one has none'}")
    alpha = ALPHA / len(compared)
    lines = [_detector(published, mine, pair, tolerance, alpha) for pair in compared]
    banner = published.banner if published.banner is not None else mine.banner
    return {
        "schema_version": SCHEMA_VERSION,
        "type": "detector-reproduction",
        "banner": banner,
        "goldenSet": msgspec.to_builtins(published.goldenSet),
        "split": published.split,
        "published": msgspec.to_builtins(published.run),
        "mine": msgspec.to_builtins(mine.run),
        "tolerance": tolerance,
        "alpha": alpha,
        "detectors": lines,
        "notCompared": list(_not_compared(published, mine, old, new)),
        "notes": list(_notes(published, mine, compared)),
        "outside": [
            {"alias": line["published"], "metric": metric}
            for line in lines
            for metric, figures in line["metrics"].items()
            if figures["within"] is False
        ],
    }


def _check(published: DetectorBenchmark, mine: DetectorBenchmark) -> None:
    if published.goldenSet.sha256 != mine.goldenSet.sha256:
        was, now = _set_name(published), _set_name(mine)
        raise CannotReproduceError(f"the golden sets differ: {was} was published, {now} is yours")
    if published.split != mine.split:
        raise CannotReproduceError(
            f"the splits differ: {one_line(published.split)} was published, {one_line(mine.split)} is yours"
        )
    old, new = ({(each.id, each.sha256, each.label) for each in one.samples} for one in (published, mine))
    if old != new:
        raise CannotReproduceError(
            f"the samples differ: {len(old - new)} of the published {len(old)} are not yours, {len(new - old)} of yours are "
            "not among them; run the whole split"
        )


def _by_kind(benchmark: DetectorBenchmark) -> dict[tuple[Kind, str], DetectorFigures]:
    """Find detectors by what they are, whatever a run calls them; one that a run has twice by its alias too."""
    whole = [detector for detector in scoring(benchmark) if several_in_one(detector.identity) is None]
    counts = Counter(kind_of(detector.identity) for detector in whole)
    found = {}
    for detector in whole:
        kind = kind_of(detector.identity)
        found[kind, detector.alias if counts[kind] > 1 else ""] = detector
    return found


def _detector(
    published: DetectorBenchmark,
    mine: DetectorBenchmark,
    pair: tuple[DetectorFigures, DetectorFigures],
    tolerance: float,
    alpha: float,
) -> dict[str, Any]:
    old, new = pair
    metrics = {}
    for metric in HIGHER_IS_BETTER:
        pairs = paired_outcomes(outcomes(published, old, metric), outcomes(mine, new, metric))
        metrics[metric] = _metric(pair, metric, pairs, tolerance, alpha)
    return {
        "published": old.alias,
        "mine": new.alias,
        "identity": msgspec.to_builtins(old.identity),
        "changes": list(changes(old.identity, new.identity)),
        "metrics": metrics,
    }


def _metric(
    pair: tuple[DetectorFigures, DetectorFigures], metric: Metric, pairs: Transitions, tolerance: float, alpha: float
) -> dict[str, Any]:
    """Give the figures of both, their difference on the samples that both scored, and what chance explains of it.

    ``byChance`` supposes that each answer is drawn anew: it is how often two runs of one unchanged detector would lie
    further apart than the tolerance. ``p`` tests the samples that differ; ``chance`` says whether it leaves chance as an
    explanation.
    """
    rates = {side: msgspec.to_builtins(rate_of(detector, metric)) for side, detector in zip(_SIDES, pair, strict=True)}
    for rate in rates.values():
        rate.pop("higherIsBetter", None)
    n, change = pairs.pairs, pairs.change()
    if change is None:
        return {**rates, "pairs": None, "within": None}
    moved = pairs.gained - pairs.lost
    return {
        **rates,
        "pairs": {**asdict(pairs), "n": n},
        "points": 100.0 * moved / n,
        "pointsLower": 100.0 * change.low,
        "pointsUpper": 100.0 * change.high,
        "within": 100 * abs(moved) <= Fraction(repr(float(tolerance))) * n,
        "p": pairs.mcnemar_p,
        "chance": pairs.mcnemar_p is None or pairs.mcnemar_p >= alpha,
        "byChance": difference_chance(n, (pairs.before.k + pairs.after.k) / (2 * n), tolerance),
    }


_SIDES: Final = ("published", "mine")


def _not_compared(
    published: DetectorBenchmark,
    mine: DetectorBenchmark,
    old: dict[tuple[Kind, str], DetectorFigures],
    new: dict[tuple[Kind, str], DetectorFigures],
) -> Iterator[dict[str, Any]]:
    """Say of each detector that only one of the runs has why it is compared with nothing."""
    for side, benchmark, own, other in (("published", published, old, new), ("mine", mine, new, old)):
        for key, detector in own.items():
            if key not in other:
                near = [each for stranger, each in other.items() if each.identity.name == key[0][0] and stranger not in own]
                yield _reason(side, detector, _why(side, detector, near))
        for detector in benchmark.detectors:
            if not detector.scored:
                yield _reason(side, detector, f"it scored nothing: {detector.planned} samples")
            elif (varying := several_in_one(detector.identity)) is not None:
                yield _reason(side, detector, f"it is several detectors under one name: {varying}")


def _reason(side: str, detector: DetectorFigures, why: str) -> dict[str, Any]:
    told = "published" if side == "published" else "yours"
    return {"side": side, "alias": detector.alias, "reason": f"{one_line(detector.alias)} ({told}): {why}"}


def _why(side: str, detector: DetectorFigures, near: Sequence[DetectorFigures]) -> str:
    if not near:
        return "the other run has no such detector"
    pair = (detector, near[0]) if side == "published" else (near[0], detector)
    differing = other_kind(pair[0].identity, pair[1].identity)
    told = "; ".join(differing) if differing else f"the runs call it {one_line(pair[0].alias)} and {one_line(pair[1].alias)}"
    return f"another detector than the other run's {one_line(near[0].alias)}: {told}"


def _notes(
    published: DetectorBenchmark, mine: DetectorBenchmark, compared: Sequence[tuple[DetectorFigures, DetectorFigures]]
) -> Iterator[str]:
    for told, benchmark in (("the published run", published), ("your run", mine)):
        if not benchmark.run.complete:
            yield f"{told} is not complete: {'; '.join(benchmark.run.gaps) or 'nobody knows why'}"
    if published.run.id == mine.run.id:
        yield "both are the same run"
    for old, new in compared:
        for changed in changes(old.identity, new.identity):
            yield f"{one_line(old.alias)} ({identity_text(old.identity)}): {changed}"
        for told, detector in (("published", old), ("yours", new)):
            if missing := detector.planned - detector.scored:
                yield f"{one_line(detector.alias)} ({told}) has no score for {missing} of {detector.planned} samples"


def _set_name(benchmark: DetectorBenchmark) -> str:
    golden = benchmark.goldenSet
    return " ".join([*(one_line(each) for each in (golden.name, golden.version) if each is not None), golden.sha256[:12]])

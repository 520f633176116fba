"""Figures of text detectors at the threshold, reckoned from scores and samples. Undefined figures are null, never 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pytest_benchbench.evidence.golden_set_rows import MAX_SCORE, Sample
from pytest_benchbench.reports.detector_figures import (
    BUCKETS,
    THRESHOLD,
    BypassRate,
    Calls,
    CategoryFigures,
    Cells,
    CommonSubset,
    Excluded,
    PairedAccuracy,
    Percentile,
    Rate,
    SubsetFigures,
    Value,
)
from pytest_benchbench.reports.detector_tally import AnsweredSet, Call
from pytest_benchbench.reports.histograms import histogram
from pytest_benchbench.reports.rates import rate_of
from pytest_benchbench.statistics.classification import AI, REAL, Confusion, confusion
from pytest_benchbench.statistics.latency import percentile_rank, rank_interval
from pytest_benchbench.statistics.multiple_tests import holm
from pytest_benchbench.statistics.paired import mcnemar_exact, paired_difference

COLD_CALLS = 100
"""How many cold calls are told one by one."""

Samples = Mapping[str, Sample]

Scores = Mapping[str, float]


def rate(k: int, n: int) -> Rate:
    """Give a share with its Wilson interval."""
    found = rate_of(k, n)
    return Rate(value=found["rate"], k=k, n=n, lower=found["wilson95_low"], upper=found["wilson95_high"])


def counts_at(samples: Samples, scores: Scores, threshold: float = THRESHOLD) -> Confusion:
    """Count samples with a score by label and by what the score calls them.

    Args:
        samples: By id.
        scores: By id, each of one of ``samples``.
        threshold: From which score on a text is called AI.
    """
    labels = np.array([AI if samples[name].label == "ai" else REAL for name in scores], dtype=np.int8)
    return confusion(labels, np.array(list(scores.values()), dtype=np.float64), threshold)


def figures(samples: Samples, scores: Scores) -> dict[str, Any]:
    """Reckon the members of ``Figures``.

    Args:
        samples: By id.
        scores: By id, each of one of ``samples``.
    """
    counts = counts_at(samples, scores)
    humanized = [score for name, score in scores.items() if samples[name].pair_of is not None]
    missed = rate(sum(score < THRESHOLD for score in humanized), len(humanized))
    return {
        "confusion": Cells(tp=counts.tp, fp=counts.fp, tn=counts.tn, fn=counts.fn),
        "precision": rate(counts.tp, counts.tp + counts.fp),
        "recall": rate(counts.tp, counts.ai),
        "f1": Value(value=counts.f1),
        "accuracy": rate(counts.tp + counts.tn, counts.ai + counts.real),
        "fpr": rate(counts.fp, counts.real),
        "humanizerBypass": BypassRate(
            value=missed.value, k=missed.k, n=missed.n, lower=missed.lower, upper=missed.upper, higherIsBetter=True
        ),
    }


def by_category(samples: Samples, answered: AnsweredSet) -> dict[str, CategoryFigures]:
    """Reckon the figures of each category of the samples that a detector was to be asked about.

    Args:
        samples: Those of the split, by id.
        answered: What the detector answered.
    """
    named: dict[str, list[str]] = {}
    for name in answered.statuses:
        if name in samples:
            named.setdefault(samples[name].category, []).append(name)
    found = {}
    for category, names in sorted(named.items()):
        scores = {name: answered.scores[name] for name in names if name in answered.scores}
        found[category] = CategoryFigures(n=len(names), scored=len(scores), **figures(samples, scores))
    return found


def score_histogram(scores: Iterable[float]) -> tuple[int, ...]:
    """Count scores in ``BUCKETS`` equal parts of the scale: each has its lower bound, and the last one the upper one too."""
    edges = np.arange(BUCKETS + 1, dtype=np.float64) * (MAX_SCORE / BUCKETS)
    return tuple(histogram(np.array(list(scores), dtype=np.float64), edges))


def calls_of(calls: Sequence[Call], untimed: int) -> Calls:
    """Reckon how long calls took.

    Args:
        calls: Those that have a time of their own, in any order.
        untimed: How many have none.
    """
    warm = sorted(call.milliseconds for call in calls if not call.is_cold)
    cold = sorted(call.milliseconds for call in calls if call.is_cold)
    return Calls(
        n=len(warm),
        recorded=sum(call.is_recorded for call in calls),
        p50=_percentile(warm, 50),
        p95=_percentile(warm, 95),
        cold=tuple(cold[:COLD_CALLS]),
        unknown=untimed,
    )


def _percentile(ascending: Sequence[float], p: float) -> Percentile | None:
    n = len(ascending)
    if not n:
        return None
    rank, interval = percentile_rank(n, p), rank_interval(n, p)
    low, high = (None, None) if interval is None else (interval.low_rank, interval.high_rank)
    return Percentile(
        value=ascending[rank - 1],
        rank=rank,
        lowRank=low,
        highRank=high,
        low=None if low is None else ascending[low - 1],
        high=None if high is None else ascending[high - 1],
    )


def common_subset(samples: Samples, answered: Mapping[str, AnsweredSet]) -> CommonSubset:
    """Compare detectors on the samples that all of them scored; one that scored none at all is left out and named.

    Args:
        samples: Those of the split, by id.
        answered: By alias, sorted.
    """
    speaking = {alias: found for alias, found in answered.items() if found.scores}
    lacking = {
        name: tuple(alias for alias, found in speaking.items() if name not in found.scores) for name in sorted(samples)
    }
    shared = [name for name, absent in lacking.items() if not absent and speaking]
    return CommonSubset(
        n=len(shared),
        excluded=tuple(Excluded(id=name, detectors=absent) for name, absent in lacking.items() if absent),
        silent=tuple(alias for alias, found in answered.items() if not found.scores),
        detectors=tuple(
            SubsetFigures(alias=alias, **figures(samples, {name: found.scores[name] for name in shared}))
            for alias, found in speaking.items()
        ),
    )


def paired_accuracies(
    samples: Samples, answered: Mapping[str, AnsweredSet], pairs: Sequence[tuple[str, str]]
) -> tuple[PairedAccuracy, ...]:
    """Compare declared pairs of detectors, each on the samples that both scored; p-values are adjusted over all of them.

    Args:
        samples: Those of the split, by id.
        answered: By alias.
        pairs: Aliases of ``answered``.
    """
    tables = [_table(samples, answered[a].scores, answered[b].scores) for a, b in pairs]
    p_values = [mcnemar_exact(only_a, only_b) for _, only_a, only_b, _ in tables]
    lines = []
    for (a, b), (both, only_a, only_b, neither), p, adjusted in zip(pairs, tables, p_values, holm(p_values), strict=True):
        difference, low, high = paired_difference(both, only_a, only_b, neither) or (None, None, None)
        lines.append(
            PairedAccuracy(
                a=a,
                b=b,
                n=both + only_a + only_b + neither,
                both=both,
                onlyA=only_a,
                onlyB=only_b,
                neither=neither,
                difference=difference,
                lower=low,
                upper=high,
                p=p,
                adjustedP=adjusted,
            )
        )
    return tuple(lines)


def _table(samples: Samples, a: Scores, b: Scores) -> tuple[int, int, int, int]:
    """Count samples that both, only the first, only the second and neither called what they are."""
    cells = [0, 0, 0, 0]
    for name in a.keys() & b.keys():
        is_ai = samples[name].label == "ai"
        right_a, right_b = ((scores[name] >= THRESHOLD) == is_ai for scores in (a, b))
        cells[2 * (not right_a) + (not right_b)] += 1
    return cells[0], cells[1], cells[2], cells[3]

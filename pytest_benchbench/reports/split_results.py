"""What detectors answered on one split of a golden set, reckoned for ``report.json`` and ``benchmark.json`` alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from pytest_benchbench.evidence.same_detector import DetectorsSeen
from pytest_benchbench.manifests.golden_set import Status
from pytest_benchbench.reports.detector_benchmark import (
    EXAMPLE_BANNER,
    UNKNOWN_BANNER,
    GoldenSetRecord,
    SampleRecord,
    SplitResults,
)
from pytest_benchbench.reports.detector_figures import DetectorResults
from pytest_benchbench.reports.detector_reckoning import (
    by_category,
    common_subset,
    figures,
    paired_accuracies,
    score_histogram,
)
from pytest_benchbench.reports.detector_tally import AnsweredSet, AnsweredSplit
from pytest_benchbench.reports.tune_threshold import TuneRun


class UnknownPairError(Exception):
    """A declared pair of which a detector is not there; one line."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is reckoned only where somebody asks for it.

    Attributes:
        pairs: Aliases of detectors that are compared with each other.
        tune: The run that thresholds at a declared false-positive rate are taken from.
    """

    pairs: tuple[tuple[str, str], ...] = ()
    tune: TuneRun | None = None


NOTHING_MORE: Final = Asked()


def split_results(
    splits: Sequence[AnsweredSplit], manifests: Sequence[Mapping[str, Any]], asked: Asked, seen: DetectorsSeen
) -> list[SplitResults]:
    """Reckon every golden set of a report.

    Args:
        splits: What was answered about each.
        manifests: What the runs say of their manifests.
        asked: What else is wanted.
        seen: What stood behind the answers; looked at only where a tune run is.

    Raises:
        UnknownPairError: A detector of a pair is not there.
        TuneRunError: The tune run is about something else.
    """
    about = {manifest.get("sha256"): manifest.get("about") for manifest in manifests}
    return [_results(found, about.get(found.sha256), asked, seen) for found in splits]


def _results(found: AnsweredSplit, about: Any, asked: Asked, seen: DetectorsSeen) -> SplitResults:
    answered = found.by_alias()
    for alias in (alias for pair in asked.pairs for alias in pair):
        if alias not in answered:
            raise UnknownPairError(f"--pair: no detector {alias} in this run, there are: {', '.join(answered)}")
    if asked.tune is not None:
        asked.tune.check(found, seen)
    record = _record(found.sha256, about)
    banners = {"final": None, "example": EXAMPLE_BANNER, None: UNKNOWN_BANNER}
    return SplitResults(
        goldenSet=record,
        split=found.split or "unknown",
        threshold=50,
        samples=tuple(
            SampleRecord(id=name, label=sample.label, category=sample.category, sha256=sample.sha256, pairOf=sample.pair_of)
            for name, sample in sorted(found.samples.items())
        ),
        detectors=tuple(_detector(alias, found, one, asked.tune) for alias, one in answered.items()),
        commonSubset=common_subset(found.samples, answered),
        pairs=paired_accuracies(found.samples, answered, asked.pairs),
        run=found.run,
        banner=banners[record.status],
    )


def _record(sha256: str, about: Any) -> GoldenSetRecord:
    """Give what the set says of itself, where a run has recorded it."""
    told = about if isinstance(about, Mapping) else {}
    name, version = (value if isinstance(value := told.get(member), str) else None for member in ("name", "version"))
    status = told.get("status")
    return GoldenSetRecord(name=name, version=version, status=status if status in get_args(Status) else None, sha256=sha256)


def _detector(alias: str, found: AnsweredSplit, answered: AnsweredSet, tune: TuneRun | None) -> DetectorResults:
    groups = answered.groups
    statuses = [status for status in answered.statuses.values() if status != "scored"]
    scores = dict(sorted(answered.scores.items()))
    return DetectorResults(
        alias=alias,
        identity=answered.identity(),
        planned=groups.total(),
        scored=groups["scored"],
        errors=groups["errors"],
        unavailable=groups["unavailable"],
        notRun=groups["not_run"],
        statuses={status: statuses.count(status) for status in sorted(set(statuses))},
        histogram=score_histogram(scores.values()),
        byCategory=by_category(found.samples, answered),
        scores=scores,
        tprAtFpr=tune.tpr_at_fpr(alias, found.samples, scores) if tune is not None and scores else None,
        **figures(found.samples, scores),
    )

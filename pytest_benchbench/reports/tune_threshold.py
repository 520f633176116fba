"""A threshold taken from a run of the tune split, for the true-positive rate at a declared false-positive rate."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from pytest_benchbench.evidence.golden_set_rows import Sample
from pytest_benchbench.evidence.repeated_run import read_repeated_run
from pytest_benchbench.evidence.same_detector import DetectorsSeen, other_detectors
from pytest_benchbench.reports.detector_figures import Identity, TprAtFpr, TprSplit
from pytest_benchbench.reports.detector_reckoning import Samples, Scores, counts_at, rate
from pytest_benchbench.reports.detector_tally import AnsweredSet, AnsweredSplit, GoldenSetRows
from pytest_benchbench.statistics.classification import AI, REAL
from pytest_benchbench.statistics.operating_point import threshold_at_fpr

TUNE = "tune"
"""The split that thresholds may be taken from."""


class TuneRunError(Exception):
    """A run that gives no threshold for another one; one line."""


@dataclass(frozen=True, slots=True)
class TuneRun:
    """A run of the tune split.

    Attributes:
        path: As it was given.
        run_id: Its name.
        evidence_sha256: Of its evidence.
        target: The false-positive rate that is aimed at, in [0, 1).
        found: What its detectors answered.
        seen: What stood behind the answers.
    """

    path: Path
    run_id: str
    evidence_sha256: str
    target: float
    found: AnsweredSplit
    seen: DetectorsSeen

    def check(self, reported: AnsweredSplit, seen: DetectorsSeen) -> None:
        """Demand that the thresholds are about the same set and detectors, and of another split.

        Args:
            reported: What is reported.
            seen: What stood behind its answers.

        Raises:
            TuneRunError: They are not.
        """
        if reported.sha256 != self.found.sha256:
            raise TuneRunError(f"{self.path}: another golden set ({self.found.sha256[:12]}, not {reported.sha256[:12]})")
        if reported.split == self.found.split:
            raise TuneRunError(
                f"{self.path}: both runs are of the split {TUNE}: a threshold says nothing about its own split"
            )
        for line in other_detectors(self.seen, seen):
            raise TuneRunError(f"{self.path}: {line}")
        mine = self.found.by_alias()
        for alias, answered in reported.by_alias().items():
            if answered.scores:
                self._check_detector(alias, answered.identity(), mine.get(alias))

    def _check_detector(self, alias: str, identity: Identity, tuned: AnsweredSet | None) -> None:
        if tuned is None or not tuned.scores:
            raise TuneRunError(f"{self.path}: no score of {alias}")
        was = tuned.identity()
        differing = [name for name in Identity.__struct_fields__ if getattr(was, name) != getattr(identity, name)]
        if differing:
            raise TuneRunError(f"{self.path}: {alias} is not the same detector: {', '.join(differing)} differ")
        if identity.varying:
            raise TuneRunError(
                f"{self.path}: {alias} is several detectors: {', '.join(identity.varying)} vary within the run"
            )
        if not any(self.found.samples[name].label == "human" for name in tuned.scores):
            raise TuneRunError(f"{self.path}: {alias} scored no human sample: there is no false-positive rate")

    def tpr_at_fpr(self, alias: str, samples: Samples, scores: Scores) -> TprAtFpr:
        """Take the threshold of a detector, and say what it comes to on both splits.

        Args:
            alias: A detector that ``check`` was satisfied with.
            samples: Those that are reported, by id.
            scores: Of them, by id.
        """
        tuned = self.found.by_alias()[alias].scores
        labels = np.array([AI if self.found.samples[name].label == "ai" else REAL for name in tuned], dtype=np.int8)
        threshold = threshold_at_fpr(labels, np.array(list(tuned.values()), dtype=np.float64), self.target)
        return TprAtFpr(
            targetFpr=self.target,
            threshold=threshold,
            tuneRunId=self.run_id,
            tuneEvidenceSha256=self.evidence_sha256,
            tune=_split(self.found.samples, tuned, threshold),
            reported=_split(samples, scores, threshold),
        )


def _split(samples: dict[str, Sample] | Samples, scores: Scores, threshold: float | None) -> TprSplit:
    counts = counts_at(samples, scores, inf if threshold is None else threshold)
    return TprSplit(fpr=rate(counts.fp, counts.real), tpr=rate(counts.tp, counts.ai))


def read_tune_run(path: Path, target: float) -> TuneRun:
    """Read a run of the tune split.

    Args:
        path: Its directory or a file of evidence.
        target: The false-positive rate that is aimed at, in [0, 1).

    Raises:
        TuneRunError: It is about no golden set, about several, or of another split.
        RecordedRunError: The directory holds no run, or what it says is damaged.
        EvidenceError: The evidence is damaged.
    """
    run, rows, seen = read_repeated_run(path), GoldenSetRows(), DetectorsSeen()
    run.evidence.feed(rows.add, seen.add)
    splits = rows.splits()
    if len(splits) != 1:
        raise TuneRunError(f"{path}: {len(splits)} golden sets, a threshold needs one")
    if splits[0].split != TUNE:
        raise TuneRunError(f"{path}: of the split {splits[0].split or 'that no row names'}, a threshold comes from {TUNE}")
    return TuneRun(path, run.run_id or run.evidence.path.name, run.evidence.sha256, target, splits[0], seen)

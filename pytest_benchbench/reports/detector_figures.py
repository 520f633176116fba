"""What one detector comes to on a split of a golden set: the parts of ``benchmark.json`` that are about detectors."""
# ruff: noqa: N815 - the names are those of the document

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

THRESHOLD: Final = 50.0
"""From which score on a text is called AI, the same for every detector."""

BUCKETS: Final = 10
"""Of a histogram: [0, 10), [10, 20), ... [90, 100]."""

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]

From1 = Annotated[int, msgspec.Meta(ge=1, le=2**53)]

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]

Score = Annotated[float, msgspec.Meta(ge=0, le=100)]

Milliseconds = Annotated[float, msgspec.Meta(ge=0)]

Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A part of the document; a name that it does not know is a fault."""


class Rate(Strict, frozen=True):
    """A share of samples with its two-sided 95 % Wilson interval.

    Attributes:
        value: ``k / n``, in [0, 1]; null where ``n`` is 0, as are the bounds: what cannot be computed is not 0.
        k: How many.
        n: Of how many.
        lower: The lower bound.
        upper: The upper bound.
    """

    value: Share | None
    k: Count
    n: Count
    lower: Share | None
    upper: Share | None


class BypassRate(Rate, frozen=True):
    """The share of humanized AI samples (those with ``pairOf``) that score below the threshold.

    Attributes:
        higherIsBetter: Always true: the rate is the humanizer's, and its fall is what is looked out for.
    """

    higherIsBetter: Literal[True] = True


class Value(Strict, frozen=True):
    """A figure that is no share of samples, so that it has no Wilson interval; null where it cannot be computed."""

    value: Share | None


class Cells(Strict, frozen=True):
    """Samples with a score by label and by what the score calls them; AI is positive."""

    tp: Count
    fp: Count
    tn: Count
    fn: Count


class Figures(Strict, frozen=True):
    """What scores at the threshold come to. Samples without a score are in none of them.

    Attributes:
        confusion: The four counts that all else is computed from.
        precision: TP / (TP + FP).
        recall: TP / (TP + FN), the true-positive rate.
        f1: 2 TP / (2 TP + FP + FN), the harmonic mean of precision and recall; null where either of them is.
        accuracy: (TP + TN) / all.
        fpr: FP / (FP + TN).
        humanizerBypass: Of the humanized samples among them.
    """

    confusion: Cells
    precision: Rate
    recall: Rate
    f1: Value
    accuracy: Rate
    fpr: Rate
    humanizerBypass: BypassRate


class CategoryFigures(Figures, frozen=True):
    """The figures of one category.

    Attributes:
        n: Samples of it that the detector was to be asked about.
        scored: Those with a score.
    """

    n: Count
    scored: Count


class Percentile(Strict, frozen=True):
    """A percentile by nearest rank: an observed value, never interpolated.

    Attributes:
        value: Milliseconds.
        rank: Its place among the values, 1 for the smallest.
        lowRank: The ranks between which the percentile of all such calls lies, with 95 % confidence; null where too few
            calls bound it, as are ``highRank``, ``low`` and ``high``.
        highRank: The upper one.
        low: The value of ``lowRank``.
        high: The value of ``highRank``.
    """

    value: Milliseconds
    rank: From1
    lowRank: From1 | None
    highRank: From1 | None
    low: Milliseconds | None
    high: Milliseconds | None


class Calls(Strict, frozen=True):
    """How long calls took that answered about one sample each.

    Attributes:
        n: Calls in the percentiles.
        recorded: How many of them were made in an earlier session: their answers and times were taken from its journal.
        p50: Null without calls.
        p95: Null without calls.
        cold: The first calls of an instance, which are in no percentile: what each took, ascending, at most 100 of them.
        unknown: Scored samples of which no time is known: they were asked about together with others.
    """

    n: Count
    recorded: Count
    p50: Percentile | None
    p95: Percentile | None
    cold: tuple[Milliseconds, ...]
    unknown: Count


class WeightsFile(Strict, frozen=True):
    """A file of weights that a local detector loaded."""

    name: str
    sha256: str


class Identity(Strict, frozen=True, omit_defaults=True):
    """What answered. Differing vendor, plan or API version are different detectors.

    Attributes:
        name: The adapter.
        version: Of what the adapter wraps; null where no row knows it, as is ``rule``.
        rule: How it decides, in words.
        vendor: Who runs it; absent for local ones, as are the next four.
        plan: The plan tier.
        apiVersion: Of its interface.
        requestedModel: The model that was asked for.
        model: The model that the answers name.
        mixed: How a class of mixed texts is counted.
        weights: What a local detector loaded.
        varying: Members of which scored rows say different things, with each of their values; absent or null above. What
            answered is then several detectors under one name. A row that does not say a member contradicts none.
    """

    name: str
    version: str | None
    rule: str | None
    vendor: str | None = None
    plan: str | None = None
    apiVersion: str | None = None
    requestedModel: str | None = None
    model: str | None = None
    mixed: str | None = None
    weights: tuple[WeightsFile, ...] = ()
    varying: dict[str, tuple[str, ...]] = {}


class TprSplit(Strict, frozen=True):
    """Both rates of one split at a threshold that was taken from the tune split."""

    fpr: Rate
    tpr: Rate


class TprAtFpr(Strict, frozen=True):
    """The true-positive rate at a declared false-positive rate; the threshold knows nothing of the split that is reported.

    Attributes:
        targetFpr: Declared, in [0, 1).
        threshold: The smallest score of the tune split at which, when every sample that scores at least as much is called
            AI, at most the declared share of its human samples is. Samples of equal score are on one side. Null where no
            score of the split does: then nothing is called AI.
        tuneRunId: The run that the threshold is from.
        tuneEvidenceSha256: Its evidence.
        tune: What the threshold comes to where it was chosen.
        reported: What it comes to on the split of this document.
    """

    targetFpr: Annotated[float, msgspec.Meta(ge=0, lt=1)]
    threshold: Score | None
    tuneRunId: str
    tuneEvidenceSha256: Sha256
    tune: TprSplit
    reported: TprSplit


class DetectorResults(Figures, frozen=True, kw_only=True, omit_defaults=True):
    """What one detector answered on the split: no time, nothing about how the run went.

    Attributes:
        alias: What the run calls it, unique in the document.
        identity: What answered.
        planned: Samples that it was to be asked about, as far as evidence tells.
        scored: Samples with a score; the sum of ``confusion``.
        errors: Samples without one that count as errors, terminal and unstable rows and answers that are no score included.
        unavailable: Samples that it could not be asked about.
        notRun: Samples that it was not asked about.
        statuses: All that have no score, by how they ended.
        histogram: ``BUCKETS`` counts over [0, 100]; the last one includes 100.
        byCategory: By the categories of the set, sorted.
        scores: The score of each sample, by id, sorted.
        tprAtFpr: Only where it was asked for.
    """

    alias: str
    identity: Identity
    planned: Count
    scored: Count
    errors: Count
    unavailable: Count
    notRun: Count
    statuses: dict[str, Count]
    histogram: Annotated[tuple[Count, ...], msgspec.Meta(min_length=BUCKETS, max_length=BUCKETS)]
    byCategory: dict[str, CategoryFigures]
    scores: dict[str, Score]
    tprAtFpr: TprAtFpr | None = None


class DetectorFigures(DetectorResults, frozen=True, kw_only=True, omit_defaults=True):
    """One detector on the split.

    Attributes:
        latencyMs: Milliseconds.
    """

    latencyMs: Calls


class Excluded(Strict, frozen=True):
    """A sample outside the common subset.

    Attributes:
        id: The sample.
        detectors: Aliases of those that have no score for it.
    """

    id: str
    detectors: tuple[str, ...]


class SubsetFigures(Figures, frozen=True):
    """The figures of one detector on the common subset."""

    alias: str


class CommonSubset(Strict, frozen=True):
    """Detectors compared on the samples that all of them scored.

    Attributes:
        n: How many samples these are.
        excluded: The others, sorted by id.
        silent: Aliases of detectors that scored no sample at all: they are left out, or nothing would remain.
        detectors: Sorted by alias.
    """

    n: Count
    excluded: tuple[Excluded, ...]
    silent: tuple[str, ...]
    detectors: tuple[SubsetFigures, ...]


class PairedAccuracy(Strict, frozen=True):
    """Two detectors on the samples that both scored, compared because the user declared the pair.

    Attributes:
        a: An alias.
        b: The other.
        n: Samples that both scored.
        both: Those that both called what they are.
        onlyA: Those that only ``a`` did.
        onlyB: Those that only ``b`` did.
        neither: Those that none did.
        difference: Accuracy of ``a`` minus that of ``b``, in [-1, 1]; null without samples, as are its bounds.
        lower: Newcombe's 95 % bounds for paired proportions.
        upper: The upper one.
        p: McNemar's exact test; null where no sample tells them apart.
        adjustedP: The same by Holm over all declared pairs.
    """

    a: str
    b: str
    n: Count
    both: Count
    onlyA: Count
    onlyB: Count
    neither: Count
    difference: float | None
    lower: float | None
    upper: float | None
    p: Share | None
    adjustedP: Share | None

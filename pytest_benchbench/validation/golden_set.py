"""Every rule over a golden set, applied to one file, and what is worth knowing of it besides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from pytest_benchbench.manifests.golden_set import SPLITS, Status
from pytest_benchbench.manifests.golden_set_reading import LocatedSet
from pytest_benchbench.validation.finding import Finding, RuleOutcome, has_errors
from pytest_benchbench.validation.golden_set_pii import personal_data
from pytest_benchbench.validation.golden_set_provenance import dates, licenses
from pytest_benchbench.validation.golden_set_rules import (
    balance,
    both_labels,
    label_owner,
    label_source,
    reviewers,
    short_texts,
)
from pytest_benchbench.validation.golden_set_texts import alike_texts, long_texts, same_texts, text_facts
from pytest_benchbench.validation.phone_numbers import DEFAULT_REGIONS
from pytest_benchbench.validation.placed_samples import place_samples


@dataclass(frozen=True, slots=True)
class GoldenSettings:
    """How a golden set is looked at.

    Attributes:
        adapters: Names of detectors, on which no label may rest; vendors known by name are added.
        as_of: The day on which it is looked at; ``None`` where dates are compared with one another alone.
        regions: Whose telephone numbers are recognised without international prefix.
    """

    adapters: Sequence[str] = ()
    as_of: date | None = None
    regions: Sequence[str] = DEFAULT_REGIONS


@dataclass(frozen=True, slots=True)
class SplitCounts:
    """What a split of a golden set holds.

    Attributes:
        split: Its name.
        samples: All of it.
        human: Those labelled human.
        ai: Those labelled ai, humanized variants among them.
        humanized: Variants of other samples.
        borderline: Those of which a reviewer was in doubt.
        categories: How many there are of each category, by name.
    """

    split: str
    samples: int
    human: int
    ai: int
    humanized: int
    borderline: int
    categories: dict[str, int]


@dataclass(frozen=True, slots=True)
class GoldenExamination:
    """What was found out about a golden set.

    Attributes:
        file: What the user called it.
        name: Of the set.
        version: Of the set.
        status: Whether figures on it claim anything.
        as_of: The day with which dates were compared, if there was one.
        outcomes: One for each rule that was applied.
        counts: One for each split.
    """

    file: str
    name: str
    version: str
    status: Status
    as_of: date | None
    outcomes: list[RuleOutcome]
    counts: list[SplitCounts]

    @property
    def is_valid(self) -> bool:
        """Whether no rule found an error."""
        return not has_errors(self.outcomes)

    def findings(self) -> list[Finding]:
        """Give all that was kept: errors, then warnings, in the order of the rules."""
        ordered = sorted(self.outcomes, key=lambda outcome: outcome.severity != "error")
        return [finding for outcome in ordered for finding in outcome.kept]


def examine_golden_set(located: LocatedSet, file: str, settings: GoldenSettings) -> GoldenExamination:
    """Apply every rule to a golden set that the reader has accepted.

    Which findings there are does not depend on the order of samples. The time is bounded, whatever the texts hold; what
    was not looked at because of that is an error.

    Args:
        located: The golden set and where its samples stand.
        file: What the user called it.
        settings: How to look.

    Raises:
        UnknownRegionError: There is no such region.
    """
    golden_set = located.golden_set
    placed = place_samples(located, file)
    facts = [text_facts(one.sample.text) for one in placed]
    outcomes = [
        *balance(file, golden_set.balance, placed),
        both_labels(file, placed),
        label_owner(placed),
        label_source(placed, settings.adapters),
        reviewers(placed),
        licenses(placed, golden_set.licenses),
        dates(placed, settings.as_of),
        long_texts(placed),
        *same_texts(placed, facts),
        *alike_texts(file, placed, facts),
        *personal_data(file, placed, settings.regions),
        short_texts(placed, [of_text.word_count for of_text in facts]),
    ]
    return GoldenExamination(
        file=file,
        name=golden_set.name,
        version=golden_set.version,
        status=golden_set.status,
        as_of=settings.as_of,
        outcomes=outcomes,
        counts=[_counts(located, split) for split in SPLITS],
    )


def _counts(located: LocatedSet, split: str) -> SplitCounts:
    samples = [sample for sample in located.golden_set.samples if sample.split == split]
    labels = Counter(sample.label for sample in samples)
    return SplitCounts(
        split=split,
        samples=len(samples),
        human=labels["human"],
        ai=labels["ai"],
        humanized=sum(sample.pairOf is not None for sample in samples),
        borderline=sum(sample.borderline for sample in samples),
        categories=dict(sorted(Counter(sample.category for sample in samples).items())),
    )

"""The samples of a golden set with the place where each stands, and findings about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import NamedTuple

from pytest_benchbench.manifests.golden_set import GoldenSample
from pytest_benchbench.manifests.golden_set_reading import LocatedSet
from pytest_benchbench.validation.finding import (
    MAX_KEPT_OF_RULE,
    MAX_ROWS_NAMED,
    Finding,
    FoundRow,
    RuleOutcome,
    Severity,
    TextPlace,
)


class PlacedSample(NamedTuple):
    """A sample and where it stands."""

    sample: GoldenSample
    row: FoundRow


def place_samples(located: LocatedSet, file: str) -> list[PlacedSample]:
    """Give the samples by id, so that nothing that is found depends on their order in the file.

    Args:
        located: What was read.
        file: What the user called it.
    """
    pairs = zip(located.golden_set.samples, located.places, strict=True)
    placed = [PlacedSample(sample, FoundRow(sample.id, place.line, file)) for sample, place in pairs]
    return sorted(placed, key=lambda one: one.sample.id)


def about(
    rule: str, severity: Severity, placed: Sequence[PlacedSample], message: str, place: TextPlace | None = None
) -> Finding:
    """Make a finding about samples, which are given by id."""
    rows = tuple(one.row for one in placed[:MAX_ROWS_NAMED])
    return Finding(rule, severity, rows, message, len(placed), place=place)


def outcome(rule: str, severity: Severity, findings: Iterable[Finding]) -> RuleOutcome:
    """Sum up what a rule found: the first findings in the order in which they come, and how many there are."""
    kept: list[Finding] = []
    total = 0
    for finding in findings:
        total += 1
        if total <= MAX_KEPT_OF_RULE:
            kept.append(finding)
    return RuleOutcome(rule, severity, tuple(kept), total)


def first_groups(groups: Iterable[list[PlacedSample]]) -> list[list[PlacedSample]]:
    """Give the groups whose findings are kept, those with the least ids first."""
    return nsmallest(MAX_KEPT_OF_RULE, groups, key=lambda group: group[0].sample.id)

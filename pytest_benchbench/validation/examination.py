"""Every rule over a dataset, applied to its manifests, and what is worth knowing of it besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pytest_benchbench.manifests.dataset import Split
from pytest_benchbench.manifests.reading import Manifest
from pytest_benchbench.validation.columns import DatasetColumns, read_columns
from pytest_benchbench.validation.finding import Finding, RuleOutcome, has_errors
from pytest_benchbench.validation.hash_pairs import MAX_DISTANCE
from pytest_benchbench.validation.image_measures import (
    ImageMeasure,
    Progress,
    Undecodable,
    demand_library,
    measure_images,
)
from pytest_benchbench.validation.leakage import leakage, same_bytes_of_a_base
from pytest_benchbench.validation.near_duplicates import find_look_alikes, near_duplicates, not_compared
from pytest_benchbench.validation.role_counts import RoleCounts, role_counts, too_few
from pytest_benchbench.validation.shortcuts import shortcuts, transform_balance
from pytest_benchbench.validation.stress_sets import SetCoverage, coverage, facets_of, missing_sets


@dataclass(frozen=True, slots=True)
class ExaminationSettings:
    """How far a dataset is looked at.

    Attributes:
        files: Whether the images are read.
        near_duplicates: Whether pictures are compared; without it only how files are made is read of them.
        distance: The most bits in which pictures differ that look alike, 0 to ``MAX_DISTANCE``.
        roots: Directories besides each manifest's own in which images may lie.
        workers: Processes that read images; by default one for each processor.
    """

    files: bool = True
    near_duplicates: bool = True
    distance: int = MAX_DISTANCE
    roots: Sequence[Path] = ()
    workers: int | None = None


@dataclass(frozen=True, slots=True)
class DatasetExamination:
    """What was found out about a dataset.

    Attributes:
        rows: All rows.
        rows_without_path: Rows whose image nobody can read.
        repeated_derivatives: Rows whose bytes another row of their base has too.
        outcomes: One for each rule that was applied.
        counts: Of each split that has rows.
        coverage: The required stress sets, for each of these splits.
        images_read: Distinct contents that were read.
        images_undecodable: Distinct contents that are no image that can be decoded.
        rows_compared: Rows whose pictures were compared; ``None`` where nobody looked for near-duplicates.
    """

    rows: int
    rows_without_path: int
    repeated_derivatives: int
    outcomes: list[RuleOutcome]
    counts: list[RoleCounts]
    coverage: dict[Split, list[SetCoverage]]
    images_read: int
    images_undecodable: int
    rows_compared: int | None

    @property
    def is_valid(self) -> bool:
        """Whether no rule found an error."""
        return not has_errors(self.outcomes)

    def findings(self) -> list[Finding]:
        """Give all that was kept: errors, then warnings, in the order of the rules."""
        ordered = sorted(self.outcomes, key=lambda outcome: outcome.severity != "error")
        return [finding for outcome in ordered for finding in outcome.kept]


def examine_dataset(
    manifests: Sequence[Manifest], settings: ExaminationSettings, progress: Progress | None = None
) -> DatasetExamination:
    """Apply every rule to manifests that are one dataset.

    Args:
        manifests: Validated dataset manifests.
        settings: How far to look.
        progress: Is told how many images were read.

    Raises:
        ImagesUnmeasuredError: A worker died, or the package that hashes is missing.
        ManifestChangedError: A manifest was changed since it was validated.
    """
    columns = read_columns(manifests)
    counts = role_counts(columns)
    covered = {one.split: coverage(facets_of(columns, one.split)) for one in counts}
    outcomes = [*leakage(columns), transform_balance(columns), *too_few(columns, counts), missing_sets(columns, covered)]
    images = _Images([], 0, 0, None)
    if settings.files:
        images = _of_images(manifests, columns, settings, progress)
    return DatasetExamination(
        rows=len(columns),
        rows_without_path=columns.without_path,
        repeated_derivatives=same_bytes_of_a_base(columns),
        outcomes=[*outcomes, *images.outcomes],
        counts=counts,
        coverage=covered,
        images_read=images.read,
        images_undecodable=images.undecodable,
        rows_compared=images.compared,
    )


class _Images(NamedTuple):
    """What the rules about images found, and how many images were read, could not be decoded, and rows were compared."""

    outcomes: list[RuleOutcome]
    read: int
    undecodable: int
    compared: int | None


def _of_images(
    manifests: Sequence[Manifest], columns: DatasetColumns, settings: ExaminationSettings, progress: Progress | None
) -> _Images:
    """Apply the rules about images."""
    if columns.without_path == len(columns):
        return _Images([], 0, 0, 0 if settings.near_duplicates else None)
    if settings.near_duplicates:
        demand_library()
    measures = measure_images(
        manifests, roots=settings.roots, hashes=settings.near_duplicates, workers=settings.workers, progress=progress
    )
    outcomes = shortcuts(columns, measures)
    read = sum(isinstance(measure, ImageMeasure) for measure in measures.values())
    undecodable = sum(isinstance(measure, Undecodable) for measure in measures.values())
    if not settings.near_duplicates:
        return _Images(outcomes, read, undecodable, None)
    found = find_look_alikes(columns, measures, settings.distance)
    outcomes = [near_duplicates(columns, found), *not_compared(columns, measures), *outcomes]
    return _Images(outcomes, read, undecodable, found.compared)

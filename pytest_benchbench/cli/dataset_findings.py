"""What was found out about a dataset, as lines and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import msgspec

from pytest_benchbench.cli.findings import findings_json
from pytest_benchbench.validation.examination import DatasetExamination
from pytest_benchbench.validation.image_measures import Progress
from pytest_benchbench.validation.role_counts import RoleCounts
from pytest_benchbench.validation.stress_sets import SetCoverage


@contextmanager
def image_progress(rows: int) -> Iterator[Progress | None]:
    """Show on a terminal how many of the images have been read; yields ``None`` where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=rows, label="reading images", file=sys.stderr) as bar:
        yield bar.update


def doubt(examination: DatasetExamination) -> str:
    """Say what a valid manifest is not known to be, as the end of a sentence; empty where its images can be decoded."""
    undecodable = examination.images_undecodable
    if not undecodable:
        return ""
    which = f"{undecodable} of {undecodable + examination.images_read} images CANNOT BE DECODED"
    if not examination.images_read:
        which = "NO IMAGE CAN BE DECODED"
    return f", but {which}: nothing is known of what they show"


def summary_lines(examination: DatasetExamination) -> Iterator[str]:
    """Write what a dataset has for each role, and how far it was looked at."""
    for counts in examination.counts:
        yield f"{counts.split}: {_counted(counts)}; {_covered(examination.coverage[counts.split])}"
    if examination.repeated_derivatives:
        yield f"{_number(examination.repeated_derivatives, 'derivative')} with the bytes of another row of its base"
    if examination.rows_compared is None:
        yield "near-duplicates: not looked for"
    else:
        without = f", {examination.rows_without_path} without a path" if examination.rows_without_path else ""
        yield f"near-duplicates: {examination.rows_compared} of {_number(examination.rows, 'row')} compared{without}"


def as_json(examination: DatasetExamination) -> dict[str, Any]:
    """Give the same as JSON values, with as many findings of each rule as were kept."""
    return {
        "rows": examination.rows,
        "rows_without_path": examination.rows_without_path,
        "repeated_derivatives": examination.repeated_derivatives,
        "images_read": examination.images_read,
        "images_undecodable": examination.images_undecodable,
        "rows_compared": examination.rows_compared,
        **findings_json(examination),
        "counts": [msgspec.to_builtins(counts) for counts in examination.counts],
        "coverage": {
            split: [{"name": one.name, "real": one.real, "ai": one.ai, "lacks": one.lacks} for one in sets]
            for split, sets in examination.coverage.items()
        },
    }


def _counted(counts: RoleCounts) -> str:
    return (
        f"{_number(counts.rows, 'row')}, {counts.real_bases} real and {counts.ai_bases} AI bases, "
        f"{_number(len(counts.real_sources), 'real source')}, "
        f"{_number(len(counts.generator_families), 'generator family', 'generator families')}"
    )


def _covered(sets: list[SetCoverage]) -> str:
    return f"{sum(one.lacks is None for one in sets)} of {len(sets)} stress sets"


def _number(count: int, one: str, several: str | None = None) -> str:
    return f"{count} {one if count == 1 else several or one + 's'}"

"""What was found out about a golden set, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from pytest_benchbench.cli.findings import findings_json
from pytest_benchbench.validation.golden_set import GoldenExamination, SplitCounts


def summary_lines(examination: GoldenExamination) -> Iterator[str]:
    """Write what a golden set holds, and what nobody looked for."""
    yield from (_counted(counts) for counts in examination.counts)
    if examination.status == "example":
        yield "status: an example, on which no claim can rest"
    if examination.as_of is None:
        yield "dates: compared with one another; with a day by --as-of"
    yield "personal data: names of people are not recognised, a person has to read for them"


def as_json(examination: GoldenExamination) -> dict[str, Any]:
    """Give the same as JSON values, with as many findings of each rule as were kept."""
    return {
        "file": examination.file,
        "name": examination.name,
        "version": examination.version,
        "status": examination.status,
        "as_of": None if examination.as_of is None else examination.as_of.isoformat(),
        **findings_json(examination),
        "counts": [msgspec.to_builtins(counts) for counts in examination.counts],
    }


def _counted(counts: SplitCounts) -> str:
    categories = len(counts.categories)
    return (
        f"{counts.split}: {counts.samples} {'sample' if counts.samples == 1 else 'samples'} of {categories} "
        f"{'category' if categories == 1 else 'categories'}: {counts.human} human, {counts.ai} AI "
        f"({counts.humanized} of them humanized), {counts.borderline} borderline"
    )

"""What ``benchbench evaluate`` writes: the figures of scores, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

import msgspec

from pytest_benchbench.evidence.score_columns import ScoreColumns
from pytest_benchbench.evidence.score_rows import ScoreSource
from pytest_benchbench.reports.evaluation import evaluate
from pytest_benchbench.statistics.classification import RELEASE_THRESHOLD

SCHEMA_VERSION: Final = 1


def evaluation_document(source: ScoreSource, *, by: Sequence[tuple[str, ...]] = ()) -> dict[str, Any]:
    """Read scores and compute their figures.

    Args:
        source: The scores.
        by: Slices beside the usual ones; see ``evaluation.slices_of``.

    Returns:
        A JSON document with the sections

        * ``results``: ``rows``, the ``missing`` names that no row had, and ``series``, see ``evaluation.evaluate``. It
          depends on what the rows say and on nothing else: not on their order or form.
        * ``inputs``: digests of the scores and manifests, and what the run says of itself.
        * ``gaps``: what is known to be missing, one line each.

    Raises:
        ScoreError: The scores cannot be read as such.
    """
    columns = ScoreColumns.of(source, source.file)
    series = evaluate(columns, manifest=source.manifest, by=by)
    document = {
        "schema_version": SCHEMA_VERSION,
        "type": "evaluation",
        "threshold": RELEASE_THRESHOLD,
        "results": {"rows": len(columns), "missing": list(source.missing), "series": series},
        "inputs": _inputs(source),
        "gaps": list(_gaps(source, series)),
    }
    result: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    return result


def _inputs(source: ScoreSource) -> dict[str, Any]:
    manifest = source.manifest
    return {
        "scores": {"name": source.file.name, "sha256": source.sha256},
        "manifest": None if manifest is None else {"name": manifest.path.name, "sha256": manifest.sha256},
        "named_manifests": list(source.manifest_sha256s),
        "run": None if source.facts is None else {**asdict(source.facts), "manifests": _manifests(source)},
    }


def _manifests(source: ScoreSource) -> list[dict[str, str]]:
    return [] if source.facts is None else [{"name": name, "sha256": sha256} for name, sha256 in source.facts.manifests]


def _gaps(source: ScoreSource, series: Sequence[dict[str, Any]]) -> Iterator[str]:
    facts, manifest = source.facts, source.manifest
    if facts is not None:
        yield from facts.gaps
        if facts.select:
            yield f"rows were selected by {', '.join(facts.select)}"
    for line in series:
        if manifest is not None and line["absent"]["count"]:
            of = "" if line["adapter"] is None else f" of {line['adapter']}"
            count = line["absent"]["count"]
            rows = f"{count} row{'' if count == 1 else 's'} of the {line['split']} split of {manifest.path.name}"
            yield f"{rows} without a score{of}"

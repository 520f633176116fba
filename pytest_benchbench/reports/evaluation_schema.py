"""The JSON Schema of figures of scores: of the part of a report, and of what ``benchbench evaluate`` writes."""

from __future__ import annotations

from typing import Any

from pytest_benchbench.evidence.score_row import NAMES, QUANTITIES, TERMINAL
from pytest_benchbench.reports.evaluation import IDENTITY
from pytest_benchbench.reports.evaluation_document import SCHEMA_VERSION
from pytest_benchbench.reports.evaluation_figures import CLASSES
from pytest_benchbench.reports.evaluation_markdown import WARNINGS
from pytest_benchbench.reports.schema_parts import (
    ANY,
    COUNT,
    FROM_1,
    NUMBER,
    SHA256,
    SHARE,
    TEXT,
    TEXT_OR_NULL,
    Schema,
    array_of,
    map_of,
    object_of,
    or_null,
    ref,
    reliability_bins,
    shared_definitions,
)
from pytest_benchbench.statistics.classification import RELEASE_THRESHOLD

_RATE = {"k": COUNT, "n": COUNT, **dict.fromkeys(("rate", "wilson95_low", "wilson95_high"), or_null(SHARE))}


def evaluation_definitions() -> dict[str, Schema]:
    """Describe the parts that both documents have; ``rate`` and ``clustered95`` are those of a report."""
    counted = {
        "confusion": ref("confusion"),
        **dict.fromkeys(("false_positive_rate", "precision"), ref("rate")),
        "balanced_accuracy": or_null(SHARE),
    }
    recalls = ("ai_recall", "real_recall")
    figures = {
        "rows": COUNT,
        "rows_with_score": COUNT,
        "rows_without_this_score": {**COUNT, "description": "Rows that were scored, but not with this score."},
        "terminal": object_of({}, "Rows without a score, by status.", optional=dict.fromkeys(TERMINAL, COUNT)),
        **counted,
        **dict.fromkeys(recalls, ref("recall")),
        "brier": or_null(SHARE),
        "bases": {**or_null(ref("base_figures")), "description": "Null where a row names no base."},
    }
    bases = {
        "count": COUNT,
        "without_a_score": {**COUNT, "description": "Bases with a row that has no such score."},
        "with_missing_derivatives": COUNT,
        **counted,
        **dict.fromkeys(recalls, ref("rate")),
    }
    return {
        "confusion": object_of(dict.fromkeys(("tp", "fn", "tn", "fp"), COUNT), "AI is positive."),
        "recall": object_of({**_RATE, "clustered95": or_null(ref("clustered95"))}, "A rate of rows that may share bases."),
        "base_figures": object_of(bases, "One conservative outcome for each base."),
        "figures": object_of(figures, "Figures of some rows at the threshold; null where a class is missing."),
        "slice": object_of({"value": ANY, **figures}, "Figures of the rows of one value; a list where there are several."),
        "scores": _scores(),
    }


def _scores() -> Schema:
    worst = {"slice": TEXT, "value": ANY, "class": {"enum": list(CLASSES)}, "unit": {"enum": ["base", "row"]}}
    numbers = dict.fromkeys(("min", "median", "max"), or_null(SHARE))
    return object_of(
        {
            "overall": ref("figures"),
            "worst_slices": array_of(object_of({**worst, "wrong": ref("rate")}), "At most 20, the worst first."),
            "wrong_slices": COUNT,
            "slices": map_of(array_of(ref("slice")), "By name; the worst slice first."),
            "distribution": object_of(
                {
                    **dict.fromkeys(("n", "distinct", "zero_or_one"), COUNT),
                    **numbers,
                    "warnings": array_of({"enum": list(WARNINGS)}, "Why the scores may be none."),
                }
            ),
            "histogram": object_of({"edges": array_of(NUMBER), "ai": array_of(COUNT), "real": array_of(COUNT)}),
            "reliability": or_null(reliability_bins()),
        },
        "What one kind of score comes to.",
    )


def series_schema(more: dict[str, Schema] | None = None, *, optional: dict[str, Schema] | None = None) -> Schema:
    """Describe a series.

    Args:
        more: Members beside those of ``evaluation.evaluate``.
        optional: Members that not every series has.
    """
    said = array_of(TEXT_OR_NULL)
    return object_of(
        {
            **(more or {}),
            "adapter": TEXT_OR_NULL,
            "split": TEXT_OR_NULL,
            "rows": COUNT,
            "statuses": object_of({}, optional=dict.fromkeys(("scored", *TERMINAL), COUNT)),
            "identity": object_of(
                dict.fromkeys((*IDENTITY, "evaluationMode", "provider"), said), "What scored rows say, each value once."
            ),
            "required": array_of(
                object_of({"transform": TEXT_OR_NULL, "resolutionGroup": TEXT_OR_NULL}), "Derivatives of every base."
            ),
            "absent": or_null(object_of({"count": COUNT, "listed": array_of(TEXT)}, "Rows of the manifest without one.")),
            "refused": {**TEXT_OR_NULL, "description": "Why there are no figures."},
            "scores": object_of({}, optional=dict.fromkeys(QUANTITIES, ref("scores"))),
        },
        "Rows of one adapter and split.",
        optional=optional,
    )


def evaluation_schema() -> dict[str, Any]:
    """Give the JSON Schema (2020-12) of what ``benchbench evaluate`` writes."""
    file = object_of({"name": TEXT, "sha256": SHA256})
    run = {
        **dict.fromkeys(("lost", "left_out"), or_null(COUNT)),
        "gaps": array_of(TEXT),
        "select": array_of(TEXT),
        "split": TEXT_OR_NULL,
        "is_lazy": {"type": ["boolean", "null"]},
        "attempt": or_null(FROM_1),
        "ledger": TEXT_OR_NULL,
        "manifests": array_of(object_of({"name": TEXT, "sha256": TEXT})),
    }
    root = object_of(
        {
            "schema_version": {"const": SCHEMA_VERSION},
            "type": {"const": "evaluation"},
            "threshold": {"const": RELEASE_THRESHOLD},
            "results": object_of(
                {"rows": COUNT, "missing": array_of({"enum": list(NAMES)}), "series": array_of(series_schema())}
            ),
            "inputs": object_of(
                {
                    "scores": file,
                    "manifest": or_null(file),
                    "named_manifests": array_of(TEXT, "Digests that the evidence names."),
                    "run": or_null(object_of(run, "What the run says of itself.")),
                }
            ),
            "gaps": array_of(TEXT, "What is known to be missing."),
        }
    )
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Evaluation of pytest-benchbench"}
    return {**schema, **root, "$defs": {**shared_definitions(), **evaluation_definitions()}}

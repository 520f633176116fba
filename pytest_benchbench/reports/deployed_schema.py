"""The JSON Schema of ``summary.json``."""

from __future__ import annotations

from typing import Any

from pytest_benchbench.evidence.grouping import STANDINGS
from pytest_benchbench.evidence.score_row import TERMINAL
from pytest_benchbench.reports.deployed_summary import GROUPS, SCHEMA_VERSION, TIMES
from pytest_benchbench.reports.schema_parts import (
    COUNT,
    FROM_1,
    MILLISECONDS,
    SHA256,
    TEXT,
    TEXT_OR_NULL,
    TRUTH,
    Schema,
    array_of,
    object_of,
    or_null,
    ref,
)


def deployed_summary_schema() -> dict[str, Any]:
    """Give the JSON Schema (2020-12) of ``summary.json``. Everything that this version writes is valid under it."""
    series = {
        "suite": TEXT,
        "params": TEXT_OR_NULL,
        "adapter": TEXT,
        "rows": COUNT,
        "statuses": object_of(
            {},
            "Rows by how they ended, terminal ones included; all else is about those that were scored.",
            optional=dict.fromkeys((*STANDINGS, *TERMINAL), FROM_1),
        ),
        "refused": {**TEXT_OR_NULL, "description": "Why there are no figures."},
        "providers": array_of(_provider(), "On what scored rows were computed."),
        "first": object_of(
            {"count": COUNT, "listed": array_of(_first_case())},
            "The first case of each browser process that was decided by its pixels.",
        ),
        "later": object_of(
            {},
            "Scored rows that are no first case; metadata are those that were decided without looking at pixels.",
            optional={group: ref("later") for group in GROUPS},
        ),
    }
    root = object_of(
        {
            "schema_version": {"const": SCHEMA_VERSION},
            "type": {"const": "deployed-summary"},
            "results": object_of(
                {
                    "series": array_of(
                        object_of(
                            series,
                            "Rows of one adapter inside one suite and parameter.",
                            optional={"run": {**FROM_1, "description": "Where there are several runs."}},
                        )
                    )
                },
                "It depends on the settled rows alone.",
            ),
            "inputs": object_of({"evidence": {"anyOf": [ref("file"), array_of(ref("file"), "Of several runs.")]}}),
        }
    )
    later = object_of({"rows": COUNT, **dict.fromkeys(TIMES, or_null(ref("percentiles")))})
    percentiles = object_of(
        {"n": FROM_1, **dict.fromkeys(("p50_ms", "p95_ms", "max_ms"), MILLISECONDS)},
        "Nearest rank, over the n rows that have the time.",
    )
    file = object_of({"name": TEXT, "sha256": SHA256})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Summary of deployed scorers of pytest-benchbench",
        **root,
        "$defs": {"later": later, "percentiles": percentiles, "file": file},
    }


def _provider() -> Schema:
    device = {"vendor": TEXT_OR_NULL, "architecture": TEXT_OR_NULL, "is_fallback_adapter": or_null(TRUTH)}
    return object_of({"provider": TEXT_OR_NULL, **device, "rows": FROM_1})


def _first_case() -> Schema:
    return object_of(
        {
            "case_id": TEXT,
            "manifest": TEXT,
            "line": or_null(COUNT),
            "pointer": TEXT_OR_NULL,
            "profile": {"enum": ["fresh", "warm", None]},
            "cache_status": {"enum": ["hit", "miss", None]},
            "model_cold": {**TRUTH, "description": "It loaded the model: in a fresh profile, and not from a cache."},
            **dict.fromkeys(TIMES, or_null(MILLISECONDS)),
        }
    )

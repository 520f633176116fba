"""The JSON Schema of ``report.json``: every member that a report has, what it means, and none beside them.

The parts of a report that stand on their own (``environment`` is what ``run.json`` says) are described by their own pages.
"""

from __future__ import annotations

from typing import Any

from pytest_benchbench.evidence.grouping import STANDINGS
from pytest_benchbench.evidence.observation import OUTCOMES
from pytest_benchbench.reports.columns import DETECTION_QUANTITIES, FIDELITY_QUANTITIES
from pytest_benchbench.reports.detector_benchmark import SplitResults
from pytest_benchbench.reports.detector_benchmark_schema import struct_definitions
from pytest_benchbench.reports.detector_figures import Calls
from pytest_benchbench.reports.evaluation_schema import evaluation_definitions, series_schema
from pytest_benchbench.reports.schema_parts import (
    ANY,
    COUNT,
    FROM_1,
    MILLISECONDS,
    NUMBER,
    SHA256,
    SHARE,
    TEXT,
    TEXT_OR_NULL,
    TRUTH,
    Schema,
    array_of,
    map_of,
    object_of,
    or_null,
    ref,
    reliability_bins,
    shared_definitions,
)
from pytest_benchbench.reports.summary import REMOVAL_OUTCOMES, SCHEMA_VERSION
from pytest_benchbench.reports.tables import ARMS, TABLES, TABLES_WHERE_ANY
from pytest_benchbench.reports.verdicts import VERDICTS

_RUN: Schema = {**FROM_1, "description": "The number of the run, in reports about several."}

_SERIES = {"suite": TEXT, "params": TEXT_OR_NULL, "adapter": TEXT}
_PLACE = {"manifest": TEXT, "line": or_null(COUNT), "pointer": TEXT_OR_NULL}
_ROW = {**_SERIES, "case_id": TEXT, **_PLACE}
_ANSWER = {"expected": TEXT_OR_NULL, "observed": TEXT, "reason": TEXT_OR_NULL, "unstable": TRUTH}
_EXTREMES = {"min": NUMBER, "median": NUMBER, "max": NUMBER}


def _listing(entry: dict[str, Schema], description: str, *, of_run: bool = True) -> Schema:
    listed = array_of(object_of(entry, optional={"run": _RUN} if of_run else None))
    return object_of({"count": COUNT, "listed": listed}, description)


def _table_line(told_apart: dict[str, Schema], more: dict[str, Schema] | None = None) -> Schema:
    return object_of(
        {
            **_SERIES,
            **told_apart,
            "rows": COUNT,
            **{f"rows_{name}": COUNT for name in (*STANDINGS, "mismatch", "known_mismatch")},
            "artifacts": COUNT,
            **{f"artifacts_{verdict}": COUNT for verdict in VERDICTS},
            "detected_rate_of_artifacts": ref("rate"),
            "bases": or_null(ref("bases")),
            "clustered95": or_null(ref("clustered95")),
            "resolvable_false_positive_rate": {
                **or_null(SHARE),
                "description": "Of negative arms: so many artifacts cannot tell a smaller false-positive rate from none.",
            },
            **(more or {}),
        }
    )


def _definitions() -> dict[str, Schema]:
    percentiles = ("p50_ms", "p90_ms", "p95_ms")
    interval = {
        "low_rank": FROM_1,
        "high_rank": FROM_1,
        "low_ms": MILLISECONDS,
        "high_ms": MILLISECONDS,
        "coverage": SHARE,
    }
    return {
        **shared_definitions(),
        "bases": object_of(
            {"count": COUNT, "detected_in_all": ref("rate"), "detected_in_any": ref("rate")},
            "One outcome for each base that has a decided artifact.",
        ),
        "range": object_of({"rows": COUNT, **_EXTREMES}, "Over rows; the median is nearest rank."),
        "numbers": object_of({"n": COUNT, **_EXTREMES}, "Over the n rows that have the number."),
        "calls": object_of(
            {
                "n": COUNT,
                **dict.fromkeys((*percentiles, "max_ms"), MILLISECONDS),
                "intervals": object_of({name: or_null(object_of(interval)) for name in percentiles}),
            },
            "Nearest-rank percentiles of calls that ended in a verdict.",
        ),
        "batches": object_of(
            {
                "batch_size": object_of(dict.fromkeys(("min", "median", "max"), FROM_1), "Rows of a call."),
                "per_batch": ref("calls"),
                "row_share": ref("calls"),
            },
            "Calls that several rows shared, each counted once: what they took, and that divided by the number of their "
            "rows, which no row would have taken alone.",
        ),
        "code": object_of(
            {"project_commit": TEXT_OR_NULL, "dirty": {"type": ["boolean", "null"]}, "kernel_sha256": TEXT},
        ),
        "planned": object_of({"rows": COUNT, "selected": COUNT, "left_out": COUNT, "lost": COUNT}),
        "file": object_of({"name": TEXT, "sha256": SHA256}),
    }


def _results() -> Schema:
    tables = {**TABLES, **TABLES_WHERE_ANY}
    table = {name: array_of(_table_line(dict.fromkeys(told_apart, TEXT_OR_NULL))) for name, told_apart in tables.items()}
    by = _table_line({"value": ANY}, dict.fromkeys(DETECTION_QUANTITIES, or_null(ref("range"))))
    return object_of(
        {
            "rows": COUNT,
            "outcomes": object_of(dict.fromkeys(OUTCOMES, COUNT)),
            "tables": object_of(
                {name: table[name] for name in TABLES}, optional={name: table[name] for name in TABLES_WHERE_ANY}
            ),
            "by": map_of(array_of(by), "A table for each field that was asked for."),
            "absent_arms": array_of(object_of({**_SERIES, "absent": array_of({"enum": list(ARMS)})})),
            "conflicting_artifacts": _listing(
                {
                    **_SERIES,
                    "artifact_sha256": SHA256,
                    "states": array_of(TEXT_OR_NULL),
                    "verdicts": array_of(TEXT),
                },
                "Artifacts about which one adapter gave different verdicts; they are in no rate.",
                of_run=False,
            ),
            "removal": array_of(
                object_of(
                    {
                        **_SERIES,
                        "transform": TEXT_OR_NULL,
                        **{f"rows_{outcome}": COUNT for outcome in REMOVAL_OUTCOMES},
                        "certifies_erasure": {"const": False},
                    }
                )
            ),
            **_measured(),
            **_flows(),
            "mismatches": _listing({**_ROW, **_ANSWER}, "Rows whose verdict is not the expected one."),
            "known_mismatches": _listing({**_ROW, **_ANSWER}, "Those that a list of known wrong answers names."),
            "unstable": _listing({**_ROW, **_ANSWER}, "Rows whose attempts within one run gave different verdicts."),
            "errors": _listing({**_ROW, "status": TEXT, "error_type": TEXT_OR_NULL}, "Rows without a verdict by an error."),
            "unavailable": _listing(_ROW, "Rows whose adapter was unavailable."),
            "not_run": _listing(_ROW, "Planned rows that were not run to an end."),
        },
        "What was observed; the same observations give the same bytes.",
        optional={
            "evaluation": object_of(
                {
                    "threshold": SHARE,
                    "series": array_of(series_schema({"suite": TEXT, "params": TEXT_OR_NULL}, optional={"run": _RUN})),
                },
                "Only of labelled rows: how well their scorers tell AI images from real ones.",
            ),
            "golden_sets": array_of(
                ref(SplitResults.__name__),
                "Only of golden sets: what text detectors answered on one split, for each set and run.",
            ),
            "repetition": object_of(
                {"runs": FROM_1, "rows": COUNT, "rows_in_every_run": COUNT},
                "Only of several runs: planned rows, each once, and how many of them every run has.",
            ),
            "unstable_across_runs": _listing(
                {**_ROW, "verdicts": map_of(array_of(FROM_1), "For each answer the numbers of the runs that gave it.")},
                "Only of several runs: rows about which they disagree.",
                of_run=False,
            ),
        },
    )


def _measured() -> dict[str, Schema]:
    place = {**_SERIES, "state": TEXT_OR_NULL}
    quantity: Schema = {"enum": list(DETECTION_QUANTITIES)}
    statuses = ("measured", "unbounded_identical", "incomparable", "no_reference", "error")
    return {
        "message_matches": array_of(
            object_of(
                {
                    **place,
                    "transform": TEXT_OR_NULL,
                    "bits": or_null(FROM_1),
                    "rows": COUNT,
                    "equal": or_null(object_of(dict.fromkeys(("min", "median", "max"), COUNT))),
                    "log10_p": or_null(object_of(_EXTREMES)),
                },
                "Equal bits of messages, and the logarithm of the chance that as many or more agree.",
            )
        ),
        "detection_ranges": array_of(object_of({**place, "quantity": quantity, "rows": COUNT, **_EXTREMES})),
        "fidelity": array_of(
            object_of(
                {
                    **place,
                    "transform": TEXT_OR_NULL,
                    **dict.fromkeys(statuses, COUNT),
                    "ranges": object_of({}, optional=dict.fromkeys(sorted(FIDELITY_QUANTITIES), ref("range"))),
                }
            )
        ),
        "histograms": array_of(
            object_of({**place, "quantity": quantity, "edges": array_of(NUMBER), "counts": array_of(COUNT)}),
            "How numbers are spread over the rows that have a verdict.",
        ),
    }


def _flows() -> dict[str, Schema]:
    """Describe what puts rows beside each other."""
    counts = ("pairs", "kept", "lost", "gained", "absent", "undecided", "undecided_mixed", "unpaired")
    numbers = sorted({*DETECTION_QUANTITIES, *FIDELITY_QUANTITIES} - {"message_bit_accuracy"})
    point = object_of(
        {
            "attack": TEXT_OR_NULL,
            "strength": or_null(NUMBER),
            "rows": COUNT,
            "rows_without_verdict": COUNT,
            "detected_rate_of_artifacts": ref("rate"),
            "clustered95": or_null(ref("clustered95")),
            "bases": ref("bases"),
            "message_bit_accuracy": or_null(ref("numbers")),
        },
        "A strength; null at the start of the curve, the marked artifacts.",
        optional=dict.fromkeys(numbers, ref("numbers")),
    )
    slice_counts = ("mismatch", "known_mismatch", "error", "unavailable", "not_run", "unstable")
    return {
        "transitions": array_of(
            object_of(
                {
                    **_SERIES,
                    "transform": TEXT_OR_NULL,
                    "from": TEXT,
                    "to": TEXT,
                    **dict.fromkeys(counts, COUNT),
                    "kept_rate": ref("rate"),
                    "gained_rate": ref("rate"),
                    "mcnemar_p": or_null(SHARE),
                }
            ),
            "What became of the detections in each pair.",
        ),
        "robustness": array_of(
            object_of(
                {
                    **_SERIES,
                    "media_type": TEXT_OR_NULL,
                    "family": TEXT,
                    "strength_order": {"enum": ["weak_to_strong", "by_number"]},
                    "carriers": COUNT,
                    "points": array_of(point),
                }
            ),
            "Recognition by the strength of an attack.",
        ),
        "confusion": array_of(
            object_of(
                {
                    **_SERIES,
                    "expected": {"enum": ["detected", "not_detected"]},
                    **dict.fromkeys(("detected", "not_detected", "no_verdict"), COUNT),
                }
            ),
            "Rows of which a verdict was asserted.",
        ),
        "reliability": array_of(
            object_of(
                {
                    **_SERIES,
                    "bins": reliability_bins(),
                }
            ),
            "Scores in [0, 1] against asserted verdicts.",
        ),
        "worst_slices": array_of(
            object_of(
                {
                    **_SERIES,
                    **dict.fromkeys(("state", "transform", "arm"), TEXT_OR_NULL),
                    "rows": COUNT,
                    **{f"rows_{name}": COUNT for name in slice_counts},
                    "wrong_rate_of_rows": ref("rate"),
                }
            ),
            "At most 20, the worst first.",
        ),
        "wrong_slices": {**COUNT, "description": "How many slices have a mismatch or an error."},
    }


def _inputs() -> Schema:
    adapter = {
        "alias": TEXT,
        "name": TEXT,
        "version": TEXT_OR_NULL,
        "rule": TEXT_OR_NULL,
        "options": {"type": "object"},
        "source_sha256": TEXT_OR_NULL,
        "weights": array_of(object_of({"name": TEXT, "sha256": TEXT})),
        "rows": COUNT,
    }
    code = _definitions()["code"]["properties"]
    return object_of(
        {
            "evidence": {
                "anyOf": [ref("file"), array_of(ref("file"))],
                "description": "A list in reports about several runs.",
            },
            "run_ids": array_of(TEXT),
            "manifests": array_of(object_of({"name": TEXT, "sha256": TEXT, "rows": COUNT})),
            "adapters": array_of(object_of(adapter)),
            "code": array_of(object_of({**code, "rows": COUNT})),
        },
        "What the report rests on, with the number of rows that rest on each.",
    )


def _run() -> Schema:
    cold = object_of({"n": FROM_1, "p50_ms": MILLISECONDS, "max_ms": MILLISECONDS})
    return object_of(
        {
            "run": FROM_1,
            "name": TEXT,
            "run_id": TEXT_OR_NULL,
            "evidence_sha256": SHA256,
            "rows": COUNT,
            "planned": or_null(ref("planned")),
            "started": TEXT_OR_NULL,
            "finished": TEXT_OR_NULL,
            "exit_status": {"type": ["integer", "null"]},
            "code": or_null(ref("code")),
            "gaps": array_of(TEXT, "What it lacks."),
            "cold": map_of(cold, "By adapter: first calls of instances, loading included."),
        }
    )


def report_schema() -> dict[str, Any]:
    """Give the JSON Schema (2020-12) of ``report.json``. Everything that this version writes is valid under it."""
    environment = {"gaps": array_of(TEXT), "notes": array_of(TEXT), "planned": ref("planned")}
    messages = {**_ROW, "outcome": {"enum": list(OUTCOMES)}, "message": TEXT_OR_NULL}
    root = object_of(
        {
            "schema_version": {"const": SCHEMA_VERSION},
            "results": _results(),
            "timing": map_of(
                object_of(dict.fromkeys(("cold", "warm"), or_null(ref("calls")))), "What the calls of each adapter took."
            ),
            "environment": {
                "type": "object",
                "description": "What run.json says; of several runs what they have in common.",
                "properties": environment,
            },
            "attempts": object_of(
                {
                    "rows": COUNT,
                    "attempts": COUNT,
                    "rows_with_several_attempts": COUNT,
                    "messages": _listing(messages, "What was said about rows without a verdict."),
                }
            ),
            "inputs": _inputs(),
        },
        optional={
            "batch_timing": map_of(
                object_of(dict.fromkeys(("cold", "warm"), or_null(ref("batches")))),
                "Only where there are some: calls of each adapter that several rows shared.",
            ),
            "detector_timing": array_of(
                object_of(
                    {"golden_set": SHA256, "detectors": map_of(ref(Calls.__name__), "By alias.")}, optional={"run": _RUN}
                ),
                "Only of golden sets: what the calls of text detectors took, in the order of golden_sets.",
            ),
            "runs": array_of(_run(), "Only of benchbench report: the runs, in the order of their numbers."),
        },
    )
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Report of pytest-benchbench"}
    return {
        **schema,
        **root,
        "$defs": {**_definitions(), **evaluation_definitions(), **struct_definitions(SplitResults, Calls)},
    }

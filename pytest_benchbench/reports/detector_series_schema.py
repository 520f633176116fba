"""The JSON Schema of the series file, made from the structs that read and write it."""

from __future__ import annotations

from typing import Any

from pytest_benchbench.manifests.golden_set import HOLDOUT
from pytest_benchbench.reports.detector_benchmark_schema import struct_definitions
from pytest_benchbench.reports.detector_series import SeriesEntry
from pytest_benchbench.reports.schema_parts import SHA256, TEXT, Schema, object_of, ref


def detector_series_schema() -> dict[str, Any]:
    """Give the JSON Schema (2020-12) of the series file. Everything that this version writes is valid under it.

    That the digests are those of the lines, and that runs follow in time and stand once, no schema can say.
    """
    history: Schema = {
        "type": "array",
        "description": "The runs in the order of time, one a line.",
        "minItems": 1,
        "prefixItems": [_entry({"type": "null"})],
        "items": _entry(SHA256),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Series of benchmarks of text detectors of pytest-benchbench",
        **object_of(
            {
                "schema_version": {"const": 1},
                "type": {"const": "detector-series"},
                "goldenSet": {**TEXT, "description": "Name of the golden set that the runs are of."},
                "versionHistory": history,
                "lastSha256": {**SHA256, "description": "Of the last entry, from its brace to its brace."},
            }
        ),
        "$defs": struct_definitions(SeriesEntry),
    }


def _entry(previous: Schema) -> Schema:
    return {**ref(SeriesEntry.__name__), "properties": {"previousSha256": previous, "split": {"const": HOLDOUT}}}

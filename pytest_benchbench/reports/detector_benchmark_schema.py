"""The JSON Schema of ``benchmark.json``, made from the structs that read and write it."""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_benchbench.reports.detector_benchmark import DetectorBenchmark
from pytest_benchbench.reports.schema_parts import Schema, ref


def detector_benchmark_schema() -> dict[str, Any]:
    """Give the JSON Schema (2020-12) of ``benchmark.json``. Everything that this version writes is valid under it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Benchmark of text detectors of pytest-benchbench",
        **ref(DetectorBenchmark.__name__),
        "$defs": struct_definitions(DetectorBenchmark),
    }


def struct_definitions(*structs: type[msgspec.Struct]) -> dict[str, Schema]:
    """Describe structs and all that they consist of, by their names, as ``$defs`` keep them."""
    _, definitions = msgspec.json.schema_components(structs, ref_template="#/$defs/{name}")
    return {name: {**each, "description": _first_line(each)} for name, each in definitions.items()}


def _first_line(definition: Schema) -> str:
    """Say what a part is; the rest of a docstring is about names of the code."""
    return str(definition.get("description", "")).partition("\n")[0]

"""Collecting and running many rows: this plugin against ``parametrize`` with an indirect fixture.

Prints JSON. Both suites ask the same adapter about the same tiny file; ours validates the manifest, records evidence and
writes the report too. Collection is processor time and memory over an empty session; a row's run is the processor time
of a whole session over that of its collection, divided by the rows.
"""

import argparse
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

from measuring import Cost, interleaved, median, print_figures, python

CONFTEST = """
import hashlib
from pathlib import Path
import pytest
from pytest_benchbench import Adapter, AdapterDescription, Detection, Sample

class Toy(Adapter):
    name = "toy"
    media_types = frozenset({"image"})
    needs = "bytes"

    def detect(self, sample):
        return Detection("detected" if sample.data else "not_detected")

    def describe(self):
        return AdapterDescription("1", "the file has bytes")

def pytest_benchbench_adapters(registry):
    registry.register(Toy)

@pytest.fixture(scope="session")
def toy():
    adapter = Toy()
    adapter.load()
    return adapter

@pytest.fixture
def row(request):
    case = request.param
    data = Path(case["path"]).read_bytes()
    assert hashlib.sha256(data).hexdigest() == case["sha256"]
    return case, Sample("image", case["sha256"], data)
"""

PARAMETRIZED = """
import json
import os
import pytest

with open("cases.jsonl") as lines:
    ROWS = [json.loads(line) for line in lines]

@pytest.mark.parametrize("row", ROWS, ids=[case["case_id"] for case in ROWS], indirect=True)
def test_row(row, toy):
    case, sample = row
    assert toy.detect(sample).status == case["expected"]
"""


def build(directory: Path, rows: int) -> None:
    """Write both suites over the same rows."""
    artifact = b"a tiny file"
    (directory / "artifact.bin").write_bytes(artifact)
    (directory / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (directory / "test_parametrized.py").write_text(PARAMETRIZED, encoding="utf-8")
    (directory / "test_empty.py").write_text("", encoding="utf-8")
    row = {
        "schema_version": 1,
        "pair_id": "pair",
        "media_type": "image",
        "adapter": "toy",
        "arm": "positive",
        "state": "marked",
        "path": "artifact.bin",
        "sha256": hashlib.sha256(artifact).hexdigest(),
        "reference_path": None,
        "reference_sha256": None,
        "source_revision": "performance@1",
        "transform": {"name": "none", "revision": "1", "parameters": {}},
        "seed": None,
        "expected": "detected",
    }
    with (directory / "cases.jsonl").open("w", encoding="utf-8") as file:
        for number in range(rows):
            file.write(json.dumps({**row, "case_id": f"case-{number:07}"}) + "\n")


def costs_of(rows: int, repetitions: int, *, run: bool) -> dict[str, list[Cost]]:
    """Run both suites, or only collect them, and an empty session."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        build(directory, rows)
        plain = ["-m", "pytest", "-q", "-p", "pytest_benchbench.plugin", "-p", "no:cacheprovider"]
        collect = [] if run else ["--collect-only"]

        def plugin() -> Cost:
            cost = python([*plain, *collect, "cases.jsonl"], directory)
            shutil.rmtree(directory / ".benchbench", ignore_errors=True)
            return cost

        return interleaved(
            {
                "empty": lambda: python([*plain, "test_empty.py"], directory, expect=frozenset({5})),
                "parametrize": lambda: python([*plain, *collect, "test_parametrized.py"], directory),
                "plugin": plugin,
            },
            repetitions,
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="rows to collect")
    parser.add_argument("--run-rows", type=int, default=10_000, help="rows to run")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # what else happens to be installed is not measured
    collected = costs_of(options.rows, options.repetitions, run=False)
    seconds = {name: median(found, "cpu") for name, found in collected.items()}
    memory = {name: median(found, "peak_mib") for name, found in collected.items()}
    before_run = costs_of(options.run_rows, options.repetitions, run=False)
    whole_run = costs_of(options.run_rows, options.repetitions, run=True)
    suites = ("parametrize", "plugin")
    per_row = {
        name: (median(whole_run[name], "cpu") - median(before_run[name], "cpu")) / options.run_rows * 1e6 for name in suites
    }
    print_figures(
        "collection",
        vars(options),
        {
            "collection_time ratio": (seconds["plugin"] - seconds["empty"]) / (seconds["parametrize"] - seconds["empty"]),
            "collection_memory ratio": (memory["plugin"] - memory["empty"]) / (memory["parametrize"] - memory["empty"]),
            "run ratio": per_row["plugin"] / per_row["parametrize"],
        },
        {"collection_time ratio": "<= 0.75", "collection_memory ratio": "<= 0.55", "run ratio": "<= 1.4"},
        {
            "collection_processor_seconds": {name: seconds[name] - seconds["empty"] for name in suites},
            "collection_peak_mib": {name: memory[name] - memory["empty"] for name in suites},
            "run_processor_us_per_row": per_row,
        },
    )


if __name__ == "__main__":
    main()

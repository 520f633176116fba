"""What validating a large dataset costs: processor time and memory of ``benchbench validate --no-files``.

Rows alone are looked at: the strict reading, leaks between splits, coverage, counts. What that costs is also told as a
multiple of the strict reading alone, what starting costs taken off both. Memory is held against an empty start. Prints one
JSON object.

    python benchmarks/performance/validating.py --rows 100000
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path

from detector_rows import dataset_rows
from measuring import interleaved, median, print_figures, process_figures, python

SCRIPT = ["-c", "from pytest_benchbench.cli import main; main()", "validate"]

READING = (
    "import sys; from pathlib import Path; from pytest_benchbench.manifests.reading import read_manifest;"
    "read_manifest(Path(sys.argv[1]), media_types={}, seen={}).close()"
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--directory", type=Path, help="Where to work; by default a temporary folder.")
    options = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        directory = Path(folder)
        for name, count in {"one": 1, "dataset": options.rows}.items():
            with (directory / f"{name}.jsonl").open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in dataset_rows(count))
        costs = interleaved(
            {
                "reading one": lambda: python(["-c", READING, "one.jsonl"], directory),
                "reading": lambda: python(["-c", READING, "dataset.jsonl"], directory),
                "start": lambda: python([*SCRIPT, "--help"], directory),
                "validating one": lambda: python([*SCRIPT, "--no-files", "one.jsonl"], directory),
                "validating": lambda: python([*SCRIPT, "--no-files", "dataset.jsonl"], directory),
            },
            options.repetitions,
        )
    cheapest = {name: min(of_variant, key=lambda cost: cost.cpu) for name, of_variant in costs.items()}
    seconds = {name: median(of_variant, "cpu") for name, of_variant in costs.items()}
    ratio = (seconds["validating"] - seconds["validating one"]) / (seconds["reading"] - seconds["reading one"])
    print_figures(
        "validating",
        {"rows": options.rows, "repetitions": options.repetitions},
        {
            **process_figures(cheapest["validating"], cheapest["start"], options.rows, "row"),
            "wall seconds": round(median(costs["validating"], "wall"), 2),
            "times the strict reading": round(ratio, 2),
        },
        {"processor seconds": "<= 10 for 100,000 rows", "wall seconds": "<= 10 for 100,000 rows"},
        {name: [asdict(cost) for cost in of_variant] for name, of_variant in costs.items()},
    )


if __name__ == "__main__":
    main()

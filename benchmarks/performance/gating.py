"""What a release decision about many scores costs: processor time and memory of ``benchbench gate``, policy ``release``.

The scores pass, so every rule is computed: once without the dataset manifest (``--held-out-unverified``), once with it.
Memory is held against an empty start: ``benchbench gate --help``; time also against decoding the same lines into dicts that
nobody checks. Prints one JSON object.

    python benchmarks/performance/gating.py --rows 1000000
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path

from detector_rows import dataset_rows, score_rows
from measuring import print_figures, process_figures, python

SCRIPT = ["-c", "from pytest_benchbench.cli import main; main()", "gate"]

DECODING = (
    "import sys, msgspec\n"
    "decode = msgspec.json.decode\n"
    "with open(sys.argv[1], 'rb') as file:\n"
    "    for line in file:\n"
    "        decode(line)\n"
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--directory", type=Path, help="Where to work; by default a temporary folder.")
    options = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        directory = Path(folder)
        for name, rows in {"scores": score_rows(options.rows), "dataset": dataset_rows(options.rows, ("test",))}.items():
            with (directory / f"{name}.jsonl").open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)
                if name == "dataset":  # without a row of another split nobody could tell what is held out
                    elsewhere = {"id": "elsewhere", "baseId": "elsewhere", "source": "elsewhere", "split": "calibration"}
                    elsewhere |= {
                        "label": 0,
                        "sha256": "f" * 64,
                        "contentGroup": "photo",
                        "transform": "none",
                        "license": "CC0",
                    }
                    file.write(json.dumps(elsewhere) + "\n")
        start = python([*SCRIPT, "--help"], directory)
        decoding = python(["-c", DECODING, "scores.jsonl"], directory)
        alone = python(
            [*SCRIPT, "scores.jsonl", "--policy", "release", "--held-out-unverified", "--output", "alone.json"], directory
        )
        joined = python(
            [*SCRIPT, "scores.jsonl", "--policy", "release", "--manifest", "dataset.jsonl", "--output", "joined.json"],
            directory,
        )
        for name in ("alone", "joined"):
            decision = json.loads((directory / f"{name}.json").read_bytes())
            assert decision["decision"] == "pass", "what is measured is a whole decision"
    print_figures(
        "gating",
        {"rows": options.rows},
        {
            **process_figures(alone, start, options.rows, "row"),
            "wall seconds": round(alone.wall, 2),
            "times decoding into dicts": round((alone.cpu - start.cpu) / decoding.cpu, 2),
            "processor seconds with the manifest": round(joined.cpu, 2),
            "wall seconds with the manifest": round(joined.wall, 2),
            "peak MB with the manifest": round(joined.peak_mib * 1.048576, 1),
        },
        {"wall seconds": "<= 30 for 1,000,000 rows"},
        {"start": asdict(start), "decoding": asdict(decoding), "alone": asdict(alone), "joined": asdict(joined)},
    )


if __name__ == "__main__":
    main()

"""What reports on large runs cost: processor time, wall time and memory of ``benchbench report``, and the size of its page.

A small run of this machine gives a real row and a real ``run.json``. Their copies, with other ids, digests and numbers, are
written as runs. One row in a hundred has a second attempt, and one in a thousand another verdict than the rest, drawn anew
in each run. Wall time means little on a busy machine. Prints one JSON object.

    python benchmarks/performance/reporting.py --rows 100000 1000000
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from measuring import Cost, print_figures, python
from merging import real_run, vary

SCRIPT = ["-c", "from pytest_benchbench.cli import main; main()", "report"]

WANTED = {100_000: (15, 300), 1_000_000: (90, 500)}
"""By rows: processor seconds and megabytes that a report on one run may take."""

MEGABYTE = 1_000_000


def write_run(directory: Path, name: str, run: dict[str, Any], row: dict[str, Any], rows: int, number: int) -> None:
    """Write the directory of a run: the same cases whatever its number, other answers and times."""
    drawn = random.Random(number)
    encode = msgspec.json.Encoder().encode
    document: dict[str, Any] = json.loads(json.dumps(run))
    document["run_id"] = row["run_id"] = f"20261130T000000Z-{number:08x}"
    document["started"] = f"2026-11-30T00:00:{number:02}.000+00:00"
    document["planned"] = {"rows": rows, "selected": rows, "left_out": 0, "lost": 0}
    (directory / name).mkdir()
    (directory / name / "run.json").write_text(json.dumps(document), encoding="utf-8")
    with (directory / name / "evidence.jsonl").open("wb") as file:
        for case in range(rows):
            vary(row, case, drawn)
            if case % 100 == 0:
                file.write(encode({**row, "outcome": "error", "error": {"type": "OSError", "message": "once"}}) + b"\n")
                row["key"]["attempt"] = 2
            file.write(encode(row) + b"\n")


def report(directory: Path, runs: list[str], rows: int, *options: str) -> tuple[Cost, dict[str, int]]:
    """Report on runs; give what it cost and how many bytes each file has."""
    made = directory / "made"
    cost = python([*SCRIPT, *runs, "--output-dir", made.name, *options], directory)
    document = json.loads((made / "report.json").read_bytes())
    assert document["results"]["rows"] == rows * len(runs), "every planned row counts once for each run"
    sizes = {file.name: file.stat().st_size for file in sorted(made.iterdir())}
    shutil.rmtree(made)
    return cost, sizes


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000], help="Sizes of a run.")
    parser.add_argument("--runs", type=int, default=5, help="How many runs of the first size are counted together.")
    parser.add_argument("--directory", type=Path, help="Where to work; by default a temporary folder.")
    options = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    first, samples, figures, wanted = options.rows[0], {}, {}, {}
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        directory = Path(folder)
        run, row = real_run(directory)
        for rows in options.rows:
            write_run(directory, "one", run, row, rows, 1)
            samples[f"{rows} rows"] = report(directory, ["one"], rows)
            if rows == first:
                samples[f"{rows} rows, with exports"] = report(directory, ["one"], rows, "--format=csv", "--format=parquet")
            shutil.rmtree(directory / "one")
        names = [f"run-{number}" for number in range(options.runs)]
        for number, name in enumerate(names):
            write_run(directory, name, run, row, first, number)
        samples[f"{options.runs} runs of {first} rows"] = report(directory, names, first)
    for name, (cost, sizes) in samples.items():
        figures[f"{name}: processor seconds"] = round(cost.cpu, 2)
        figures[f"{name}: wall seconds"] = round(cost.wall, 2)
        figures[f"{name}: peak MB"] = round(cost.peak_mib * 1.048576, 1)
        if "report.html" in sizes:
            figures[f"{name}: MB of report.html"] = round(sizes["report.html"] / MEGABYTE, 2)
            wanted[f"{name}: MB of report.html"] = "< 5"
    for rows in options.rows:
        if rows in WANTED:
            seconds, megabytes = WANTED[rows]
            wanted[f"{rows} rows: processor seconds"] = f"<= {seconds}"
            wanted[f"{rows} rows: peak MB"] = f"<= {megabytes}"
    print_figures(
        "reporting",
        {"rows": options.rows, "runs": options.runs},
        figures,
        wanted,
        {name: {"bytes": sizes} for name, (_, sizes) in samples.items()},
    )


if __name__ == "__main__":
    main()

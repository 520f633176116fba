"""What comparing two large runs costs: processor time and memory of ``benchbench compare``.

A small run of this machine gives real rows and a real ``run.json``; their copies, with other ids, digests and numbers, are
the two runs (see ``merging.py``). They have the same cases, and one row in five hundred changed its answer. Memory is held
against an empty start: ``benchbench compare --help``. Prints one JSON object.

    python benchmarks/performance/comparing.py --rows 1000000
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from measuring import print_figures, process_figures, python
from merging import real_run, write_shards

SCRIPT = ["-c", "from pytest_benchbench.cli import main; main()", "compare"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--directory", type=Path, help="Where to work; by default a temporary folder.")
    options = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        directory = Path(folder)
        run, row = real_run(directory)
        for side, seed in (("old", 11), ("new", 12)):
            write_shards(directory, run, row, options.rows, 1, seed=seed)
            (directory / "shard-1").rename(directory / side)
        start = python([*SCRIPT, "--help"], directory)
        compare = python([*SCRIPT, "old", "new", "--json"], directory, expect=frozenset({0, 1}))
    print_figures(
        "comparing",
        {"rows": options.rows},
        process_figures(compare, start, options.rows, "pair"),
        {"processor seconds": "<= 120 for 1,000,000 rows", "peak MB": "<= 600 for 1,000,000 rows"},
        {"start": {"cpu": start.cpu, "peak_mib": start.peak_mib}, "compare": {"cpu": compare.cpu, "wall": compare.wall}},
    )


if __name__ == "__main__":
    main()

"""What a row costs as manifests grow: time and memory of 1,000, 10,000 and 100,000 rows, in one process and in two.

    python benchmarks/performance/scaling.py [--rows 1000 10000 100000] [--repetitions 1]

Side by side in one run: a plain loop that reads the manifest strictly and observes every row, writing nothing; a test with
``parametrize`` and an indirect fixture; this plugin. The last two also with ``-n 2``. The adapter does next to nothing, so
what is measured is everything around it. Prints JSON. The marginal cost between two sizes is the difference of processor
time (all processes of a run together) and of peak memory (of the process that the user started), divided by the rows.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from collection import build
from measuring import Cost, interleaved, median, print_figures, python

PLAIN_LOOP = """
import sys
from pathlib import Path
sys.path.insert(0, "")
import conftest
from pytest_benchbench.adapters.pool import AdapterPool
from pytest_benchbench.adapters.registry import installed_registry
from pytest_benchbench.artifacts.loading import ArtifactLoader
from pytest_benchbench.evidence.observing import PinnedFile, Question, observe
from pytest_benchbench.manifests.reading import read_manifest

path = Path("cases.jsonl").resolve()
registry = installed_registry()
registry.register(conftest.Toy)
pool, artifacts = AdapterPool(registry, {}, path.parent), ArtifactLoader()
manifest = read_manifest(path, media_types=registry.media_types())
for adapter, refs in manifest.adapters.items():
    for ref in refs:
        case = manifest.read(ref).case
        question = Question(case.media_type, PinnedFile(case.path, case.sha256), None, path.parent, expected=case.expected)
        assert observe(question, pool.warm(adapter), artifacts).outcome == "match"
"""

SUITES = {"parametrize": "test_parametrized.py", "plugin": "cases.jsonl"}

PROCESSES = {"": (), " -n 2": ("-p", "xdist", "-n", "2")}


def variants(directory: Path) -> dict[str, Callable[[], Cost]]:
    """Name what is compared."""
    plain = ["-m", "pytest", "-q", "-p", "pytest_benchbench.plugin", "-p", "no:cacheprovider"]

    def session(suite: str, *arguments: str) -> Cost:
        cost = python([*plain, *arguments, suite], directory)
        shutil.rmtree(directory / ".benchbench", ignore_errors=True)
        return cost

    found: dict[str, Callable[[], Cost]] = {"plain_loop": lambda: python(["plain_loop.py"], directory)}
    for (name, suite), (suffix, arguments) in itertools.product(SUITES.items(), PROCESSES.items()):
        found[name + suffix] = lambda suite=suite, arguments=arguments: session(suite, *arguments)
    return found


def costs_of(rows: int, repetitions: int, only: Sequence[str] | None) -> dict[str, list[Cost]]:
    """Run the variants over as many rows."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        build(directory, rows)
        (directory / "plain_loop.py").write_text(PLAIN_LOOP, encoding="utf-8")
        chosen = {name: run for name, run in variants(directory).items() if only is None or name in only}
        return interleaved(chosen, repetitions)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--only", nargs="+", metavar="VARIANT", help="such as plugin or 'plugin -n 2'; by default all")
    options = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # what else happens to be installed is not measured
    costs = {rows: costs_of(rows, options.repetitions, options.only) for rows in sorted(options.rows)}
    figures: dict[str, float] = {}
    steps = list(itertools.pairwise(costs))
    for (fewer, more), name in itertools.product(steps, next(iter(costs.values()))):
        before, after = costs[fewer][name], costs[more][name]
        place, added = f"{fewer}_to_{more} {name}", more - fewer
        figures[f"marginal_processor_us {place}"] = (median(after, "cpu") - median(before, "cpu")) / added * 1e6
        figures[f"marginal_memory_bytes {place}"] = (median(after, "peak_mib") - median(before, "peak_mib")) / added * 2**20
    for rows, found in costs.items():
        for name in found if "plain_loop" in found else ():
            figures[f"wall_ratio {rows} {name}"] = median(found[name], "wall") / median(found["plain_loop"], "wall")
    wanted = {}
    for name in next(iter(costs.values())) if len(steps) > 1 else ():
        growth = f"marginal_growth {name}"
        first, last = (figures[f"marginal_processor_us {fewer}_to_{more} {name}"] for fewer, more in steps[-2:])
        figures[growth] = last / first
        if name == "plugin":
            wanted[growth] = "0.85 to 1.15"
    samples = {
        f"{rows} {name}": [{"wall": cost.wall, "processor": cost.cpu, "peak_mib": cost.peak_mib} for cost in found]
        for rows, by_name in costs.items()
        for name, found in by_name.items()
    }
    parameters = {"rows": sorted(options.rows), "repetitions": options.repetitions}
    print_figures("scaling", parameters, figures, wanted, samples)


if __name__ == "__main__":
    main()

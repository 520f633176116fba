"""What two workers gain, how often models are loaded, and what scheduling itself costs.

Prints JSON. Throughput: ``pytest -n 2`` over rows that cost a fixed piece of work on the processor, against two plain
``pytest`` processes side by side, each over half of the same rows: what two processors give where nobody coordinates them.
Loads: three adapters whose rows stand in turns, with ``-n 2``. Cost: processor time of the scheduler alone, with workers
that do nothing, for each row.
"""

import argparse
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from measuring import Cost, interleaved, median, print_figures, python

from pytest_benchbench.session.scheduling import AffinityScheduling

CONFTEST = """
import os
from pytest_benchbench import Adapter, AdapterDescription, Detection

def work(rounds):
    total = 0
    for number in range(rounds):
        total += number * number
    return total

class Working(Adapter):
    '''Works as long as it is told to.'''
    name = "working-1"
    media_types = frozenset({"image"})
    needs = "bytes"
    rounds, load_rounds = %(rounds)d, %(load_rounds)d

    def load(self):
        work(self.load_rounds)
        with open("loads.txt", "a") as file:
            print(self.name, file=file)

    def detect(self, sample):
        work(self.rounds)
        return Detection("detected")

    def describe(self):
        return AdapterDescription("1", "always")

class Working2(Working):
    name = "working-2"

class Working3(Working):
    name = "working-3"

def pytest_benchbench_adapters(registry):
    for adapter in (Working, Working2, Working3):
        registry.register(adapter)
"""


def rounds_in(seconds: float) -> int:
    """Count the rounds of work that take so much processor time here, by the best of five tries."""
    scope: dict[str, object] = {}
    exec("def work(rounds):\n    total = 0\n    for number in range(rounds):\n        total += number * number\n", scope)
    tries = []
    for _ in range(5):
        begin = time.process_time()
        scope["work"](200_000)  # type: ignore[operator]
        tries.append(time.process_time() - begin)
    return round(200_000 * seconds / min(tries))


def build(directory: Path, rows: int, adapters: int, *, row_seconds: float, load_seconds: float) -> None:
    """Write the detectors, the rows, and each half of the rows as a manifest of its own."""
    text = CONFTEST % {"rounds": rounds_in(row_seconds), "load_rounds": rounds_in(load_seconds)}
    (directory / "conftest.py").write_text(text, encoding="utf-8")
    artifact = b"a tiny file"
    (directory / "artifact.bin").write_bytes(artifact)
    row = {
        "schema_version": 1,
        "pair_id": "pair",
        "media_type": "image",
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
    lines = [
        json.dumps({**row, "case_id": f"case-{number:06}", "adapter": f"working-{number % adapters + 1}"}) + "\n"
        for number in range(rows)
    ]
    (directory / "cases.jsonl").write_text("".join(lines), encoding="utf-8")
    for half in (0, 1):
        (directory / f"half-{half}.jsonl").write_text("".join(lines[half::2]), encoding="utf-8")


def pytest_run(directory: Path, *arguments: str) -> Cost:
    """Run pytest with nothing but this plugin and what is named."""
    plain = ["-m", "pytest", "-q", "-p", "pytest_benchbench.plugin", "-p", "no:cacheprovider"]
    return python([*plain, *arguments], directory)


def two_halves(directory: Path) -> Cost:
    """Run two processes side by side: wall time of both together."""
    begin = time.perf_counter()
    with ThreadPoolExecutor(2) as threads:
        costs = list(threads.map(lambda half: pytest_run(directory, f"half-{half}.jsonl"), (0, 1)))
    wall = time.perf_counter() - begin
    return Cost(wall, sum(cost.cpu for cost in costs), max(cost.peak_mib for cost in costs))


def throughput(rows: int, row_seconds: float, repetitions: int) -> dict[str, Any]:
    """Compare ``-n 2`` with two halves."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        build(directory, rows, 1, row_seconds=row_seconds, load_seconds=0.05)
        costs = interleaved(
            {
                "two_halves": lambda: two_halves(directory),
                "n2": lambda: pytest_run(directory, "-p", "xdist", "-n", "2", "cases.jsonl"),
            },
            repetitions,
        )
        shutil.rmtree(directory / ".benchbench")
    wall = {name: median(found, "wall") for name, found in costs.items()}
    cpu = {name: median(found, "cpu") for name, found in costs.items()}
    return {
        "rows": rows,
        "row_milliseconds": row_seconds * 1e3,
        "median_wall_seconds": wall,
        "median_cpu_seconds": cpu,
        "all_wall_seconds": {name: [cost.wall for cost in found] for name, found in costs.items()},
        "throughput_ratio": wall["two_halves"] / wall["n2"],
    }


def loads(rows: int) -> dict[str, int]:
    """Count how often two workers load three adapters."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        build(directory, rows, 3, row_seconds=0.002, load_seconds=0.2)
        pytest_run(directory, "-p", "xdist", "-n", "2", "cases.jsonl")
        loaded = (directory / "loads.txt").read_text(encoding="utf-8").split()
    return {name: loaded.count(name) for name in sorted(set(loaded))}


class IdleNode:
    """A worker that ends each row at once."""

    shutting_down = False
    gateway = None

    def __init__(self) -> None:
        self.rows: deque[int] = deque()
        self.send_runtest_some = self.rows.extend

    def shutdown(self) -> None:
        """End after the rows that were given."""
        self.shutting_down = True


def scheduling_cost(rows: int, workers: int, repetitions: int) -> float:
    """Give the processor time of the scheduler in microseconds a row, by the best of several tries."""
    ids = [f"cases.jsonl::test_detection::adapter-{number % 3}::case-{number:07}" for number in range(rows)]
    tries = []
    for _ in range(repetitions):
        nodes = [IdleNode() for _ in range(workers)]
        begin = time.process_time()
        scheduling = AffinityScheduling(adapter_of=lambda nodeid: nodeid[28:37], workers=workers, complain=print)
        for node in nodes:
            scheduling.add_node(node)
            scheduling.add_node_collection(node, ids)
        scheduling.schedule()
        while not scheduling.tests_finished:
            for node in nodes:
                if len(node.rows) > 1 or (node.rows and node.shutting_down):
                    scheduling.mark_test_complete(node, node.rows.popleft(), 0.02)
        tries.append(time.process_time() - begin)
    return min(tries) / rows * 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--row-milliseconds", type=float, default=20.0)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--only-scheduler", action="store_true", help="leave out what starts processes")
    options = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # what else happens to be installed is not measured
    figures = {
        f"scheduler_processor_us_per_row {rows} rows {workers} workers": scheduling_cost(rows, workers, 3)
        for workers in (2, 16)
        for rows in (1_000, 10_000, 100_000)
    }
    samples: dict[str, object] = {}
    if not options.only_scheduler:
        samples["loads"] = counted = loads(600)
        figures["loads of three adapters on two workers"] = sum(counted.values())
        samples["throughput"] = measured = throughput(options.rows, options.row_milliseconds / 1e3, options.repetitions)
        figures["throughput ratio"] = measured.pop("throughput_ratio")
    parameters = {"rows": options.rows, "row_milliseconds": options.row_milliseconds, "repetitions": options.repetitions}
    wanted = {"throughput ratio": ">= 0.9", "loads of three adapters on two workers": "<= 4"}
    print_figures("scheduling", parameters, figures, wanted, samples)


if __name__ == "__main__":
    main()

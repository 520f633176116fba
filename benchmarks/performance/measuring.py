"""Running a command in a fresh process, reading what it cost, and writing down what came out."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_benchbench.evidence.environment import machine, versions


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process cost.

    Attributes:
        wall: Seconds from start to end.
        cpu: Seconds of processor time, its own children included.
        peak_mib: Largest resident set of the process itself, in MiB.
    """

    wall: float
    cpu: float
    peak_mib: float


def python(arguments: Sequence[str | os.PathLike[str]], directory: Path, *, expect: frozenset[int] = frozenset({0})) -> Cost:
    """Run Python with arguments in a directory and give its cost; output goes nowhere.

    Modules are compiled once, as for users, whatever is set here: else each process would compile the package anew.

    Raises:
        RuntimeError: It exited with another code than expected.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, *map(os.fspath, arguments)]
    clock = os.times()
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    if code not in expect:
        raise RuntimeError(f"{' '.join(map(str, arguments))} exited with {code}")
    return Cost(os.times().elapsed - clock.elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def interleaved(variants: dict[str, Callable[[], Cost]], repetitions: int) -> dict[str, list[Cost]]:
    """Run every variant once in each repetition, so that a busy machine slows all of them alike."""
    costs: dict[str, list[Cost]] = {name: [] for name in variants}
    for _ in range(repetitions):
        for name, run in variants.items():
            costs[name].append(run())
    return costs


def median(costs: list[Cost], quantity: str) -> float:
    """Give the median of one quantity."""
    return statistics.median(getattr(cost, quantity) for cost in costs)


def process_figures(cost: Cost, start: Cost, rows: int, unit: str) -> dict[str, float]:
    """Give what a process cost, and over an empty start what each of ``rows`` units did."""
    return {
        "processor seconds": round(cost.cpu, 2),
        "peak MB": round(cost.peak_mib * 1.048576, 1),
        "MiB over an empty start": round(cost.peak_mib - start.peak_mib, 1),
        f"microseconds a {unit}": round(1e6 * (cost.cpu - start.cpu) / rows, 2),
    }


def print_figures(
    benchmark: str,
    parameters: Mapping[str, object],
    figures: Mapping[str, float],
    wanted: Mapping[str, str],
    samples: Mapping[str, object],
) -> None:
    """Print what was measured as one JSON document, in the shape that every script here has (``schema_version`` 1).

    Args:
        benchmark: The script's name.
        parameters: What it was run with.
        figures: Numbers by name: what the documentation tells.
        wanted: For some of the figures, what they should be.
        samples: What the figures come from; each script's own shape.
    """
    document = {
        "schema_version": 1,
        "benchmark": benchmark,
        "parameters": dict(parameters),
        "machine": machine(),
        "versions": versions(),
        "figures": {name: float(figure) for name, figure in figures.items()},
        "wanted": dict(wanted),
        "samples": dict(samples),
    }
    print(json.dumps(document, indent=2, allow_nan=False))

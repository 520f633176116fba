"""Running a command in a fresh process and reading what it cost."""

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


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

    Raises:
        RuntimeError: It exited with another code than expected.
    """
    clock = os.times()
    process = subprocess.Popen([sys.executable, *map(os.fspath, arguments)], cwd=directory, stdout=subprocess.DEVNULL)
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

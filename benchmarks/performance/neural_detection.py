"""What detecting and embedding with Perth costs, cold and warm, on the processor.

    python benchmarks/performance/neural_detection.py [--repetitions 15] [--processes 3]

Each process is fresh: it loads the adapter (packages imported, checkpoint read and hashed, network made), asks about one
clip of 8 seconds, which is the cold call, and then again and again, and marks the clip as often. The clip is brown noise by
a fixed seed. Detection gets it decoded; how long decoding a 16-bit WAV file of it takes is measured apart. Prints JSON:
medians over the processes, of the warm calls the median of each process, in milliseconds of wall and of processor time.

Needs the packages of the adapter and those of the extra ``audio``; see ``docs/adapters.md``.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np

SECONDS = 8

RATE = 16_000


def clip() -> np.ndarray:
    """Draw brown noise: (128000,) float32 at 16 kHz, half of full scale at most."""
    walk = np.cumsum(np.random.default_rng(0).standard_normal(SECONDS * RATE))
    walk -= walk.mean()
    return (0.5 * walk / np.abs(walk).max()).astype(np.float32)


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Run once and give milliseconds of wall and of processor time, all threads of the process together."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3


def measure(repetitions: int) -> dict[str, tuple[float, float]]:
    """Measure in this process, which must not have loaded anything yet."""
    import resource

    from pytest_benchbench import Sample
    from pytest_benchbench.adapters.perth import Perth
    from pytest_benchbench.artifacts.audio import Audio, decode_audio
    from pytest_benchbench.cohorts.sounds import encode_wav

    samples, adapter = clip(), Perth()
    sample = Sample("audio", "0" * 64, b"", Audio(samples, {}, None))
    file = encode_wav(samples)
    costs = {"load": timed(adapter.load), "detect_cold": timed(lambda: adapter.detect(sample))}
    embedder = adapter.embedder()
    costs["embed_cold"] = timed(lambda: embedder.embed_samples(samples))
    costs["decode_cold"] = timed(lambda: decode_audio(file))
    calls: dict[str, Callable[[], object]] = {
        "detect_warm": lambda: adapter.detect(sample),
        "embed_warm": lambda: embedder.embed_samples(samples),
        "decode_warm": lambda: decode_audio(file),
    }
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(repetitions):
        for name, call in calls.items():
            runs[name].append(timed(call))
    for name, taken in runs.items():
        wall, cpu = (statistics.median(column) for column in zip(*taken, strict=True))
        costs[name] = (wall, cpu)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return costs | {"peak_mib": (peak, peak)}


def main() -> None:
    """Measure in fresh processes and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=15, help="warm calls of each kind in a process")
    parser.add_argument("--processes", type=int, default=3, help="fresh processes")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        print(json.dumps(measure(arguments.repetitions)))
        return
    command = [sys.executable, __file__, "--inside", f"--repetitions={arguments.repetitions}"]
    taken = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(arguments.processes)
    ]
    results: dict[str, object] = {}
    for name in taken[0]:
        wall, cpu = (statistics.median(run[name][clock] for run in taken) for clock in (0, 1))
        results[name] = round(wall) if name == "peak_mib" else {"wall_ms": round(wall, 1), "processor_ms": round(cpu, 1)}
    packages = ("resemble-perth", "torch", "librosa", "numpy", "pytest-benchbench")
    report = {
        "benchmark": "perth",
        "clip_seconds": SECONDS,
        "processes": arguments.processes,
        "repetitions": arguments.repetitions,
        "machine": platform.machine(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
        "results": results,
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()

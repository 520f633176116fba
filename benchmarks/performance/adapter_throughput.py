"""What decoding, detecting and embedding cost, cold and warm, for every adapter that can run here.

    python benchmarks/performance/adapter_throughput.py [--adapter NAME ...] [--repetitions 15] [--processes 3]

Each process is fresh and asks one adapter about one medium: it loads the adapter (packages imported, weights read and
hashed, networks made), decodes the file and asks, which is the cold call, and then again and again. The carriers are those
of the cohorts: a picture of 512x512 as PNG, a sound of 8 seconds as 16-bit WAV, a clip as H.264; marked by the adapter's own
embedder where it brings one, else unmarked. Prints JSON: medians over the processes, of the warm calls the median of each
process, in milliseconds of wall and of processor time (all threads). Adapters that cannot run here are named with the
reason. Needs the extras ``audio`` and ``video``, and the packages of each adapter; see ``docs/adapters.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import print_figures

from pytest_benchbench import Sample
from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.adapters.registry import installed_registry
from pytest_benchbench.artifacts.loading import ArtifactLoader
from pytest_benchbench.cohorts.audio import synthetic_sounds
from pytest_benchbench.cohorts.media import MEDIA
from pytest_benchbench.cohorts.schemes import SCHEMES
from pytest_benchbench.cohorts.synthetic_image import synthetic_pictures
from pytest_benchbench.cohorts.video import synthetic_clips

SIDE = 512

CARRIERS = {"image": lambda: synthetic_pictures(SIDE), "audio": synthetic_sounds, "video": synthetic_clips}

Milliseconds = tuple[float, float]
"""Of wall and of processor time."""


def timed(call: Callable[[], object]) -> Milliseconds:
    """Run once; the processor time is that of all threads of the process together."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3


def repeated(call: Callable[[], object], repetitions: int) -> Milliseconds:
    """Run often and give the medians."""
    wall, cpu = zip(*(timed(call) for _ in range(repetitions)), strict=True)
    return statistics.median(wall), statistics.median(cpu)


def mark(name: str, media_type: str, file: Path) -> None:
    """Write the artifact that is asked about.

    Raises:
        AdapterUnavailable: A package or weights are missing.
    """
    medium, scheme = MEDIA[media_type], SCHEMES.get(name)
    data = medium.encode(CARRIERS[media_type]()[0].draw())
    if scheme is None or scheme.media_type != media_type:
        installed_registry().resolve(name)().load()
    else:
        data = medium.encode(scheme.open().marks[0].embed(medium.decode(data)))
    file.write_bytes(data)


def measure(name: str, media_type: str, file: Path, repetitions: int) -> dict[str, Milliseconds]:
    """Measure in this process, which must not have loaded the adapter yet."""
    adapter, medium, scheme = installed_registry().resolve(name)(), MEDIA[media_type], SCHEMES.get(name)
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()

    def shown() -> Sample:
        decode, whole = adapter.needs != "bytes", adapter.needs == "decoded"
        loaded = ArtifactLoader(max_bytes=0).load(file, sha256, media_type, decode=decode, whole=whole)
        return Sample(media_type, sha256, loaded.data, loaded.decoded)

    costs = {"decode_cold": timed(shown), "load": timed(adapter.load)}
    sample = shown()
    costs["detect_cold"] = timed(lambda: adapter.detect(sample))
    costs["decode_warm"] = repeated(shown, repetitions)
    costs["detect_warm"] = repeated(lambda: adapter.detect(sample), repetitions)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if scheme is not None and scheme.media_type == media_type:
        embed, content = scheme.open().marks[0].embed, medium.decode(file.read_bytes())
        costs["embed_warm"] = repeated(lambda: embed(content), repetitions)
    return costs | {"peak_mib": (peak, peak)}


def medians(runs: list[dict[str, list[float]]]) -> dict[str, Any]:
    """Give the medians of several processes."""
    found: dict[str, Any] = {}
    for name in runs[0]:
        wall, cpu = (statistics.median(run[name][clock] for run in runs) for clock in (0, 1))
        found[name] = {"mib": wall} if name == "peak_mib" else {"wall_ms": wall, "processor_ms": cpu}
    return found


def inside(name: str, media_type: str, file: Path, repetitions: int) -> None:
    """Do one process's work: write the artifact if there is none yet, else measure."""
    if file.exists():
        print(json.dumps(measure(name, media_type, file, repetitions)))
        return
    try:
        mark(name, media_type, file)
    except AdapterUnavailable as error:
        print(json.dumps({"unavailable": str(error)}))
    else:
        print("{}")


def asked(name: str, media_type: str, repetitions: int, processes: int) -> dict[str, Any]:
    """Measure one adapter on one medium in fresh processes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"artifact{MEDIA[media_type].extension}"
        command = [sys.executable, __file__, "--adapter", name, f"--repetitions={repetitions}"]
        command += ["--inside", media_type, str(file)]

        def process() -> dict[str, list[float]]:
            found: dict[str, list[float]] = json.loads(
                subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            )
            return found

        if missing := process():
            return dict(missing)
        return medians([process() for _ in range(processes)])


def main() -> None:
    """Measure in fresh processes and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adapter", action="append", help="an installed adapter (repeatable); by default all")
    parser.add_argument("--repetitions", type=int, default=15, help="warm calls of each kind in a process")
    parser.add_argument("--processes", type=int, default=3, help="fresh processes")
    parser.add_argument("--inside", nargs=2, metavar=("MEDIA_TYPE", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        inside(options.adapter[0], options.inside[0], Path(options.inside[1]), options.repetitions)
        return
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for name, media_types in installed_registry().media_types().items():
        for media_type in sorted(media_types) if not options.adapter or name in options.adapter else ():
            results.setdefault(name, {})[media_type] = asked(name, media_type, options.repetitions, options.processes)
    figures = {
        f"{name} {media_type} {step} {quantity}": value
        for name, by_medium in results.items()
        for media_type, found in by_medium.items()
        for step, values in found.items()
        if step != "unavailable"
        for quantity, value in values.items()
    }
    missing = {name: found for name, found in results.items() if any("unavailable" in each for each in found.values())}
    parameters = {"repetitions": options.repetitions, "processes": options.processes}
    print_figures("adapter_throughput", parameters, figures, {}, {"unavailable": missing})


if __name__ == "__main__":
    main()

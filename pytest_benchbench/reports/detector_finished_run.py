"""The benchmark of a finished run as a series takes it: reckoned anew from its evidence, and nothing missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_benchbench.evidence.repeated_run import read_repeated_run
from pytest_benchbench.reports.benchmark_document import recorded_lacks
from pytest_benchbench.reports.detector_benchmark import DetectorBenchmark
from pytest_benchbench.reports.golden_sets import GoldenSets


class UnfitRunError(Exception):
    """A run that no series takes; one line that says why."""


class IncompleteRunError(UnfitRunError):
    """A run that lacks something; one line that says what."""


def finished_benchmark(path: Path, progress: Callable[[int], None] | None = None) -> DetectorBenchmark:
    """Give the benchmark of a finished run. Its ``benchmark.json`` is not asked: anybody may have changed that.

    Args:
        path: The directory of the run.
        progress: Is told how many more bytes of evidence were read.

    Returns:
        What its evidence comes to.

    Raises:
        UnfitRunError: It is no directory, or its rows are not those of one golden set.
        IncompleteRunError: Rows are missing: lost, left out or never asked; or the evidence is not what its report was made
            from.
        RecordedRunError: The directory holds no run, or what it says is damaged.
        EvidenceError: The evidence is damaged.
    """
    if not path.is_dir():
        raise UnfitRunError(f"{path}: not the directory of a run")
    run = read_repeated_run(path, progress)
    golden_sets = GoldenSets()
    run.evidence.feed(golden_sets.add)
    about = golden_sets.results(run.document.get("manifests", ())).get("golden_sets", ())
    benchmark = golden_sets.benchmark(run.document, run.evidence.sha256, recorded_lacks(run))
    if benchmark is None:
        told = f"this is of {len(about)}: run each by itself" if about else "this has no row of one"
        raise UnfitRunError(f"{path}: not a run of one golden set: {told}")
    if not benchmark.run.complete:
        raise IncompleteRunError(f"{path}: the run is not complete: {'; '.join(benchmark.run.gaps)}")
    return benchmark

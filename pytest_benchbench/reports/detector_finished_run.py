"""A finished run as a series takes it: nothing missing, and its benchmark made from the evidence as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_benchbench.evidence.repeated_run import RepeatedRun, read_repeated_run
from pytest_benchbench.reports.detector_benchmark import BENCHMARK, DetectorBenchmark, read_benchmark


class UnfitRunError(Exception):
    """A run that no series takes; one line that says why."""


class IncompleteRunError(UnfitRunError):
    """A run that lacks something; one line that says what."""


def finished_benchmark(path: Path, progress: Callable[[int], None] | None = None) -> DetectorBenchmark:
    """Read the benchmark of a finished run.

    Args:
        path: The directory of the run.
        progress: Is told how many more bytes of evidence were read.

    Returns:
        What its ``benchmark.json`` says.

    Raises:
        UnfitRunError: It is a file alone, or its benchmark was not made from its evidence.
        IncompleteRunError: Rows are missing: lost, left out or never asked.
        RecordedRunError: The directory holds no run, or what it says is damaged.
        EvidenceError: The evidence is damaged.
        BenchmarkFileError: There is no benchmark, or it is damaged.
    """
    if not path.is_dir():
        raise UnfitRunError(f"{path}: not the directory of a run")
    run = read_repeated_run(path, progress)
    if lacking := list(_lacking(run)):
        raise IncompleteRunError(f"{path}: the run is not complete: {'; '.join(lacking)}")
    file = path / BENCHMARK
    if not file.exists():
        raise UnfitRunError(f"{file}: there is none; a finished run of a golden set has one")
    benchmark = read_benchmark(file)
    if benchmark.run.evidenceSha256 != run.evidence.sha256:
        raise UnfitRunError(f"{file}: not made from {run.evidence.path.name} as it is")
    if benchmark.run.id != run.run_id:
        raise UnfitRunError(f"{file}: not that of the run {run.run_id}")
    if not benchmark.run.complete:
        raise IncompleteRunError(f"{file}: the run is not complete: {'; '.join(benchmark.run.gaps) or 'nobody knows why'}")
    return benchmark


def _lacking(run: RepeatedRun) -> list[str]:
    lacking = list(run.gaps)
    if run.planned is not None and run.planned.left_out:
        lacking.append(f"{run.planned.left_out} rows were left out")
    return lacking

"""Whole manifests in fresh processes, in turns, with what each process cost."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.adapters.registry import AdapterRegistrationError, AdapterRegistry, UnknownAdapterError
from pytest_benchbench.artifacts.media import MEDIA_TYPES
from pytest_benchbench.engines import EngineError
from pytest_benchbench.engines.pytest_process import exit_text, last_line, own_cache, run_pytest
from pytest_benchbench.engines.shard_process import TELLS_COST
from pytest_benchbench.evidence.observed_run import ObservedRun
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.recorded_run import REPORT, RecordedRunError
from pytest_benchbench.manifests.reading import ManifestError, read_manifest
from pytest_benchbench.reports.profile_document import Process, ProcessCost, ProfiledManifest

FINISHED = frozenset({0, 1, 20, 21})
"""Exit codes of a pytest that came to its end: all met, failures, a gate, rows without an answer."""

MISUSED = frozenset({4, 5})
"""Exit codes of a pytest that ran nothing, and would run nothing the next time."""

_OWN_OPTIONS = {
    "--bench-run-dir": "each process has its own",
    "--bench-resume": "each process is a run of its own",
    "--bench-retry": "each process is a run of its own",
    "--bench-shard": "a profile is about whole manifests; make a smaller one",
    "--bench-gate": "a profile decides nothing; run a gate on its own",
    "--bench-html": "a page with pictures is drawn by another process, whose cost is not the detector's",
    "--bench-manifest-root": "manifests are named as they were given",
    "--manifest": "name the manifests before the --",
}

_SET = ("--bench-gate=off", "--bench-html=off", "--bench-progress=off")

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class _EveryAdapter(Mapping[str, frozenset[str]]):
    """Lets a manifest name any adapter: which ones a conftest registers is known to pytest alone."""

    def __getitem__(self, name: str) -> frozenset[str]:
        return frozenset(MEDIA_TYPES)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuse arguments of pytest that a profile sets itself.

    Raises:
        EngineError: There is such an argument, or this system tells no costs.
    """
    if not TELLS_COST:
        raise EngineError("this system does not say what a process cost; profile on Linux or macOS")
    for argument in arguments:
        name = argument.partition("=")[0]
        if name in _OWN_OPTIONS:
            raise EngineError(f"{name}: leave it out; {_OWN_OPTIONS[name]}")


def read_manifests(given: Sequence[str], registry: AdapterRegistry) -> list[ProfiledManifest]:
    """Read the manifests of a profile, before anything runs.

    Args:
        given: Their paths.
        registry: The installed adapters, which say whether they need the network.

    Raises:
        EngineError: One cannot be used, is given twice, or names several adapters.
    """
    places: set[str] = set()
    found = []
    for path in given:
        place = os.path.realpath(path)
        if place in places:
            raise EngineError(f"{path}: the same manifest is given twice; --repeat runs it several times")
        places.add(place)
        found.append(_read(path, registry))
    return found


def _read(path: str, registry: AdapterRegistry) -> ProfiledManifest:
    try:
        manifest = read_manifest(Path(path), display=path, media_types=_EveryAdapter(), outside_allowed=True)
    except ManifestError as error:
        raise EngineError(str(error)) from None
    manifest.close()
    names = sorted(name for name in manifest.adapters if name is not None)
    if not names:
        raise EngineError(
            f"{path}: a {manifest.kind} manifest names no adapter; a profile is about the one that a manifest names"
        )
    if len(names) > 1:
        counts = ", ".join(f"{name} ({len(manifest.adapters[name])} rows)" for name in names)
        raise EngineError(
            f"{path}: mixes adapters: {counts}; what a process costs could be attributed to none of them: "
            "write one manifest for each"
        )
    return ProfiledManifest(path, manifest.sha256, names[0], manifest.rows, _needs_network(names[0], registry))


def _needs_network(name: str, registry: AdapterRegistry) -> bool:
    try:
        return registry.resolve(name).network is True
    except (AdapterUnavailable, AdapterRegistrationError, UnknownAdapterError):
        return False  # a conftest may know it; pytest will tell


class ProcessProfile:
    """Runs every manifest several times, in turns, each time in a fresh process.

    Args:
        manifests: What is profiled; their processes are added to them.
        folder: Where the run directories go; exists.
        arguments: More arguments of pytest.
        suite: A suite to run the manifests with, if not the built-in one.
    """

    def __init__(
        self, manifests: Sequence[ProfiledManifest], folder: Path, *, arguments: Sequence[str] = (), suite: str | None = None
    ) -> None:
        self._manifests = manifests
        self._folder = folder
        self._arguments = list(arguments)
        self._suite = suite
        if not any(argument.partition("=")[0] == "--bench-network" for argument in arguments):
            self._arguments.append("--bench-network=loopback")  # whatever the configuration says

    def run(self, repeat: int) -> Iterator[tuple[ProfiledManifest, Process]]:
        """Run; a process that dies does not keep the others from running.

        Args:
            repeat: Processes for each manifest.

        Yields:
            Each process after its end.

        Raises:
            EngineError: pytest refuses to run a manifest; all that was begun is for nothing.
            OSError: Something cannot be written.
        """
        for repetition in range(1, repeat + 1):
            for number, manifest in enumerate(self._manifests, 1):
                directory = f"{number}-{_UNSAFE.sub('-', Path(manifest.display).stem)[:80]}/repetition-{repetition}"
                try:
                    process = self._process(manifest, repetition, directory)
                except KeyboardInterrupt:
                    process = Process(manifest.display, repetition, directory, None, fault="interrupted")
                    manifest.processes.append(process)
                    raise
                manifest.processes.append(process)
                yield manifest, process

    def _process(self, manifest: ProfiledManifest, repetition: int, directory: str) -> Process:
        run = self._folder / directory
        run.parent.mkdir(exist_ok=True)
        code, log, cost = self._pytest(manifest, run)
        if code in MISUSED and repetition == 1:
            raise EngineError(f"{manifest.display}: pytest {exit_text(code)}: {last_line(log)}")
        observed = None
        fault = _unfinished(code, log, run)
        if fault is None and cost is None:
            fault = "nobody knows what it cost: the process that started it was ended"
        if fault is None:
            try:
                observed = ObservedRun.read(run)
            except (RecordedRunError, EvidenceError) as error:
                fault = str(error)
            else:
                if observed.manifests != (manifest.sha256,):
                    fault = "the manifest was changed since the profile began, or others ran with it"
        if fault is not None:
            run.with_name(f"{run.name}.log").write_text(log, encoding="utf-8")
        return Process(manifest.display, repetition, directory, code, cost, observed, fault)

    def _pytest(self, manifest: ProfiledManifest, run: Path) -> tuple[int, str, ProcessCost | None]:
        """Run one process; give its exit code, the end of what it printed, and what it cost."""
        what = [manifest.display] if self._suite is None else [self._suite, f"--manifest={manifest.display}"]
        arguments = [*what, *self._arguments, f"--bench-run-dir={run}", *_SET]
        here = Path.cwd()
        with tempfile.TemporaryDirectory(prefix="benchbench-cost-") as folder, own_cache(arguments, here) as own:
            file = Path(folder) / "cost.json"
            code, log = run_pytest([*arguments, *own], here, cost=file)
            try:
                return code, log, ProcessCost(**json.loads(file.read_text(encoding="utf-8")))
            except (OSError, ValueError):
                return code, log, None


def _unfinished(code: int, log: str, run: Path) -> str | None:
    """Say why a process did not come to its end; ``None`` if it did."""
    if code not in FINISHED:
        return f"pytest {exit_text(code)}: {last_line(log)}"
    return None if (run / REPORT).is_file() else f"pytest exited {code} and left no report: {last_line(log)}"

"""Whole manifests in fresh processes, in turns, with what each process cost."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.adapters.pool import AdapterChoice, AdapterOptionError
from pytest_benchbench.adapters.registry import AdapterRegistrationError, AdapterRegistry, UnknownAdapterError
from pytest_benchbench.artifacts.media import MEDIA_TYPES
from pytest_benchbench.engines import EngineError
from pytest_benchbench.engines.pytest_process import exit_text, last_line, own_cache, run_pytest
from pytest_benchbench.engines.shard_process import TELLS_COST
from pytest_benchbench.evidence.observed_run import ObservedRun
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.recorded_run import REPORT, RecordedRunError
from pytest_benchbench.manifests.kinds import KINDS
from pytest_benchbench.manifests.reading import Manifest, ManifestError, read_manifest
from pytest_benchbench.manifests.splits import count_splits
from pytest_benchbench.reports.profile_document import Process, ProcessCost, ProfiledManifest

FINISHED = frozenset({0, 1, 20, 21})
"""Exit codes of a pytest that came to its end: all met, failures, a gate, rows without an answer."""

MISUSED = frozenset({4, 5})
"""Exit codes of a pytest that ran nothing, and would run nothing the next time."""

_OWN_OPTIONS = {
    "--bench-run-dir": "each process has its own",
    "--bench-resume": "each process is a run of its own",
    "--bench-retry": "each process is a run of its own",
    "--bench-dry-run": "a profile is about runs",
    "--bench-shard": "a profile is about whole manifests; make a smaller one",
    "--bench-gate": "a profile decides nothing; run a gate on its own",
    "--bench-html": "a page with pictures is drawn by another process, whose cost is not the detector's",
    "--bench-manifest-root": "manifests are named as they were given",
    "--bench-split": "give --split before the --",
    "--manifest": "name the manifests before the --",
}

_SET = ("--bench-gate=off", "--bench-html=off", "--bench-progress=off")

_ADAPTER = "--bench-adapter"

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


def read_manifests(
    given: Sequence[str], registry: AdapterRegistry, *, arguments: Sequence[str] = (), split: str | None = None
) -> list[ProfiledManifest]:
    """Read the manifests of a profile, before anything runs.

    Args:
        given: Their paths.
        registry: The installed adapters, which say whether they need the network.
        arguments: Those of pytest; rows that name no adapter are asked of each ``--bench-adapter`` among them.
        split: The split that is profiled of manifests whose rows have splits.

    Returns:
        Each manifest, as often as there are adapters of which its rows are asked: what a process costs belongs to one.

    Raises:
        EngineError: One cannot be used, is given twice, or names several adapters; or split or adapters do not suit them.
    """
    places: set[str] = set()
    found: list[ProfiledManifest] = []
    for path in given:
        place = os.path.realpath(path)
        if place in places:
            raise EngineError(f"{path}: the same manifest is given twice; --repeat runs it several times")
        places.add(place)
        found += _read(path, registry, arguments, split)
    if split is not None and found and not any(manifest.split for manifest in found):
        raise EngineError(f"--split={split}: no row of {found[0].display} has a split; leave it out")
    return found


def _read(path: str, registry: AdapterRegistry, arguments: Sequence[str], split: str | None) -> list[ProfiledManifest]:
    try:
        manifest = read_manifest(Path(path), display=path, media_types=_EveryAdapter(), outside_allowed=True, split=split)
    except ManifestError as error:
        raise EngineError(str(error)) from None
    with closing(manifest):
        if manifest.splits:
            _check_split(manifest, split)
    if KINDS[manifest.kind].adapter_field is not None:
        name = _only_adapter(manifest)
        return [ProfiledManifest(path, manifest.sha256, name, manifest.rows, _needs_network(name, registry))]
    choices = _choices(arguments)
    if not choices:
        raise EngineError(
            f"{path}: rows of a {manifest.kind} manifest name no adapter: give -- {_ADAPTER}=NAME, once for each that is "
            "profiled"
        )
    return [
        ProfiledManifest(
            path,
            manifest.sha256,
            choice.alias,
            manifest.split_rows,
            _needs_network(choice.name, registry),
            crossed_by=text,
            split=split if manifest.splits else None,
        )
        for text, choice in choices
    ]


def _check_split(manifest: Manifest, split: str | None) -> None:
    known = ", ".join(manifest.splits)
    if split is None:
        raise EngineError(
            f"{manifest.display}: rows of a {manifest.kind} manifest have splits, and none is run by default: "
            f"give --split=NAME, one of {known}"
        )
    if split not in manifest.splits:
        raise EngineError(f"--split={split}: {manifest.display} can have the splits {known}")
    if not manifest.split_rows:
        counts = ", ".join(f"{count} of {name}" for name, count in count_splits(manifest).items())
        raise EngineError(f"--split={split}: no row of {manifest.display} is of this split: it has {counts}")


def _choices(arguments: Sequence[str]) -> list[tuple[str, AdapterChoice]]:
    """Give each ``--bench-adapter`` as it was given, and read."""
    found: dict[str, tuple[str, AdapterChoice]] = {}
    for name, text in _parted(arguments):
        if name != _ADAPTER:
            continue
        try:
            choice = AdapterChoice.parse(text)
        except AdapterOptionError as error:
            raise EngineError(str(error)) from None
        if choice.alias in found:
            raise EngineError(f"{_ADAPTER}={choice.alias} is given twice; give one of them an alias: ALIAS=NAME")
        found[choice.alias] = text, choice
    return list(found.values())


def _parted(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give the arguments of pytest as ``(option, value)``: adapters, in one word or two; other words stay as they are."""
    words = iter(arguments)
    for word in words:
        name, _, value = word.partition("=")
        if word == _ADAPTER:
            value = next(words, "")
        yield (name, value) if name == _ADAPTER else (word, "")


def _only_adapter(manifest: Manifest) -> str:
    names = sorted(name for name in manifest.adapters if name is not None)
    if len(names) > 1:
        counts = ", ".join(f"{name} ({len(manifest.adapters[name])} rows)" for name in names)
        raise EngineError(
            f"{manifest.display}: mixes adapters: {counts}; what a process costs could be attributed to none of them: "
            "write one manifest for each"
        )
    return names[0]


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
                directory = f"{number}-{_folder_name(manifest)}/repetition-{repetition}"
                try:
                    process = self._process(manifest, repetition, directory)
                except KeyboardInterrupt:
                    process = Process(manifest.name, repetition, directory, None, fault="interrupted")
                    manifest.processes.append(process)
                    raise
                manifest.processes.append(process)
                yield manifest, process

    def _process(self, manifest: ProfiledManifest, repetition: int, directory: str) -> Process:
        run = self._folder / directory
        run.parent.mkdir(exist_ok=True)
        code, log, cost = self._pytest(manifest, run)
        if code in MISUSED and repetition == 1:
            raise EngineError(f"{manifest.name}: pytest {exit_text(code)}: {last_line(log)}")
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
        return Process(manifest.name, repetition, directory, code, cost, observed, fault)

    def _pytest(self, manifest: ProfiledManifest, run: Path) -> tuple[int, str, ProcessCost | None]:
        """Run one process; give its exit code, the end of what it printed, and what it cost."""
        what = [manifest.display] if self._suite is None else [self._suite, f"--manifest={manifest.display}"]
        arguments = [*what, *_asking(manifest, self._arguments), f"--bench-run-dir={run}", *_SET]
        here = Path.cwd()
        with tempfile.TemporaryDirectory(prefix="benchbench-cost-") as folder, own_cache(arguments, here) as own:
            file = Path(folder) / "cost.json"
            code, log = run_pytest([*arguments, *own], here, cost=file)
            try:
                return code, log, ProcessCost(**json.loads(file.read_text(encoding="utf-8")))
            except (OSError, ValueError):
                return code, log, None


def _folder_name(manifest: ProfiledManifest) -> str:
    stem = Path(manifest.display).stem
    return _UNSAFE.sub("-", stem if manifest.crossed_by is None else f"{stem}-{manifest.adapter}")[:80]


def _asking(manifest: ProfiledManifest, arguments: Sequence[str]) -> list[str]:
    """Give the arguments of pytest with which a manifest is asked of its adapter alone."""
    if manifest.crossed_by is None:
        return list(arguments)
    kept = [word for word, _ in _parted(arguments) if word != _ADAPTER]
    asked = [f"{_ADAPTER}={manifest.crossed_by}"]
    return [*kept, *asked, *([f"--bench-split={manifest.split}"] if manifest.split else [])]


def _unfinished(code: int, log: str, run: Path) -> str | None:
    """Say why a process did not come to its end; ``None`` if it did."""
    if code not in FINISHED:
        return f"pytest {exit_text(code)}: {last_line(log)}"
    return None if (run / REPORT).is_file() else f"pytest exited {code} and left no report: {last_line(log)}"

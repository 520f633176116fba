"""What a session will run: manifests, expectations, adapters. Made on the controller, made again in its workers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.adapters.pool import AdapterPool
from pytest_benchbench.adapters.registry import AdapterRegistrationError, AdapterRegistry
from pytest_benchbench.manifests.golden_set import KIND as GOLDEN_SET, MAX_GOLDEN_SET_BYTES
from pytest_benchbench.manifests.golden_set_hash import check_frozen
from pytest_benchbench.manifests.kinds import KINDS, is_golden_set
from pytest_benchbench.manifests.reading import (
    CaseRef,
    Manifest,
    ManifestChangedError,
    ManifestError,
    read_manifest,
)
from pytest_benchbench.manifests.selection import RowSelection, SelectionError
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES
from pytest_benchbench.session.expectations import Expectations, ExpectationsError
from pytest_benchbench.session.handover import hand_over, take_over
from pytest_benchbench.session.options import Settings
from pytest_benchbench.session.recorded_rows import RecordedRows
from pytest_benchbench.session.refusals import (
    check_adapters,
    check_expectations,
    check_rows_have_files,
    check_splits,
    verify_files,
)

if TYPE_CHECKING:
    from pytest_benchbench.artifacts.loading import ArtifactLoader


@dataclass(slots=True)
class SuiteShare:
    """What one collected suite takes.

    Attributes:
        manifests: The manifests that it is expanded over.
        where: Its conditions.
        planned: Rows that it takes, times its parameter sets.
    """

    manifests: list[Manifest]
    where: RowSelection
    planned: int


@dataclass(slots=True)
class Plan:
    """Everything that a session runs.

    Attributes:
        settings: The options.
        registry: The adapters.
        configured: Manifests for the suites of their kind.
        positional: Manifests named as arguments, by path: each runs the built-in suite of its kind.
        expectations: Known wrong answers.
        select: Conditions of ``--bench-select``.
        pool: Warm adapters of this process.
        suites: Suites collected so far, by node id.
        untaken: Selected rows of the manifests that no collected suite takes.
        notes: What the summary should warn of, one line each.
        crashed: In a worker, node ids of rows of exclusive adapters that killed other workers.
        recorded: The rows that a resumed run has evidence of.
        deaths: How often a process died over rows of a resumed run, by node id.
    """

    settings: Settings
    registry: AdapterRegistry
    configured: list[Manifest]
    positional: dict[Path, Manifest]
    expectations: Expectations
    select: RowSelection
    pool: AdapterPool
    suites: dict[str, SuiteShare] = field(default_factory=dict)
    untaken: int = 0
    notes: list[str] = field(default_factory=list)
    crashed: frozenset[str] = frozenset()
    recorded: RecordedRows | None = None
    deaths: Mapping[str, int] = field(default_factory=dict)

    loader: ArtifactLoader | None = None

    @property
    def artifacts(self) -> ArtifactLoader:
        """Verified and decoded artifacts of this process. What decodes is imported when a row first needs it."""
        if self.loader is None:
            from pytest_benchbench.artifacts.loading import ArtifactLoader

            self.loader = ArtifactLoader(max_pixels=self.settings.max_pixels)
        return self.loader

    @property
    def manifests(self) -> list[Manifest]:
        """Every manifest of the session."""
        return [*self.configured, *self.positional.values()]

    @property
    def taken(self) -> int | None:
        """Rows that the collected suites take, times their parameter sets; ``None`` where no suite was collected."""
        return sum(share.planned for share in self.suites.values()) if self.suites else None

    @property
    def planned(self) -> int:
        """Rows that the collected suites take, times their parameter sets, and those that none takes."""
        return (self.taken or 0) + self.untaken

    def is_crossed(self, manifest: Manifest) -> bool:
        """Say whether the rows of a manifest name no adapter: each of them is asked of every one that the command gives."""
        return KINDS[manifest.kind].adapter_field is None

    def adapters_of(self, manifests: Iterable[Manifest]) -> list[str]:
        """Name the adapters that are asked about rows of some manifests, sorted: by alias where they have one."""
        named: set[str] = set()
        for manifest in manifests:
            for name in manifest.adapters:
                named.update([name] if name is not None else (choice.alias for choice in self.settings.adapters))
        return sorted(named)

    def rows_of(self, manifest: Manifest, adapter: str) -> list[CaseRef]:
        """Give the rows of a manifest that an adapter is asked about, in the order of the file."""
        return manifest.adapters.get(None if self.is_crossed(manifest) else adapter, [])

    def selected_rows(self, manifest: Manifest, adapter: str) -> list[CaseRef]:
        """Give an adapter's rows of a manifest that ``--bench-select`` takes."""
        refs = self.rows_of(manifest, adapter)
        return refs if not self.select else [ref for ref in refs if self.select.takes(manifest.read(ref).case)]

    def is_exclusive(self, adapter: str) -> bool:
        """Say whether all rows of an adapter have to run in one process; one that is unavailable has no answers to give.

        None of the adapters of the kernel has to, which is known without importing what they need.

        Raises:
            AdapterRegistrationError: Its entry point leads to something that is no adapter.
        """
        name = next((choice.name for choice in self.settings.adapters if choice.alias == adapter), adapter)
        if name in KERNEL_MEDIA_TYPES:
            return False
        try:
            return self.registry.resolve(name).exclusive
        except AdapterUnavailable:
            return False

    def count_selected(self, manifests: Iterable[Manifest]) -> int:
        """Count the rows of some manifests that ``--bench-select`` takes."""
        return sum(len(self.selected_rows(m, adapter)) for m in manifests for adapter in self.adapters_of([m]))

    def rows(self) -> Iterator[tuple[Manifest, str, CaseRef]]:
        """Yield every row of every manifest with its adapter, in file order within an adapter."""
        for manifest in self.manifests:
            for adapter in self.adapters_of([manifest]):
                for ref in self.rows_of(manifest, adapter):
                    yield manifest, adapter, ref

    def close(self) -> None:
        """Close the manifests."""
        for manifest in self.manifests:
            manifest.close()

    def handover(self) -> str:
        """Write what a worker needs to make the same plan."""
        return hand_over(self.configured, list(self.positional.values()), self.settings.root_dir)


def make_plan(config: pytest.Config, registry: AdapterRegistry, *, built: list[Path], distributed: bool) -> Plan:
    """Read and validate everything, so that a fault ends the session before any detector runs.

    Args:
        config: The session's configuration.
        registry: The adapters.
        built: Manifests that the hook ``pytest_benchbench_manifests`` gave.
        distributed: Whether workers will run the rows.

    Raises:
        pytest.UsageError: A manifest, an option, an expectation or a file is at fault; one line each.
    """
    settings = Settings.of(config)
    _refuse_gate_of_shard(settings, config)
    with ExitStack() as opened:
        reader = _Reader(settings, registry, opened)
        positional = {path: reader.read(path, display) for path, display in positional_manifests(config)}
        if settings.manifests:
            named = [(settings.invocation_dir / given, given) for given in settings.manifests]
        elif only_manifests(config):
            named = []  # `pytest cases.jsonl` is about that manifest alone
        else:
            offered = (*settings.ini_manifests, *built)
            named = [(path, _relative(path, settings.root_dir)) for path in offered if path.resolve() not in positional]
        configured = [reader.read(path, display) for path, display in named]
        plan = _assemble(settings, registry, configured, positional)
        try:
            check_splits(settings, plan.manifests)
            check_adapters(plan, config.getoption("dist") if distributed else None)
            check_expectations(plan, config)
            check_rows_have_files(plan.manifests)
            if settings.verify == "preflight" and not config.option.collectonly:
                verify_files(plan)
        except ManifestChangedError as error:
            raise pytest.UsageError(str(error)) from None
        if config.getoption("bench_gate") and settings.gate and not plan.manifests:
            raise pytest.UsageError("--bench-gate: there is no manifest to decide about")
        if settings.split_is_given and not plan.manifests:
            raise pytest.UsageError("--bench-split: there is no manifest with rows of a split")
        opened.pop_all()  # from here on the plan closes them
    return plan


def remake_plan(config: pytest.Config, registry: AdapterRegistry, handover: str) -> Plan:
    """Make the controller's plan again in a worker: validation and hashing are done, the bytes are checked to be the same.

    Raises:
        pytest.UsageError: An option is malformed, or other sources of this package are installed here.
        ManifestChangedError: A manifest is no longer what the controller validated.
    """
    settings = Settings.of(config)
    configured, positional = take_over(handover, settings.root_dir, settings.shard, settings.split)
    return _assemble(settings, registry, configured, {manifest.path: manifest for manifest in positional})


def _refuse_gate_of_shard(settings: Settings, config: pytest.Config) -> None:
    if settings.gate is None or settings.shard is None:
        return
    from_command = config.getoption("bench_gate")
    given = f"--bench-gate={settings.gate}" if from_command else f"bench_gate = {settings.gate}"
    instead = "leave it out" if from_command else "give the shards --bench-gate=off"
    raise pytest.UsageError(
        f"{given} with --bench-shard={settings.shard}: a gate decides on the merged whole; {instead}, "
        f"and then: benchbench merge DIR... --gate {settings.gate}"
    )


def positional_manifests(config: pytest.Config) -> list[tuple[Path, str]]:
    """Manifests among the arguments, as ``(resolved path, as given)``, each once."""
    found: dict[Path, str] = {}
    for argument in config.args:
        given = argument.split("::")[0]
        if (path := _named_manifest(config.invocation_params.dir / given)) is not None:
            found.setdefault(path, given)
    return list(found.items())


def only_manifests(config: pytest.Config) -> bool:
    """Say whether every argument is a manifest, or a row of one."""
    named = [_named_manifest(config.invocation_params.dir / argument.split("::")[0]) for argument in config.args]
    return bool(named) and all(path is not None for path in named)


def _named_manifest(path: Path) -> Path | None:
    """Give the resolved path of an argument that is a manifest: any JSONL file, or a JSON file that is a golden set.

    A file that is not there and has such a name is one too: workers, left alone with it, would end without a word.
    """
    if not os.path.isfile(path):  # noqa: PTH113 - Path raises on too long a name
        return Path(os.path.abspath(path)) if path.suffix in (".jsonl", ".json") else None  # noqa: PTH100 - likewise
    if path.suffix == ".json":
        with path.open("rb") as file:
            return path.resolve() if is_golden_set(file.read(MAX_GOLDEN_SET_BYTES)) else None
    return path.resolve() if path.suffix == ".jsonl" else None


class _Reader:
    """Reads manifests of one session: ids are unique over all of them, and no file comes twice."""

    def __init__(self, settings: Settings, registry: AdapterRegistry, opened: ExitStack) -> None:
        self._settings = settings
        self._opened = opened
        self._media_types = registry.media_types()
        self._case_ids: dict[str, Any] = {}
        self._files: dict[Path, str] = {}

    def read(self, path: Path, display: str) -> Manifest:
        path = Path(os.path.realpath(path))
        if path in self._files:
            raise pytest.UsageError(f"{display}: the same manifest is given twice (first as {self._files[path]})")
        self._files[path] = display
        if not os.path.isfile(path):  # noqa: PTH113 - Path raises on too long a name
            what = "is no file" if os.path.lexists(path) else "no such manifest"
            raise pytest.UsageError(f"{display}: {what}")
        try:
            manifest = read_manifest(
                path,
                display=display,
                media_types=self._media_types,
                seen=self._case_ids,
                outside_allowed=bool(self._settings.artifact_roots),
                shard=self._settings.shard,
                split=self._settings.split,
            )
            self._opened.callback(manifest.close)
            if manifest.kind == GOLDEN_SET:
                check_frozen(path, manifest.sha256, display=display)
        except (ManifestError, AdapterRegistrationError) as error:
            raise pytest.UsageError(str(error)) from None
        except OSError as error:
            raise pytest.UsageError(f"{display}: {error.strerror or error}") from None
        return manifest


def _assemble(
    settings: Settings, registry: AdapterRegistry, configured: list[Manifest], positional: dict[Path, Manifest]
) -> Plan:
    try:
        expectations = _expectations(settings)
        select = RowSelection({})
        for kind in sorted({manifest.kind for manifest in (*configured, *positional.values())}):
            select = RowSelection.of(settings.select, KINDS[kind])  # the same for each kind that has the fields
    except (ExpectationsError, SelectionError) as error:
        where = "--bench-select: " if isinstance(error, SelectionError) else ""
        raise pytest.UsageError(f"{where}{error}") from None
    return Plan(
        settings=settings,
        registry=registry,
        configured=configured,
        positional=positional,
        expectations=expectations,
        select=select,
        pool=AdapterPool(
            registry,
            {choice.alias: choice for choice in settings.adapters},
            settings.invocation_dir,
            network_allowed=settings.network == "allow",
            loopback_allowed=settings.network != "deny",
        ),
    )


def _expectations(settings: Settings) -> Expectations:
    if settings.expectations is None:
        return Expectations()
    display = _relative(settings.expectations, settings.invocation_dir)
    return Expectations.read(settings.expectations, display, settings.shard)


def _relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)

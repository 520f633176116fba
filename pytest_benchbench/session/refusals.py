"""What of a plan is refused before any detector runs: each fault in one line, with its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import pytest

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.adapters.pool import AdapterOptionError
from pytest_benchbench.adapters.registry import AdapterRegistrationError, UnknownAdapterError
from pytest_benchbench.artifacts.manifest_files import verify_manifests
from pytest_benchbench.manifests.dataset import DATASET
from pytest_benchbench.manifests.faults import shown_text
from pytest_benchbench.manifests.kinds import KINDS
from pytest_benchbench.manifests.splits import count_splits

if TYPE_CHECKING:
    from pytest_benchbench.adapters.pool import AdapterChoice
    from pytest_benchbench.manifests.reading import Manifest
    from pytest_benchbench.session.options import Settings
    from pytest_benchbench.session.planning import Plan

MAX_FAULTS_SHOWN = 20


def check_splits(settings: Settings, manifests: Sequence[Manifest]) -> None:
    """Demand a split where rows have splits, one that they can be of, and one that some rows are of.

    Nothing opens a test split by default. A shard may have no row of a split that other shards have.

    Raises:
        pytest.UsageError: It is not so, or a split was given and no row has any.
        ManifestChangedError: A manifest was changed since it was validated.
    """
    having = [manifest for manifest in manifests if manifest.splits]
    split = settings.split
    for manifest in having:
        known = ", ".join(manifest.splits)
        if split is None:
            raise pytest.UsageError(
                f"{manifest.display}: rows of a {manifest.kind} manifest have splits, and none is run by default: "
                f"give --bench-split=NAME, one of {known}"
            )
        if split not in manifest.splits:
            raise pytest.UsageError(f"--bench-split={split}: {manifest.display} can have the splits {known}")
    if not having:
        if settings.split_is_given and manifests:
            raise pytest.UsageError(f"--bench-split={split}: no row of {manifests[0].display} has a split; leave it out")
    elif settings.shard is None and not any(manifest.split_rows for manifest in having):
        counts = ((manifest.display, count_splits(manifest)) for manifest in having)
        told = "; ".join(f"{display} has {_listed(found)}" for display, found in counts)
        raise pytest.UsageError(f"--bench-split={split}: no row is of this split: {told}")


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} of {split}" for split, count in counts.items()) or "none of any"


def check_adapters(plan: Plan, dist: str | None) -> None:
    """Refuse adapters that cannot be asked as the command says.

    These are options that an adapter does not take, aliases that mean nothing or something else, rows that name no adapter
    where none is given, and groups that must run in one process where workers share the rows.

    Args:
        plan: What the session runs.
        dist: How pytest-xdist distributes the rows (its ``--dist``); ``None`` where no workers run them.

    Raises:
        pytest.UsageError: There is one.
    """
    crossing = [manifest for manifest in plan.manifests if plan.is_crossed(manifest)]
    for choice in plan.settings.adapters:
        _check_choice(choice, plan)
        _check_alias(choice, plan, crossing)
    if crossing and not plan.settings.adapters:
        raise pytest.UsageError(
            f"{crossing[0].display}: rows of a {crossing[0].kind} manifest name no adapter: give --bench-adapter=NAME, "
            "once for each that is asked"
        )
    if dist is None:
        return
    for adapter in plan.adapters_of(plan.manifests):
        try:
            exclusive = plan.is_exclusive(adapter)
        except AdapterRegistrationError as error:
            raise pytest.UsageError(str(error)) from None
        if exclusive and dist != "load":
            raise pytest.UsageError(
                f"--dist={dist}: adapter {adapter} has to be asked in one worker, as --dist=load does it: leave out --dist"
            )


def _check_choice(choice: AdapterChoice, plan: Plan) -> None:
    try:
        choice.options_for(plan.registry.resolve(choice.name), directory=plan.settings.invocation_dir)
    except AdapterUnavailable:
        return
    except (AdapterOptionError, AdapterRegistrationError) as error:
        raise pytest.UsageError(str(error)) from None
    except UnknownAdapterError as error:
        raise pytest.UsageError(f"--bench-adapter={choice.name}: {error}") from None


def _check_alias(choice: AdapterChoice, plan: Plan, crossing: Sequence[Manifest]) -> None:
    if choice.alias != choice.name:
        given = f"--bench-adapter={choice.alias}={choice.name}"
        if plan.manifests and not crossing:
            raise pytest.UsageError(
                f"{given}: rows of a watermark manifest name their adapter; "
                f"configure it without an alias: --bench-adapter={choice.name}"
            )
        if choice.alias in plan.registry.names():
            raise pytest.UsageError(f"{given}: {choice.alias} is another adapter; choose an alias that is none")
    if not crossing:
        return
    media_types = plan.registry.media_types()[choice.name]
    for manifest in crossing:
        if KINDS[manifest.kind].media_type not in media_types:
            asked = ", ".join(sorted(media_types))
            raise pytest.UsageError(
                f"--bench-adapter={choice.alias}: {choice.name} is asked about {asked}, "
                f"and rows of {manifest.display} are {KINDS[manifest.kind].media_type}s"
            )


def check_expectations(plan: Plan, config: pytest.Config) -> None:
    """Refuse an entry that contradicts its row, or is about one that expects nothing; note entries that concern no row.

    Raises:
        pytest.UsageError: There is such an entry.
    """
    if not plan.expectations:
        return
    for manifest, adapter, ref in plan.rows():
        entries = [entry for entry in plan.expectations.about(ref.case_id) if entry.adapter in (None, adapter)]
        if not entries:
            continue
        place = f"{plan.expectations.display}: {shown_text(ref.case_id)}"
        if plan.is_crossed(manifest):
            raise pytest.UsageError(
                f"{place}: {manifest.display}:{ref.line} is a row of a {manifest.kind} manifest, which expects no answer"
            )
        row_expects = manifest.read(ref).case.expected
        for entry in entries:
            if row_expects not in ("unresolved", entry.expected):
                raise pytest.UsageError(
                    f"{place}: expected {entry.expected}, but {manifest.display}:{ref.line} expects {row_expects}"
                )
    if plan.settings.manifests and not config.getoption("bench_expectations"):
        return  # the configuration's list is about the configuration's manifests
    planned = ((ref.case_id, adapter) for _, adapter, ref in plan.rows())
    unmatched = plan.expectations.unmatched(planned, plan.registry.names())
    if unmatched:
        plan.notes.append(plan.expectations.note(unmatched))


def check_rows_have_files(manifests: Iterable[Manifest]) -> None:
    """Demand that every row of a dataset that may be run names its file; others can be joined without one.

    Raises:
        pytest.UsageError: A row of the split and shard names none.
        ManifestChangedError: A manifest was changed since it was validated.
    """
    without = [
        f"{manifest.display}:{ref.line}: path: missing: a row without a file cannot be run"
        for manifest in manifests
        if manifest.kind == DATASET.name
        for ref in sorted(manifest.adapters.get(None, ()), key=attrgetter("line"))
        if manifest.read(ref).case.path is None
    ]
    if without:
        raise pytest.UsageError("\n".join(_bounded(without)))


def verify_files(plan: Plan) -> None:
    """Hash every file that a row of the split and shard names, before any detector runs.

    Raises:
        pytest.UsageError: A file is missing, leaves the manifest's directory, or is not what the manifest pinned.
        ManifestChangedError: A manifest was changed since it was validated.
    """
    if faults := verify_manifests(plan.manifests, roots=plan.settings.artifact_roots):
        raise pytest.UsageError("\n".join(_bounded(faults)))


def _bounded(faults: list[str]) -> list[str]:
    shown = faults[:MAX_FAULTS_SHOWN]
    return shown if len(faults) == len(shown) else [*shown, f"... and {len(faults) - len(shown)} more faults"]

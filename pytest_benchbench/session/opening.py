"""The opening of a test split: written into the ledger when a run begins, before any of its rows is asked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from pytest_benchbench.manifests.dataset import TEST_SPLIT
from pytest_benchbench.session.node_names import CaseNode

if TYPE_CHECKING:
    from pytest_benchbench.gates.ledger import OpenedBy
    from pytest_benchbench.manifests.reading import Manifest
    from pytest_benchbench.session.planning import Plan


def check_ledger_of(plan: Plan) -> None:
    """Make sure that the opening can be written down, if the session may open a test split.

    Raises:
        pytest.UsageError: The ledger is damaged or cannot be written.
    """
    if _tested(plan):
        from pytest_benchbench.gates.ledger import LedgerError, check_ledger

        try:
            check_ledger(plan.settings.ledger)
        except LedgerError as error:
            raise pytest.UsageError(str(error)) from None


def open_test_split(
    plan: Plan, config: pytest.Config, document: dict[str, Any], nodes: Iterable[str], *, distributed: bool
) -> None:
    """Write an opening into the ledger and into ``run.json``, if the session opens a test split.

    It does not where no row of the split is to run, where no adapter can be asked here, or where it goes on with a run that
    has opened it: same manifests, models and options. Adapters are loaded for that, as their weights tell models apart.

    Args:
        plan: What the session runs.
        config: Its configuration.
        document: What ``run.json`` says; ``opening`` is written here.
        nodes: Node ids of the rows that are to run.
        distributed: Whether workers ask the adapters; else the instances that are loaded here are.

    Raises:
        pytest.UsageError: The ledger is damaged or cannot be written, or a manifest was changed.
    """
    manifests = _tested(plan)
    if not manifests or not _is_about(manifests, nodes):
        return
    models = _models(plan, config, manifests, distributed=distributed)
    if not models:
        return
    from pytest_benchbench.evidence.opened_split import OPENING, RecordedOpening, opening_of
    from pytest_benchbench.gates.ledger import LedgerError, OpenedManifest, Opening, append_opening, digest_of
    from pytest_benchbench.manifests.reading import ManifestChangedError
    from pytest_benchbench.manifests.splits import split_bases
    from pytest_benchbench.session.comparing_runs import compared_options
    from pytest_benchbench.session.run_document import as_text, as_time

    settings = plan.settings
    try:
        bases = split_bases(manifests, TEST_SPLIT)
        opening = Opening(
            opened=as_time(datetime.now(UTC)),
            run_id=document["run_id"],
            split=TEST_SPLIT,
            split_sha256=bases.sha256,
            split_bases=bases.sample,
            manifests=tuple(sorted(OpenedManifest(as_text(m.name), m.sha256) for m in manifests)),
            models=models,
            options_sha256=digest_of(compared_options(document)),
            commit=document["project"]["commit"],
            shard=settings.shard.index if settings.shard else None,
            shards=settings.shard.count if settings.shard else None,
        )
        known = opening_of(document)
        if known is not None and known.asked_sha256 == opening.asked_sha256:
            return  # a session of a run that has opened it
        attempt = append_opening(settings.ledger, opening)
    except (LedgerError, ManifestChangedError) as error:
        raise pytest.UsageError(str(error)) from None
    recorded = RecordedOpening(attempt, as_text(settings.ledger.name), opening.split_sha256, opening.asked_sha256)
    document[OPENING] = msgspec.to_builtins(recorded)


def _tested(plan: Plan) -> list[Manifest]:
    """Give the manifests whose test split the session is about."""
    return [manifest for manifest in plan.manifests if manifest.splits] if plan.settings.split == TEST_SPLIT else []


def _is_about(manifests: Iterable[Manifest], nodes: Iterable[str]) -> bool:
    ids = {ref.case_id for manifest in manifests for refs in manifest.adapters.values() for ref in refs}
    return any(node.case_id in ids for nodeid in nodes if (node := CaseNode.parse(nodeid)) is not None)


def _models(plan: Plan, config: pytest.Config, manifests: Iterable[Manifest], *, distributed: bool) -> tuple[OpenedBy, ...]:
    """Load the adapters that are asked, and say what stands behind each; nothing where surely none of them can answer."""
    from pytest_benchbench.adapters.base import AdapterUnavailable
    from pytest_benchbench.adapters.pool import AdapterLoadError
    from pytest_benchbench.evidence.observation import AdapterRecord
    from pytest_benchbench.gates.ledger import OpenedBy, digest_of
    from pytest_benchbench.session.network import guarded_loading

    models = []
    may_answer = False
    with guarded_loading(config, plan.settings.network) as guard:
        for alias in plan.adapters_of(manifests):
            pooled, description = plan.pool.warm(alias), None
            try:
                with guard.loading(pooled):
                    description = pooled.load()
                may_answer = True
            except AdapterUnavailable:
                may_answer |= _has_other_machines(config)
            except AdapterLoadError:
                may_answer |= distributed  # what failed here may not fail there
            record = AdapterRecord.of(pooled, description)
            rule = None if description is None else digest_of([record.version, record.rule, record.source_sha256])
            models.append(OpenedBy(alias, record.name, digest_of(record.options), rule, record.weights))
    if distributed:  # these instances are not asked
        plan.notes += plan.pool.close()
    return tuple(models) if may_answer else ()


def _has_other_machines(config: pytest.Config) -> bool:
    """Whether workers may run where an adapter is available that is not available here."""
    return any("popen" not in spec for spec in config.getoption("tx", None) or ())

"""From a case item to its observation, and from the observation to its row of evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from pytest_benchbench.adapters.base import BatchAdapter
from pytest_benchbench.adapters.pool import PooledAdapter
from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.observation import (
    AdapterRecord,
    ArtifactRecord,
    CodeRecord,
    DetectionRecord,
    ErrorRecord,
    EvidenceKey,
    EvidenceRow,
    FidelityRecord,
    ManifestReference,
    NetworkRecord,
    RemovalRecord,
)
from pytest_benchbench.evidence.observing import Observation, PinnedFile, Question, observe, observe_batch
from pytest_benchbench.manifests.reading import ManifestChangedError
from pytest_benchbench.session.network import GUARD
from pytest_benchbench.session.node_names import CaseNode
from pytest_benchbench.session.row_timeout import TIMER, RowTimeout

if TYPE_CHECKING:
    from pytest_benchbench.manifests.reading import CaseRef, Manifest
    from pytest_benchbench.manifests.watermark import WatermarkCase
    from pytest_benchbench.session.collection import CaseItem
    from pytest_benchbench.session.planning import Plan

UNKNOWN_CODE = CodeRecord(None, None, "")
"""Stands in a row until the controller, which knows, writes it."""


def question_of(case: WatermarkCase, manifest: Manifest, plan: Plan, node: CaseNode) -> Question:
    """Say what is asked about a row: its files, and what it asserts once known mismatches are taken into account."""
    known = plan.expectations.find(node)
    reference = None
    if case.reference_path is not None and case.reference_sha256 is not None:
        reference = PinnedFile(case.reference_path, case.reference_sha256)
    return Question(
        media_type=case.media_type,
        artifact=PinnedFile(case.path, case.sha256),
        reference=reference,
        base=manifest.directory,
        roots=plan.settings.artifact_roots,
        removed=case.state == "removed",
        expected=known.expected if known else case.expected,
        known_mismatch=known is not None,
    )


def ask(item: CaseItem, adapter: PooledAdapter) -> Observation:
    """Observe an item's case. A batch adapter is asked about the next rows of its group in the same call."""
    group = item.group
    if adapter is item.cold:
        return observe(item.question(), adapter, item.plan.artifacts)
    if (answered := group.answers.pop(item, None)) is not None:
        return answered
    item.refused_earlier = 0
    try:
        load(item, adapter)
    except Exception:
        return observe(item.question(), adapter, item.plan.artifacts)  # which says why
    if not isinstance(adapter.adapter, BatchAdapter):
        return observe(item.question(), adapter, item.plan.artifacts)
    wave = group.next_wave(item, adapter.adapter.batch_size)
    if len(wave) == 1:
        return observe(item.question(), adapter, item.plan.artifacts)
    try:
        return _ask_wave(wave, adapter)
    except RowTimeout:  # which of its rows is at fault, nobody knows: each is asked alone, in a time of its own
        item.config.stash[TIMER].restart()
        item.plan.pool.drop(group.name)
    return ask(item, item.plan.pool.warm(group.name))


def _ask_wave(wave: list[CaseItem], adapter: PooledAdapter) -> Observation:
    """Ask about several rows of a group at once, keep the answers of the later ones, and give that of the first."""
    item, group = wave[0], wave[0].group
    if (timer := item.config.stash.get(TIMER, None)) is not None:
        timer.restart(rows=len(wave))
    guard = item.config.stash[GUARD]
    refused = guard.refused
    observations = observe_batch([member.question() for member in wave], adapter, item.plan.artifacts)
    for member, observation in zip(wave[1:], observations[1:], strict=True):
        member.refused_earlier = guard.refused - refused
        group.answers[member] = observation
    return observations[0]


def load(item: CaseItem, adapter: PooledAdapter) -> None:
    """Load an adapter for an item, if it is not, and count what the network guard refuses to it meanwhile.

    Raises:
        AdapterUnavailable, AdapterLoadError: As ``PooledAdapter.load``.
    """
    with item.config.stash[GUARD].loading(adapter):
        adapter.load()


def evidence_row(item: CaseItem, observation: Observation) -> EvidenceRow:
    """Write an observation as evidence; the controller adds run, attempt, worker and code."""
    found = item.read()
    return EvidenceRow(
        run_id="",
        kind=item.manifest.kind,
        key=_key(item.case_node),
        manifest=_manifest(item.manifest, item.ref),
        case=msgspec.to_builtins(found.case),
        row_sha256=found.row_sha256,
        artifact=observation.artifact,
        adapter=observation.adapter,
        code=UNKNOWN_CODE,
        detection=observation.detection,
        batch=msgspec.UNSET if observation.batch is None else observation.batch,
        error=msgspec.UNSET if observation.error is None else observation.error,
        network=network_record(item),
        removal=observation.removal,
        fidelity=observation.fidelity,
        outcome=observation.outcome,
        worker=None,
    )


def network_record(item: CaseItem) -> NetworkRecord:
    """Say what the network guard let through and refused while the item ran."""
    pooled = item.cold or item.plan.pool.warm(item.group.name)
    return item.config.stash[GUARD].record(pooled, earlier=item.refused_earlier)


def unobserved_row(
    node: CaseNode,
    manifest: Manifest,
    ref: CaseRef,
    error: ErrorRecord,
    outcome: Literal["error", "not_run"] = "error",
    *,
    network: NetworkRecord | msgspec.UnsetType = msgspec.UNSET,
) -> EvidenceRow:
    """Write the evidence of a row that no adapter was seen to answer.

    A manifest that was changed after it was validated cannot be read again: the row then carries its identity alone.

    Args:
        node: Which row.
        manifest: Where it stands.
        ref: Where in the manifest.
        error: Why there is no answer.
        outcome: ``not_run`` for a row that was planned and never tried to the end.
        network: What was refused to the row, where the process that knows writes it.
    """
    try:
        found = manifest.read(ref)
        case, row_sha256, artifact_sha256 = msgspec.to_builtins(found.case), found.row_sha256, found.case.sha256
        was_removed = found.case.state == "removed"
    except ManifestChangedError as changed:
        case, row_sha256, artifact_sha256 = {"case_id": ref.case_id, "adapter": node.adapter}, "", ""
        was_removed = False
        error = ErrorRecord(type(changed).__name__, one_line(changed))
    return EvidenceRow(
        run_id="",
        kind=manifest.kind,
        key=_key(node),
        manifest=_manifest(manifest, ref),
        case=case,
        row_sha256=row_sha256,
        artifact=ArtifactRecord(artifact_sha256, None),
        adapter=AdapterRecord(node.adapter, None, None, {}, None, ()),
        code=UNKNOWN_CODE,
        detection=DetectionRecord("timeout" if error.type == RowTimeout.__name__ else "error", None, None),
        error=error,
        network=network,
        removal=RemovalRecord.of("error") if was_removed else None,
        fidelity=FidelityRecord("error", reason="the row was not observed"),
        outcome=outcome,
        worker=None,
    )


def _key(node: CaseNode) -> EvidenceKey:
    return EvidenceKey(node.suite, node.adapter, node.case_id, node.params, attempt=0)


def _manifest(manifest: Manifest, ref: CaseRef) -> ManifestReference:
    return ManifestReference(manifest.name, manifest.sha256, line=ref.line)

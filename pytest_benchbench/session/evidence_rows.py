"""A row of evidence, written from an observation or from the fact that there is none.

Imports nothing that decodes or detects: the process that only takes what workers send needs neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

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
from pytest_benchbench.manifests.reading import ManifestChangedError
from pytest_benchbench.session.network import GUARD
from pytest_benchbench.session.node_names import CaseNode
from pytest_benchbench.session.row_timeout import RowTimeout

if TYPE_CHECKING:
    from pytest_benchbench.evidence.observing import Observation
    from pytest_benchbench.manifests.reading import CaseRef, Manifest
    from pytest_benchbench.session.collection import CaseItem

EVIDENCE = "benchbench_evidence"
"""Attribute of a report: one row of evidence as a JSON string, which every transport between processes can carry."""

UNKNOWN_CODE = CodeRecord(None, None, "")
"""Stands in a row until the controller, which knows, writes it."""


def evidence_row(item: CaseItem, observation: Observation) -> EvidenceRow:
    """Write an observation as evidence; the controller adds run, attempt, worker and code."""
    found = item.read()
    case = _public(found.case, item.manifest)
    return EvidenceRow(
        run_id="",
        kind=item.manifest.kind,
        key=_key(item.case_node),
        manifest=_manifest(item.manifest, item.ref),
        case=case,
        row_sha256=found.row_sha256,
        artifact=observation.artifact,
        adapter=observation.adapter,
        code=UNKNOWN_CODE,
        detection=_with_slice(observation.detection, case),
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
        case, row_sha256, artifact_sha256 = _public(found.case, manifest), found.row_sha256, found.case.sha256
    except ManifestChangedError as changed:
        case, row_sha256, artifact_sha256 = {manifest.id_field: ref.case_id, "adapter": node.adapter}, "", ""
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
        removal=RemovalRecord.of("error") if case.get("state") == "removed" else None,
        fidelity=FidelityRecord("error", reason="the row was not observed"),
        outcome=outcome,
        worker=None,
    )


def _with_slice(detection: DetectionRecord, case: dict[str, Any]) -> DetectionRecord:
    """Add to what a deployed scorer reports the transform slice of the row, which it was not shown."""
    if detection.scorer is None or detection.scorer.get("evaluationMode") != "deployed" or "transform" not in case:
        return detection
    return msgspec.structs.replace(detection, scorer={**detection.scorer, "transform": case["transform"]})


def _public(case: msgspec.Struct, manifest: Manifest) -> dict[str, Any]:
    """Give a row as evidence keeps it."""
    return {name: value for name, value in msgspec.to_builtins(case).items() if name not in manifest.private}


def _key(node: CaseNode) -> EvidenceKey:
    return EvidenceKey(node.suite, node.adapter, node.case_id, node.params, attempt=0)


def _manifest(manifest: Manifest, ref: CaseRef) -> ManifestReference:
    if ref.pointer is not None:
        return ManifestReference(manifest.name, manifest.sha256, pointer=ref.pointer)
    return ManifestReference(manifest.name, manifest.sha256, line=ref.line)

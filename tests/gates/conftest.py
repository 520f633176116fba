"""Settled rows made by hand."""

import hashlib

import pytest

from pytest_benchbench.evidence.digest_column import text_digest
from pytest_benchbench.evidence.observation import (
    AdapterRecord,
    ArtifactRecord,
    CodeRecord,
    DetectionRecord,
    EvidenceKey,
    EvidenceRow,
    FidelityRecord,
    ManifestReference,
    judge,
)
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.gates.policy import load_policy


def settled_row(
    case_id,
    *,
    suite="suite.py::test_detection",
    params=None,
    adapter="dwt-dct",
    status="detected",
    expected="detected",
    known=False,
    outcome=None,
    unstable=False,
    artifact=None,
    manifest="cases.jsonl",
    **case,
):
    case = {"state": "marked", "arm": "positive", "media_type": "image", "pair_id": case_id, **case}
    row = EvidenceRow(
        run_id="run",
        kind="watermark",
        key=EvidenceKey(suite, adapter, case_id, params, 1),
        manifest=ManifestReference(manifest, "a" * 64, line=1),
        case={name: value for name, value in case.items() if value is not None},
        row_sha256="b" * 64,
        artifact=ArtifactRecord(hashlib.sha256((artifact or case_id).encode()).hexdigest(), None),
        adapter=AdapterRecord(adapter, "1", "rule", {}, None, ()),
        code=CodeRecord(None, None, "c" * 64),
        detection=DetectionRecord(status, 1.0, "warm"),
        removal=None,
        fidelity=FidelityRecord("no_reference"),
        outcome=outcome or judge(status, expected, known_mismatch=known),
        worker="main",
    )
    return SettledRow(
        row, "mismatch" if unstable else row.outcome, unstable, 2 if unstable else 1, text_digest(case_id.encode())
    )


@pytest.fixture(scope="session")
def row():
    return settled_row


@pytest.fixture
def own_policy(tmp_path):
    """Write a policy of rules, each as YAML without its id, and load it."""

    def write(*rules):
        path = tmp_path / "own.yaml"
        path.write_text("name: own\nrules:\n" + "".join(f"  - {{id: rule{i}, {rule}}}\n" for i, rule in enumerate(rules)))
        return load_policy(str(path)).policy

    return write

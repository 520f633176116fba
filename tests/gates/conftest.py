"""Settled rows and rows of scores, made by hand."""

import hashlib
import json

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
from pytest_benchbench.gates.policy import LoadedPolicy, load_policy
from pytest_benchbench.gates.recorded import decide_recorded


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


MODEL = "a" * 64


def score_rows(name, label, derivatives=(("none", "full-res"), ("none", "thumbnail")), **fields):
    """Give the rows of one base, all of them right; what is ``None`` is left out."""
    row = {
        "baseId": name,
        "label": label,
        "split": "test",
        "score": 0.9 if label else 0.1,
        "source": "collection",
        "generatorFamily": "family-0" if label else None,
        "contentGroup": "photo",
        "evaluationMode": "deployed",
        "modelSha256": MODEL,
        "preprocessingVersion": "1",
        **fields,
    }
    return [
        {"id": f"{name}~{transform}~{group}", **row, "transform": transform, "resolutionGroup": group}
        for transform, group in derivatives
    ]


class ReleaseEvidence:
    """500 real and 500 AI bases at two sizes each, all of them right, to be changed base by base.

    Real bases are dealt to five sources, AI bases to five families.

    Attributes:
        bases: The rows of each base, by its name: ``real-0`` to ``real-499``, ``ai-0`` to ``ai-499``.
    """

    def __init__(self, folder, real=500, ai=500):
        self.folder = folder
        self.bases = {
            **{f"real-{i}": score_rows(f"real-{i}", 0, source=f"camera-{i % 5}") for i in range(real)},
            **{f"ai-{i}": score_rows(f"ai-{i}", 1, generatorFamily=f"family-{i % 5}") for i in range(ai)},
        }

    def change(self, names, group=None, **fields):
        """Change the rows of some bases, or those of one resolution group."""
        for name in names:
            for row in self.bases[name]:
                if group in (None, row["resolutionGroup"]):
                    row.update(fields)
        return self

    def fail(self, label, count, group=None):
        """Let the first bases of a class fail."""
        kind, score = (("real", 0.65), ("ai", 0.64))[label]
        return self.change([f"{kind}-{i}" for i in range(count)], group, score=score)

    def rows(self):
        return [row for rows in self.bases.values() for row in rows]

    def write(self, rows=None, name="scores.jsonl"):
        path = self.folder / name
        lines = ({key: value for key, value in row.items() if value is not None} for row in rows or self.rows())
        path.write_text("".join(f"{json.dumps(row)}\n" for row in lines))
        return path

    def manifest(self, *more, name="dataset.jsonl"):
        """Write the dataset manifest that the rows are of, and further rows."""
        fields = (
            "id",
            "baseId",
            "label",
            "split",
            "source",
            "generatorFamily",
            "contentGroup",
            "transform",
            "resolutionGroup",
        )
        return self.write(
            [{**pinned(row["id"]), **{field: row.get(field) for field in fields}} for row in (*self.rows(), *more)], name
        )

    def decide(self, policy="release", manifest=None, trusting=True):
        """Decide about the rows as plain scores."""
        loaded = policy if isinstance(policy, LoadedPolicy) else load_policy(policy)
        manifests = () if manifest is None else (manifest,)
        return decide_recorded(self.write(), loaded, manifests=manifests, held_out_unverified=trusting)

    def rules(self, rule_id, **how):
        """Give the decided rules of a name."""
        return [rule for rule in self.decide(**how).rules if rule.id == rule_id]


def pinned(name):
    """Give what only a manifest's row has."""
    return {"sha256": hashlib.sha256(name.encode()).hexdigest(), "license": "CC0-1.0"}


@pytest.fixture
def release(tmp_path):
    """Evidence that the policy ``release`` accepts."""
    return ReleaseEvidence(tmp_path)


@pytest.fixture
def small(tmp_path):
    """``small(real, ai)``: as much less of it as a test needs."""
    return lambda real=4, ai=4: ReleaseEvidence(tmp_path, real, ai)


@pytest.fixture(scope="session")
def base_rows():
    return score_rows

"""As what a settled row counts, and by what it is grouped."""

import pytest

from pytest_benchbench.adapters.base import VERDICTS
from pytest_benchbench.evidence.grouping import STANDINGS, VERDICT_STANDINGS, base, facet, standing
from pytest_benchbench.evidence.observation import (
    OUTCOMES,
    SETTLED,
    AdapterRecord,
    ArtifactRecord,
    CodeRecord,
    DetectionRecord,
    EvidenceKey,
    EvidenceRow,
    FidelityRecord,
    ManifestReference,
)
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow


def settled(outcome="match", status="detected", *, unstable=False, case=None):
    row = EvidenceRow(
        run_id="run",
        kind="watermark",
        key=EvidenceKey("suite", "alias", "c1", None, 1),
        manifest=ManifestReference("cases.jsonl", "a" * 64, line=1),
        case=case or {},
        row_sha256="b" * 64,
        artifact=ArtifactRecord("d" * 64, None),
        adapter=AdapterRecord("name", "1", "rule", {}, None, ()),
        code=CodeRecord(None, None, "c" * 64),
        detection=DetectionRecord(status, None, None),
        removal=None,
        fidelity=FidelityRecord("no_reference"),
        outcome=outcome,
        worker=None,
    )
    return SettledRow(row, outcome, unstable, 1, b"")


def test_the_verdicts_are_those_of_the_adapter_contract():
    assert VERDICT_STANDINGS == VERDICTS


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("status", sorted(VERDICTS))
def test_a_settled_row_counts_as_its_verdict_and_any_other_as_its_outcome(outcome, status):
    counted = standing(settled(outcome, status))
    assert counted in STANDINGS
    assert counted == (status if outcome in SETTLED else outcome)


def test_disagreeing_attempts_are_no_verdict():
    assert standing(settled("mismatch", unstable=True)) == "unstable"


@pytest.mark.parametrize("outcome", sorted(SETTLED))
def test_an_outcome_without_its_verdict_is_refused(outcome):
    with pytest.raises(EvidenceError, match=rf"c1: outcome: {outcome} needs a verdict, detection\.status is 'timeout'"):
        standing(settled(outcome, "timeout"))


@pytest.mark.parametrize(
    ("name", "case", "value"),
    [
        ("adapter", {"adapter": "name"}, "alias"),
        ("state", {"state": "marked"}, "marked"),
        ("state", {}, None),
        ("arm", {"arm": None}, None),
        ("state", {"state": ["marked"]}, None),
        ("transform", {"transform": {"name": "jpeg", "revision": "1"}}, "jpeg"),
        ("transform", {"transform": "jpeg-75"}, "jpeg-75"),
        ("transform", {"transform": {"revision": "1"}}, None),
        ("state", {"state": {"name": "marked"}}, None),
    ],
)
def test_a_facet_is_a_text_of_the_case(name, case, value):
    assert facet(settled(case=case).row, name) == value


@pytest.mark.parametrize(
    ("case", "unit"),
    [({"baseId": "b", "pair_id": "p"}, "b"), ({"pair_id": "p"}, "p"), ({"baseId": 7, "pair_id": "p"}, "p"), ({}, None)],
)
def test_the_base_is_the_independent_unit(case, unit):
    assert base(settled(case=case).row) == unit

"""Judging a status under an expectation."""

from typing import get_args

import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.base import VERDICTS, Detection, DetectionStatus
from pytest_benchbench.evidence.observation import DetectionRecord, EvidenceRow, NetworkRecord, RemovalRecord, judge

statuses = st.sampled_from(get_args(DetectionStatus))
expectations = st.sampled_from(["detected", "not_detected", "unresolved", None])


@given(statuses.filter(lambda s: s not in VERDICTS), expectations, st.booleans())
def test_a_status_without_verdict_is_never_a_verdict(status, expected, known):
    outcome = judge(status, expected, known_mismatch=known)
    assert outcome == ("unavailable" if status == "unavailable" else "error")


@given(st.sampled_from(sorted(VERDICTS)), st.sampled_from(["unresolved", None]), st.booleans())
def test_what_asserts_nothing_is_measured(status, expected, known):
    assert judge(status, expected, known_mismatch=known) == "measured"


@given(st.sampled_from(["detected", "not_detected"]), st.sampled_from(["detected", "not_detected"]), st.booleans())
def test_an_asserted_verdict_is_met_or_not(status, expected, known):
    wrong = "known_mismatch" if known else "mismatch"
    assert judge(status, expected, known_mismatch=known) == ("match" if status == expected else wrong)


@given(st.sampled_from(["detected", "not_detected"]))
def test_a_score_without_a_rule_meets_no_asserted_verdict(expected):
    assert judge("scored", expected) == "error"


@pytest.mark.parametrize(
    ("status", "outcome"), [("not_detected", "no_signal"), ("detected", "signal_remained"), ("error", "unknown")]
)
def test_a_removed_artifact_never_certifies_erasure(status, outcome):
    assert msgspec.to_builtins(RemovalRecord.of(status)) == {"outcome": outcome, "certifies_erasure": False}


def test_what_an_adapter_does_not_expose_is_absent_and_no_call_is_null():
    record = msgspec.to_builtins(DetectionRecord.of(Detection("not_detected")))
    assert record == {"status": "not_detected", "adapter_elapsed_ms": None, "call": None}


def test_evidence_without_a_word_about_the_network_is_still_read():
    row = {
        "schema_version": 1,
        "run_id": "r",
        "kind": "watermark",
        "key": {"suite": "s", "adapter": "a", "case_id": "c", "params": None, "attempt": 1},
        "manifest": {"name": "m", "sha256": "0", "line": 1},
        "case": {},
        "row_sha256": "0",
        "artifact": {"sha256": "0", "decoding": None},
        "adapter": {"name": "a", "version": None, "rule": None, "options": {}, "source_sha256": None, "weights": []},
        "code": {"project_commit": None, "dirty": None, "kernel_sha256": "0"},
        "detection": {"status": "detected", "adapter_elapsed_ms": None, "call": None},
        "removal": None,
        "fidelity": {"status": "no_reference"},
        "outcome": "match",
        "worker": None,
    }
    read = msgspec.convert(row, EvidenceRow)
    assert read.network is msgspec.UNSET
    assert msgspec.json.decode(msgspec.json.encode(read)) == row


def test_what_was_not_refused_is_absent():
    assert msgspec.to_builtins(NetworkRecord("deny")) == {"mode": "deny"}
    assert msgspec.to_builtins(NetworkRecord("deny", 2, 1)) == {"mode": "deny", "refused": 2, "refused_loading": 1}

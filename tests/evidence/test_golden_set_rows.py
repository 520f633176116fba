"""Rows of evidence about samples of golden sets."""

import msgspec
import pytest

from pytest_benchbench.evidence.golden_set_rows import Sample, golden_row
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow


def settled(row, *, unstable=False):
    found = msgspec.convert(row, EvidenceRow)
    return SettledRow(found, found.outcome, unstable, 1, b"")


def test_a_scored_row(golden):
    row = golden.row("s7", "ai", 50.0, pair_of="s6", category="essay", split="tune")
    found = golden_row(settled(row))
    assert found[:2] == ("s7", "tune")
    assert found.sample == Sample("ai", "essay", "s6", row["artifact"]["sha256"])
    assert (found.status, found.score, found.group) == ("scored", 50.0, "scored")


@pytest.mark.parametrize(
    ("status", "outcome", "told", "group"),
    [
        ("unavailable", "unavailable", "unavailable", "unavailable"),
        ("error", "error", "error", "errors"),
        ("error", "not_run", "not_run", "not_run"),
        ("too-small", "error", "too-small", "errors"),
        ("timeout", "error", "timeout", "errors"),
        ("detected", "measured", "detected", "errors"),
        ("not_detected", "measured", "not_detected", "errors"),
    ],
)
def test_what_has_no_score_has_none(golden, status, outcome, told, group):
    found = golden_row(settled(golden.row(status=status, outcome=outcome)))
    assert (found.status, found.group, found.score) == (told, group, None)


@pytest.mark.parametrize("score", [-0.001, 100.001, None])
def test_a_score_off_the_scale_is_none(golden, score):
    found = golden_row(settled(golden.row(score=score)))
    assert (found.status, found.group, found.score) == ("no-score", "errors", None)


def test_attempts_that_disagree_give_no_score(golden):
    found = golden_row(settled(golden.row(score=10.0), unstable=True))
    assert (found.status, found.group, found.score) == ("unstable", "errors", None)


def test_a_set_that_could_not_be_read_again_says_nothing_of_its_sample(golden):
    found = golden_row(settled(golden.row(status="error", case={"id": "s1"}, row_sha256="")))
    assert (found.id, found.split, found.sample, found.group) == ("s1", None, None, "errors")


def test_a_score_of_nobody_knows_what_is_refused(golden):
    with pytest.raises(EvidenceError, match="'s1': a score, and nothing about the sample"):
        golden_row(settled(golden.row(row_sha256="")))


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("label", "robot", "case.label: expected ai or human, got 'robot'"),
        ("label", 1, "case.label: expected ai or human, got 1"),
        ("split", "test", "case.split: expected tune or holdout, got 'test'"),
        ("category", None, "case.category: expected a text, got null"),
        ("pairOf", ["s1"], "case.pairOf: expected a text, got an array"),
    ],
)
def test_what_no_golden_set_says_is_refused(golden, field, value, told):
    row = golden.row()
    with pytest.raises(EvidenceError) as caught:
        golden_row(settled({**row, "case": {**row["case"], field: value}}))
    assert str(caught.value) == f"'s1': {told}"

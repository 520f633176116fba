"""Labelled rows of two runs: a score that changes sides is a change, one that stays on its side is none."""

from dataclasses import asdict

import pytest

from pytest_benchbench.reports.comparison import CannotCompareError
from pytest_benchbench.reports.comparison_lines import comparison_lines
from pytest_benchbench.reports.regressions import RegressionRule, regressions


@pytest.fixture
def row(score_files):
    def evidence(row_id, label=1, score=0.9, base=None, **more):
        return score_files.evidence_row(score_files.row(row_id, label, score, **({"baseId": base} if base else {}), **more))

    return evidence


@pytest.mark.parametrize(
    ("label", "old", "new", "change"),
    [
        (1, 0.65, 0.99, "still_right"),
        (1, 0.65, 0.6499, "newly_wrong"),
        (0, 0.6499, 0.65, "newly_wrong"),
        (0, 0.65, 0.6499, "newly_right"),
        (0, 0.9, 0.7, "still_wrong"),
    ],
)
def test_a_score_is_held_against_the_label_at_the_threshold(row, compared, label, old, new, change):
    document = compared([row("a", label, old)], [row("a", label, new)]).document()
    assert {name: count for name, count in document["changes"]["counts"].items() if count} == {change: 1}


def test_a_changed_side_is_named_tested_by_base_and_a_regression(row, compared):
    old = [row(f"r{base}{copy}", 0, 0.1, f"r{base}") for base in range(8) for copy in "xy"]
    new = [row(f"r{base}{copy}", 0, 0.9 if copy == "x" else 0.2, f"r{base}") for base in range(8) for copy in "xy"]
    document = compared(old, new).document()
    (line,) = document["lines"]
    assert (line["quantity"], line["tested"], line["bases"]["n"], line["bases"]["new"]["k"]) == (
        "as_expected",
        "bases",
        8,
        0,
    )
    assert line["bases"]["mcnemar_p"] == pytest.approx(2 / 2**8)
    entry = document["changes"]["newly_wrong"]["listed"][0]
    assert (entry["expected"], entry["old"], entry["new"], entry["score"]) == ("real", "real", "AI", 0.9)
    found = regressions(document, RegressionRule(), is_incomplete=False)
    assert [reason["rule"] for reason in found] == ["newly_wrong", "significant_loss"]
    sides = {"compared": "runs", "old": {"name": "old"}, "new": {"name": "new"}}
    assert document["threshold"] == 0.65
    lines = comparison_lines({**document, **sides, "rule": asdict(RegressionRule()), "regressions": found})
    assert any("r0x: onnx: expected real, real -> AI (score 0.9)" in line for line in lines)


def test_a_score_that_is_gone_is_a_lost_verdict_whatever_the_label(row, compared):
    old = [row("a"), row("r", 0, 0.9)]
    new = [row("a", score=None, status="timeout"), row("r", 0, None, status="error")]
    assert compared(old, new).document()["changes"]["counts"]["verdict_lost"] == 2


def test_a_row_of_another_label_is_another_case(row, compared):
    with pytest.raises(CannotCompareError, match="label"):
        compared([row("a", 1)], [row("a", 0)]).check()

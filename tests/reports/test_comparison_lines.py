"""A comparison for people: what changed, how sure that is, and the verdict last."""

from dataclasses import asdict

import pytest

from pytest_benchbench.reports.comparison_lines import comparison_lines
from pytest_benchbench.reports.regressions import RegressionRule, regressions


@pytest.fixture
def told(compared):
    def tell(old, new, **rule):
        document = {
            "compared": "runs",
            "old": {"name": "before"},
            "new": {"name": "after"},
            **compared(old, new).document(),
        }
        rule = RegressionRule(**rule)
        found = regressions(document, rule, is_incomplete=False)
        return comparison_lines({**document, "rule": asdict(rule), "regressions": found})

    return tell


def test_nothing_changed(row, told):
    rows = [row("a", expected="detected"), row("b", state="attacked", status="not_detected")]
    assert told(rows, rows) == [
        "before -> after",
        "2 pairs of rows; only in before: 0; only in after: 0",
        "as expected, dwt-dct:",
        "  artifacts: 1 -> 1 of 1 (+0.0 points, 95 % -79.3 to +79.3); 0 better, 0 worse",
        "  bases with all of their rows: 1 -> 1 of 1 (+0.0 points, 95 % -79.3 to +79.3); 0 better, 0 worse",
        "detected, dwt-dct attacked positive:",
        "  artifacts: 0 -> 0 of 1 (+0.0 points, 95 % -79.3 to +79.3); 0 better, 0 worse",
        "  bases with all of their rows: 0 -> 0 of 1 (+0.0 points, 95 % -79.3 to +79.3); 0 better, 0 worse",
        "warm calls, dwt-dct: p50 1 -> 1, p95 1 -> 1 ms; row by row 1 times as long (too few rows to know the noise)",
        "no regression (newly wrong <= 0, verdicts lost <= 0, no net loss with p < 0.05)",
    ]


def test_rows_that_changed_come_with_their_place_and_reason(row, told):
    old = [row(f"c{line}", line=line, expected="detected") for line in range(1, 15)]
    new = [
        row(f"c{line}", line=line, expected="detected", status="not_detected", reason="40/48 bits") for line in range(1, 15)
    ]
    lines = told(old, new)
    start = lines.index("newly wrong: 14")
    assert lines[start + 1] == "  cases.jsonl:1: c1: dwt-dct: expected detected, detected -> not_detected (40/48 bits)"
    assert lines[start + 11] == "  ... and 4 more"
    assert lines[-2:] == [
        "regression: 14 rows newly wrong, at most 0 allowed",
        "regression: dwt-dct: fewer as expected: of 14 bases 0 better and 14 worse, p 0.00012 < 0.05",
    ]


def test_versions_and_weights_that_changed_are_said(row, told):
    new = row("a")
    new["adapter"] = {**new["adapter"], "version": "2", "weights": []}
    assert told([row("a")], [new])[1] == "dwt-dct: version 1 -> 2, other weights"


def test_rows_of_one_side_are_named(row, told):
    lines = told([row("a"), row("b")], [row("a"), row("c", params="p", status="not_detected")])
    assert "only in before: 1" in lines
    assert "  cases.jsonl:1: b: dwt-dct: detected" in lines
    assert "  cases.jsonl:1: c[p]: dwt-dct: not_detected" in lines


def test_the_rule_is_stated(row, told):
    rows = [row("a")]
    assert told(rows, rows, allow_flips=2, allow_lost=3, alpha=0.01, measured="lost", max_slowdown=1.5)[-1] == (
        "no regression (newly wrong <= 2, verdicts lost <= 3, no net loss with p < 0.01, nor of detections lost where "
        "nothing is expected, calls at most 1.5 times as long)"
    )


def test_times_are_told_with_their_noise(row, told):
    old = [row(f"c{place}", elapsed=10.0 + place) for place in range(12)]
    (line,) = (line for line in told(old, old) if line.startswith("warm"))
    assert line == (
        "warm calls, dwt-dct: p50 15 [12, 19] -> 15 [12, 19], p95 21 -> 21 ms; "
        "row by row 1 times as long, within the noise (1 to 1)"
    )


def test_foreign_text_obeys_no_terminal(row, told):
    old = [row("a\x1b[2J", expected="detected")]
    new = [row("a\x1b[2J", expected="detected", status="not_detected", reason="\x1b]0;owned\x07")]
    assert all(line.isprintable() for line in told(old, new))

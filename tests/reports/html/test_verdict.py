"""What a page says first."""

import pytest

from pytest_benchbench.reports.html.verdict import verdict_of


@pytest.fixture(scope="module")
def verdict(row, report):
    def of(rows, run=None):
        return verdict_of(report(rows, run), None)

    return of


def test_a_failure_is_bad_and_counted(verdict, row):
    found = verdict([row("a", expected="detected", status="not_detected"), row("b")])
    assert (found.mood, found.headline) == ("bad", "1 of 2 rows is wrong or an error")
    assert found.outcomes == [("mismatch", 1), ("measured", 1)]


def test_known_mismatches_fail_nothing(verdict, row):
    found = verdict([row("a", expected="detected", status="not_detected", known=True)])
    assert (found.mood, found.headline) == ("ok", "No mismatch and no error in 1 row, apart from 1 known")


@pytest.mark.parametrize(
    ("planned", "gap"),
    [
        (
            {"rows": 3, "selected": 3, "lost": 2, "left_out": 0},
            "2 rows planned, never run to an end, and in no rate below.",
        ),
        (
            {"rows": 2, "selected": 1, "lost": 0, "left_out": 1},
            "1 row left out by the user's choice (such as -k, --lf or -x).",
        ),
    ],
)
def test_rows_that_are_missing_are_told(verdict, row, planned, gap):
    found = verdict([row("a")], {"planned": planned})
    assert (found.mood, found.gaps) == ("warn", [gap])


def test_gaps_of_a_merged_run_and_an_interruption_are_told(verdict, row):
    found = verdict([row("a")], {"interrupted": True, "gaps": ["missing: shard 2/2"]})
    assert found.gaps == ["The run was interrupted.", "missing: shard 2/2"]


def test_rows_that_were_not_run_are_missing_even_if_no_plan_says_so(verdict, row):
    found = verdict([row("a"), row("b", status="error", outcome="not_run")])
    assert found.gaps == ["1 row planned, never run to an end, and in no rate below."]


def test_an_unstable_row_is_told(verdict, row):
    found = verdict([row("a", attempt=1), row("a", attempt=2, status="not_detected")])
    assert "1 row unstable: attempts gave different verdicts." in found.lines


def test_a_gate_that_passes_does_not_hide_mismatches(row, report):
    from pytest_benchbench.gates.decision import DecidedEvidence, Decision, Digest, EvidenceDigests

    passed = Decision("pass", Digest("lenient", "0" * 64), DecidedEvidence(EvidenceDigests([], []), {}), [])
    found = verdict_of(report([row("a", expected="detected", status="not_detected")]), passed)
    assert (found.mood, found.headline) == ("warn", "Gate lenient: pass")
    assert "Mismatches and errors fail a run whatever the gate says." in found.lines

"""The short report of the terminal."""

import pytest

from pytest_benchbench.evidence.reading import settled_rows
from pytest_benchbench.gates.decision import EvidenceFacts, decide
from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.reports.lines import terminal_lines
from pytest_benchbench.reports.summary import build_report


@pytest.fixture(scope="session")
def decision(write):
    facts = EvidenceFacts(lost=0, left_out=0, lazy_verification=False, sha256={})
    return lambda rows: decide(load_policy("strict"), settled_rows(write(rows)), facts)


def test_outcomes_counts_and_mismatches_in_this_order(row, report):
    rows = [
        row("a", expected="detected"),
        row("b", expected="detected", status="not_detected", reason="24/48 bits", line=12),
        row("c", state="clean", status="not_detected", expected="not_detected", line=13),
    ]
    assert terminal_lines(report(rows)) == [
        "3 rows: 1 mismatch, 2 match",
        "adapter  state   rows  detected  not detected",
        "dwt-dct  clean      1         0             1",
        "dwt-dct  marked     2         1             1",
        "cases.jsonl:12: b: dwt-dct: expected detected, observed not_detected (24/48 bits)",
    ]


def test_states_without_a_verdict_have_columns_where_they_occur(row, report):
    lines = terminal_lines(report([row("a"), row("b", status="error"), row("c", status="unavailable")]))
    assert lines[1].split() == ["adapter", "state", "rows", "detected", "not", "detected", "error", "unavailable"]
    assert lines[2].split() == ["dwt-dct", "marked", "3", "1", "0", "1", "1"]


def test_a_refused_gate_comes_first_with_the_rules_that_failed(row, report, decision):
    rows = [row("a", expected="not_detected")]
    lines = terminal_lines(report(rows), decision(rows))
    assert lines[:3] == [
        "gate strict: refused",
        "  no_mismatch: 1, required <= 0 (n 1; 1 failure, at most 0 pass)",
        "1 row: 1 mismatch",
    ]


def test_a_passed_gate_is_one_line(row, report, decision):
    rows = [row("a", expected="detected")]
    assert terminal_lines(report(rows), decision(rows))[:2] == ["gate strict: pass", "1 row: 1 match"]


def planned(**counts):
    return {"planned": {"rows": 9, "selected": 9, "left_out": 0, "lost": 0, **counts}}


@pytest.mark.parametrize(
    ("run", "first"),
    [
        (planned(lost=3), "incomplete: 3 rows lost"),
        (planned(lost=1), "incomplete: 1 row lost"),
        (planned(left_out=2), "1 row: 1 match"),
        ({"interrupted": True}, "interrupted"),
        ({"interrupted": False}, "1 row: 1 match"),
    ],
)
def test_an_incomplete_run_says_first_why(row, report, run, first):
    assert terminal_lines(report([row("a", expected="detected")], run))[0] == first


def test_an_interrupted_run_says_what_it_lost_too(row, report):
    lines = terminal_lines(report([row("a")], planned(lost=3) | {"interrupted": True}))
    assert lines[:3] == ["interrupted", "incomplete: 3 rows lost", "1 row: 1 measured"]


def test_rows_left_out_matter_where_a_gate_decides(row, report, decision):
    rows = [row("a", expected="detected")]
    assert terminal_lines(report(rows, planned(left_out=2)), decision(rows))[:2] == [
        "incomplete: 2 rows were left out, and a gate decides on all",
        "gate strict: pass",
    ]


def test_nothing_but_unavailable_rows_is_incomplete(row, report):
    rows = [row("a", status="unavailable"), row("b", status="unavailable")]
    assert terminal_lines(report(rows))[0] == "incomplete: every row was unavailable"
    assert terminal_lines(report([*rows, row("c")]))[0] == "3 rows: 2 unavailable, 1 measured"


def test_several_reasons_are_one_line(row, report, decision):
    rows = [row("a", status="unavailable")]
    assert terminal_lines(report(rows, planned(lost=2, left_out=1)), decision(rows))[0] == (
        "incomplete: 2 rows lost; every row was unavailable; 1 row was left out, and a gate decides on all"
    )


@pytest.mark.parametrize(("states", "beyond"), [(40, []), (43, ["... and 3 more in report.json"])])
def test_many_states_are_cut(row, report, states, beyond):
    lines = terminal_lines(report([row(f"c{i}", state=f"s{i:02}") for i in range(states)]))
    assert lines[42:] == beyond


def test_ten_mismatches_and_a_count(row, report):
    lines = terminal_lines(report([row(f"c{i}", line=i + 1, expected="not_detected") for i in range(13)]))
    assert lines[-1] == "... and 3 more in report.json"
    assert [line.split(": ")[0] for line in lines[-11:-1]] == [f"cases.jsonl:{i}" for i in range(1, 11)]


def test_ten_mismatches_need_no_count(row, report):
    lines = terminal_lines(report([row(f"c{i}", line=i + 1, expected="not_detected") for i in range(10)]))
    assert lines[-1].startswith("cases.jsonl:10: ")


def test_an_unstable_row_says_so(row, report):
    one = {"case_id": "a", "params": "q", "expected": "detected"}
    rows = [row(**one), row(**one, attempt=2, status="not_detected")]
    assert terminal_lines(report(rows))[-1] == (
        "cases.jsonl:1: a[q]: dwt-dct: expected detected, observed detected, other attempts otherwise"
    )


def test_a_case_of_a_json_manifest_is_named_by_its_pointer(row, report):
    golden = row("a", expected="not_detected")
    golden["manifest"] = {"name": "set.json", "sha256": "a" * 64, "pointer": "/samples/3"}
    assert terminal_lines(report([golden]))[-1].startswith("set.json#/samples/3: a: ")


def test_suites_are_told_apart(row, report):
    lines = terminal_lines(report([row("a"), row("a", suite="other.py::test")]))
    assert [line.split()[0] for line in lines[1:]] == ["suite", "other.py::test", "suite.py::test_detection"]


def test_control_characters_reach_no_terminal(row, report):
    lines = terminal_lines(report([row("a\x1b[2J\nb", adapter="\x07", reason="\r", expected="not_detected")]))
    assert all(line.isprintable() for line in lines)


def test_no_evidence_is_one_line(report):
    assert terminal_lines(report([])) == ["0 rows"]


def test_lines_come_from_a_report_read_back(row, write):
    document = build_report(write([row("a")]), {})
    assert terminal_lines(document)[0] == "1 row: 1 measured"

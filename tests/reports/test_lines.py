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


def test_why_an_adapter_could_not_be_asked_is_told_once(row, report):
    missing = "onnxruntime is missing (remedy: pip install 'pytest-benchbench[onnx]')"
    rows = [row(case, status="unavailable", reason=missing) for case in "ab"]
    told = f"dwt-dct is unavailable: {missing}"
    assert [line for line in terminal_lines(report([*rows, row("c")])) if "is unavailable" in line] == [told]


@pytest.mark.parametrize(("reasons", "beyond"), [(10, []), (12, ["... and 2 more reasons in report.json"])])
def test_many_reasons_are_cut(row, report, reasons, beyond):
    lines = terminal_lines(report([row(f"c{i:02}", status="unavailable", reason=f"reason {i}") for i in range(reasons)]))
    at = lines.index("dwt-dct is unavailable: reason 9")
    assert lines[at + 1 : at + 2] == beyond


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


def test_an_unstable_score_says_so(row, report):
    one = {"case_id": "a", "status": "scored", "expected": None}
    assert terminal_lines(report([row(**one, score=0.2), row(**one, score=0.9, attempt=2)]))[-1] == (
        "cases.jsonl:1: a: dwt-dct: observed scored, other attempts otherwise"
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


def wrong(state, count, of, start=0, **fields):
    return [
        {"case_id": f"{state}{number}", "state": state, "line": start + number, "expected": "detected", **fields}
        | ({"status": "not_detected"} if number < count else {})
        for number in range(of)
    ]


def test_the_worst_slices_come_first_where_there_are_several(row, report):
    rows = [*wrong("attacked", 1, 4), *wrong("marked", 2, 2, transform="jpeg-75"), *wrong("removed", 1, 9)]
    rows.append({"case_id": "e", "state": "attacked", "status": "error", "expected": "detected"})
    lines = terminal_lines(report([row(**each) for each in rows]))
    begin = lines.index("worst slices:")
    assert lines[begin + 1 : begin + 4] == [
        "  dwt-dct marked jpeg-75 positive: 2 of 2 rows wrong (2 mismatch)",
        "  dwt-dct attacked none positive: 2 of 5 rows wrong (1 mismatch, 1 error)",
        "  dwt-dct removed none positive: 1 of 9 rows wrong (1 mismatch)",
    ]
    assert lines[begin + 4].startswith("cases.jsonl:")


def test_more_slices_than_are_named_are_counted(row, report):
    rows = [row(**each) for state in ("a", "b", "c", "d") for each in wrong(state, 1, 2)]
    lines = terminal_lines(report(rows))
    begin = lines.index("worst slices, 3 of 4:")
    assert [line.split()[1] for line in lines[begin + 1 : begin + 4]] == ["a", "b", "c"]
    assert not lines[begin + 4].startswith(" ")


@pytest.mark.parametrize(("count", "is_named"), [(10, False), (11, True)])
def test_a_single_slice_is_named_where_not_all_its_rows_are(row, report, count, is_named):
    lines = terminal_lines(report([row(**each) for each in wrong("marked", count, 20)]))
    assert ("worst slices:" in lines) is is_named


def test_a_slice_of_errors_is_named(row, report):
    lines = terminal_lines(report([row("a", status="error"), row("b")]))
    assert "  dwt-dct marked none positive: 1 of 2 rows wrong (1 error)" in lines

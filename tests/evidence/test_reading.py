"""Evidence that was damaged is refused by file and line, and never half believed."""

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_benchbench.evidence.reading import EvidenceError, index_evidence, settled_rows
from pytest_benchbench.reports.summary import build_report

anew = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def write(tmp_path):
    path = tmp_path / "evidence.jsonl"

    def write_rows(*rows):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write_rows


@pytest.fixture
def row(directories):
    return directories.row


def test_a_row_with_several_attempts_is_given_once(row, write):
    path = write(row("a", "error", attempt=1), row("b"), row("a", attempt=2))
    assert [(s.row.key.case_id, s.row.key.attempt, s.outcome, s.attempts) for s in settled_rows(path)] == [
        ("b", 1, "match", 1),
        ("a", 2, "match", 2),
    ]


def test_an_unterminated_last_line_is_passed_over(row, write):
    path = write(row("a"), row("b"))
    path.write_bytes(path.read_bytes()[:-1])
    assert [settled.row.key.case_id for settled in settled_rows(path)] == ["a"]


def test_attempts_made_from_different_rows_are_refused_by_name(row, write):
    path = write(row("a", "error"), row("b"), row("a", attempt=2, row_sha256="0" * 64))
    with pytest.raises(EvidenceError) as refused:
        list(settled_rows(path))
    assert str(refused.value) == (
        f"{path}:3: a: rows of this case come from different manifest lines (row_sha256 differs from {path}:1)"
    )


def test_an_attempt_whose_row_could_not_be_read_again_is_not_refused(row, write):
    path = write(row("a"), row("a", "error", attempt=2, row_sha256=""))
    assert [settled.attempts for settled in settled_rows(path)] == [2]


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda line: line.replace(b'"case": {', b'"case": {"deep": ' + b"[" * 100_000 + b"]" * 100_000 + b", "), "nested"),
        (lambda line: line.replace(b'"outcome": "match"', b'"outcome": "good"'), "outcome"),
        (lambda line: line.replace(b'"adapter_elapsed_ms": 1.5', b'"adapter_elapsed_ms": 1e999'), "out of range"),
        (lambda line: line.replace(b'"schema_version": 1', b'"schema_version": 2'), "schema_version"),
        (lambda line: line.replace(b'"line": 1', b'"line": ' + b"9" * 30), "line"),
        (lambda line: line.replace(b"dwt-dct", b"\xff\xfe"), "utf-8"),
        (lambda line: b"\n", "malformed|truncated"),
        (lambda line: b"null\n", "null"),
    ],
)
def test_damage_is_told_by_file_and_line(row, write, damage, fault):
    path = write(row("a"), row("b"))
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + damage(second))
    with pytest.raises(EvidenceError, match=f"(?i)^{re.escape(str(path))}:2: .*({fault})"):
        list(settled_rows(path))


@anew
@given(data=st.data())
def test_flipped_bits_and_cuts_never_end_otherwise(row, write, data):
    path = write(row("a", "error"), row("b", "not_detected"), row("a", attempt=2))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    del content[data.draw(st.integers(0, len(content))) :]
    path.write_bytes(content)
    rows = refusal = None
    try:
        rows = build_report(path, {})["results"]["rows"]
    except EvidenceError as error:
        refusal = str(error)
    assert rows in range(4) if refusal is None else re.match(rf"{re.escape(str(path))}:\d+: ", refusal)


def test_what_a_summary_refuses_is_told_by_file_and_line(row, write):
    path = write(row("a"), row("b", artifact={"sha256": "zz", "decoding": None}))
    with pytest.raises(EvidenceError, match=rf"{re.escape(str(path))}:2: b: artifact\.sha256"):
        build_report(path, {})


def test_a_file_that_shrinks_while_it_is_read_is_refused(row, write):
    indexed = index_evidence(write(row("a"), row("b")))
    write(row("a"))
    with pytest.raises(EvidenceError, match="lost lines"):
        list(indexed.rows())


def test_rows_that_are_appended_meanwhile_are_not_counted(row, write):
    indexed = index_evidence(write(row("a")))
    write(row("a"), row("b"))
    assert [settled.row.key.case_id for settled in indexed.rows()] == ["a"]


def test_an_endless_line_is_refused_and_not_held(write, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.evidence.reading.MAX_LINE_BYTES", 100)
    path = write()
    path.write_bytes(b"x" * 1000)
    with pytest.raises(EvidenceError, match=":1: the line is longer than 100 bytes"):
        list(settled_rows(path))

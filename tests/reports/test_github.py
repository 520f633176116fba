import os

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from pytest_benchbench.evidence.reading import settled_rows
from pytest_benchbench.gates.decision import EvidenceFacts, decide
from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.reports.github import (
    MOST_ANNOTATIONS,
    MOST_SUMMARY_BYTES,
    annotation_commands,
    manifest_finder,
    render_summary,
    tell_github,
    write_job_summary,
)

ACTIONS = {"GITHUB_ACTIONS": "true"}

HOSTILE = "x\n::error::forged\r##[error]y%0A::z,line=9<img src=x>|`@you[a](b)"


def unescape(text):
    """Read what GitHub reads in a value of a workflow command."""
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def read_command(line):
    """Read a workflow command as the runner does: name, properties, message."""
    assert line.startswith("::")
    head, message = line[2:].split("::", 1)
    name, _, properties = head.partition(" ")
    read = (part.partition("=") for part in properties.split(","))
    return name, {key: unescape(value) for key, _, value in read}, unescape(message)


def found(name):
    return f"sets/{name}"


def test_a_mismatch_is_annotated_at_its_line(row, report):
    document = report([row("a", expected="detected", status="not_detected", reason="43/48 bits", line=12), row("b")])
    (command,) = annotation_commands(document, ACTIONS, found)
    assert command == (
        "::error file=sets/cases.jsonl,line=12,title=dwt-dct%3A mismatch::"
        "cases.jsonl:12: a: dwt-dct: expected detected, observed not_detected (43/48 bits)"
    )


@pytest.mark.parametrize("environment", [{}, {"GITHUB_ACTIONS": "false"}, {"GITHUB_ACTIONS": ""}, {"CI": "true"}])
def test_elsewhere_nothing_is_annotated(row, report, environment):
    document = report([row("a", expected="detected", status="not_detected")])
    assert annotation_commands(document, environment, found) == []


def test_errors_come_after_the_mismatches(row, report):
    rows = [row("e", status="error", line=1), row("m", expected="not_detected", line=2), row("u", status="unavailable")]
    read = [read_command(line) for line in annotation_commands(report(rows), ACTIONS, found)]
    assert [(name, properties["title"], properties["line"]) for name, properties, _ in read] == [
        ("error", "dwt-dct: mismatch", "2"),
        ("error", "dwt-dct: error", "1"),
    ]
    assert read[1][2].startswith("cases.jsonl:1: e: dwt-dct: error: ")


@pytest.mark.parametrize(("mismatches", "errors"), [(10, 0), (11, 0), (4, 6), (4, 7), (0, 11), (30, 5)])
def test_no_more_are_written_than_github_shows(row, report, mismatches, errors):
    rows = [row(f"m{n}", expected="not_detected", line=n) for n in range(mismatches)]
    rows += [row(f"e{n}", status="error", line=100 + n) for n in range(errors)]
    commands = annotation_commands(report(rows), ACTIONS, found)
    wrong = mismatches + errors
    assert len(commands) == min(wrong, MOST_ANNOTATIONS)
    more = f"::error title=benchbench::and {wrong - 9} more mismatches and errors"
    assert (commands[-1] == more) is (wrong > MOST_ANNOTATIONS)


def test_hostile_text_stays_in_its_place(row, report):
    document = report([row(HOSTILE, adapter=HOSTILE, expected="not_detected", reason=HOSTILE)])
    (command,) = annotation_commands(document, ACTIONS, lambda name: f"a:b,c%\n{name}")
    assert command.isprintable()
    name, properties, message = read_command(command)
    assert (name, set(properties)) == ("error", {"file", "line", "title"})
    assert properties["file"] == r"a:b,c%\ncases.jsonl"
    assert r"x\n::error::forged\r##[error]y%0A::z,line=9" in message


@given(st.text(), st.text())
def test_properties_and_messages_are_read_as_they_were_written(row, report, case_id, adapter):
    document = report([row(f"c{case_id}", adapter=f"a{adapter}", expected="not_detected")])
    (command,) = annotation_commands(document, ACTIONS, lambda name: None)
    _, properties, message = read_command(command)
    assert command.isprintable()
    assert set(properties) == {"title"}
    assert message.startswith("cases.jsonl:1: c")


def test_a_case_of_a_json_manifest_has_no_line(row, report):
    golden = row("a", expected="not_detected")
    golden["manifest"] = {"name": "set.json", "sha256": "a" * 64, "pointer": "/samples/3"}
    _, properties, message = read_command(annotation_commands(report([golden]), ACTIONS, found)[0])
    assert "line" not in properties
    assert message.startswith("set.json#/samples/3: ")


def manifest(path):
    return {"name": os.path.basename(path), "path": path}


@pytest.mark.parametrize(
    ("path", "directory", "place"),
    [
        ("cases.jsonl", ".", "cases.jsonl"),
        ("sets/cases.jsonl", ".", "sets/cases.jsonl"),
        ("cases.jsonl", "sub", "sub/cases.jsonl"),
        ("../cases.jsonl", "sub", "cases.jsonl"),
        ("../cases.jsonl", ".", None),
        ("/elsewhere/cases.jsonl", ".", None),
        ("cases.jsonl", None, "cases.jsonl"),
        ("../cases.jsonl", None, None),
        ("/elsewhere/cases.jsonl", None, None),
    ],
)
def test_manifests_are_found_from_the_root_of_the_repository(tmp_path, path, directory, place):
    where = None if directory is None else tmp_path / directory
    find = manifest_finder([manifest(path)], where, {"GITHUB_WORKSPACE": str(tmp_path)})
    assert (find("cases.jsonl"), find("other.jsonl")) == (place, None)


def test_a_manifest_that_merged_runs_name_by_several_paths_is_not_found(tmp_path):
    find = manifest_finder([{"name": "cases.jsonl", "path": None}], tmp_path, {"GITHUB_WORKSPACE": str(tmp_path)})
    assert find("cases.jsonl") is None


def test_an_absolute_path_inside_is_found_and_a_name_of_two_is_not(tmp_path):
    environment = {"GITHUB_WORKSPACE": str(tmp_path)}
    find = manifest_finder([manifest(f"{tmp_path}/a/cases.jsonl")], tmp_path, environment)
    assert find("cases.jsonl") == "a/cases.jsonl"
    find = manifest_finder([manifest("a/cases.jsonl"), manifest("b/cases.jsonl")], tmp_path, environment)
    assert find("cases.jsonl") is None


RUN = {
    "manifests": [{"name": "cases.jsonl", "path": "cases.jsonl"}],
    "options": {"shard": "1/2"},
    "planned": {"rows": 5, "selected": 5, "left_out": 0, "lost": 1},
    "gaps": ["missing: shard 2/2"],
}


def rows_of(row, count=3):
    rows = [row(f"m{n}", expected="not_detected", line=n, reason="why") for n in range(count)]
    return [*rows, row("e", status="error"), row("u", status="unavailable"), row("good", expected="detected")]


def test_a_summary_has_the_verdict_what_is_worst_and_where_the_report_is(row, report, write):
    rows = rows_of(row)
    facts = EvidenceFacts(lost=0, left_out=0, lazy_verification=False, sha256={})
    gate = decide(load_policy("strict"), settled_rows(write(rows)), facts)
    text = render_summary(report(rows, RUN), gate, report="run/report.md")
    lines = [line for line in text.splitlines() if line]
    assert lines[:2] == ["## Benchmark cases.jsonl, shard 1/2", "**Gate strict: refused**"]
    assert "6 rows: 1 error, 3 mismatch, 1 unavailable, 1 match." in lines
    assert "- Gap: missing: shard 2/2" in lines
    assert "1 planned row was lost." in lines
    assert "### Mismatches: 3" in lines
    assert "| cases.jsonl:2 | m2 | dwt-dct | not_detected | detected | why |" in lines
    assert lines[-1] == "The whole report: run/report.md"


def test_long_lists_are_cut_and_counted(row, report):
    text = render_summary(report(rows_of(row, 73), RUN), None, report="r")
    assert text.count("| cases.jsonl:") == 50 + 2
    assert "23 more are not shown here." in text


def test_hostile_text_is_no_markup(row, report):
    rows = [row(HOSTILE, adapter=HOSTILE, state=HOSTILE, transform=HOSTILE, expected="not_detected", reason=HOSTILE)]
    run = {"manifests": [{"name": HOSTILE, "path": HOSTILE}], "gaps": [HOSTILE]}
    tokens = MarkdownIt("commonmark").enable("table").parse(render_summary(report(rows, run), None, report=HOSTILE))
    children = [child for token in tokens for child in (token, *(token.children or ()))]
    assert not {child.type for child in children} & {
        "html_block",
        "html_inline",
        "image",
        "link_open",
        "code_inline",
        "fence",
    }
    assert sum(token.type == "h2" or token.tag == "h2" for token in tokens) == 2  # opened and closed once


def test_the_summary_is_appended(row, report, tmp_path):
    file = tmp_path / "summary.md"
    file.write_bytes(b"what was there\n")
    environment = {"GITHUB_STEP_SUMMARY": str(file)}
    document = report(rows_of(row), RUN)
    for _ in range(2):
        assert write_job_summary(document, None, environment, report="r") is None
    summary = render_summary(document, None, report="r")
    assert file.read_text() == f"what was there\n{summary}\n{summary}\n"


def test_without_the_variable_nothing_is_written(row, report, tmp_path):
    assert write_job_summary(report([row()], RUN), None, {"GITHUB_STEP_SUMMARY": ""}, report="r") is None
    assert tell_github(report([row()], RUN), None, {}, report="r", directory=tmp_path).commands == ()
    assert not (tmp_path / "summary.md").exists()


def test_what_does_not_fit_is_shortened_and_then_left_out(row, report, tmp_path):
    file = tmp_path / "summary.md"
    environment = {"GITHUB_STEP_SUMMARY": str(file)}
    document = report(rows_of(row), RUN)
    short = f"{render_summary(document, None, report='r', is_short=True)}\n"
    for room, written in ((len(short), short), (len(short) - 1, "")):
        file.write_bytes(b"x" * (MOST_SUMMARY_BYTES - room))
        warning = write_job_summary(document, None, environment, report="r")
        assert file.read_text().lstrip("x") == written
        assert (warning is None) is bool(written)
    assert warning.startswith("GITHUB_STEP_SUMMARY: no room is left")
    assert file.stat().st_size < MOST_SUMMARY_BYTES


@pytest.mark.parametrize("path", [".", "absent/summary.md", "\0"])
def test_what_cannot_be_written_is_a_warning(row, report, tmp_path, path):
    told = tell_github(
        report([row()], RUN), None, {"GITHUB_STEP_SUMMARY": f"{tmp_path}/{path}"}, report="r", directory=tmp_path
    )
    assert told.warning.startswith("GITHUB_STEP_SUMMARY: the summary of the job cannot be written: ")
    assert told.warning.isprintable()

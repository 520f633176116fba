"""A run under GitHub Actions: annotations among the output, and the summary of the job."""

import pytest


@pytest.fixture
def actions(project, monkeypatch):
    """The environment of a step; gives the file of its summary."""
    summary = project.path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    return summary


def test_mismatches_are_annotated_and_the_job_has_one_summary(project, actions, workers):
    project.case("right")
    project.case("wrong", says="not_detected")
    project.case("broken", says="raise")
    project.write("sets/cases.jsonl", [row | {"path": f"../{row['path']}"} for row in project.rows])
    result = project.run("sets/cases.jsonl", f"--bench-artifact-root={project.path}", workers=workers)
    assert result.ret == 1
    commands = [line for line in result.outlines if "::error" in line]
    assert [line.split("::")[1] for line in commands] == [
        "error file=sets/cases.jsonl,line=2,title=toy%3A mismatch",
        "error file=sets/cases.jsonl,line=3,title=toy%3A error",
    ]
    text = actions.read_text()
    assert text.count("## Benchmark cases.jsonl\n") == 1
    assert "3 rows: 1 error, 1 mismatch, 1 match." in text
    assert "The whole report: run/report.md" in text


def test_a_summary_that_cannot_be_written_is_a_warning_alone(project, actions):
    actions.mkdir()
    project.case("right")
    project.write()
    result = project.run("cases.jsonl")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["warning: GITHUB_STEP_SUMMARY: the summary of the job cannot be written: *"])


def test_elsewhere_there_is_neither(project):
    project.case("wrong", says="not_detected")
    project.write()
    result = project.run("cases.jsonl")
    assert result.ret == 1
    assert "::error" not in result.stdout.str()
    assert not (project.path / "summary.md").exists()

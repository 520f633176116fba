"""A disk that is full: the session ends with one line, what was written stays valid, and the run can be gone on with."""

import pytest

FULL_DISK = """
import resource

def pytest_configure(config):
    # a file that would become larger is an error to its writer, as on a full disk; workers write none
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, -1))
"""


def limited(project, limit, *arguments, workers=0):
    """Run in a process that cannot write files beyond this size."""
    (project.path / "full_disk.py").write_text(FULL_DISK.format(limit=limit))
    processes = ("-n", str(workers)) if workers else ("-p", "no:xdist")
    options = ("-p", "full_disk", "-p", "no:randomly", "-p", "no:cacheprovider", *processes)
    result = project.pytester.runpytest_subprocess(*options, "cases.jsonl", *arguments)
    said = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in said
    assert "INTERNALERROR" not in said
    return result


@pytest.fixture
def forty(project):
    for number in range(1, 41):
        project.case(f"cat-{number:02}", "detected" if number % 3 else "not_detected", expected="unresolved")
    project.write()
    return project


def test_evidence_that_cannot_be_written_ends_the_session(forty, workers):
    result = limited(forty, 20_000, "--bench-run-dir=run", workers=workers)
    assert result.ret == 21
    line = "incomplete: evidence cannot be written: *run/evidence.jsonl: File too large; what was written is kept: "
    result.stdout.fnmatch_lines([f"{line}make room and go on with --bench-resume=run"])
    assert (forty.path / "run" / "evidence.jsonl").read_bytes().endswith(b"}\n")
    assert 0 < len(forty.evidence) < 40
    assert "finished" not in forty.document("run.json")


def test_a_run_that_broke_off_is_finished_where_there_is_room(forty, workers):
    forty.run("cases.jsonl")
    whole = forty.results
    (forty.path / "run").rename(forty.path / "whole")
    assert limited(forty, 20_000, "--bench-run-dir=run", workers=workers).ret == 21
    assert forty.resume("cases.jsonl", workers=workers).ret == 0
    assert sorted(row["key"]["case_id"] for row in forty.evidence) == [f"cat-{number:02}" for number in range(1, 41)]
    assert forty.results == whole


def test_a_disk_that_is_still_full_changes_nothing(forty):
    assert limited(forty, 20_000, "--bench-run-dir=run").ret == 21
    before = forty.evidence
    result = limited(forty, 20_000, "--bench-resume=run")
    assert result.ret == 21
    result.stdout.fnmatch_lines(["incomplete: evidence cannot be written: *go on with --bench-resume=run"])
    assert forty.evidence == before


def test_rows_that_were_lost_and_cannot_be_recorded_end_the_session_the_same_way(project):
    for number in range(1, 31):
        project.case(f"cat-{number:02}", "detected" if number < 13 else "interrupt")
    project.write()
    result = limited(project, 20_000, "--bench-run-dir=run")
    assert result.ret == 21
    result.stdout.fnmatch_lines(["incomplete: evidence cannot be written: *go on with --bench-resume=run"])
    assert project.outcomes["cat-12"] == "match"


def test_a_report_that_cannot_be_written_ends_the_session(project):
    project.case("cat-01")
    project.case("cat-02")
    project.write()
    project.run("cases.jsonl")
    sizes = {path.name: path.stat().st_size for path in (project.path / "run").iterdir()}
    assert sizes["report.json"] > sizes["evidence.jsonl"]
    (project.path / "run").rename(project.path / "whole")
    result = limited(project, sizes["report.json"] - 200, "--bench-run-dir=run")
    assert result.ret == 21
    line = "incomplete: the run cannot be written: *report.json*: File too large; what was written is kept: "
    result.stdout.fnmatch_lines([f"{line}make room and go on with --bench-resume=run"])
    assert sorted(path.name for path in (project.path / "run").iterdir()) == ["evidence.jsonl", "run.json"]
    assert project.resume("cases.jsonl").ret == 0
    assert len(project.evidence) == 2


def test_a_run_that_cannot_even_begin_is_a_fault_of_use(project):
    project.case("cat-01")
    project.write()
    result = limited(project, 1000, "--bench-run-dir=run")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: *run: File too large"])
    assert not (project.path / "run").exists()

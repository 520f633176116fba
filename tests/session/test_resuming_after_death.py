"""Going on with a run whose process died in the middle of a row."""

import fcntl
import signal

import pytest


def test_a_last_line_that_was_cut_is_taken_away(begun):
    path = begun.path / "run" / "evidence.jsonl"
    line = path.read_bytes()
    path.write_bytes(line + line[:100])
    assert begun.resume("cases.jsonl").ret == 0
    assert begun.tried == [("cat-01", 1), ("cat-02", 1)]


def test_a_row_that_always_kills_its_process_does_not_stop_the_run(project):
    project.cases("detected", "exit", "detected")
    project.kill()
    second = project.alone("--bench-resume=run", "cases.jsonl")
    assert second.ret == 3
    assert project.resume("cases.jsonl").ret == 1
    assert project.outcomes == {"cat-01": "match", "cat-02": "error", "cat-03": "match"}
    assert project.tried == [("cat-01", 1), ("cat-02", 1), ("cat-02", 2), ("cat-03", 1)]
    assert {row["error"]["type"] for row in project.evidence if "error" in row} == {"ProcessDied"}


def test_a_row_that_killed_its_process_may_not_be_retried(project):
    project.cases("detected", "exit", "detected")
    project.kill()
    assert project.resume("cases.jsonl", "--bench-crash-retries=0").ret == 1
    assert project.tried == [("cat-01", 1), ("cat-02", 1), ("cat-03", 1)]


def test_retrying_errors_retries_a_row_that_killed_its_process(project):
    project.cases("detected", f"once {project.path / 'died'}")
    project.kill()
    assert project.resume("cases.jsonl", "--bench-crash-retries=0", "--bench-retry=error").ret == 0


def test_a_death_after_the_verdict_undoes_it(project):
    project.cases("detected", "detected")
    project.pytester.makepyfile(
        """
        import os
        import pytest

        @pytest.fixture
        def dying(case):
            yield
            if case.case_id == "cat-01" and not os.path.exists("died"):
                open("died", "w").close()
                os._exit(3)

        @pytest.mark.cases(kind="watermark")
        def test_dying(dying, observe):
            observe().check()
        """
    )
    died = project.alone("--bench-run-dir=run", "--manifest=cases.jsonl")
    assert died.ret == 3
    assert project.outcomes == {"cat-01": "match"}
    assert project.resume("--manifest=cases.jsonl").ret == 0
    history = [(row["key"]["attempt"], row["outcome"]) for row in project.evidence if row["key"]["case_id"] == "cat-01"]
    assert history == [(1, "match"), (1, "error"), (2, "match")]


def test_deaths_are_counted_over_sessions_with_and_without_workers(project):
    project.cases("detected", "exit", "detected")
    project.kill()
    result = project.resume("cases.jsonl", workers=2)
    assert result.ret == 1
    deaths = [row["error"]["type"] for row in project.evidence if row["key"]["case_id"] == "cat-02"]
    assert deaths == ["ProcessDied", "WorkerCrash"]


def test_a_worker_that_replaces_another_leaves_out_the_same_rows(project):
    project.cases(*["detected"] * 6, f"once {project.path / 'died'}", *["detected"] * 5)
    project.run("cases.jsonl", "-k", "cat-01 or cat-05")
    result = project.resume("cases.jsonl", workers=1)
    assert result.ret == 0
    assert sorted(project.tried) == sorted([(f"cat-{number:02}", 1) for number in range(1, 13)] + [("cat-07", 2)])


def test_a_run_that_ends_by_itself_leaves_no_mark(project):
    project.cases("detected", "raise")
    project.run("cases.jsonl")
    assert sorted(path.name for path in (project.path / "run").iterdir()) == [
        "evidence.jsonl",
        "report.html",
        "report.json",
        "report.md",
        "run.json",
    ]


def test_a_batch_is_asked_row_by_row_after_a_death(project):
    project.cases("detected", "detected", "exit", "detected", "detected", adapter="waves")
    project.kill()
    for _ in range(2):
        project.alone("--bench-resume=run", "cases.jsonl")
    assert project.resume("cases.jsonl").ret == 1
    assert project.outcomes == {f"cat-{n:02}": "error" if n == 3 else "match" for n in range(1, 6)}


def test_rows_beside_one_that_stays_an_error_are_not_blamed(project):
    project.cases("detected", "detected", "exit", "detected", "detected", adapter="waves")
    project.kill("--bench-crash-retries=0")
    resumed = project.alone("--bench-resume=run", "cases.jsonl", "--bench-crash-retries=0")
    assert resumed.ret == 3
    assert project.resume("cases.jsonl", "--bench-crash-retries=0").ret == 1
    assert project.outcomes == {f"cat-{n:02}": "error" if n in (1, 3) else "match" for n in range(1, 6)}


WATCHED = """
import fcntl

def pytest_sessionstart(session):
    if hasattr(session.config, "workerinput"):
        session.config.alive = open("alive", "w")
        fcntl.flock(session.config.alive, fcntl.LOCK_SH)

class Orphan(Toy):
    name = "orphan"

    def detect(self, sample):
        if sample.data.startswith(b"orphan") and not os.path.exists("orphaned"):
            open("orphaned", "w").close()
            os.kill(os.getppid(), signal.SIGKILL)
        return Detection("detected")
"""


@pytest.mark.timeout(120)
def test_a_killed_controller_takes_its_workers_along_and_loses_nothing(project):
    conftest = project.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace("for adapter in (Toy", "for adapter in (Toy, Orphan") + WATCHED)
    project.cases(*["detected"] * 5, "orphan", *["detected"] * 14, adapter="orphan")
    assert project.run("cases.jsonl", workers=2).ret == -signal.SIGKILL
    with (project.path / "alive").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # which every living worker holds
    kept = project.tried
    assert project.resume("cases.jsonl", workers=2).ret == 0
    assert project.tried[: len(kept)] == kept
    assert sorted(project.tried) == [(f"cat-{number:02}", 1) for number in range(1, 21)]

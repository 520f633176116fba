"""Ctrl-C and the first failure: what was measured is kept, and the report says what the rest is."""

import os
import select
import signal
import subprocess
import sys

import pytest

WAITING = """
    import os
    import pytest
    from pytest_benchbench import Adapter, AdapterDescription, Detection

    class Waiting(Adapter):
        '''Waits at a pipe where the file says so.'''
        name = "waiting"
        media_types = frozenset({"image"})
        needs = "bytes"

        def detect(self, sample):
            if sample.data.startswith(b"wait"):
                with open("pipe") as pipe:
                    pipe.read()
            return Detection("detected")

        def describe(self):
            return AdapterDescription("1", "always")

    def pytest_benchbench_adapters(registry):
        registry.register(Waiting)

    kept = 0
    is_worker = False

    def pytest_configure(config):
        global is_worker
        is_worker = hasattr(config, "workerinput")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(report):
        global kept
        if is_worker or report.when != "call":
            return
        kept += 1
        if kept == 2:
            with open("kept", "w") as pipe:
                pipe.write("two rows")
"""

LONGEST = 120
"""Seconds after which a test gives up."""


@pytest.fixture
def waiting(project):
    """Rows that are answered, and one in the middle that waits until the pipe is closed."""
    project.pytester.makeconftest(WAITING)
    for number in range(9):
        project.case(f"row-{number}", "wait" if number == 4 else "detected", adapter="waiting")
    project.write()
    for name in ("pipe", "kept"):
        os.mkfifo(project.path / name)
    return project


def interrupted(project, *arguments, whole_group):
    """Run pytest, interrupt it while a row waits, and give its exit code and what it said."""
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "--bench-run-dir=run", *arguments, "cases.jsonl"]
    process = subprocess.Popen(
        command, cwd=project.path, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    kept = os.open(project.path / "kept", os.O_RDWR)
    told, _, _ = select.select([kept], [], [], LONGEST)  # two rows are kept: the last one may still be taken back
    os.close(kept)
    assert told
    with (project.path / "pipe").open("w"):  # opens once the row has opened it
        if whole_group:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT)
        if "-n" not in arguments:
            process.wait(LONGEST)
    said, _ = process.communicate(timeout=LONGEST)
    return process.returncode, said


@pytest.mark.parametrize("whole_group", [False, True], ids=["controller", "terminal"])
@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["one-process", "two-workers"])
def test_ctrl_c_keeps_the_evidence_and_says_interrupted(waiting, arguments, whole_group):
    code, said = interrupted(waiting, *arguments, whole_group=whole_group)
    assert code == 2, said
    outcomes = waiting.outcomes
    assert sorted(outcomes) == [f"row-{number}" for number in range(9)]
    assert set(outcomes.values()) == {"match", "not_run"}
    run = waiting.document("run.json")
    assert run["interrupted"] is True
    assert run["planned"]["lost"] == list(outcomes.values()).count("not_run")
    assert "interrupted" in (waiting.path / "run" / "report.md").read_text()
    assert "\ninterrupted\n" in said


def test_an_interrupt_in_a_worker_is_no_crash(project):
    project.case("cat-01", "interrupt")
    for number in range(2, 6):
        project.case(f"cat-{number:02}")
    project.write()
    result = project.run("cases.jsonl", workers=2)
    assert result.ret == 2
    assert project.outcomes["cat-01"] == "not_run"
    assert len(project.outcomes) == 5
    assert project.document("run.json")["interrupted"] is True


def test_stopping_at_the_first_failure_with_workers_keeps_what_ran_and_loses_none(project):
    for number in range(40):
        project.case(f"cat-{number:02}", "not_detected" if number == 3 else "detected")
    project.write()
    assert project.run("cases.jsonl", "-x", workers=2).ret == 2
    planned = project.document("run.json")["planned"]
    assert planned["lost"] == 0
    assert planned["left_out"] == 40 - len(project.outcomes)
    assert project.outcomes["cat-03"] == "mismatch"
    assert set(project.outcomes.values()) == {"match", "mismatch"}

"""The whole command: from arguments to a profile on disk, dying processes and an interrupt included."""

import json
import os
import select
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from pytest_benchbench.engines.shard_process import TELLS_COST

pytestmark = pytest.mark.skipif(not TELLS_COST or not hasattr(os, "pidfd_open"), reason="this system tells no costs")

TIMEOUT = 240


def start(project, *arguments):
    script = Path(sysconfig.get_path("scripts")) / "benchbench"
    line = [sys.executable, "-W", "error", script, "profile", *map(str, arguments)]
    return subprocess.Popen(
        line, cwd=project.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def finish(process):
    printed, told = process.communicate(timeout=TIMEOUT)
    return process.returncode, printed, told.splitlines()


def test_a_profile_is_json_lines_and_a_report(project):
    project.cases(2)
    project.case("wrong", says="not_detected")
    project.write()
    code, printed, told = finish(start(project, "cases.jsonl", "--repeat", "2", "--output-dir", "new/out", "--json"))
    assert code == 0, told
    out = project.path / "new" / "out"
    document = json.loads(printed)
    assert document == json.loads((out / "profile.json").read_text())
    assert told[0] == "2 processes to run"
    assert sorted(path.name for path in out.iterdir()) == ["1-cases", "profile.json", "profile.md"]
    (line,) = document["manifests"]
    assert (line["adapter"], line["rows"], line["statuses"]) == ("toy", 3, {"detected": 2, "not_detected": 1})
    assert (line["statuses_stable"], line["died"], len(document["samples"]["cases.jsonl"]["wall_ms"])) == (True, 0, 2)
    assert line["adapters"][0]["name"] == "toy"
    assert "not divided by the number of cases" in (out / "profile.md").read_text()


def test_a_process_that_dies_makes_it_exit_1_and_an_unavailable_adapter_21(project, tmp_path):
    project.case("deadly", says=f"die {tmp_path / 'flag'}")
    project.write()
    code, printed, _ = finish(start(project, "cases.jsonl", "--repeat", "2", "--output-dir", "died"))
    assert code == 1
    assert "warning: cases.jsonl: repetition 1 is in no figure: pytest ended by SIGKILL: " in printed
    assert printed.splitlines()[-1] == "report: died/profile.md"
    conftest = project.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace('needs = "bytes"', 'needs = "bytes"\n    network = True'))
    code, printed, _ = finish(start(project, "cases.jsonl", "--repeat", "1", "--output-dir", "far"))
    assert code == 21
    assert "nothing was measured" in printed


def test_what_ran_before_an_interrupt_is_kept(project, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    project.cases(1)
    project.write("first.jsonl")
    project.case("held", says=f"hold {tmp_path / 'flag'} {pipe}")
    del project.rows[0]
    project.write("second.jsonl")
    process = start(project, "first.jsonl", "second.jsonl", "--output-dir", "out")
    reading, ended = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), os.pidfd_open(process.pid)
    ready, _, _ = select.select([reading, ended], [], [], TIMEOUT)
    assert ready == [reading], process.communicate()
    os.killpg(process.pid, signal.SIGINT)
    code, printed, told = finish(process)
    os.close(reading)
    os.close(ended)
    assert code == 1, told
    assert "warning: second.jsonl: repetition 1 is in no figure: interrupted" in printed
    assert "warning: first.jsonl: 1 of 3 processes ran" in printed
    assert not any("Traceback" in line for line in told)
    first, second = json.loads((project.path / "out" / "profile.json").read_text())["manifests"]
    assert (first["died"], second["died"], first["cost"]["wall_ms"]["n"]) == (0, 1, 1)

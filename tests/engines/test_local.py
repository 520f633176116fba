"""The whole command with workers of its own: from arguments to a merged run, interrupted and gone on with."""

import json
import os
import select
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="pip install 'pytest-benchbench[dask]'")

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no process groups and descriptors of processes here")

TIMEOUT = 240


@pytest.fixture
def command(project):
    """Start ``benchbench run`` in the project as a shell does: in a process group of its own."""
    started = []

    def start(*arguments):
        script = Path(sysconfig.get_path("scripts")) / "benchbench"
        line = [sys.executable, "-W", "error", script, "run", "--workers", "2", *arguments]
        process = subprocess.Popen(
            line, cwd=project.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def finish(process):
    """Wait for its end; give what it printed, and on standard error as lines."""
    printed, told = process.communicate(timeout=TIMEOUT)
    return printed, told.splitlines()


def test_a_benchmark_runs_in_shards_and_ends_as_one_run(project, command):
    project.cases(7)
    project.case("wrong", says="not_detected")
    project.write()
    process = command("--shards", "3", "--output-dir", "out/new", "--gate", "strict", "--", "--manifest=cases.jsonl")
    printed, told = finish(process)
    assert process.returncode == 20, "\n".join([printed, *told])
    out = project.path / "out" / "new"
    assert told[0] == "3 of 3 shards to run"
    assert [line.split(" on tcp://127.0.0.1:")[0] for line in sorted(told[1:])] == [
        f"shard {index}/3: exit code {code}" for index, code in zip((1, 2, 3), exit_codes(out), strict=True)
    ]
    assert printed.splitlines()[-1] == "report: out/new/merged/report.md"
    assert json.loads((out / "merged" / "gate.json").read_text())["decision"] == "refused"
    assert project.results_of(out / "merged") == project.results()


def exit_codes(out):
    runs = [out / "shards" / f"shard-{index}-of-3" / "run.json" for index in (1, 2, 3)]
    return [json.loads(run.read_text())["exit_status"] for run in runs]


def hear(pipe, process):
    """Read a named pipe as soon as somebody writes into it, unless the process ends before."""
    reading, ended = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), os.pidfd_open(process.pid)
    ready, _, _ = select.select([reading, ended], [], [], TIMEOUT)
    os.close(ended)
    assert ready == [reading], process.communicate()
    os.set_blocking(reading, True)
    with open(reading) as file:
        return file.read()


def test_an_interrupted_run_is_gone_on_with(project, command, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    project.cases(5)
    project.case("held", says=f"hold {tmp_path / 'flag'} {pipe}")
    project.write()
    process = command("--shards", "2", "--output-dir", "out", "--", "--manifest=cases.jsonl")
    watched = os.pidfd_open(int(hear(pipe, process).split()[1]))
    os.killpg(process.pid, signal.SIGINT)
    printed, told = finish(process)
    assert process.returncode == 21
    assert told[-1] == "Error: interrupted; go on with --resume --output-dir=out"
    assert "Traceback" not in "\n".join([printed, *told])
    assert select.select([watched], [], [], 60)[0], "the held pytest still runs"
    os.close(watched)
    assert not (project.path / "out" / "merged").exists()
    process = command("--resume", "--output-dir", "out", "--", "--manifest=cases.jsonl")
    printed, told = finish(process)
    assert process.returncode == 0, (printed, told)
    assert project.results_of(project.path / "out" / "merged") == project.results()


LISTENING = """
import psutil
from pytest_benchbench.engines.local import local_workers

if __name__ == "__main__":
    with local_workers(2):
        here = psutil.Process()
        for process in [here, *here.children(recursive=True)]:
            for connection in process.net_connections():
                if connection.status == "LISTEN":
                    print(connection.laddr.ip)
"""


def test_workers_are_reachable_by_this_machine_alone(tmp_path):
    script = tmp_path / "listening.py"
    script.write_text(LISTENING)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=TIMEOUT, check=True)
    addresses = done.stdout.split()
    assert len(addresses) > 2
    assert set(addresses) == {"127.0.0.1"}


TROUBLED = """
import logging
from pytest_benchbench.engines.local import local_workers

def complain():
    for name in ("distributed", "distributed.client", "distributed.worker", "tornado.application", "asyncio"):
        try:
            raise RuntimeError("nobody needs to know")
        except RuntimeError:
            logging.getLogger(name).exception("it went wrong")
    return 1

if __name__ == "__main__":
    with local_workers(1) as client:
        print(complain() + sum(client.run(complain).values()))
"""


def test_what_goes_wrong_inside_dask_is_not_shown(tmp_path):
    script = tmp_path / "troubled.py"
    script.write_text(TROUBLED)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=TIMEOUT, check=True)
    assert (done.stdout, done.stderr) == ("2\n", "")

import os
import subprocess
import sys
from contextlib import suppress

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main
from pytest_benchbench.cli.run import _shown
from pytest_benchbench.engines.landing import Landing
from pytest_benchbench.engines.shard_job import ShardResult, plan_jobs


def invoke(*arguments):
    return CliRunner().invoke(main, ["run", *map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--output-dir", "out", "--", "--bench-shard=1/2"], "--bench-shard: is set by the engine for each shard"),
        (
            ["--output-dir", "out", "--", "--bench-gate=strict"],
            "--bench-gate: is set by the engine for each shard; give --gate",
        ),
        (["--output-dir", "out", "--engine", "dask"], "--engine dask: name its scheduler by --scheduler"),
        (["--output-dir", "out", "--scheduler", "tcp://127.0.0.1:1"], "--scheduler goes with --engine dask"),
        (["--output-dir", "out", "--gate", "nosuch"], "--gate: nosuch: no such policy"),
        (["--output-dir", "out", "--shards", "0"], "--shards"),
        (["--output-dir", "out", "--wait", "0"], "--wait"),
        ([], "--output-dir"),
    ],
)
def test_wrong_use_is_exit_2_and_leaves_nothing(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert list(tmp_path.iterdir()) == []


WITHOUT_DISTRIBUTED = """
import sys
sys.modules["distributed"] = None
sys.argv = ["benchbench", "run", "--output-dir", "out", *sys.argv[1:]]
from pytest_benchbench.cli import main
main()
"""


@pytest.mark.parametrize("engine", [["--engine", "local"], ["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1"]])
def test_without_the_extra_the_install_command_is_named(tmp_path, engine):
    command = [sys.executable, "-c", WITHOUT_DISTRIBUTED, *engine]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: --engine: needs dask.distributed (")
    assert line.endswith("; pip install 'pytest-benchbench[dask]'")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def landing(tmp_path):
    jobs = plan_jobs(4, [], directory=tmp_path / "out" / "shards", project="/project")
    return Landing.begin(tmp_path / "out", jobs)


def result(shard):
    return ShardResult(shard, exit_code=0, files={"run.json": b"{}"})


def test_elsewhere_than_on_a_terminal_each_shard_is_a_line(landing, capsys):
    with _shown(landing) as shown:
        shown.done(result("2/4"), "tcp://127.0.0.1:1")
        shown.note("shard 1/4: begun again: the workers died that ran it")
    assert capsys.readouterr().err.splitlines() == [
        "4 of 4 shards to run",
        "shard 2/4: exit code 0 on tcp://127.0.0.1:1 (1 done)",
        "shard 1/4: begun again: the workers died that ran it",
    ]


def test_on_a_terminal_there_is_a_bar(landing, monkeypatch):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    with open(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with _shown(landing) as shown:
            for index in (1, 2, 3, 4):
                shown.done(result(f"{index}/4"), "tcp://127.0.0.1:1")
    seen = b""
    with suppress(OSError):  # how the end of what a terminal shows is told
        while block := os.read(ours, 65536):
            seen += block
    os.close(ours)
    seen = seen.decode()
    assert "4 shards" in seen
    assert "4/4" in seen
    assert "exit code" not in seen

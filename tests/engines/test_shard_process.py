"""A command ends with whoever wants it, and whatever it started ends with it."""

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack

import pytest

from pytest_benchbench.engines.shard_process import KILLED_BY_SIGNAL, TELLS_COST

pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here")

SUPERVISOR = [sys.executable, "-m", "pytest_benchbench.engines.shard_process"]

STUBBORN = """
import os, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
if sys.argv[2:]:
    subprocess.Popen([sys.executable, "-c", os.environ["STUBBORN"], sys.argv[1]])
with open(sys.argv[1], "w") as alive:
    print("runs", file=alive, flush=True)
    signal.pause()
"""
"""Ends by SIGKILL alone, and so does what it starts. Each of them holds a named pipe open as long as it lives."""


WAITS = "import signal, sys\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])"
"""Begins a program that waits for an interrupt and misses none, however early it comes."""


@pytest.fixture
def alive(tmp_path):
    os.mkfifo(tmp_path / "alive")
    return tmp_path / "alive"


@pytest.fixture
def start():
    """Start a supervised command; closed and ended with the test."""
    with ExitStack() as stack:

        def start(*command, **options):
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start


@pytest.mark.parametrize("code", [0, 1, 21])
def test_the_exit_code_is_that_of_the_command(start, code):
    assert start(*SUPERVISOR, sys.executable, "-c", f"raise SystemExit({code})").wait(60) == code


def test_a_signal_is_told_from_an_exit_code(start):
    process = start(*SUPERVISOR, sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert process.wait(60) == KILLED_BY_SIGNAL + signal.SIGKILL


def test_a_command_and_what_it_started_end_when_its_owner_lets_go(start, alive):
    environment = {**os.environ, "STUBBORN": STUBBORN}
    process = start(*SUPERVISOR, sys.executable, "-c", STUBBORN, alive, "and-another", env=environment)
    with alive.open() as living:
        assert [living.readline(), living.readline()] == ["runs\n", "runs\n"]
        process.stdin.close()
        assert living.read() == ""  # ends when nobody is left
    assert process.wait(60) == KILLED_BY_SIGNAL + signal.SIGKILL


def test_a_command_may_end_itself_when_its_owner_lets_go(start):
    polite = f"{WAITS}\nprint('runs', flush=True)\nsignal.sigwait([signal.SIGINT])\nsys.exit(2)"
    process = start(*SUPERVISOR, sys.executable, "-c", polite)
    assert process.stdout.readline() == b"runs\n"
    process.stdin.close()
    assert process.wait(60) == 2


OWNER = """
import subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
process.wait()
"""


def test_a_command_ends_when_its_owner_is_killed(start, alive):
    owner = start(sys.executable, "-c", OWNER, *SUPERVISOR, sys.executable, "-c", STUBBORN, alive)
    with alive.open() as living:
        assert living.readline() == "runs\n"
        owner.kill()
        assert living.read() == ""


def test_a_command_may_print_to_its_end_when_its_owner_is_dead(start, alive):
    polite = (
        f"{WAITS}\nalive = open(sys.argv[1], 'w')\nprint('runs', file=alive, flush=True)\nsignal.sigwait([signal.SIGINT])\n"
        "print('x' * 300_000, flush=True)\nprint('ended', file=alive)"
    )
    owner = start(sys.executable, "-c", OWNER, *SUPERVISOR, sys.executable, "-c", polite, alive)
    with alive.open() as living:
        assert living.readline() == "runs\n"
        owner.kill()
        assert living.read() == "ended\n"


def cost_of(start, tmp_path, program, *, code=0):
    """Run a program and give what it cost, as it is written down."""
    file = tmp_path / "cost.json"
    assert start(*SUPERVISOR, f"--cost={file}", sys.executable, "-c", program).wait(60) == code
    return json.loads(file.read_text())


MIB = 2**20


@pytest.mark.skipif(not TELLS_COST, reason="this system tells no costs")
def test_the_peak_is_that_of_the_command(start, tmp_path):
    small = cost_of(start, tmp_path, "pass")["peak_bytes"]
    large = cost_of(start, tmp_path, f"bytes(range(256)) * {200 * MIB // 256}")["peak_bytes"]
    assert 195 * MIB < large - small < 215 * MIB


@pytest.mark.skipif(not TELLS_COST, reason="this system tells no costs")
def test_the_peak_is_not_that_of_whoever_wants_it(start, tmp_path):
    occupied = b"occupied" * (300 * MIB // 8)
    peak = cost_of(start, tmp_path, "pass")["peak_bytes"]
    assert MIB < peak < len(occupied) // 3


@pytest.mark.skipif(not TELLS_COST, reason="this system tells no costs")
def test_times_are_those_of_the_command(start, tmp_path):
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    cost = cost_of(start, tmp_path, busy)
    assert 0.5 <= cost["user_s"] + cost["system_s"] + 0.01 <= cost["wall_s"] + 0.02
    assert set(cost) == {"wall_s", "user_s", "system_s", "peak_bytes"}


@pytest.mark.skipif(not TELLS_COST, reason="this system tells no costs")
def test_a_command_that_died_had_its_cost_too(start, tmp_path):
    program = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    cost = cost_of(start, tmp_path, program, code=KILLED_BY_SIGNAL + signal.SIGKILL)
    assert cost["peak_bytes"] > MIB

"""A command ends with whoever wants it, and whatever it started ends with it."""

import os
import signal
import subprocess
import sys
from contextlib import ExitStack

import pytest

from pytest_benchbench.engines.shard_process import KILLED_BY_SIGNAL

pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here")

SUPERVISOR = [sys.executable, "-m", "pytest_benchbench.engines.shard_process"]

STUBBORN = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if sys.argv[1:]:
    subprocess.Popen([sys.executable, "-c", os.environ["STUBBORN"]])
print("runs", flush=True)
signal.pause()
"""
"""Ends by SIGKILL alone, and so does what it starts."""


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


def test_a_command_and_what_it_started_end_when_its_owner_lets_go(start):
    environment = {**os.environ, "STUBBORN": STUBBORN}
    process = start(*SUPERVISOR, sys.executable, "-c", STUBBORN, "and-another", env=environment)
    assert process.stdout.readline() == b"runs\n"
    assert process.stdout.readline() == b"runs\n"
    process.stdin.close()
    assert process.stdout.read() == b""  # ends only when nobody is left who could write
    assert process.wait(60) == KILLED_BY_SIGNAL + signal.SIGKILL


OWNER = """
import subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
process.wait()
"""


def test_a_command_ends_when_its_owner_is_killed(start):
    owner = start(sys.executable, "-c", OWNER, *SUPERVISOR, sys.executable, "-c", STUBBORN)
    assert owner.stdout.readline() == b"runs\n"
    owner.kill()
    assert owner.stdout.read() == b""

"""The process that draws: it may hang, die or be missing, and the one that asks goes on."""

import os
import sys
import time
from pathlib import Path

import pytest

from pytest_benchbench.reports.html import picture_process as module
from pytest_benchbench.reports.html.case_pictures import draw_case
from pytest_benchbench.reports.html.figure import PictureRequest
from pytest_benchbench.reports.html.picture_process import PictureProcess

SECONDS = 60.0


@pytest.fixture
def asked(media, picture):
    """A request that can be drawn."""
    return PictureRequest("image", media.png(picture()), None, (), 30_000)


@pytest.fixture
def program(monkeypatch, tmp_path):
    """Let another program be started."""

    def use(text):
        monkeypatch.setattr(module, "_PROGRAM", text)

    return use


ANSWERS_ONCE = """
import sys
print('ready', flush=True)
sys.stdin.readline()
print('{"figures":[],"note":"drawn"}', flush=True)
sys.stdin.readline()
"""


def test_it_draws_what_this_process_would(asked):
    with PictureProcess() as process:
        first, second = process.draw(asked, SECONDS), process.draw(asked, SECONDS)
    assert first == second == draw_case(asked)
    assert first.figures


def test_one_process_draws_all_and_ends_with_the_context(asked):
    with PictureProcess() as process:
        process.draw(asked, SECONDS)
        started = process._process
        process.draw(asked, SECONDS)
        assert process._process is started
    assert started.returncode is not None


def test_nothing_is_started_before_it_is_needed():
    with PictureProcess() as process:
        assert process._process is None


def test_what_hangs_is_given_up_and_the_next_is_drawn(asked, program):
    program(ANSWERS_ONCE.replace("sys.stdin.readline()", "sys.stdin.readline(); import signal; signal.pause()", 1))
    begun = time.monotonic()
    with PictureProcess() as process:
        assert process.draw(asked, 0.2).note == "no picture: drawing it took longer than 0.2 s"
        program(ANSWERS_ONCE)
        assert process.draw(asked, SECONDS).note == "drawn"
    assert time.monotonic() - begun < 300


def test_what_dies_costs_one_picture(asked, program):
    program(ANSWERS_ONCE.replace("sys.stdin.readline()", "sys.stdin.readline(); import os; os.abort()", 1))
    with PictureProcess() as process:
        assert process.draw(asked, SECONDS).note == "no picture: the process that decoded the file died over it"
        program(ANSWERS_ONCE)
        assert process.draw(asked, SECONDS).note == "drawn"


def test_half_an_answer_is_none(asked, program):
    program(ANSWERS_ONCE.replace('"note":"drawn"}', '"note":'))
    with PictureProcess() as process:
        assert process.draw(asked, SECONDS).note == "no picture: the process that decoded the file died over it"


def test_one_that_died_between_two_requests_is_noticed(asked):
    with PictureProcess() as process:
        process.draw(asked, SECONDS)
        process._process.kill()
        process._process.wait()
        assert process.draw(asked, SECONDS).note == "no picture: the process that decoded the file died over it"
        assert process.draw(asked, SECONDS).figures


def test_one_that_never_becomes_ready_is_said(asked, program):
    program("raise SystemExit(3)")
    with PictureProcess() as process:
        assert process.draw(asked, SECONDS).note == "no picture: the process that draws pictures did not start"


def test_an_interpreter_that_is_not_there_is_said(asked, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with PictureProcess() as process:
        note = process.draw(asked, SECONDS).note
    assert note.startswith("no picture: no process could be started to draw it (")
    assert str(tmp_path) not in note


def test_modules_are_found_where_this_process_finds_them(asked, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit(5)")
    with PictureProcess() as process:
        assert process.draw(asked, SECONDS).figures


@pytest.mark.skipif(sys.platform != "linux", reason="the bound is one of Linux")
def test_memory_is_bounded(asked):
    with PictureProcess() as process:
        process.draw(asked, SECONDS)
        limits = Path(f"/proc/{process._process.pid}/limits").read_text()
    bound = next(line for line in limits.splitlines() if line.startswith("Max address space")).split()[3]
    assert bound == str(module.MAX_MEMORY)


def test_no_descriptor_stays_open(asked):
    with PictureProcess() as process:
        process.draw(asked, SECONDS)
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    for _ in range(3):
        with PictureProcess() as process:
            process.draw(asked, SECONDS)
    if sys.platform == "linux":
        assert len(os.listdir("/proc/self/fd")) == before

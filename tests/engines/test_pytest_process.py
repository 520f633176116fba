import signal

import pytest

from pytest_benchbench.engines.pytest_process import exit_text, last_line, own_cache, run_pytest
from pytest_benchbench.engines.shard_process import KILLED_BY_SIGNAL


def test_a_process_is_told_nothing_of_the_pytest_or_the_job_around_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw7")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("KEPT", "yes")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_environment.py").write_text(
        "import os\n\ndef test():\n    print([os.environ.get(name) for name in "
        "('PYTEST_XDIST_WORKER', 'GITHUB_STEP_SUMMARY', 'KEPT')])\n    assert 0\n"
    )
    code, log = run_pytest(["-p", "no:cacheprovider", "test_environment.py"], tmp_path)
    assert code == 1
    assert "[None, None, 'yes']" in log


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (4, "exited 4 (wrong use)"),
        (3, "exited 3 (an internal error)"),
        (77, "exited 77 (which is none of its own codes)"),
        (KILLED_BY_SIGNAL + signal.SIGKILL, "ended by SIGKILL"),
        (KILLED_BY_SIGNAL + 200, "ended by signal 200"),
    ],
)
def test_an_end_is_put_into_words(code, text):
    assert exit_text(code) == text


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("", "it printed nothing"),
        ("one\n  two  \n\n", "two"),
        ("one\nERROR: first\nERROR: second\nlast\n", "first"),
    ],
)
def test_the_line_that_says_what_was_wrong_is_found(log, line):
    assert last_line(log) == line


def test_a_cache_of_ones_own_is_a_folder_that_goes(tmp_path):
    with own_cache(["-q"], tmp_path) as (argument,):
        assert argument.startswith("--override-ini=cache_dir=")


@pytest.mark.parametrize("place", ["arguments", "environment", "configuration"])
def test_where_the_cache_is_switched_off_nothing_is_said_of_it(tmp_path, monkeypatch, place):
    arguments = ["-p", "no:cacheprovider"] if place == "arguments" else []
    if place == "environment":
        monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider")
    if place == "configuration":
        (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    with own_cache(arguments, tmp_path) as own:
        assert own == []

"""Messages and JSON in a locale that knows ASCII alone, and in one that knows no more than Latin letters."""

import io
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from pytest_benchbench.cli.streams import prepare_streams

ROW = '{"schema_version": 1, "case_id": "a", "state": "Bär → x"}\n'


def validate(folder, *arguments, **variables):
    script = Path(sysconfig.get_path("scripts")) / "benchbench"
    return subprocess.run(
        [sys.executable, script, "validate", "Bücher.jsonl", *arguments],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        timeout=60,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "Bücher.jsonl").write_text(ROW, encoding="utf-8")
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="the locale of POSIX")
def test_umlauts_are_what_they_are_where_the_locale_is_that_of_posix(folder):
    done = validate(folder, LC_ALL="C", PYTHONUTF8="0")
    (told,) = [line for line in done.stderr.decode("utf-8").splitlines() if "got 'Bär → x'" in line]
    assert (done.returncode, told.startswith("Bücher.jsonl:1: state: expected ")) == (1, True)
    done = validate(folder, "--json", LC_ALL="C", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (1, b"")
    assert json.loads(done.stdout.decode("utf-8"))


@pytest.mark.parametrize(
    ("encoding", "text", "written"),
    [
        ("ascii", "Bär", "Bär".encode()),
        ("utf-8", "B\udcc3\udca4r", "Bär".encode()),
        ("utf-8", "\udcc3", b"\\udcc3"),
        ("utf-8", "\udc9b2J \ud800", b"\\udc9b2J \\ud800"),
        ("utf-8", "\udcc2\udc9b2J", b"\\udcc2\\udc9b2J"),
        ("latin-1", "Bär → \udca4", b"B\xe4r \\u2192 \\udca4"),
    ],
)
def test_any_text_can_be_written_and_nothing_that_a_terminal_obeys(monkeypatch, encoding, text, written):
    data = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(data, encoding=encoding))
    prepare_streams()
    print(text, end="", flush=True)
    assert data.getvalue() == written
    monkeypatch.undo()

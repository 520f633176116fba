import json
import os
import sys
from contextlib import suppress

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main
from pytest_benchbench.cli.profile import _shown
from pytest_benchbench.engines.shard_process import TELLS_COST
from pytest_benchbench.reports.profile_document import Process, ProcessCost, ProfiledManifest

pytestmark = pytest.mark.skipif(not TELLS_COST, reason="this system tells no costs")

ROW = {
    "schema_version": 1,
    "case_id": "a",
    "pair_id": "a",
    "media_type": "image",
    "adapter": "toy",
    "arm": "positive",
    "state": "marked",
    "path": "a.png",
    "sha256": "a" * 64,
    "reference_path": None,
    "reference_sha256": None,
    "source_revision": "toy@1",
    "transform": {"name": "none", "revision": "1", "parameters": {}},
    "seed": None,
    "expected": "detected",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.jsonl").write_text(json.dumps(ROW) + "\n")
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(main, ["profile", *map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cases.jsonl"], "--output-dir"),
        (["--output-dir", "out"], "MANIFEST"),
        (["cases.jsonl", "--output-dir", "out", "--repeat", "0"], "--repeat"),
        (["cases.jsonl", "cases.jsonl", "--output-dir", "out"], "cases.jsonl: the same manifest is given twice"),
        (["absent.jsonl", "--output-dir", "out"], "absent.jsonl: cannot be read: "),
        (["cases.jsonl", "--output-dir", "out", "--", "--bench-shard=1/2"], "--bench-shard: leave it out; "),
        (["cases.jsonl", "--output-dir", "."], "--output-dir=.: exists already; name a new folder"),
    ],
)
def test_wrong_use_is_exit_2_and_leaves_nothing(here, arguments, said):
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert [path.name for path in here.iterdir()] == ["cases.jsonl"]


def test_opening_a_test_split_is_said_before_it_is_done(here):
    image = {"id": "a", "baseId": "a", "sha256": "a" * 64, "label": 0, "split": "test", "source": "s", "path": "a.png"}
    image |= {"contentGroup": "photo", "transform": "none", "license": "CC0-1.0"}
    (here / "dataset.jsonl").write_text(json.dumps(image) + "\n")
    arguments = ["dataset.jsonl", "--split", "test", "--output-dir", ".", "--", "--bench-adapter=a=onnx"]
    result = invoke(*arguments, "--bench-adapter=b=onnx")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (
        2,
        "note: --split=test: each of 6 processes opens the test split, an attempt of its own in the ledger; profile another "
        "split to leave it closed",
    )


def test_the_help_says_where_the_arguments_of_pytest_go():
    result = invoke("--help")
    assert "[OPTIONS] MANIFEST... -- [PYTEST_ARGS]..." in " ".join(result.stdout.split())


MANIFEST = ProfiledManifest("cases.jsonl", "a" * 64, "toy", 1)

DONE = Process("cases.jsonl", 2, "1-cases/repetition-2", 0, ProcessCost(1.5, 1, 0.25, 2**20))

DEAD = Process("cases.jsonl", 1, "1-cases/repetition-1", 137, fault="pytest ended by SIGKILL: x")


def test_elsewhere_than_on_a_terminal_each_process_is_a_line(capsys):
    with _shown(2) as ended:
        ended(MANIFEST, DEAD)
        ended(MANIFEST, DONE)
    assert capsys.readouterr().err.splitlines() == [
        "2 processes to run",
        "cases.jsonl, repetition 1: cost unknown; pytest ended by SIGKILL: x",
        "cases.jsonl, repetition 2: 1.50 s, 1.0 MiB",
    ]


def test_on_a_terminal_there_is_a_bar(monkeypatch):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    with open(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with _shown(2) as ended:
            ended(MANIFEST, DONE)
            ended(MANIFEST, DONE)
    seen = b""
    with suppress(OSError):  # how the end of what a terminal shows is told
        while block := os.read(ours, 65536):
            seen += block
    os.close(ours)
    assert b"2 processes" in seen
    assert b"2/2" in seen
    assert b"repetition" not in seen

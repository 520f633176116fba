"""A place where nothing can be written is told alike by every command, before the work."""

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dist").mkdir()
    (tmp_path / "scores.jsonl").write_text("damaged, so that whoever reads it says so\n")
    (tmp_path / "x.zip").symlink_to("nowhere")
    return tmp_path


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("x.zip", "x.zip: exists already; nothing is ever overwritten, name a new file"),
        ("none/x.zip", "none/x.zip: there is no folder none; make it first"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ["package", "dist", "--evidence", "scores.jsonl", "--output"],
        ["cluster", "scores.jsonl", "--output"],
        ["evaluate", "scores.jsonl", "--output"],
        ["gate", "scores.jsonl", "--output"],
        ["calibrate", "scores.jsonl"],
    ],
    ids=lambda command: command[0],
)
def test_it_is_told_before_the_work(here, command, output, said):
    result = CliRunner().invoke(main, [*command, output])
    assert (result.exit_code, result.stderr) == (1, f"Error: {said}\n")

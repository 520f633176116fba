"""What all commands that read scores refuse alike."""

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main


@pytest.mark.parametrize("command", [["evaluate"], ["calibrate"]])
def test_a_second_manifest_is_refused_and_not_taken_for_the_first(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("scores.jsonl", "one.jsonl", "other.jsonl"):
        (tmp_path / name).touch()
    given = [*command, "scores.jsonl", *(["new.json"] if command == ["calibrate"] else [])]
    result = CliRunner().invoke(main, [*given, "--manifest", "one.jsonl", "--manifest", "other.jsonl"])
    assert result.exit_code == 2
    assert "--manifest': given 2 times: one.jsonl and other.jsonl; scores are joined with one manifest" in result.stderr

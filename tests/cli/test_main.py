"""The command itself: its help."""

import subprocess
import sys

from click.testing import CliRunner

from pytest_benchbench.cli import main

HELP_IN_A_FRESH_PROCESS = """
import sys
from pytest_benchbench.cli import main
main(["--help"], standalone_mode=False)
heavy = {"numpy", "PIL", "msgspec", "yaml", "pytest"} & set(sys.modules)
commands = {name for name in sys.modules if name.startswith("pytest_benchbench.cli.")} - {"pytest_benchbench.cli.streams"}
assert not heavy and not commands, (heavy, commands)
"""


def test_help_imports_no_command():
    done = subprocess.run([sys.executable, "-c", HELP_IN_A_FRESH_PROCESS], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "adapters What can be asked here, and why the rest cannot." in " ".join(done.stdout.split())


def test_every_listed_command_can_be_called():
    context = main.make_context("benchbench", [], resilient_parsing=True)
    shown = CliRunner().invoke(main, ["--help"]).stdout.partition("Commands:")[2].splitlines()
    assert [line.split()[0] for line in shown if line.strip()] == main.list_commands(context)
    for name in main.list_commands(context):
        assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0


def test_an_unknown_command_is_wrong_use():
    assert CliRunner().invoke(main, ["measure"]).exit_code == 2


def test_an_interrupt_is_one_line_and_exit_130(monkeypatch, tmp_path):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_benchbench.cli.evaluate.read_scores", interrupt)
    (tmp_path / "scores.jsonl").touch()
    result = CliRunner().invoke(main, ["evaluate", str(tmp_path / "scores.jsonl"), f"--output={tmp_path / 'new.json'}"])
    assert (result.exit_code, result.output) == (130, "interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["scores.jsonl"]

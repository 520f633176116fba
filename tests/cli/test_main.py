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
commands = [name for name in sys.modules if name.startswith("pytest_benchbench.cli.")]
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

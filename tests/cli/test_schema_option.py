import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main


@pytest.mark.parametrize(
    ("command", "flag", "of"),
    [
        ("report", "--schema", "report.json"),
        ("report", "--summary-schema", "summary.json"),
        ("report", "--benchmark-schema", "benchmark.json"),
        ("evaluate", "--schema", "the JSON"),
        ("history", "--schema", "the series file"),
    ],
)
def test_a_schema_is_printed_whatever_else_is_missing(command, flag, of):
    printed = CliRunner().invoke(main, [command, flag])
    assert printed.exit_code == 0
    assert json.loads(printed.stdout)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    told = CliRunner().invoke(main, [command, "--help"]).stdout
    assert f"Print the JSON Schema of {of}, and do nothing else." in " ".join(told.split())

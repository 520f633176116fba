"""``benchbench adapters``."""

import json

from click.testing import CliRunner

from pytest_benchbench.cli import main


def test_it_tells_what_can_be_asked_and_why_the_rest_cannot():
    result = CliRunner().invoke(main, ["adapters", "--json"])
    assert result.exit_code == 0
    states = {state["name"]: state for state in json.loads(result.output)}
    assert states["dwt-dct"]["state"] == "available"
    assert states["dwt-dct"]["standing"] == "verified"
    assert states["dwt-dct"]["rule"]
    assert states["perth"]["state"] == "unavailable"
    assert "perth" in states["perth"]["reason"]


def test_lines_for_people_name_the_rule_on_request():
    plain = CliRunner().invoke(main, ["adapters"]).output
    assert "dwt-dct " in plain
    assert "rule:" not in plain
    assert "rule:" in CliRunner().invoke(main, ["adapters", "--rules"]).output

"""``benchbench adapters``."""

import json
from importlib.metadata import EntryPoint

from click.testing import CliRunner

from pytest_benchbench.adapters.registry import ENTRY_POINT_GROUP, AdapterRegistry
from pytest_benchbench.cli import adapters, main


def test_it_tells_what_can_be_asked_and_why_the_rest_cannot():
    result = CliRunner().invoke(main, ["adapters", "--json"])
    assert result.exit_code == 0
    states = {state["name"]: state for state in json.loads(result.output)}
    assert states["dwt-dct"]["state"] == "available"
    assert states["dwt-dct"]["standing"] == "verified"
    assert states["dwt-dct"]["rule"]
    assert states["perth"]["state"] == "unavailable"
    assert "perth" in states["perth"]["reason"]


def test_an_entry_point_that_leads_nowhere_is_broken_and_hides_no_other(monkeypatch):
    points = [
        EntryPoint("dwt-dct", "pytest_benchbench.adapters.dwt_dct:DwtDct", ENTRY_POINT_GROUP),
        EntryPoint("far", "pytest_benchbench.adapters.dwt_dct:Far", ENTRY_POINT_GROUP),
    ]
    monkeypatch.setattr(adapters, "installed_registry", lambda: AdapterRegistry(points))
    result = CliRunner().invoke(main, ["adapters", "--json"])
    states = {state["name"]: state for state in json.loads(result.output)}
    assert (states["far"]["state"], states["far"]["media_types"]) == ("broken", [])
    assert states["far"]["reason"].startswith("entry point 'far' leads nowhere: ")
    assert states["dwt-dct"]["state"] == "available"


def test_lines_for_people_name_the_rule_on_request():
    plain = CliRunner().invoke(main, ["adapters"]).output
    assert "dwt-dct " in plain
    assert "rule:" not in plain
    assert "rule:" in CliRunner().invoke(main, ["adapters", "--rules"]).output

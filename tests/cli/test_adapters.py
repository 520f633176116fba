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


def test_a_check_says_what_was_found_and_is_remembered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["adapters", "--check", "dwt-dct"])
    assert result.exit_code == 0
    assert "texture, sdxl: clean not_detected, bit accuracy " in result.output
    assert result.output.splitlines()[-1] == "verified: marks were found, and none where there was none"
    (check,) = json.loads((tmp_path / ".benchbench" / "verified-adapters.json").read_text())
    assert (check["adapter"], check["weights"], check["message_bit_accuracy"]) == ("dwt-dct", [], 1.0)


def test_a_check_that_was_remembered_turns_wired_into_verified(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pytest_benchbench.adapters.dwt_dct.DwtDct.verified_weights", None)

    def standing():
        states = json.loads(CliRunner().invoke(main, ["adapters", "--json"]).output)
        return next(state["standing"] for state in states if state["name"] == "dwt-dct")

    assert standing() == "wired"
    assert CliRunner().invoke(main, ["adapters", "--check", "dwt-dct", "--json"]).exit_code == 0
    assert standing() == "verified"
    (tmp_path / ".benchbench" / "verified-adapters.json").write_text("{")
    assert standing() == "wired"


def test_a_check_of_an_adapter_that_cannot_run_fails_in_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["adapters", "--check", f"rivagan:weights={tmp_path}"])
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: rivagan is unavailable: ")
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_check_that_is_malformed_is_wrong_use():
    assert CliRunner().invoke(main, ["adapters", "--check", "dwt-dct:"]).exit_code == 2


def test_an_adapter_can_be_given_options(tmp_path):
    given = ["adapters", "--json", "--adapter", f"rivagan:weights={tmp_path}"]
    states = {state["name"]: state for state in json.loads(CliRunner().invoke(main, given).output)}
    assert states["rivagan"]["state"] == "unavailable"
    assert str(tmp_path) in states["rivagan"]["reason"]

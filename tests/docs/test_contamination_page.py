"""The pre-commit hook and the workflow of ``docs/contamination.md`` do what the page says."""

import hashlib
import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from pytest_benchbench.cli import main

ROOT = Path(__file__).parents[2]

BLOCKS = re.findall(
    r"^```yaml\n(.*?)^```$", (ROOT / "docs" / "contamination.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
)

GOLDEN = ROOT / "benchmarks" / "golden-set-example-v1.json"


def blocks_with(key):
    return [document for document in map(yaml.safe_load, BLOCKS) if key in document]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    data = GOLDEN.read_bytes()
    (tmp_path / "data" / "golden-set-v1.json").write_bytes(data)
    (tmp_path / "data" / "golden-set-v1.sha256").write_text(f"{hashlib.sha256(data).hexdigest()}\n")
    return tmp_path


def test_the_hook_refuses_a_file_with_a_sample_whatever_its_name(place):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    (configuration,) = blocks_with("repos")
    (used,) = configuration["repos"][0]["hooks"]
    assert used["id"] == hook["id"]
    program, *entry = shlex.split(hook["entry"])
    assert program == "benchbench"
    (place / "--json").write_text("clean\n")
    (place / "-x.yaml").write_text(f"- {json.loads(GOLDEN.read_bytes())['samples'][0]['id']}\n")
    clean = CliRunner().invoke(main, [*entry, *used["args"], "--json"])
    assert (clean.exit_code, clean.output.count("\n")) == (0, 1)
    done = CliRunner().invoke(main, [*entry, *used["args"], "--json", "-x.yaml", "data/golden-set-v1.json"])
    assert done.exit_code == 1
    assert done.output.startswith("-x.yaml:1: ")


def test_the_workflow_fetches_what_the_command_needs():
    (workflow,) = blocks_with("jobs")
    checkout, _, command = workflow["jobs"]["contamination"]["steps"]
    assert checkout["with"]["fetch-depth"] == 0
    words = shlex.split(command["run"].replace("${{ github.base_ref }}", "main"))
    assert words[:2] == ["benchbench", "contamination"]
    options = {option for parameter in main.get_command(None, "contamination").params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options

import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main


def invoke(*arguments):
    return CliRunner().invoke(main, ["cohort", *map(str, arguments)])


def test_a_cohort_is_built_and_its_manifest_named(tmp_path):
    result = invoke("synthetic-image", "--adapter", "dwt-dct", "--size", 256, "--output-dir", tmp_path / "new")
    assert result.exit_code == 0
    assert result.stdout == f"46 rows: {tmp_path / 'new' / 'manifest.jsonl'}\n"
    assert (tmp_path / "new" / "cohort.json").exists()


def test_an_unavailable_adapter_is_refused_or_left_out_on_request(tmp_path):
    adapters = ["--adapter", "dwt-dct", "--adapter", f"rivagan:weights={tmp_path}"]
    arguments = ["synthetic-image", *adapters, "--size", 256, "--output-dir", tmp_path / "new"]
    refused = invoke(*arguments)
    assert refused.exit_code == 1
    assert "unavailable: rivagan: " in refused.stderr
    assert not (tmp_path / "new").exists()
    built = invoke(*arguments, "--leave-out-unavailable")
    assert built.exit_code == 0
    assert "left out: rivagan: " in built.stdout
    assert f"46 rows: {tmp_path / 'new' / 'manifest.jsonl'}" in built.stdout


@pytest.mark.parametrize(
    ("arguments", "adapter", "rows"),
    [
        (["audio"], "audioseal", ["4", "3", "9", "1", "3", "20"]),
        (["audio", "--with-speech"], "audioseal", ["7", "6", "18", "1", "3", "35"]),
        (["video"], "videoseal", ["3", "2", "6", "2", "2", "15"]),
        (["perth-pixelseal"], "pixelseal", ["2", "2", "2", "0", "2", "8"]),
        (
            ["sweep", "--family", "jpeg", "--adapter", "dwt-dct-svd", "--carriers", "synthetic-image"],
            "dwt-dct-svd",
            ["9", "9"],
        ),
    ],
)
def test_every_recipe_has_a_plan_without_weights(arguments, adapter, rows):
    result = invoke(*arguments, "--plan")
    assert result.exit_code == 0
    (line,) = (line.split() for line in result.stdout.splitlines() if line.startswith(f"{adapter} "))
    assert line[1 : len(rows) + 1] == rows


def test_an_existing_folder_is_refused_in_one_line(tmp_path):
    result = invoke("synthetic-image", "--adapter", "dwt-dct", "--size", 256, "--output-dir", tmp_path)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == f"Error: {tmp_path}: exists already; name a new folder"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--output-dir", "new", "--size", "250"],
        ["--output-dir", "new", "--size", "264"],
        ["--output-dir", "new", "--size", "large"],
        ["--output-dir", "new", "--attack", "blur"],
        ["--output-dir", "new", "--json"],
        ["--output-dir", "new", "--adapter", "no-adapter"],
        ["--output-dir", "new", "--adapter", "perth"],
        ["--output-dir", "new", "--adapter", "dwt-dct:"],
        [],
    ],
)
def test_wrong_use_is_exit_2(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke("synthetic-image", *arguments).exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_the_plan_names_planned_adapters_that_are_not_here():
    result = invoke("synthetic-image", "--plan")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["synthetic-image", "at", "512x512"]
    assert lines[1] == ["adapter", "clean", "marked", "attacked", "removed", "forged", "rows"]
    assert lines[2] == ["dwt-dct", "10", "9", "27", "0", "0", "46"]
    assert lines[3][:9] == ["trustmark", "4", "3", "9", "3", "0", "19", "planned,", "unavailable:"]
    assert lines[4] == ["65", "rows", "planned,", "46", "can", "be", "built", "here"]


def test_the_plan_is_readable_for_scripts():
    document = json.loads(invoke("synthetic-image", "--plan", "--json", "--attack", "jpeg-90-420").stdout)
    assert (document["planned"], document["buildable"]) == (41, 28)
    assert document["adapters"][1]["adapter"] == "trustmark"
    assert document["adapters"][1]["unavailable"]
    assert document["adapters"][0]["unavailable"] is None


def test_a_plan_needs_no_photographs(monkeypatch):
    monkeypatch.setattr("pytest_benchbench.cohorts.carriers.photographs.find_spec", lambda name: None)
    result = invoke("real-image", "--plan")
    assert result.exit_code == 0
    assert "147 rows planned, 105 can be built here" in result.stdout


def test_without_scikit_image_the_install_command_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("pytest_benchbench.cohorts.carriers.photographs.find_spec", lambda name: None)
    result = invoke("real-image", "--adapter", "dwt-dct", "--output-dir", tmp_path / "new")
    assert result.exit_code == 1
    assert "pip install 'pytest-benchbench[cohorts]'" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_refused_list_is_one_line_that_names_entry_and_field(tmp_path):
    source = tmp_path / "images.yaml"
    source.write_text("images:\n  - {path: a.png, sha256: '00', width: 1, height: 1}\n")
    result = invoke("real-image", "--adapter", "dwt-dct", "--source", source, "--output-dir", tmp_path / "new")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith(f"Error: {source}: images[0]: sha256: ")
    assert not (tmp_path / "new").exists()

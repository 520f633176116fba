import hashlib
import json

import pytest
from click.testing import CliRunner
from PIL import Image

from pytest_benchbench.cli import main


def invoke(*arguments):
    return CliRunner().invoke(main, ["cohort", "stress", *map(str, arguments)])


@pytest.fixture
def base(write_originals, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_originals(tmp_path, [(300, 200), (120, 90)])


def test_a_set_is_built_and_its_manifest_named(base, tmp_path):
    result = invoke("--from", "base.jsonl", "--output-dir", "set", "--transform", "jpeg-50", "--transform", "resize-256")
    assert result.exit_code == 0
    assert result.stdout == (
        "left out: 1 row of originals that are too small; nothing is scaled up\n"
        "uneven: 2 bases without a pair of transform and resolution group that others have; a policy that requires all-seen "
        "fails them (see --too-small)\n"
        "5 rows: set/manifest.jsonl\n"
    )
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == [
        "artifacts", "cohort.json", "manifest.jsonl", "transforms.jsonl",
    ]  # fmt: skip


def test_a_whole_set_is_a_valid_dataset_whose_copies_and_look_alikes_are_no_finding(write_originals, tmp_path):
    pytest.importorskip("imagehash")
    base = write_originals(tmp_path, [(1100, 700), (700, 1100), (1200, 1200)])
    assert invoke("--from", base, "--output-dir", tmp_path / "set").exit_code == 0
    checked = CliRunner().invoke(main, ["validate", str(tmp_path / "set" / "manifest.jsonl"), "--json"])
    assert checked.exit_code == 0, checked.output
    document = json.loads(checked.stdout)
    assert document["manifests"][0]["rows"] == 69
    errors = [finding for finding in document["dataset"]["findings"] if finding["severity"] == "error"]
    assert errors == []


def test_copies_are_counted(base, tmp_path):
    with Image.open(tmp_path / "original-1.png") as opened:
        opened.save(tmp_path / "other.tif")
    row = json.loads(base.read_text().splitlines()[1])
    row |= {"path": "other.tif", "sha256": hashlib.sha256((tmp_path / "other.tif").read_bytes()).hexdigest()}
    base.write_text(json.dumps(row) + "\n")
    result = invoke("--from", base, "--output-dir", "set", "--transform", "metadata-intact")
    assert "copies of their original, byte for byte: 1 row; transforms.jsonl says which\n" in result.stdout


def test_the_plan_counts_and_builds_nothing(base, tmp_path):
    before = sorted(tmp_path.iterdir())
    result = invoke("--from", "base.jsonl", "--plan", "--too-small", "transform")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["stress", "of", "base.jsonl:", "2", "originals,", "seed", "0"]
    assert lines[1] == ["transform", "full-res", "thumbnail", "rows", "too", "small", "copies"]
    assert lines[2] == ["none", "1", "1", "2", "0", "0"]
    assert ["resize-112", "0", "2", "2", "0", "0"] in lines
    left_out = "left out, because an original is too small: resize-1024, resize-512, resize-256, combined-thumbnail"
    assert left_out in result.stdout
    assert lines[-1] == ["38", "rows", "planned"]
    assert sorted(tmp_path.iterdir()) == before


def test_the_plan_is_readable_for_scripts_and_agrees_with_the_set(base, tmp_path):
    arguments = ["--from", "base.jsonl", "--seed", "5", "--transform", "resize-256", "--transform", "crop-90"]
    document = json.loads(invoke(*arguments, "--plan", "--json").stdout)
    assert document["parameters"] == {
        "seed": 5,
        "too_small": "row",
        "transforms": ["resize-256", "crop-90"],
        "base": {"name": "base.jsonl", "sha256": document["parameters"]["base"]["sha256"], "rows": 2},
    }
    assert document["transforms"][1] == {
        "name": "resize-256", "full_res": 0, "thumbnail": 1, "left_out": 1, "copies": 0, "total": 1,
    }  # fmt: skip
    assert (document["originals"], document["uneven_bases"], document["planned"]) == (2, 2, 5)
    assert invoke(*arguments, "--output-dir", "set").exit_code == 0
    description = json.loads((tmp_path / "set" / "cohort.json").read_text())
    assert description["parameters"] == document["parameters"]
    assert description["manifest"]["rows"] == document["planned"]


def test_every_bad_row_is_a_line_and_nothing_is_built(base, tmp_path):
    rows = [json.loads(line) for line in base.read_text().splitlines()]
    rows[0]["transform"], rows[1]["sha256"] = "jpeg-75", "0" * 64
    base.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for last in (["--output-dir", "set"], ["--plan"]):
        result = invoke("--from", "base.jsonl", *last)
        assert result.exit_code == 1
        assert result.stdout == ""
        first, second = result.stderr.splitlines()
        assert first.startswith("base.jsonl:1: transform: 'jpeg-75' is a derivative")
        assert second.startswith("base.jsonl:2: sha256: ")
    assert not (tmp_path / "set").exists()


def test_an_existing_folder_is_refused_in_one_line(base, tmp_path):
    (tmp_path / "set").mkdir()
    result = invoke("--from", "base.jsonl", "--output-dir", "set", "--transform", "jpeg-50")
    assert (result.exit_code, result.stderr) == (1, "Error: set: exists already; name a new folder\n")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--json", "--output-dir", "set"],
        ["--output-dir", "set", "--transform", "jpeg-90"],
        ["--output-dir", "set", "--seed", "-1"],
        ["--output-dir", "set", "--seed", str(2**53)],
        ["--output-dir", "set", "--workers", "0"],
        ["--output-dir", "set", "--too-small", "scale-up"],
    ],
)
def test_wrong_use_is_exit_2(base, arguments, tmp_path):
    assert invoke("--from", "base.jsonl", *arguments).exit_code == 2
    assert not (tmp_path / "set").exists()


def test_a_manifest_that_is_not_there_is_wrong_use(tmp_path):
    assert invoke("--from", tmp_path / "gone.jsonl", "--plan").exit_code == 2


def test_an_invalid_manifest_is_refused_by_its_lines(base):
    base.write_text(base.read_text() + "{}\n")
    result = invoke("--from", "base.jsonl", "--plan")
    assert result.exit_code == 1
    assert all(line.startswith(("base.jsonl:3: ", "... and")) for line in result.stderr.splitlines())

"""``benchbench validate`` on dataset manifests."""

import hashlib
import json

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from pytest_benchbench.cli import main
from pytest_benchbench.validation import image_measures


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def row(name, *, label=0, split="test", **changes):
    return {
        "id": name,
        "baseId": name,
        "sha256": hashlib.sha256(name.encode()).hexdigest(),
        "label": label,
        "split": split,
        "source": f"source-{split}",
        **({"generatorFamily": f"family-{split}"} if label else {}),
        "contentGroup": "photo",
        "transform": "none",
        "license": "CC0-1.0",
        **changes,
    }


def picture(name, seed, **changes):
    rough = np.random.default_rng(seed).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    Image.fromarray(rough).resize((96, 80), Image.Resampling.BICUBIC).save(name)
    with open(name, "rb") as file:
        return row(name, path=name, sha256=hashlib.sha256(file.read()).hexdigest(), **changes)


def write(name, *rows):
    with open(name, "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def invoke(*arguments):
    return CliRunner().invoke(main, ["validate", *map(str, arguments)])


def errors(result):
    return [line for line in result.stderr.splitlines() if "warning: " not in line]


def test_a_dataset_with_warnings_alone_is_valid(here):
    write("set.jsonl", picture("a.png", 1), picture("b.png", 2, label=1))
    result = invoke("set.jsonl")
    assert (result.exit_code, errors(result)) == (0, [])
    assert result.stdout.splitlines() == [
        "set.jsonl: 2 rows, valid",
        "test: 2 rows, 1 real and 1 AI bases, 1 real source, 1 generator family; 2 of 27 stress sets",
        "near-duplicates: 2 of 2 rows compared",
    ]
    assert result.stderr.startswith("set.jsonl: warning: test-counts: too few for the release gate: 1 of 500 real bases; ")


def test_pictures_that_look_alike_make_it_invalid(here):
    rows = [picture("a.png", 1, splitGroup="g"), picture("a.webp", 1, splitGroup="g")]
    write("set.jsonl", *rows)
    assert invoke("set.jsonl").exit_code == 0
    del rows[1]["splitGroup"]
    write("set.jsonl", *rows)
    result = invoke("set.jsonl")
    assert result.exit_code == 1
    (line,) = errors(result)
    assert line.startswith("set.jsonl:1: near-duplicates: pictures of 2 bases in test look alike")
    assert "set.jsonl: 2 rows, valid" not in result.stdout


@pytest.mark.parametrize("option", ["--no-files", "--no-near-duplicates"])
def test_near_duplicates_can_be_left_out_and_that_is_said(here, option):
    write("set.jsonl", picture("a.png", 1), picture("b.webp", 1))
    assert invoke("set.jsonl").exit_code == 1
    result = invoke("set.jsonl", option)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "near-duplicates: not looked for"


def test_the_distance_decides(here):
    write("set.jsonl", picture("a.png", 1), picture("b.webp", 1))
    distances = [invoke("set.jsonl", "--near-distance", distance).exit_code for distance in (0, 31)]
    assert distances == [0, 1]
    assert invoke("set.jsonl", "--near-distance", 32).exit_code == 2


def test_a_leak_between_two_manifests_is_found_and_both_are_invalid(here):
    write("train.jsonl", row("a", split="train"))
    write("test.jsonl", row("b"), row("c", baseId="a", source="source-train"))
    result = invoke("train.jsonl", "test.jsonl", "--no-files", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [manifest["valid"] for manifest in document["manifests"]] == [False, False]
    assert {one["rule"] for one in document["dataset"]["findings"] if one["severity"] == "error"} == {
        "base-split",
        "source-split",
    }


def test_what_was_found_is_given_as_json(here):
    write("set.jsonl", row("a", split="train"), row("b", baseId="a", source="source-train"))
    document = json.loads(invoke("set.jsonl", "--no-files", "--json").stdout)
    dataset = document["dataset"]
    assert (document["valid"], dataset["rows"], dataset["rows_compared"]) == (False, 2, None)
    assert dataset["findings"][0] == {
        "rule": "base-split",
        "severity": "error",
        "message": "base 'a' is in train and test",
        "rows": [{"id": "a", "line": 1, "file": "set.jsonl"}, {"id": "b", "line": 2, "file": "set.jsonl"}],
        "row_count": 2,
    }
    assert dataset["rules"]["base-split"] == {"severity": "error", "findings": 1}
    assert dataset["rules"]["bytes-split"] == {"severity": "error", "findings": 0}
    assert [counts["split"] for counts in dataset["counts"]] == list(dataset["coverage"]) == ["train", "test"]
    assert dataset["coverage"]["test"][2] == {"name": "camera-photography", "real": 1, "ai": 0, "lacks": None}


def test_a_watermark_manifest_has_no_dataset(here):
    write("set.jsonl", row("a"))
    assert json.loads(invoke("set.jsonl", "--no-files", "--json").stdout)["dataset"] is not None
    write("cases.jsonl", {"schema_version": 1, "case_id": "a"})
    assert json.loads(invoke("cases.jsonl", "--json").stdout)["dataset"] is None


def test_of_many_findings_the_first_are_written_and_the_rest_counted(here):
    rows = [
        row(f"{split}-{place:02}", split=split, splitGroup=f"g{place:02}")
        for split in ("train", "test")
        for place in range(22)
    ]
    write("set.jsonl", *rows)
    lines = errors(invoke("set.jsonl", "--no-files"))
    assert len(lines) == 21
    assert lines[0].startswith("set.jsonl:23: group-split: split group 'g00' is in train and test: 'test-00' (set.jsonl:23)")
    assert lines[-1] == "... and 2 more of group-split"


def test_a_missing_library_is_a_matter_of_use(here, monkeypatch):
    monkeypatch.setattr(image_measures, "find_spec", lambda name: None)
    write("set.jsonl", picture("a.png", 1))
    result = invoke("set.jsonl")
    assert result.exit_code == 2
    assert "pip install 'pytest-benchbench[dataset]'; or leave that out by --no-near-duplicates" in result.stderr
    assert invoke("set.jsonl", "--no-near-duplicates").exit_code == 0


def test_files_that_are_not_what_was_pinned_are_told_with_the_leaks(here):
    write("set.jsonl", picture("a.png", 1), row("b", path="missing.png"), row("c", split="train", source="source-test"))
    lines = errors(invoke("set.jsonl"))
    assert lines[0] == "set.jsonl:2: path: missing.png: there is no such file"
    assert lines[1].startswith("set.jsonl:1: source-split: ")


def unreadable(name):
    """Write a file that is no picture, and give its row."""
    with open(f"{name}.png", "w") as file:
        file.write(name)
    return row(name, path=f"{name}.png", sha256=hashlib.sha256(name.encode()).hexdigest())


def test_an_image_that_cannot_be_decoded_is_a_warning_that_is_said_where_the_manifest_is_called_valid(here):
    write("set.jsonl", unreadable("a"), picture("b.png", 1))
    result = invoke("set.jsonl")
    assert result.exit_code == 0
    assert "set.jsonl:1: warning: undecodable: not compared: not an image" in result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "set.jsonl: 2 rows, valid, but 1 of 2 images CANNOT BE DECODED: nothing is known of what they show"
    assert lines[-1] == "near-duplicates: 1 of 2 rows compared"


@pytest.mark.parametrize("how", [[], ["--no-near-duplicates"]], ids=str)
def test_where_no_image_can_be_decoded_nobody_is_left_in_doubt(here, how):
    write("set.jsonl", unreadable("a"), unreadable("b"))
    write("more.jsonl", unreadable("c"))
    result = invoke("set.jsonl", "more.jsonl", *how)
    assert result.exit_code == 0
    told = "valid, but NO IMAGE CAN BE DECODED: nothing is known of what they show"
    assert result.stdout.splitlines()[:2] == [f"set.jsonl: 2 rows, {told}", f"more.jsonl: 1 row, {told}"]
    document = json.loads(invoke("set.jsonl", "more.jsonl", *how, "--json").stdout)["dataset"]
    assert (document["images_read"], document["images_undecodable"]) == (0, 3)


def test_rows_of_the_contract_are_valid_under_the_published_schema(here):
    schema = json.loads(invoke("--schema", "dataset").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(row("a", label=1))
    assert not validator.is_valid({name: value for name, value in row("a", label=1).items() if name != "generatorFamily"})

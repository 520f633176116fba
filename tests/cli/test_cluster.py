import hashlib
import json

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


def picture(name, seed, **changes):
    rough = np.random.default_rng(seed).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    Image.fromarray(rough).resize((96, 80), Image.Resampling.BICUBIC).save(name)
    with open(name, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return {
        "id": name,
        "baseId": name,
        "sha256": digest,
        "label": 0,
        "split": "test",
        "source": "camera",
        "contentGroup": "photo",
        "transform": "none",
        "license": "CC0-1.0",
        "path": name,
        **changes,
    }


def write(name, *rows):
    with open(name, "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def groups(name="new.jsonl"):
    with open(name) as file:
        return [json.loads(line).get("splitGroup") for line in file]


def invoke(command, *arguments):
    return CliRunner().invoke(main, [command, *map(str, arguments)])


def test_what_validate_refuses_is_valid_when_clustered(here):
    write("set.jsonl", picture("a.png", 1), picture("b.webp", 1), picture("c.png", 2))
    assert invoke("validate", "set.jsonl").exit_code == 1
    result = invoke("cluster", "set.jsonl", "--output", "new.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    joined, last = result.stdout.splitlines()
    one, other, alone = groups()
    assert joined.startswith(f"{one}: 2 bases, 2 rows, closest ")
    assert joined.endswith(" bits: 'a.png', 'b.webp'")
    assert last == "new.jsonl: 3 rows, 3 compared"
    assert (one, alone) == (other, None)
    assert invoke("validate", "new.jsonl").exit_code == 0
    assert invoke("cluster", "new.jsonl", "--output", "again.jsonl").stdout.startswith("nothing to join\n")
    assert (here / "again.jsonl").read_bytes() == (here / "new.jsonl").read_bytes()


def test_a_group_in_several_splits_is_named_and_refused_by_validate(here):
    write("set.jsonl", picture("a.png", 1), picture("b.webp", 1, split="train", source="other"))
    result = invoke("cluster", "set.jsonl", "--output", "new.jsonl")
    assert result.exit_code == 0
    assert result.stderr == (
        f"warning: group '{groups()[0]}' is in train and test, which validate refuses: move it to one split\n"
    )
    refused = invoke("validate", "new.jsonl")
    assert refused.exit_code == 1
    assert "group-split" in refused.stderr


def test_groups_that_are_merged_are_named(here):
    write("set.jsonl", picture("a.png", 1, splitGroup="y"), picture("b.webp", 1, splitGroup="x"))
    result = invoke("cluster", "set.jsonl", "--output", "new.jsonl")
    assert "merges 'x', 'y'" in result.stdout
    assert groups() == ["x", "x"]


def test_what_belongs_together_is_given_as_json(here):
    write("set.jsonl", picture("a.png", 1), picture("b.webp", 1))
    document = json.loads(invoke("cluster", "set.jsonl", "--output", "new.jsonl", "--json").stdout)
    (one,) = document["clusters"]
    assert (document["rows"], document["rows_compared"]) == (2, 2)
    assert (one["bases"], one["splits"], one["changed"], one["merged"]) == (["a.png", "b.webp"], ["test"], 2, [])


def test_several_manifests_become_one(here):
    write("one.jsonl", picture("a.png", 1))
    write("two.jsonl", picture("b.webp", 1))
    assert invoke("cluster", "one.jsonl", "two.jsonl", "--output", "new.jsonl").exit_code == 0
    one, other = groups()
    assert one == other


def test_nothing_is_overwritten(here, occupy):
    write("set.jsonl", picture("a.png", 1))
    occupy(here / "new.jsonl")
    result = invoke("cluster", "set.jsonl", "--output", "new.jsonl")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: new.jsonl: exists already; nothing is ever overwritten, name a new file\n",
    )


def test_a_bad_manifest_is_refused_and_nothing_written(here):
    write("set.jsonl", picture("a.png", 1, split="holdout"))
    result = invoke("cluster", "set.jsonl", "--output", "new.jsonl")
    assert result.exit_code == 1
    assert result.stderr.startswith("set.jsonl:1: split: expected train, calibration or test, got 'holdout'")
    assert not (here / "new.jsonl").exists()


def test_files_that_differ_from_their_digest_are_refused(here):
    write("set.jsonl", picture("a.png", 1, sha256="0" * 64))
    result = invoke("cluster", "set.jsonl", "--output", "new.jsonl")
    assert result.exit_code == 1
    assert result.stderr.startswith("set.jsonl:1: sha256: a.png has ")
    assert not (here / "new.jsonl").exists()


def test_an_image_that_cannot_be_compared_is_named(here):
    with open("a.png", "wb") as file:
        file.write(b"no picture")
    row = picture("b.png", 1, path="a.png", sha256=hashlib.sha256(b"no picture").hexdigest())
    write("set.jsonl", row)
    result = invoke("cluster", "set.jsonl", "--output", "new.jsonl")
    assert result.exit_code == 0
    assert "warning: undecodable: not compared" in result.stderr


def test_a_missing_library_is_a_matter_of_use(here, monkeypatch):
    monkeypatch.setattr(image_measures, "find_spec", lambda name: None)
    write("set.jsonl", picture("a.png", 1))
    result = invoke("cluster", "set.jsonl", "--output", "new.jsonl")
    assert result.exit_code == 2
    assert "pip install 'pytest-benchbench[dataset]'" in result.stderr


def test_other_manifests_have_no_split_groups(here):
    watermark = {
        "schema_version": 1,
        "case_id": "a",
        "pair_id": "a",
        "media_type": "image",
        "adapter": "dwt-dct",
        "arm": "positive",
        "state": "marked",
        "path": "a.png",
        "sha256": "0" * 64,
        "reference_path": None,
        "reference_sha256": None,
        "source_revision": "mine",
        "transform": {"name": "none", "revision": "1", "parameters": {}},
        "seed": None,
        "expected": "detected",
    }
    write("cases.jsonl", watermark)
    result = invoke("cluster", "cases.jsonl", "--output", "new.jsonl")
    assert (result.exit_code, result.stderr) == (
        1,
        "cases.jsonl: has watermark rows; split groups are for dataset manifests\n",
    )


def test_a_folder_that_is_not_there_is_told_before_anything_is_read(here):
    write("set.jsonl", picture("a.png", 1))
    result = invoke("cluster", "set.jsonl", "--output", "nowhere/new.jsonl")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: nowhere/new.jsonl: there is no folder ")

"""Rows that name no adapter are asked of every adapter that the command gives."""

import hashlib
import json

import pytest


@pytest.fixture
def images(dataset):
    dataset.images("0.9", "0.1")
    return dataset


def asked(project):
    """Which adapter was asked about which row, by alias."""
    return sorted((row["key"]["adapter"], row["key"]["case_id"]) for row in project.evidence)


def test_every_row_is_asked_of_every_adapter(images, workers):
    assert images.score("--bench-adapter=scorer", "--bench-adapter=other", workers=workers).ret == 0
    assert asked(images) == [("other", "img-1"), ("other", "img-2"), ("scorer", "img-1"), ("scorer", "img-2")]


def test_planned_are_rows_times_adapters(images):
    images.score("--bench-adapter=scorer", "--bench-adapter=other")
    assert images.document("run.json")["planned"]["rows"] == 4


def test_one_adapter_with_two_configurations(images, workers):
    given = ("--bench-adapter=old=scorer:weights=first", "--bench-adapter=new=scorer:weights=second")
    assert images.score(*given, workers=workers).ret == 0
    assert {row["key"]["adapter"]: row["adapter"]["options"] for row in images.evidence} == {
        "old": {"weights": "first"},
        "new": {"weights": "second"},
    }
    assert {row["adapter"]["name"] for row in images.evidence} == {"scorer"}


def test_an_alias_is_part_of_the_node_id(images):
    result = images.score("--bench-adapter=old=scorer", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["dataset.jsonl::test_detection::old::img-1"])


def test_run_json_says_which_adapter_an_alias_means(images):
    images.score("--bench-adapter=old=scorer:weights=first")
    assert images.document("run.json")["options"]["adapters"] == {"old=scorer": {"weights": "first"}}


def test_adapters_come_from_the_configuration_too(images):
    images.pytester.makeini("[pytest]\nbench_adapter =\n    other\n")
    images.call("dataset.jsonl", "--bench-split=test", "--bench-run-dir=run")
    assert {adapter for adapter, _ in asked(images)} == {"other"}


def test_no_adapter_is_asked_by_default(images):
    result = images.call("dataset.jsonl", "--bench-split=test")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: dataset.jsonl: rows of a dataset manifest name no adapter: give --bench-adapter=NAME*"]
    )


def test_an_adapter_of_another_medium(images):
    result = images.score("--bench-adapter=sounds")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: --bench-adapter=sounds: sounds is asked about audio, and rows of dataset.jsonl are images"]
    )


def test_an_unknown_adapter(images):
    result = images.score("--bench-adapter=a=nobody")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --bench-adapter=nobody: unknown adapter 'nobody'; *"])


def test_an_alias_that_is_another_adapter(images):
    result = images.score("--bench-adapter=other=scorer")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: --bench-adapter=other=scorer: other is another adapter; choose an alias that is none"]
    )


@pytest.mark.parametrize("alias", ["a b", "a/b", "a[1]", "-a", "ä"])
def test_an_alias_that_cannot_be_part_of_a_node_id(images, alias):
    result = images.score(f"--bench-adapter={alias}=scorer")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --bench-adapter=*: an alias has letters, digits, '.', '_' and '-' only"])


def test_the_same_alias_twice(images):
    result = images.score("--bench-adapter=scorer", "--bench-adapter=scorer:weights=second")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --bench-adapter=scorer is given twice; *"])


def test_an_alias_for_rows_that_name_their_adapter(project):
    project.cases("detected")
    result = project.run("cases.jsonl", "--bench-adapter=mine=toy")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --bench-adapter=mine=toy: rows of a watermark manifest name their adapter; *"])


def test_a_batch_adapter_under_an_alias_runs_in_one_worker(dataset):
    dataset.images(*["0.5"] * 8)
    assert dataset.score("--bench-adapter=fast=waves", workers=2).ret == 0
    assert len({row["worker"] for row in dataset.evidence}) == 1
    assert {row["batch"]["size"] for row in dataset.evidence} == {4}


def test_an_unavailable_adapter_does_not_keep_the_others_from_being_asked(images):
    assert images.score("--bench-adapter=scorer", "--bench-adapter=absent").ret == 0
    assert {row["key"]["adapter"]: row["outcome"] for row in images.evidence} == {
        "scorer": "measured",
        "absent": "unavailable",
    }


def test_a_resumed_run_asks_the_same_adapters(images):
    images.score("--bench-adapter=a=scorer", "-k", "img-1")
    result = images.score("--bench-adapter=a=other", "--bench-resume=run")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: *--bench-adapter: *a=scorer* then, *a=other* now*"])


def test_shards_share_out_rows_and_not_adapters(dataset):
    dataset.images(*["0.5"] * 8)
    both = ("--bench-adapter=scorer", "--bench-adapter=other")
    ids = []
    for index in (1, 2):
        dataset.score(*both, f"--bench-shard={index}/2", run=f"shard-{index}")
        lines = (dataset.path / f"shard-{index}" / "evidence.jsonl").read_text().splitlines()
        ids.append({(row["key"]["adapter"], row["key"]["case_id"]) for row in map(json.loads, lines)})
    assert not ids[0] & ids[1]
    assert len(ids[0] | ids[1]) == 16
    for part in ids:
        assert {case for adapter, case in part if adapter == "scorer"} == {
            case for adapter, case in part if adapter == "other"
        }


def test_rows_of_one_kind_are_crossed_beside_rows_that_name_their_adapter(dataset):
    """Both kinds in one run: a plain name configures the rows that name it, and is asked about every image."""
    dataset.image("img-1")
    dataset.write("dataset.jsonl")
    data = b"0.5 about a mark"
    (dataset.path / "mark.bin").write_bytes(data)
    mark = {
        "schema_version": 1,
        "case_id": "mark-1",
        "pair_id": "mark-1",
        "media_type": "image",
        "adapter": "other",
        "arm": "positive",
        "state": "marked",
        "path": "mark.bin",
        "sha256": hashlib.sha256(data).hexdigest(),
        "reference_path": None,
        "reference_sha256": None,
        "source_revision": "other@1",
        "transform": {"name": "none", "revision": "1", "parameters": {}},
        "seed": None,
        "expected": "unresolved",
    }
    dataset.write("marks.jsonl", [mark])
    dataset.score("marks.jsonl", "--bench-adapter=a=scorer")
    assert asked(dataset) == [("a", "img-1"), ("other", "mark-1")]

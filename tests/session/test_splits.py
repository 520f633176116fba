"""A run opens one split of a dataset by name, and nothing is opened by default."""

import json

import pytest

ROWS = {"img-1": "train", "img-2": "test", "img-3": "calibration", "img-4": "test"}


@pytest.fixture
def split(dataset):
    for image_id, name in ROWS.items():
        dataset.image(image_id, split=name)
    dataset.write("dataset.jsonl")
    return dataset


def test_the_rows_of_one_split_run(split, workers):
    assert split.score(workers=workers).ret == 0
    assert set(split.outcomes) == {"img-2", "img-4"}


def test_rows_of_other_splits_are_not_planned(split):
    split.score()
    assert split.document("run.json")["planned"] == {"rows": 2, "selected": 2, "left_out": 0, "lost": 0}


def test_the_header_names_the_split(split):
    split.score().stdout.fnmatch_lines(["benchbench: dataset.jsonl (2 of 4 rows, split test); *"])


def test_run_json_names_the_split(split):
    split.score()
    assert split.document("run.json")["options"]["split"] == "test"


def test_no_split_is_run_by_default(split):
    result = split.call("dataset.jsonl", "--bench-adapter=scorer")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: dataset.jsonl: * --bench-split=NAME, one of train, calibration, test"],
    )


def test_the_split_may_stand_in_the_configuration(split):
    split.pytester.makeini("[pytest]\nbench_split = calibration\n")
    split.call("dataset.jsonl", "--bench-adapter=scorer", "--bench-run-dir=run")
    assert set(split.outcomes) == {"img-3"}


def test_the_command_overrides_the_configuration(split):
    split.pytester.makeini("[pytest]\nbench_split = calibration\n")
    split.score("--bench-split=train")
    assert set(split.outcomes) == {"img-1"}


def test_an_unknown_split(split):
    result = split.score("--bench-split=tset")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --bench-split=tset: dataset.jsonl can have the splits train, calibration, test"])


def test_a_split_without_rows(split):
    split.write("dataset.jsonl", [row for row in split.rows if row["split"] != "calibration"])
    result = split.score("--bench-split=calibration")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: --bench-split=calibration: no row is of this split: dataset.jsonl has 1 of train, 2 of test"]
    )


def test_one_of_two_manifests_may_have_no_row_of_the_split(split):
    split.write("train.jsonl", [row for row in split.rows if row["split"] == "train"])
    split.write("test.jsonl", [row for row in split.rows if row["split"] == "test"])
    result = split.call("--manifest=train.jsonl", "--manifest=test.jsonl", "--bench-split=test", "--bench-adapter=scorer")
    assert result.ret == 0
    counts = ("train.jsonl (0 of 1 rows, split test)", "test.jsonl (2 of 2 rows, split test)")
    result.stdout.fnmatch_lines([f"benchbench: {', '.join(counts)}; *"])


def test_a_split_where_no_row_has_one(project):
    project.cases("detected")
    result = project.run("cases.jsonl", "--bench-split=test")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --bench-split=test: no row of cases.jsonl has a split; leave it out"])


def test_a_configured_split_does_not_disturb_other_kinds(project):
    project.pytester.makeini("[pytest]\nbench_split = test\n")
    project.cases("detected")
    assert project.run("cases.jsonl").ret == 0
    assert project.document("run.json")["options"]["split"] is None


def test_a_split_without_a_manifest(pytester):
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest("--bench-split=test")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --bench-split: there is no manifest with rows of a split"])


def test_files_of_other_splits_are_not_hashed(split):
    (split.path / "img-1.bin").unlink()
    assert split.score().ret == 0


def test_files_of_the_split_are_hashed_before_anything_runs(split):
    (split.path / "img-4.bin").write_text("0.9 about something else")
    result = split.score()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: dataset.jsonl:4: sha256: *"])


def test_a_row_without_a_path_cannot_be_run(split):
    split.image("img-5", path=None)
    split.write("dataset.jsonl")
    result = split.score()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: dataset.jsonl:5: path: missing: a row without a file cannot be run"])


def test_a_row_without_a_path_in_another_split(split):
    split.image("img-5", path=None, split="train")
    split.write("dataset.jsonl")
    assert split.score().ret == 0


def test_a_row_without_a_path_in_another_shard(split):
    from pytest_benchbench.manifests.sharding import Shard

    other = next(f"img-{number}" for number in range(5, 99) if Shard(1, 2).takes(f"img-{number}"))
    split.image(other, path=None)
    split.write("dataset.jsonl")
    assert split.score("--bench-shard=2/2").ret == 0


def test_a_resumed_run_keeps_to_its_split(split):
    split.score("-k", "img-2")
    result = split.score("--bench-resume=run", "--bench-split=train")
    assert result.ret == 4
    result.stderr.fnmatch_lines(['ERROR: *--bench-split: "test" then, "train" now*'])


def test_a_resumed_run_runs_what_is_missing(split):
    split.score("-k", "img-2")
    split.score("--bench-resume=run")
    assert split.tried == [("img-2", 1), ("img-4", 1)]


def test_rows_are_selected_by_their_fields(split):
    split.image("img-5", transform="jpeg-75")
    split.write("dataset.jsonl")
    split.score("--bench-select=transform=jpeg-75")
    assert set(split.outcomes) == {"img-5"}


def test_a_field_that_rows_do_not_have(split):
    result = split.score("--bench-select=state=marked")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --bench-select: rows have no field 'state'; they have: id, baseId, *"])


def test_shards_are_merged_into_the_whole(split):
    from click.testing import CliRunner

    from pytest_benchbench.cli import main

    for number in range(5, 13):
        split.image(f"img-{number}", number / 20)
    split.write("dataset.jsonl")
    split.score(run="whole")
    for index in (1, 2):
        split.score(f"--bench-shard={index}/2", run=f"shard-{index}")
    merged = CliRunner().invoke(main, ["merge", "shard-1", "shard-2", "--output-dir", "merged"])
    assert merged.exit_code == 0, merged.output
    results = [json.loads((split.path / run / "report.json").read_text())["results"] for run in ("whole", "merged")]
    assert results[0] == results[1]
    assert results[1]["rows"] == 10

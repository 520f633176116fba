"""A run that opens a test split says so in the ledger before it asks about any row."""

import json
import os
import subprocess

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main

IMAGES = [f"img-{number}" for number in range(1, 9)]


@pytest.fixture
def images(dataset):
    for number, image_id in enumerate(IMAGES):
        dataset.image(image_id, number / 10)
    dataset.image("base", split="train")
    dataset.image("platt", split="calibration")
    dataset.write("dataset.jsonl")
    return dataset


def test_the_first_run_is_the_first_attempt(images, workers):
    assert images.score(workers=workers).ret == 0
    assert len(images.ledger) == 1
    assert images.attempt() == 1


def test_a_run_again_is_another_attempt(images):
    images.score(run="one")
    images.score(run="two")
    assert [images.attempt(run) for run in ("one", "two")] == [1, 2]
    assert [line["run_id"] for line in images.ledger] == [
        json.loads((images.path / run / "run.json").read_text())["run_id"] for run in ("one", "two")
    ]


def test_attempts_are_counted_whoever_is_asked(images):
    images.score("--bench-adapter=scorer", run="one")
    images.score("--bench-adapter=other", run="two")
    assert images.attempt("two") == 2


def test_the_split_stays_the_same_when_other_rows_change(images):
    images.score(run="one")
    images.image("more", split="train")
    images.write("dataset.jsonl")
    images.score(run="two")
    assert images.attempt("two") == 2


@pytest.mark.parametrize("change", ["a row less", "a row more", "other files"])
def test_a_changed_test_split_is_the_same_one(images, change):
    images.score(run="one")
    if change == "a row less":
        del images.rows[0]
    elif change == "a row more":
        images.image("more")
    else:
        for number, image_id in enumerate(IMAGES[1:]):
            images.rows = [row for row in images.rows if row["id"] != image_id]
            images.image(f"other-{number}")
    images.write("dataset.jsonl")
    images.score(run="two")
    assert images.attempt("two") == 2


def test_another_test_split_is_counted_by_itself(images):
    images.score(run="one")
    images.rows = []
    images.image("more")
    images.write("dataset.jsonl")
    images.score(run="two")
    assert images.attempt("two") == 1


def test_the_bases_of_a_split_are_in_the_ledger_once(images):
    images.score(run="one")
    images.score(run="two")
    first, second = images.ledger
    assert (len(first["split_bases"]), second["split_bases"]) == (12 * len(IMAGES), None)


def test_the_line_says_what_was_opened_by_whom(images):
    images.score("--bench-adapter=a=scorer:weights=second")
    (line,) = images.ledger
    assert line["split"] == "test"
    assert line["manifests"] == [{"name": "dataset.jsonl", "sha256": images.evidence[0]["manifest"]["sha256"]}]
    (model,) = line["models"]
    assert (model["alias"], model["adapter"]) == ("a", "scorer")
    assert model["weights"] == images.evidence[0]["adapter"]["weights"]
    assert (line["shard"], line["shards"], line["commit"]) == (None, None, None)


def test_the_line_does_not_say_where_a_machine_keeps_its_files(images):
    images.score(f"--bench-artifact-root={images.path}")
    assert str(images.path) not in json.dumps(images.ledger)


@pytest.mark.parametrize("split", ["train", "calibration"])
def test_other_splits_open_nothing(images, split):
    assert images.score(f"--bench-split={split}").ret == 0
    assert (images.ledger, images.attempt()) == ([], None)


@pytest.mark.parametrize("option", ["--collect-only", "--setup-plan", "--setup-only"])
def test_what_asks_nobody_opens_nothing(images, option):
    images.score(option)
    assert images.ledger == []


def test_a_run_without_rows_of_the_split_opens_nothing(images):
    assert images.score("-k", "nothing").ret == 5
    assert images.ledger == []


def test_a_run_of_which_nobody_can_be_asked_opens_nothing(images, workers):
    assert images.score("--bench-adapter=absent", workers=workers).ret == 21
    assert images.ledger == []


def test_a_watermark_run_opens_nothing(project):
    project.cases("detected")
    project.run("cases.jsonl")
    assert not (project.path / "benchbench-ledger.jsonl").exists()


def test_a_killed_run_has_opened_the_split(dataset):
    dataset.images("0.5", "exit")
    result = dataset.alone("dataset.jsonl", "--bench-split=test", "--bench-adapter=scorer", "--bench-run-dir=run")
    assert result.ret == 3
    assert (len(dataset.ledger), dataset.attempt()) == (1, 1)


def test_a_run_without_a_directory_opens_nothing(images, workers):
    (images.path / "file").touch()
    result = images.score(run="file/run", workers=workers)
    assert result.ret == 4
    assert "file/run: File exists" in result.stderr.str()
    assert not (images.path / "benchbench-ledger.jsonl").exists()


def test_a_run_that_cannot_open_the_split_leaves_no_directory(images):
    (images.path / "benchbench-ledger.jsonl").mkdir()
    assert images.score().ret == 4
    assert not (images.path / "run").exists()


def test_the_split_is_opened_before_any_row_is_asked(dataset):
    dataset.images("0.5")
    dataset.pytester.makepyfile(
        test_mine="""
        import pathlib, pytest

        @pytest.mark.cases(kind="dataset")
        def test_score(observe):
            assert pathlib.Path("benchbench-ledger.jsonl").read_text().count("\\n") == 1
            observe().check()
        """
    )
    given = ("test_mine.py", "--manifest=dataset.jsonl", "--bench-split=test", "--bench-adapter=scorer")
    assert dataset.call(*given).ret == 0


def test_a_resumed_run_is_the_same_opening(images, workers):
    images.score("-k", "img-1")
    assert images.score("--bench-resume=run", workers=workers).ret == 0
    assert (len(images.ledger), images.attempt()) == (1, 1)
    assert len(images.evidence) == 8


def test_a_run_that_is_gone_on_with_by_another_model_is_a_new_opening(dataset):
    """Resuming compares the models that answered; one that was not asked yet may have changed."""
    dataset.images("raise", "0.5")
    given = ("dataset.jsonl", "--bench-split=test", "--bench-adapter=scorer")
    dataset.alone(*given, "--bench-run-dir=run", "-k", "img-1")
    conftest = dataset.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace('Weights("model", sha256)', 'Weights("model", sha256[::-1])'))
    dataset.alone(*given, "--bench-resume=run")
    assert (len(dataset.ledger), dataset.attempt()) == (2, 2)


def test_a_run_that_asked_nobody_opens_the_split_when_it_is_gone_on_with(images):
    given = ("dataset.jsonl", "--bench-split=test", "--bench-adapter=absent")
    images.alone(*given, "--bench-run-dir=run")
    conftest = images.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace('raise AdapterUnavailable("no weights here")', "pass"))
    images.alone(*given, "--bench-resume=run", "--bench-retry=unavailable")
    assert (len(images.ledger), images.attempt()) == (1, 1)


def test_shards_are_one_opening(images):
    for index in (1, 2, 3):
        images.score(f"--bench-shard={index}/3", run=f"shard-{index}")
    assert [(line["shard"], line["shards"]) for line in images.ledger] == [(1, 3), (2, 3), (3, 3)]
    assert {images.attempt(f"shard-{index}") for index in (1, 2, 3)} == {1}


def test_the_same_shard_again_is_another_attempt(images):
    images.score("--bench-shard=1/2", run="one")
    images.score("--bench-shard=1/2", run="two")
    assert images.attempt("two") == 2


def test_shards_with_other_options_are_several_openings(images):
    images.score("--bench-shard=1/2", run="one")
    images.score("--bench-shard=2/2", "--bench-select=transform=none", run="two")
    assert images.attempt("two") == 2


def test_merged_shards_keep_their_opening(images):
    images.score(run="whole")
    for index in (1, 2):
        images.score(f"--bench-shard={index}/2", run=f"shard-{index}")
    merged = CliRunner().invoke(main, ["merge", "shard-1", "shard-2", "--output-dir", "merged"])
    assert merged.exit_code == 0, merged.output
    assert images.attempt("merged") == 2
    assert "attempt 2 at this test split" in merged.output
    assert "attempt 2 at this test split" in (images.path / "merged" / "report.md").read_text()


def test_a_shard_without_rows_can_be_merged_with_the_others(dataset):
    dataset.images("0.5")
    for index in (1, 2):
        dataset.score(f"--bench-shard={index}/2", run=f"shard-{index}")
    assert CliRunner().invoke(main, ["merge", "shard-1", "shard-2", "--output-dir", "merged"]).exit_code == 0
    assert (len(dataset.ledger), dataset.attempt("merged")) == (1, 1)


def test_the_reports_tell_the_attempt_outside_of_the_results(images):
    result = images.score(run="one")
    result.stdout.fnmatch_lines(["attempt 1 at this test split, by any model (benchbench-ledger.jsonl)"])
    images.score(run="two")
    reports = [json.loads((images.path / run / "report.json").read_text()) for run in ("one", "two")]
    assert [report["environment"]["opening"]["attempt"] for report in reports] == [1, 2]
    assert reports[0]["results"] == reports[1]["results"]
    assert "attempt 2 at this test split" in (images.path / "two" / "report.md").read_text()


def test_another_ledger(images):
    (images.path / "docs").mkdir()
    images.score("--bench-ledger=docs/openings.jsonl")
    assert (images.path / "docs" / "openings.jsonl").read_text().count("\n") == 1
    assert images.document("run.json")["opening"]["ledger"] == "openings.jsonl"
    assert images.ledger == []


def test_a_ledger_in_the_configuration(images):
    images.pytester.makeini("[pytest]\nbench_ledger = openings.jsonl\n")
    images.score()
    assert (images.path / "openings.jsonl").read_text().count("\n") == 1


@pytest.mark.parametrize("text", ['{"torn', "not an opening\n"], ids=["torn", "foreign"])
def test_a_damaged_ledger_ends_the_session_before_anything_is_asked(images, text, workers):
    (images.path / "benchbench-ledger.jsonl").write_text(text)
    result = images.score(workers=workers)
    assert result.ret == 4
    assert not (images.path / "run").exists()
    errors = [line for line in result.errlines if line.startswith("ERROR")]
    assert len(errors) == 1
    assert "benchbench-ledger.jsonl:1: " in errors[0]
    assert (images.path / "benchbench-ledger.jsonl").read_text() == text


def test_a_damaged_ledger_is_nobodys_business_in_other_splits(images):
    (images.path / "benchbench-ledger.jsonl").write_text("not an opening\n")
    assert images.score("--bench-split=train").ret == 0


def test_a_ledger_that_cannot_be_written(images, workers):
    result = images.score("--bench-ledger=nowhere/openings.jsonl", workers=workers)
    assert result.ret == 4
    assert not (images.path / "run").exists()
    result.stderr.fnmatch_lines(["ERROR: *openings.jsonl: the ledger cannot be written: there is no folder *"])


def test_a_ledger_that_breaks_while_rows_are_collected(images):
    """What is found when the line is written ends the session as early as what is found before."""
    images.pytester.makepyfile(
        test_mine="""
        import pathlib, pytest

        @pytest.mark.cases(kind="dataset")
        def test_score(observe):
            observe().check()

        pathlib.Path("benchbench-ledger.jsonl").write_text("torn")
        """
    )
    result = images.call(
        *("test_mine.py", "--manifest=dataset.jsonl", "--bench-split=test", "--bench-adapter=scorer", "--bench-run-dir=run")
    )
    assert result.ret == 4
    assert not (images.path / "run").exists()


def git(path, *arguments):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", *who, *arguments], cwd=path, check=True, capture_output=True, env=environment)


@pytest.fixture
def committed(images):
    git(images.path, "init", "-q")
    git(images.path, "add", "dataset.jsonl")
    git(images.path, "commit", "-q", "-m", "one")
    return images


def test_shards_of_two_commits_are_two_openings(committed):
    committed.score("--bench-shard=1/2", run="one")
    git(committed.path, "commit", "-q", "--allow-empty", "-m", "two")
    committed.score("--bench-shard=2/2", run="two")
    assert committed.attempt("two") == 2


def test_a_run_that_is_gone_on_with_at_another_commit_is_the_same_opening(committed):
    committed.score("-k", "img-1")
    git(committed.path, "commit", "-q", "--allow-empty", "-m", "two")
    committed.score("--bench-resume=run")
    assert (len(committed.ledger), committed.attempt()) == (1, 1)

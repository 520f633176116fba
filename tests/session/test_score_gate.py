"""A gate about scores decides alike at the end of a run, after a merge, and on what was recorded."""

import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main

POLICY = """
name: mine
requires: {split: test}
held_out: verified
rules:
  - {id: recall, metric: real_recall, op: ">=", value: 0.5}
  - {id: accuracy, metric: balanced_accuracy, op: ">=", value: 0.5, slice: {contentGroup: "*"}}
  - {id: errors, metric: error_count, op: "<=", value: 0}
"""


def benchbench(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def labelled(dataset):
    """Three real and three AI images, one of each wrong, and one of another split."""
    (dataset.path / "mine.yaml").write_text(POLICY)
    for number, score in enumerate((0.1, 0.2, 0.9)):
        dataset.image(f"real-{number}", score, label=0)
    for number, score in enumerate((0.8, 0.9, 0.3)):
        dataset.image(f"ai-{number}", score, label=1, generatorFamily="gan", source="prompts")
    dataset.image("train-1", 0.5, split="train", source="elsewhere")
    return dataset


def decision_of(path):
    return json.loads((path / "gate.json").read_text())


def test_the_same_decision_at_the_end_of_a_run_and_on_what_it_recorded(labelled, workers):
    labelled.write("dataset.jsonl")
    assert labelled.score("--bench-gate=mine.yaml", workers=workers).ret == 0
    written = (labelled.path / "run" / "gate.json").read_bytes()
    decision = json.loads(written)
    assert (decision["decision"], decision["evidence"]["held_out"], decision["evidence"]["attempt"]) == (
        "pass",
        "verified",
        1,
    )
    again = labelled.path / "again.json"
    for given in ("run", "run/evidence.jsonl"):
        told = benchbench(
            "gate",
            labelled.path / given,
            f"--policy={labelled.path / 'mine.yaml'}",
            f"--manifest={labelled.path / 'dataset.jsonl'}",
            f"--output={again}",
        )
        assert (told.exit_code, told.output.splitlines()[0]) == (0, "gate mine: pass")
        assert again.read_bytes() == written
        again.unlink()


def test_the_same_decision_about_merged_shards(labelled):
    labelled.write("dataset.jsonl")
    assert labelled.score("--bench-gate=mine.yaml").ret == 0
    whole = decision_of(labelled.path / "run")
    shards = []
    for number in (1, 2):
        shards.append(labelled.path / f"shard-{number}")
        assert labelled.score(f"--bench-shard={number}/2", run=f"shard-{number}").ret in (0, 5)
    given = (f"--gate={labelled.path / 'mine.yaml'}", f"--manifest={labelled.path / 'dataset.jsonl'}")
    assert benchbench("merge", *shards, f"--output-dir={labelled.path / 'merged'}", *given).exit_code == 0
    merged = decision_of(labelled.path / "merged")
    for decision in (whole, merged):
        decision["evidence"].pop("attempt")
        decision["evidence"]["digests"].pop("evidence")
    assert merged == whole


@pytest.mark.parametrize(
    ("says", "rules"),
    [
        ("timeout", {"errors"}),
        ("too-small", {"errors"}),
        ("raise", {"errors"}),
    ],
)
def test_a_terminal_row_fails_its_base(labelled, says, rules):
    labelled.image("real-3", says, label=0)
    labelled.write("dataset.jsonl")
    assert labelled.score("--bench-gate=mine.yaml").ret == 20
    decided = decision_of(labelled.path / "run")["rules"]
    assert {rule["id"] for rule in decided if rule["passed"] is False} == rules
    (recall,) = [rule for rule in decided if rule["id"] == "recall"]
    assert (recall["n"], recall["failures"]) == (4, 2)


def test_one_base_more_is_refused(labelled):
    for number in (3, 4):
        labelled.image(f"real-{number}", 0.9, label=0)
    labelled.write("dataset.jsonl")
    assert labelled.score("--bench-gate=mine.yaml").ret == 20
    assert decision_of(labelled.path / "run")["decision"] == "refused"


def test_a_source_of_another_split_is_refused_by_name(labelled):
    labelled.image("train-2", 0.5, split="train")
    labelled.write("dataset.jsonl")
    assert labelled.score("--bench-gate=mine.yaml").ret == 20
    (rule,) = [rule for rule in decision_of(labelled.path / "run")["rules"] if rule["id"] == "held_out"]
    assert (rule["observed"], rule["reason"]) == ("leaked", "source 'camera' occurs in train too")
    assert rule["rows"] == ["real-0", "real-1", "real-2"]


def test_rows_that_were_left_out_are_missed(labelled):
    labelled.write("dataset.jsonl")
    assert labelled.score("--bench-gate=mine.yaml", "-k", "not real-2").ret == 21
    manifest = f"--manifest={labelled.path / 'dataset.jsonl'}"
    told = benchbench("gate", labelled.path / "run", f"--policy={labelled.path / 'mine.yaml'}", manifest)
    assert told.exit_code == 21
    assert "rows: real-2" in told.output


def test_selected_rows_are_refused(labelled):
    labelled.write("dataset.jsonl")
    assert labelled.score("--bench-gate=mine.yaml", "--bench-select=contentGroup=photo").ret == 20
    amiss = {rule["id"]: rule["passed"] for rule in decision_of(labelled.path / "run")["rules"] if not rule["passed"]}
    assert amiss == {"nothing_selected": False, "nothing_missing": None}
    manifest = f"--manifest={labelled.path / 'dataset.jsonl'}"
    told = benchbench("gate", labelled.path / "run", f"--policy={labelled.path / 'mine.yaml'}", manifest)
    assert told.exit_code == 20


def test_release_refuses_what_no_browser_scored(labelled):
    labelled.write("dataset.jsonl")
    assert labelled.score("--bench-gate=release").ret == 20
    amiss = {rule["id"] for rule in decision_of(labelled.path / "run")["rules"] if rule["passed"] is False}
    assert {"real_bases", "requires.evaluationMode", "carries.modelSha256", "carries.resolutionGroup"} <= amiss


def test_evidence_of_another_manifest_is_refused(labelled):
    labelled.write("dataset.jsonl")
    assert labelled.score().ret == 0
    labelled.image("real-9", 0.1, label=0)
    labelled.write("other.jsonl")
    told = benchbench(
        "gate",
        labelled.path / "run",
        f"--policy={labelled.path / 'mine.yaml'}",
        f"--manifest={labelled.path / 'other.jsonl'}",
        "--json",
    )
    assert told.exit_code == 21
    amiss = {rule["id"]: rule.get("rows") for rule in json.loads(told.output)["rules"] if rule["passed"] is False}
    assert amiss == {"same_manifest": None, "nothing_missing": ["real-9"]}

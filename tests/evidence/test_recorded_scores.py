"""Scores of evidence: attempts that count, fields from the case and from the scorer, terminal statuses kept."""

import json

import pytest

from pytest_benchbench.evidence.score_rows import NAMES, ScoreError, read_scores


@pytest.fixture
def row(score_files):
    return score_files.row


@pytest.fixture
def evidence_row(score_files):
    return score_files.evidence_row


def told(row):
    return {name: getattr(row, name) for name in NAMES}


def test_evidence_says_what_plain_rows_say(score_files, row):
    rows = [
        row("a~jpeg", 1, 0.7, rawScore=0.5, pixelScore=0.6, calibratorSha256="b" * 64),
        row("b", 0, 0.1, generatorModel=None),
        row("c", 0, None, rawScore=0.25),
    ]
    plain = list(read_scores(score_files.write(rows)))
    recorded = read_scores(score_files.evidence(rows, "recorded.jsonl"))
    found = list(recorded)
    assert list(map(told, found)) == list(map(told, plain))
    assert [(each.adapter, each.line) for each in found] == [("onnx", 1), ("onnx", 2), ("onnx", 3)]
    assert recorded.manifest_sha256s == ("a" * 64,)


@pytest.mark.parametrize(
    ("status", "outcome", "expected"),
    [
        ("too-small", "error", "too-small"),
        ("disabled", "error", "disabled"),
        ("timeout", "error", "timeout"),
        ("inference-error", "error", "inference-error"),
        ("unsupported", "error", "unsupported"),
        ("error", "error", "error"),
        ("unavailable", "unavailable", "unavailable"),
        ("not_run", "not_run", "not_run"),
        ("scored", "error", "error"),
        ("scored", "not_run", "not_run"),
        ("odd", "error", "error"),
    ],
)
def test_a_row_without_an_answer_keeps_its_status_and_has_no_score(
    score_files, row, evidence_row, status, outcome, expected
):
    line = evidence_row(row("a"), outcome=outcome)
    line["detection"]["status"] = status
    (found,) = read_scores(score_files.write([line], "evidence.jsonl"))
    assert (found.status, found.score, found.is_scored, found.label) == (expected, None, False, 1)


def test_the_attempt_that_counts_is_read(score_files, row, evidence_row):
    first = evidence_row(row("a", status="timeout"))
    second = evidence_row(row("a", score=0.25))
    second["key"]["attempt"] = 2
    third = evidence_row(row("a", score=0.25))
    third["key"]["attempt"] = 3
    (found,) = read_scores(score_files.write([first, second, third], "evidence.jsonl"))
    assert (found.score, found.line) == (0.25, 2)


@pytest.mark.parametrize("other", [{"status": "detected"}, {"score": 0.2}], ids=str)
def test_attempts_that_disagree_are_terminal(score_files, row, evidence_row, other):
    first, second = evidence_row(row("a")), evidence_row(row("a"), outcome="measured")
    second["key"]["attempt"] = 2
    second["detection"] |= other
    (found,) = read_scores(score_files.write([first, second], "evidence.jsonl"))
    assert (found.status, found.score) == ("unstable", None)


@pytest.mark.parametrize(
    ("part", "name", "value", "message"),
    [
        ("detection", "score", 1.5, "detection.score: expected a number from 0 to 1, or null, got 1.5"),
        ("case", "label", 2, "case.label: expected 0 (real), 1 (AI) or null, got 2"),
        ("case", "split", "holdout", "case.split: expected train, calibration, test or null, got 'holdout'"),
        ("scorer", "rawScore", "x", "detection.scorer.rawScore: expected a number from 0 to 1, or null, got 'x'"),
        ("scorer", "modelSha256", "X" * 64, "detection.scorer.modelSha256: expected 64 lower-case hex digits or null"),
        (
            "scorer",
            "preprocessingVersion",
            " ",
            "detection.scorer.preprocessingVersion: expected a text that is not blank, or null, got ' '",
        ),
        ("detection", "status", "detected", "detection.status: 'detected' is a verdict, not a score"),
    ],
)
def test_a_field_at_fault_is_named_where_it_stands(score_files, row, evidence_row, part, name, value, message):
    line = evidence_row(row("b"))
    (line["detection"]["scorer"] if part == "scorer" else line[part])[name] = value
    path = score_files.write([evidence_row(row("a")), line], "evidence.jsonl")
    with pytest.raises(ScoreError) as error:
        list(read_scores(path))
    assert str(error.value) == f"{path}:2: {message}"


def test_a_scored_row_without_any_score_is_refused(score_files, row, evidence_row):
    path = score_files.write([evidence_row(row("a", score=None))], "evidence.jsonl")
    with pytest.raises(ScoreError, match=r"jsonl:1: detection\.score: missing"):
        list(read_scores(path))


def test_rows_of_another_kind_are_no_scores(directories):
    path = directories.write("run", [directories.row("a")])
    with pytest.raises(ScoreError, match=r"evidence\.jsonl:1: kind: 'watermark' rows have no labels"):
        list(read_scores(path))


def test_rows_of_a_golden_set_have_their_figures_elsewhere(directories, golden):
    path = directories.write("run", [golden.row("a", "human", 80.0, adapter="x")])
    with pytest.raises(ScoreError, match=r"kind: 'golden-set' rows have figures of their own, in benchmark\.json"):
        list(read_scores(path))


def test_adapters_are_told_apart_and_can_be_chosen(score_files, row, evidence_row):
    lines = [evidence_row(row("a"), adapter=adapter) for adapter in ("one", "two")]
    path = score_files.write(lines, "evidence.jsonl")
    assert [each.adapter for each in read_scores(path)] == ["one", "two"]
    assert [(each.adapter, each.line) for each in read_scores(path, adapter="two")] == [("two", 2)]
    with pytest.raises(ScoreError, match="no row is of the adapter 'three'"):
        list(read_scores(path, adapter="three"))


def test_a_row_of_two_suites_is_there_twice(score_files, row, evidence_row):
    other = evidence_row(row("a"))
    other["key"]["suite"] = "other.py::test_detection"
    path = score_files.write([evidence_row(row("a")), other], "evidence.jsonl")
    with pytest.raises(ScoreError) as error:
        list(read_scores(path))
    assert str(error.value) == f"{path}:2: id: 'a' of 'onnx' stands already in {path}:1"


def test_a_manifest_is_joined_with_evidence(score_files, row, evidence_row):
    line = evidence_row(row("a"))
    line["case"] = {"id": "a"}
    found = read_scores(score_files.write([line], "evidence.jsonl"), manifest=score_files.manifest([row("a")]))
    assert [(each.label, each.baseId, each.source) for each in found] == [(1, "a", "collection")]


def test_a_run_says_what_bears_on_its_scores(directories, row, evidence_row):
    opening = {"attempt": 3, "ledger": "benchbench-ledger.jsonl", "split_sha256": "a" * 64, "asked_sha256": "b" * 64}
    options = {"select": ["transform=none"], "split": "test", "verify": "lazy"}.items()
    path = directories.write("run", [evidence_row(row("a"))], left_out=2, lost=1, options=options, opening=opening)
    source = read_scores(path)
    assert [each.id for each in source] == ["a"]
    facts = source.facts
    assert (facts.lost, facts.left_out, facts.select, facts.split) == (1, 2, ("transform=none",), "test")
    assert (facts.is_lazy, facts.attempt, facts.ledger) == (True, 3, "benchbench-ledger.jsonl")
    assert facts.manifests == (("cases.jsonl", "a" * 64),)
    assert source.file == path / "evidence.jsonl"


def test_evidence_alone_says_nothing_of_its_run(score_files, row):
    facts = read_scores(score_files.evidence([row("a")])).facts
    assert (facts.lost, facts.left_out, facts.is_lazy, facts.attempt, facts.select) == (None, None, None, None, ())
    assert len(facts.gaps) == 1


def test_evidence_is_known_whatever_its_name(score_files, row):
    assert [each.adapter for each in read_scores(score_files.evidence([row("a")], "mine.txt"))] == ["onnx"]


def test_damaged_evidence_is_refused(score_files, row, directories, evidence_row):
    path = score_files.write([evidence_row(row("a")), "{"], "evidence.jsonl")
    with pytest.raises(ScoreError, match=r"evidence\.jsonl:2: "):
        read_scores(path)
    with pytest.raises(ScoreError, match="not the directory of a run"):
        read_scores(directories.base)
    line = evidence_row(row("a"))
    del line["artifact"]
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(ScoreError, match=r"evidence\.jsonl:1: .*artifact"):
        list(read_scores(path))

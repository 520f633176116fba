"""Plain score rows: strict, streamed, no id twice, joined with a manifest."""

import json
import random

import pytest

from pytest_benchbench.evidence.score_rows import NAMES, TERMINAL, ScoreError, read_scores


@pytest.fixture
def row(score_files):
    return score_files.row


@pytest.fixture
def read(score_files):
    def read_rows(rows, manifest=None):
        source = read_scores(score_files.write(rows), manifest=manifest)
        return list(source), source

    return read_rows


@pytest.fixture
def faults(score_files):
    """Read scores that are refused; give what is said, without the folder."""

    def of(rows, manifest=None):
        path = rows if hasattr(rows, "open") else score_files.write(rows)
        with pytest.raises(ScoreError) as error:
            list(read_scores(path, manifest=manifest))
        return str(error.value).replace(f"{score_files.base}/", "").split("\n")

    return of


def test_a_row_as_the_contract_shows_it(read):
    line = {"id": "stable-id", "label": 1, "score": 0.87, "source": "collection", "contentGroup": "photo"}
    ((found,), source) = read([line])
    told = {name: getattr(found, name) for name in NAMES if getattr(found, name) is not None}
    assert told == {**line, "status": "scored"}
    assert (found.line, found.adapter, found.is_scored) == (1, None, True)
    assert set(NAMES) - {*line, "status"} == set(source.missing)
    assert source.facts is None
    assert source.rows == 1


def test_the_digest_is_that_of_the_file(read, score_files):
    import hashlib

    _, source = read([score_files.row("a")])
    assert source.sha256 == hashlib.sha256(source.path.read_bytes()).hexdigest()


def test_what_is_not_named_is_ignored(read, row):
    more = {"adapter": 5, "line": "x", "wallTimeMs": 1.5, "nested": {"score": 7, "id": [1, {"label": 9}]}}
    ((found,), _) = read([{**row("a"), **more}])
    assert (found.id, found.score, found.adapter, found.line) == ("a", 0.9, None, 1)


def test_it_can_be_read_again(row, score_files):
    source = read_scores(score_files.write([row("a"), row("b")]))
    assert list(source) == list(source)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id":"a","score":1.5}', "score: expected a number from 0 to 1, or null, got 1.5"),
        ('{"id":"a","score":-0.1}', "score: expected a number from 0 to 1, or null, got -0.1"),
        ('{"id":"a","score":"0.5"}', "score: expected a number from 0 to 1, or null, got '0.5'"),
        ('{"id":"a","score":true}', "score: expected a number from 0 to 1, or null, got true"),
        ('{"id":"a","score":NaN}', "score: NaN is no JSON number"),
        ('{"id":"a","score":Infinity}', "score: Infinity is no JSON number"),
        ('{"id":"a","score":1e999}', "score: 1e999 is beyond the range of numbers"),
        ('{"id":"a","score":0.5,"pixelScore":1.01}', "pixelScore: expected a number from 0 to 1, or null, got 1.01"),
        ('{"id":"a","score":0.5,"rawScore":-1}', "rawScore: expected a number from 0 to 1, or null, got -1"),
        ('{"score":0.5}', "id: missing"),
        ('{"id":"","score":0.5}', "id: expected a text of 1 to 200 characters without control characters, got ''"),
        (
            '{"id":"a\\u0007","score":0.5}',
            "id: expected a text of 1 to 200 characters without control characters, got 'a\\x07'",
        ),
        ('{"id":"a","score":0.5,"label":2}', "label: expected 0 (real), 1 (AI) or null, got 2"),
        ('{"id":"a","score":0.5,"label":true}', "label: expected 0 (real), 1 (AI) or null, got true"),
        ('{"id":"a","score":0.5,"split":"holdout"}', "split: expected train, calibration, test or null, got 'holdout'"),
        ('{"id":"a","score":0.5,"baseId":""}', "baseId: expected a text that is not blank, or null, got ''"),
        ('{"id":"a","score":0.5,"source":" "}', "source: expected a text that is not blank, or null, got ' '"),
        (
            '{"id":"a","score":0.5,"preprocessingVersion":"\\u200b"}',
            "preprocessingVersion: expected a text that is not blank, or null, got '\\u200b'",
        ),
        ('{"id":"a","score":0.5,"modelSha256":"ABC"}', "modelSha256: expected 64 lower-case hex digits or null"),
        (
            '{"id":"a","score":0.5,"calibratorSha256":"' + "A" * 64 + '"}',
            "calibratorSha256: expected 64 lower-case hex digits or null",
        ),
        (
            '{"id":"a","score":0.5,"evaluationMode":"live"}',
            "evaluationMode: expected deployed, reference, synthetic or null, got 'live'",
        ),
        (
            '{"id":"a","score":0.5,"resolutionGroup":"big"}',
            "resolutionGroup: expected full-res, thumbnail or null, got 'big'",
        ),
        ('{"id":"a","status":"lost"}', f"status: expected scored, {', '.join(TERMINAL)} or null, got 'lost'"),
        ('{"id":"a","score":0.5,"score":0.6}', "score: this key stands twice"),
        ('{"id":"a","score":0.5,"id":"b"}', "id: this key stands twice"),
        ('{"id":"a","score":0.5,"score" :0.6}', "score: this key stands twice"),
        ('{"id":"a","score":0.5,"more":{"k":1,"k":2}}', "more.k: this key stands twice"),
        ('{"id":"a","score":0.5,"more":NaN}', "more: NaN is no JSON number"),
        (
            '{"id":"a"}',
            "score: missing: a scored row has a score or a rawScore; a row without one has a status that says why",
        ),
        (
            '{"id":"a","pixelScore":0.5,"status":"scored"}',
            "score: missing: a scored row has a score or a rawScore; a row without one has a status that says why",
        ),
        ('{"id":"a","status":"timeout","score":0.5}', "score: a row with status timeout has no score"),
        ('{"id":"a","status":"error","pixelScore":0.5}', "pixelScore: a row with status error has no score"),
        ("[1]", "expected a JSON object, got an array"),
        ("", "blank line"),
        ('{"id":"a","score":0.5', "not JSON at column 22: Expecting ',' delimiter"),
    ],
)
def test_what_is_refused(faults, row, text, message):
    assert faults([row("first"), text]) == [f"scores.jsonl:2: {message}"]


def test_every_fault_is_named_and_all_are_counted(faults, row):
    lines = faults([row("good"), *(row(f"r{number}", score=2) for number in range(30))])
    assert len(lines) == 21
    assert lines[0].startswith("scores.jsonl:2: score: ")
    assert lines[-1] == "... and 10 more faults"


def test_good_rows_come_before_the_refusal(score_files, row):
    source = iter(read_scores(score_files.write([row("a"), row("b", score=7), row("c")])))
    assert [next(source).id, next(source).id] == ["a", "c"]
    with pytest.raises(ScoreError, match=":2: score: "):
        next(source)


def test_an_id_stands_once(faults, row):
    assert faults([row("a"), row("b"), row("a", label=0)]) == ["scores.jsonl:3: id: 'a' stands already in scores.jsonl:1"]


def test_different_ids_of_equal_hashes_are_no_repetition(read, row, monkeypatch):
    from pytest_benchbench.evidence import score_source

    monkeypatch.setattr(score_source, "hash", lambda identity: 7, raising=False)
    assert len(read([row("a"), row("b"), row("c")])[0]) == 3


def test_a_line_is_bounded(faults, row):
    assert faults([row("a", source="x" * 2**20), row("b")]) == ["scores.jsonl:1: line longer than 1 MiB"]


def test_a_last_line_that_is_cut_off_is_named(faults, score_files, row):
    path = score_files.write([row("a")])
    with path.open("a") as file:
        file.write('{"id":"b","sco')
    assert faults(path) == [
        "scores.jsonl:2: the last line is cut off: not JSON at column 11: Unterminated string starting at"
    ]


def test_a_last_line_needs_no_end(score_files):
    path = score_files.base / "scores.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id":"a","score":0.5}\r\n{"id":"b","score":1}')
    assert [(row.id, row.score) for row in read_scores(path)] == [("a", 0.5), ("b", 1.0)]


def test_an_empty_file_has_no_scores(faults):
    assert faults([]) == ["scores.jsonl: empty: there is no score"]


def test_what_is_no_file_is_refused(tmp_path):
    import os

    with pytest.raises(ScoreError, match="no such file"):
        read_scores(tmp_path / "absent.jsonl")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ScoreError, match="not a regular file"):
        read_scores(tmp_path / "pipe")


def test_a_file_that_changes_between_two_readings_is_refused(score_files, row):
    source = read_scores(score_files.write([row("a")]))
    list(source)
    score_files.write([row("b")])
    with pytest.raises(ScoreError, match="was changed while it was read"):
        list(source)


def test_missing_names_are_those_that_no_row_has(read, row):
    _, source = read([row("a", provider=None), row("b", preprocessingVersion=None, provider=None)])
    assert source.missing == ("rawScore", "pixelScore", "generatorModel", "calibratorSha256", "provider")


def test_a_manifest_says_what_rows_do_not(read, score_files, row):
    rows = [row("a~jpeg", 1), row("b", 0)]
    manifest = score_files.manifest(rows)
    plain = [{"id": each["id"], "score": each["score"]} for each in rows]
    found, source = read(plain, manifest)
    named = ("baseId", "label", "split", "source", "generatorFamily", "contentGroup", "transform", "resolutionGroup")
    assert [{name: getattr(one, name) for name in named} for one in found] == [
        {name: each.get(name) for name in named} for each in rows
    ]
    assert len(source.manifest) == 2
    assert "label" not in source.missing


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("label", 0, "label: 0, but 1 in dataset.jsonl:2"),
        ("baseId", "other", "baseId: 'other', but 'b' in dataset.jsonl:2"),
        ("split", "train", "split: 'train', but 'test' in dataset.jsonl:2"),
        ("transform", "jpeg", "transform: 'jpeg', but 'none' in dataset.jsonl:2"),
        ("resolutionGroup", "thumbnail", "resolutionGroup: 'thumbnail', but 'full-res' in dataset.jsonl:2"),
    ],
)
def test_a_manifest_that_says_otherwise_is_named_with_the_row(faults, score_files, row, name, value, message):
    rows = [row("a"), row("b")]
    manifest = score_files.manifest(rows)
    assert faults([rows[0], {**rows[1], name: value}], manifest) == [f"scores.jsonl:2: {message}"]


def test_what_a_manifest_does_not_say_contradicts_nothing(read, score_files, row):
    manifest = score_files.manifest([row("a", resolutionGroup=None)])
    (found,), _ = read([row("a", generatorModel="m")], manifest)
    assert (found.resolutionGroup, found.generatorModel) == ("full-res", "m")


def test_a_manifest_knows_every_row(faults, score_files, row):
    manifest = score_files.manifest([row("a")])
    assert faults([row("a"), row("b")], manifest) == ["scores.jsonl:2: id: 'b' does not stand in dataset.jsonl"]


def test_a_manifest_at_fault_is_refused(score_files, row):
    manifest = score_files.write([{**score_files.manifest_row(row("a")), "label": 3}], "dataset.jsonl")
    with pytest.raises(ScoreError, match=r"dataset\.jsonl:1: label: expected"):
        read_scores(score_files.write([row("a")]), manifest=manifest)


def test_plain_rows_have_no_adapter_to_choose(score_files, row):
    with pytest.raises(ScoreError, match="name no adapter"):
        read_scores(score_files.write([row("a")]), adapter="onnx")


def test_lines_of_any_spelling_are_read_alike(score_files, row):
    """Spaces, escapes, other orders of members and texts with colons are the same rows."""
    rows = [row("a:b", source='x":y'), row("ü", 0, 1e-3), row("c", score=None, status="timeout")]
    draw = random.Random(7)
    spelled = []
    for one in rows:
        members = list(one.items())
        draw.shuffle(members)
        spelled.append(json.dumps(dict(members), indent=1, ensure_ascii=draw.random() < 0.5).replace("\n", " "))
    plain = list(read_scores(score_files.write(rows, "plain.jsonl")))
    assert list(read_scores(score_files.write(spelled, "spelled.jsonl"))) == plain

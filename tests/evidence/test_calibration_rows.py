import json

import pytest

from pytest_benchbench.evidence.calibration_rows import CalibrationError, read_calibration_rows
from pytest_benchbench.evidence.score_rows import read_scores
from pytest_benchbench.evidence.score_source import ScoreError

MODEL, OTHER = "a" * 64, "b" * 64


def row(row_id, base="b", label=1, raw=0.5, **more):
    """Give a row; ``None`` takes a field out."""
    fields = {"id": row_id, "baseId": base, "split": "calibration", "label": label, "rawScore": raw, **more}
    return {name: value for name, value in fields.items() if value is not None}


@pytest.fixture
def read(tmp_path):
    def read(*rows, **options):
        path = tmp_path / "scores.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in rows))
        return read_calibration_rows(read_scores(path), **options)

    return read


@pytest.fixture
def refusal(read, tmp_path):
    def refusal(*rows, error=CalibrationError, **options):
        with pytest.raises(error) as refused:
            read(*rows, **options)
        return str(refused.value).replace(f"{tmp_path}/", "").splitlines()

    return refusal


def test_rows_are_sorted_by_base_and_id(read):
    rows = read(row("z", "y", 0, 0.1), row("b", "x", 1, 0.2), row("a", "x", 1, 0.3))
    assert rows.units == ["x", "y"]
    assert rows.labels.tolist() == [1, 0]
    assert rows.scored.raws.tolist() == [0.3, 0.2, 0.1]
    assert rows.scored.labels.tolist() == [1, 1, 0]
    assert rows.scored.bases.tolist() == [0, 0, 1]
    assert rows.failed.tolist() == [False, False]


def test_the_digest_is_of_the_rows_and_not_of_their_order(read):
    one = read(row("a", "x", 1, 0.3, note="x"), row("b", "y", 0, 0.2))
    other = read(row("b", "y", 0, 0.2, contentGroup="photo"), row("a", "x", 1, 0.3))
    assert one.sha256 == other.sha256
    assert read(row("a", "x", 1, 0.3), row("b", "y", 0, 0.20000000000000004)).sha256 != one.sha256


def test_the_digest_can_be_computed_elsewhere(read):
    """By hand: ``printf '["b","w",0,0.5,"scored","s",null]\\n["a","x",1,0.25,"scored",null,"f"]\\n' | sha256sum``."""
    assert read(row("a", "x", 1, 0.25, generatorFamily="f"), row("b", "w", 0, 0.5, source="s")).sha256 == (
        "a12b9fe7cb56c0aa90cd4a8b1c3630051a0b734a7d451f1d2c937c60743fc56c"
    )


def test_bases_are_counted_and_not_rows(read):
    found = read(
        *(row(f"r{n}", "x", 0, source="s") for n in range(3)),
        row("s0", "y", 0, source="t"),
        row("t0", "z", 0),
        *(row(f"a{n}", "u", 1, source="s", generatorFamily="f") for n in range(2)),
        row("c0", "v", 1),
    ).counts
    assert (found.unit, found.rows, found.real_bases, found.ai_bases) == ("base", 8, 3, 2)
    assert found.real_sources == {"s": 1, "t": 1}
    assert found.generator_families == {"f": 1}
    assert (found.real_without_source, found.ai_without_family) == (1, 1)


def test_what_one_row_of_a_base_says_holds_for_the_base(read):
    found = read(row("r0", "x", 0), row("r1", "x", 0, source="s")).counts
    assert (found.real_sources, found.real_without_source) == ({"s": 1}, 0)


def test_where_a_picture_was_collected_says_nothing_about_its_generator(read):
    found = read(
        row("r0", "x", 1, source="s", generatorFamily="f"), row("r1", "x", 1, source="t", generatorFamily="f")
    ).counts
    assert found.generator_families == {"f": 1}


def test_without_bases_every_row_stands_for_itself(read):
    rows = read(row("a", None, 1), row("b", None, 0))
    assert rows.units == ["a", "b"]
    assert (rows.counts.unit, rows.counts.rows, rows.counts.real_bases) == ("row", 2, None)


@pytest.mark.parametrize("split", ["test", "train"])
def test_a_row_of_another_split_is_refused(refusal, split):
    assert refusal(row("a"), row("b", split=split)) == [
        f"scores.jsonl:2: split: '{split}'; only rows that are marked calibration may be fitted on"
    ]


def test_a_row_that_is_not_marked_is_refused(refusal):
    assert refusal(row("a", split=None)) == [
        "scores.jsonl:1: split: missing; only rows that are marked calibration may be fitted on"
    ]


def test_every_fault_is_named_and_many_are_counted(refusal):
    lines = refusal(*(row(f"r{n}", split="test") for n in range(30)))
    assert len(lines) == 21
    assert lines[-1] == "... and 10 more faults"


def test_a_row_needs_label_and_raw_score(refusal):
    assert refusal(row("a", label=None), row("b", raw=None, score=0.5)) == [
        "scores.jsonl:1: label: missing",
        "scores.jsonl:2: rawScore: missing; a calibrated score cannot be calibrated",
    ]


@pytest.mark.parametrize("raw", ["NaN", "Infinity", "1e999", "1.5", "-0.1", '"0.5"', "true"])
def test_a_raw_score_is_a_number_from_0_to_1(tmp_path, raw):
    path = tmp_path / "scores.jsonl"
    path.write_text('{"id":"a","baseId":"b","split":"calibration","label":1,"rawScore":' + raw + "}\n")
    with pytest.raises(ScoreError, match=r"scores\.jsonl:1: rawScore: "):
        read_calibration_rows(read_scores(path))


def test_the_same_id_twice_is_refused(refusal):
    (line,) = refusal(row("a"), row("a"), error=ScoreError)
    assert line == "scores.jsonl:2: id: 'a' stands already in scores.jsonl:1"


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ({"label": 1}, {"label": 0}, "label: 0, but 1 in line 1, which is of the same base 'b'"),
        (
            {"label": 0, "source": "s"},
            {"label": 0, "source": "t"},
            "source: 't', but 's' in line 1, which is of the same base 'b'",
        ),
        (
            {"generatorFamily": "f"},
            {"generatorFamily": "g"},
            "generatorFamily: 'g', but 'f' in line 1, which is of the same base 'b'",
        ),
        ({"base": "b"}, {"base": None}, "baseId: missing, unlike in line 1: all rows name it, or none"),
        ({"base": None}, {"base": "b"}, "baseId: given, unlike in line 1: all rows name it, or none"),
        ({"modelSha256": MODEL}, {"modelSha256": None}, f"modelSha256: missing, but '{MODEL[:56]}... in line 1"),
        ({"modelSha256": None}, {"modelSha256": MODEL}, f"modelSha256: '{MODEL[:56]}..., but missing in line 1"),
        ({"preprocessingVersion": "1"}, {"preprocessingVersion": "2"}, "preprocessingVersion: '2', but '1' in line 1"),
        ({"evaluationMode": "reference"}, {"evaluationMode": "deployed"}, "evaluationMode: 'deployed', but 'reference'"),
    ],
)
def test_rows_that_do_not_belong_together_are_refused(refusal, one, other, message):
    (line,) = refusal(row("a", **one), row("c", **other))
    assert line.startswith(f"scores.jsonl:2: {message}")


def test_checkpoint_and_preprocessing_are_those_of_the_rows_or_those_given(read, refusal):
    said = {"modelSha256": MODEL, "preprocessingVersion": "1"}
    given = {"model_sha256": MODEL, "preprocessing_version": "1"}
    for rows, options in ([said, said], {}), ([{}, {}], given), ([said, {}], given), ([said, said], given):
        found = read(*(row(f"r{n}", **more) for n, more in enumerate(rows)), **options)
        assert (found.model_sha256, found.preprocessing_version) == (MODEL, "1")
    found = read(row("a"))
    assert (found.model_sha256, found.preprocessing_version) == (None, None)
    lines = refusal(row("a", **said), model_sha256=OTHER, preprocessing_version="2")
    assert lines == [
        f"scores.jsonl:1: modelSha256: '{MODEL[:56]}..., but '{OTHER[:56]}... was given for all rows",
        "scores.jsonl:1: preprocessingVersion: '1', but '2' was given for all rows",
    ]


def test_a_row_without_score_is_refused(refusal):
    assert refusal(row("a"), row("b", raw=None, status="too-small")) == [
        "scores.jsonl:2: status: 'too-small': there is no raw score; --exclude-terminal leaves such rows out"
    ]


def test_rows_without_score_are_left_out_on_request_and_counted(read):
    said = {"modelSha256": MODEL}
    rows = read(
        row("a", "x", 1, **said),
        row("b", "x", 1, None, status="timeout"),
        row("c", "y", 0, **said),
        row("d", "z", 0, None, status="too-small"),
        row("e", "z", 0, None, status="too-small"),
        exclude_terminal=True,
    )
    assert rows.units == ["x", "y"]
    assert rows.failed.tolist() == [True, False]
    assert rows.counts.terminal == {"timeout": 1, "too-small": 2}
    assert (rows.counts.rows, rows.counts.real_bases, rows.counts.ai_bases) == (2, 1, 1)
    assert rows.model_sha256 == MODEL


def test_rows_of_other_splits_are_refused_even_without_a_score(refusal):
    assert refusal(row("a", raw=None, status="timeout", split="test"), exclude_terminal=True) == [
        "scores.jsonl:1: split: 'test'; only rows that are marked calibration may be fitted on"
    ]


def test_something_must_be_left(refusal):
    assert refusal(row("a", raw=None, status="timeout"), exclude_terminal=True) == ["scores.jsonl: no row has a raw score"]

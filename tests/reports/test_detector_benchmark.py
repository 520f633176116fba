"""Reading ``benchmark.json`` back."""

import json

import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.reports.detector_benchmark import (
    MAX_BYTES,
    BenchmarkFileError,
    decode_benchmark,
    encode_benchmark,
    read_benchmark,
)
from pytest_benchbench.reports.golden_sets import GoldenSets


@pytest.fixture(scope="module")
def document(golden):
    from pytest_benchbench.evidence.observation import EvidenceRow
    from pytest_benchbench.evidence.reading import SettledRow

    sets = GoldenSets()
    for name, label, score in (("a", "ai", 0.1 + 0.2), ("b", "human", 100.0), ("c", "ai", None)):
        row = msgspec.convert(golden.row(name, label, score), EvidenceRow)
        sets.add(SettledRow(row, row.outcome, False, 1, b""))
    sets.results(golden.manifests())
    made = sets.benchmark({"run_id": "r", "started": "2026-11-30T00:00:00.000+00:00"}, "e" * 64, [])
    return json.loads(encode_benchmark(made))


@pytest.fixture
def read(tmp_path):
    def written(text):
        path = tmp_path / "benchmark.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_benchmark(path)

    return written


def test_it_reads_back_as_it_was(document, read):
    found = read(json.dumps(document))
    assert found.detectors[0].scores == {"a": 0.30000000000000004, "b": 100.0}
    assert json.loads(encode_benchmark(found)) == document
    assert encode_benchmark(read(encode_benchmark(found))) == encode_benchmark(found)


@given(st.floats(0, 100))
def test_every_score_reads_back_exactly(document, score):
    changed = json.loads(json.dumps(document))
    changed["detectors"][0]["scores"]["a"] = score
    written = json.loads(encode_benchmark(decode_benchmark(changed)))
    assert written["detectors"][0]["scores"]["a"].hex() == score.hex()


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("surprise",), 1, "object contains unknown field surprise"),
        (("schema_version",), 2, "schema_version: invalid enum value 2"),
        (("detectors", 0, "scores", "a"), 100.5, "detectors[0].scores[...]: expected float <= 100.0"),
        (("detectors", 0, "accuracy", "value"), 1.5, "detectors[0].accuracy.value: expected float <= 1.0"),
        (("detectors", 0, "accuracy", "k"), -1, "detectors[0].accuracy.k: expected int >= 0"),
        (("detectors", 0, "humanizerBypass", "higherIsBetter"), False, "invalid enum value False"),
        (("detectors", 0, "histogram"), [0] * 9, "detectors[0].histogram: expected array of length >= 10"),
        (("detectors", 0, "histogram"), [0] * 10, "detectors[0].histogram: its counts do not sum to scored"),
        (("detectors", 0, "scored"), 3, "detectors[0]: scored, confusion and scores do not agree"),
        (("samples", 0, "id"), "b", "samples: an id stands twice"),
        (("samples", 0, "id"), "z", "detectors[0].scores: 'a' is none of the samples"),
        (("goldenSet", "sha256"), "d", "goldenSet.sha256: expected str matching regex"),
    ],
)
def test_what_is_none_is_refused_with_its_place(document, read, place, value, told):
    changed = json.loads(json.dumps(document))
    *outer, last = place
    inner = changed
    for step in outer:
        inner = inner[step]
    inner[last] = value
    with pytest.raises(BenchmarkFileError) as caught:
        read(json.dumps(changed))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "benchmark.json: " in str(caught.value)


def test_an_alias_that_stands_twice_is_refused(document):
    with pytest.raises(ValueError, match="detectors: an alias stands twice"):
        decode_benchmark({**document, "detectors": document["detectors"] * 2})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"type": "detector-benchmark", "type": "x"}', "type: this key stands twice"),
        ('{"threshold": NaN}', "threshold: NaN is no JSON number"),
        ("[1]", "expected a JSON object"),
        ("{", "not JSON"),
        (b"\xff", "not UTF-8"),
        ("", "blank"),
        ("[" * 100_000, "nested deeper"),
    ],
)
def test_what_is_no_such_json_is_refused(read, text, told):
    with pytest.raises(BenchmarkFileError, match=told):
        read(text)


def test_a_file_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "benchmark.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(BenchmarkFileError, match="larger than"):
        read_benchmark(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BenchmarkFileError, match=r"none.json: cannot be read: No such file"):
        read_benchmark(tmp_path / "none.json")

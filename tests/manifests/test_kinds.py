import json

import pytest

SHAPES = (
    "a watermark row has schema_version and case_id, a dataset row has baseId and label, "
    "a golden set is a JSON object with samples"
)


def test_the_first_row_tells_the_kind(desk, row, image):
    assert desk.read_rows(row()).kind == "watermark"
    assert desk.read_rows(image()).kind == "dataset"


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_golden_set_is_recognised_however_it_is_written(desk, golden, sample, indent, mark):
    document = mark + json.dumps(golden(sample()), indent=indent).encode()
    assert desk.read(desk.write_bytes(document, name="golden.json")).kind == "golden-set"


def test_a_broken_golden_set_is_refused_for_what_is_broken(desk):
    document = b'{\n  "samples": [\n    {"id": "a"},\n  ]\n}\n'
    assert desk.faults_of(desk.write_bytes(document)) == ["cases.jsonl:4: not JSON at column 3: Expecting value"]


HALVES = ['{"schema_version":1}', '{"case_id":"a"}', '{"baseId":"a"}', '{"label":1}', '{"schema_version":1,"label":1}']


@pytest.mark.parametrize("line", ['{"id":"a"}', "{}", *HALVES])
def test_an_object_of_no_kind_is_refused_with_the_shapes(desk, line):
    assert desk.faults(line) == [f"cases.jsonl:1: a row of no known kind; {SHAPES}"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("[1]", "expected a JSON object, got an array"),
        ("case_id,path", "not JSON at column 1: Expecting value"),
        ("x" * 1_048_577, "line longer than 1 MiB"),
    ],
)
def test_a_file_that_is_no_manifest_is_refused_with_the_reason_and_the_shapes(desk, line, why):
    assert desk.faults(line) == [f"cases.jsonl:1: {why}; {SHAPES}"]


def test_a_faulty_first_row_is_told_by_the_next_ones(desk, row):
    faulty = row(case_id="cat-02")
    del faulty["schema_version"]
    assert desk.faults(faulty, row()) == ["cases.jsonl:1: schema_version: missing"]


def test_a_row_of_another_kind_is_one_fault(desk, row, image):
    assert desk.faults(row(), image()) == ["cases.jsonl:2: a dataset row in a watermark manifest"]
    assert desk.faults(image(), row()) == ["cases.jsonl:2: a watermark row in a dataset manifest"]

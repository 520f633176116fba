"""The readers of scores: every row is what its line says, or the file is refused by name."""

import json

import msgspec
import pytest
from hypothesis import event, given, strategies as st

from pytest_benchbench.evidence.score_rows import NAMES, ScoreError, read_scores
from pytest_benchbench.reports.evaluation_document import evaluation_document
from pytest_benchbench.reports.evaluation_markdown import evaluation_blocks

ROW = {
    "id": "img-1",
    "baseId": "base-1",
    "label": 1,
    "split": "test",
    "score": 0.87,
    "pixelScore": 0.6,
    "source": "collection",
    "generatorFamily": "diffusion",
    "contentGroup": "photo",
    "transform": "jpeg-75",
    "resolutionGroup": "thumbnail",
    "evaluationMode": "deployed",
    "modelSha256": "a" * 64,
    "preprocessingVersion": "1",
    "provider": "wasm",
}
FILES = [
    (ROW, ROW | {"id": "img-2", "baseId": "base-2", "label": 0, "score": 0.1}, ROW | {"id": "img-3", "transform": "none"}),
    ({"id": "a", "label": 0, "score": 0.5}, {"id": "b", "label": 1, "status": "timeout"}),
    ({"id": "a", "split": "calibration", "label": 1, "rawScore": 0.82, "extra": {"id": 5}},),
]


def evidence(case_id, status="scored", outcome="measured", **of_case):
    names = ("baseId", "label", "split", "source", "contentGroup", "transform")
    return {
        "schema_version": 1,
        "run_id": "run-1",
        "kind": "dataset",
        "key": {"suite": "s.py::test", "adapter": "onnx", "case_id": case_id, "params": None, "attempt": 1},
        "manifest": {"name": "dataset.jsonl", "sha256": "a" * 64, "line": 1},
        "case": {"id": case_id, **{name: ROW[name] for name in names}, **of_case},
        "row_sha256": case_id[-1] * 64,
        "artifact": {"sha256": "d" * 64, "decoding": None},
        "adapter": {"name": "onnx", "version": "1", "rule": "r", "options": {}, "source_sha256": None, "weights": []},
        "code": {"project_commit": None, "dirty": None, "kernel_sha256": "0" * 64},
        "detection": {
            "status": status,
            "adapter_elapsed_ms": 1.5,
            "call": "warm",
            "score": 0.75,
            "scorer": {"pixelScore": 0.5, "evaluationMode": "reference", "modelSha256": "a" * 64, "crops": [1, 2]},
        },
        "removal": None,
        "fidelity": {"status": "no_reference"},
        "outcome": outcome,
        "worker": None,
    }


EVIDENCE = [
    (evidence("img-a"), evidence("img-b", label=0, baseId="base-2"), evidence("img-c", "timeout", "error", label=0)),
    (evidence("img-a", "unavailable", "unavailable"), evidence("img-b", "detected")),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "scores.jsonl"


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    names = ("id", "baseId", "label", "split", "source", "generatorFamily", "contentGroup", "transform", "resolutionGroup")
    path = tmp_path_factory.mktemp("fuzz") / "dataset.jsonl"
    rows = ({name: row[name] for name in names} | {"sha256": "b" * 64, "license": "CC0-1.0"} for row in FILES[0])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def members(line):
    """Parse a line by another parser, which must see no key twice and no number that is none."""

    def once(pairs):
        assert len({name for name, _ in pairs}) == len(pairs)
        return dict(pairs)

    def refuse(name):
        raise AssertionError(name)

    return json.loads(line, object_pairs_hook=once, parse_constant=refuse)


@given(data=st.data())
def test_every_line_is_a_row_or_the_file_is_refused(path, mangled, told, data):
    written = data.draw(mangled(FILES))
    path.write_bytes(written)
    try:
        found = list(read_scores(path))
    except ScoreError as error:
        event("refused")
        told(error, str(path))
        return
    event(f"{len(found)} rows")
    lines = written.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\n").split(b"\n")
    assert len(found) == len(lines)
    assert len({row.id for row in found}) == len(found)
    for row, line in zip(found, lines, strict=True):
        said = members(line.decode())
        for name in NAMES:
            expected = said.get(name)
            if name == "status":
                expected = expected or "scored"
            assert getattr(row, name) == expected
            assert type(getattr(row, name)) is (float if name.endswith("core") and expected is not None else type(expected))
        assert row.is_scored == (row.score is not None or row.rawScore is not None)
        for value in (row.score, row.rawScore, row.pixelScore):
            assert value is None or 0 <= value <= 1


@given(data=st.data())
def test_what_is_accepted_has_figures(path, manifest, mangled, told, data):
    path.write_bytes(data.draw(mangled(FILES)))
    try:
        document = evaluation_document(read_scores(path, manifest=data.draw(st.sampled_from([None, manifest]))))
    except ScoreError as error:
        told(error, str(path))
        return
    assert json.loads(msgspec.json.encode(document)) == document
    assert sum(line["rows"] for line in document["results"]["series"]) == document["results"]["rows"]
    blocks = "\n".join(evaluation_blocks(document["results"]["series"], document["threshold"]))
    assert all(line.isprintable() for line in blocks.split("\n"))


@given(data=st.data())
def test_evidence_is_score_rows_or_refused(path, mangled, told, data):
    path.write_bytes(data.draw(mangled(EVIDENCE)))
    try:
        source = read_scores(path)
        found = list(source)
    except ScoreError as error:
        event("refused")
        told(error, str(path))
        return
    event(f"{len(found)} rows")
    for row in found:
        assert row.is_scored == (row.score is not None or row.rawScore is not None)
        for value in (row.score, row.rawScore, row.pixelScore):
            assert value is None or 0 <= value <= 1
    document = evaluation_document(source)
    assert document["results"]["rows"] == len(found)

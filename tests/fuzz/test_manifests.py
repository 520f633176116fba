"""The manifest reader: every line is a row or a fault, and nothing is read otherwise than it is written."""

import json

import msgspec
import pytest
from hypothesis import event, given, strategies as st

from pytest_benchbench.manifests.kinds import ROW_KINDS
from pytest_benchbench.manifests.lines import Lines
from pytest_benchbench.manifests.reading import ManifestError, index_manifest, read_manifest
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES
from pytest_benchbench.validation.examination import ExaminationSettings, examine_dataset

WATERMARK = {
    "schema_version": 1,
    "case_id": "cat-01",
    "pair_id": "cat",
    "media_type": "image",
    "adapter": "dwt-dct",
    "arm": "positive",
    "state": "marked",
    "path": "cat.png",
    "sha256": "0123456789abcdef" * 4,
    "reference_path": "clean/cat.png",
    "reference_sha256": "fedcba9876543210" * 4,
    "source_revision": "photos@2026-09-05",
    "transform": {"name": "jpeg", "revision": "1", "parameters": {"quality": 75, "source": {"a": [1.5, None]}}},
    "seed": 7,
    "expected": "detected",
}
DATASET = {
    "id": "cat-01",
    "baseId": "cat",
    "sha256": "0123456789abcdef" * 4,
    "label": 1,
    "split": "test",
    "source": "collection",
    "generatorFamily": "diffusion",
    "generatorModel": "diffusion-2",
    "contentGroup": "photo",
    "transform": "jpeg-75",
    "license": "CC0-1.0",
    "path": "real/cat.png",
}
FILES = [
    (
        WATERMARK,
        WATERMARK | {"case_id": "cat-02", "seed": None},
        WATERMARK | {"case_id": "snd", "media_type": "audio", "adapter": "perth"},
    ),
    (
        DATASET,
        DATASET | {"id": "cat-02", "label": 0},
        DATASET | {"id": "cat-03", "splitGroup": "siblings", "resolutionGroup": "thumbnail", "prompt": "a cat"},
    ),
    (WATERMARK, DATASET),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "cases.jsonl"


def attempt(path, data, **how):
    path.write_bytes(data)
    try:
        return read_manifest(path, display="cases.jsonl", media_types=KERNEL_MEDIA_TYPES, **how)
    except ManifestError as error:
        return error


def lines_of(path):
    with path.open("rb") as file:
        return {number: line for number, _, line in Lines(file)}


def once(members):
    assert len(dict(members)) == len(members)
    return dict(members)


@given(data=st.data(), outside_allowed=st.booleans())
def test_every_line_is_a_row_or_a_fault(path, mangled, told, data, outside_allowed):
    read = attempt(path, data.draw(mangled(FILES)), outside_allowed=outside_allowed)
    lines = lines_of(path)
    if isinstance(read, ManifestError):
        event("refused")
        told(read, "cases.jsonl")
        assert read.total >= len(read.faults) >= 1
        faulty = {fault.line for fault in read.faults}
        if read.total > len(read.faults) or None in faulty:
            return
        rest = [line for number, line in lines.items() if number not in faulty]
        if rest and not isinstance(read := attempt(path, b"\n".join(rest), outside_allowed=outside_allowed), ManifestError):
            assert read.rows == len(rest)
            read.close()
        elif rest:  # rows of another kind than the one that went
            assert all(fault.line is None or "row" in fault.message or "shape" in fault.message for fault in read.faults), (
                read
            )
        return
    event(f"read: {read.kind}")
    kind = ROW_KINDS[read.kind]
    refs = sorted((ref for refs in read.adapters.values() for ref in refs), key=lambda ref: ref.line)
    assert [ref.line for ref in refs] == list(lines)
    assert len({ref.case_id for ref in refs}) == len(refs)
    for ref in refs:
        written = json.loads(lines[ref.line], object_pairs_hook=once, parse_constant=pytest.fail)
        case = read.read(ref).case
        assert {name: value for name, value in written.items() if value is not None} == {
            name: value for name, value in msgspec.to_builtins(case).items() if value is not None
        }
        assert msgspec.json.decode(msgspec.json.encode(case), type=kind.row) == case
        if not outside_allowed:
            for pinned in kind.files:
                assert not (getattr(case, pinned.path_field) or "").startswith(("/", "../"))
    again = index_manifest(path, display="cases.jsonl", sha256=read.sha256, kind=read.kind)
    assert again.adapters == read.adapters
    again.close()
    read.close()


@given(data=st.data())
def test_what_is_accepted_as_a_dataset_is_examined_and_findings_name_its_rows(path, mangled, told, data):
    read = attempt(path, data.draw(mangled(FILES[1:2])))
    if isinstance(read, ManifestError) or read.kind != "dataset":
        return
    examination = examine_dataset([read], ExaminationSettings(files=False))
    findings = examination.findings()
    event("valid" if examination.is_valid else "invalid")
    assert examination.is_valid is not any(finding.severity == "error" for finding in findings)
    refs = {(ref.case_id, ref.line) for refs in read.adapters.values() for ref in refs}
    for finding in findings:
        told(finding, "cases.jsonl")
        assert {(row.id, row.line) for row in finding.rows} <= refs
        assert finding.row_count >= len(finding.rows)
    read.close()

"""The readers of evidence and of what a run says of itself: what is damaged is refused by name, and never half believed."""

import json

import msgspec
import pytest
from hypothesis import event, given, strategies as st

from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import EvidenceError, settled_rows
from pytest_benchbench.evidence.recorded_run import RecordedRunError, read_run
from pytest_benchbench.reports.lines import terminal_lines
from pytest_benchbench.reports.markdown import render_markdown
from pytest_benchbench.reports.summary import build_report


def evidence(case_id="cat-01", status="detected", outcome="match", attempt=1, **more):
    return {
        "schema_version": 1,
        "run_id": "run-1",
        "kind": "watermark",
        "key": {"suite": "s.py::test", "adapter": "toy", "case_id": case_id, "params": None, "attempt": attempt},
        "manifest": {"name": "cases.jsonl", "sha256": "a" * 64, "line": 1},
        "case": {
            "case_id": case_id,
            "state": "marked",
            "arm": "positive",
            "pair_id": case_id,
            "media_type": "image",
            "expected": "detected",
            "transform": {"name": "none", "revision": "1", "parameters": {}},
        },
        "row_sha256": "b" * 64 if case_id == "cat-01" else "c" * 64,
        "artifact": {"sha256": "d" * 64, "decoding": {"rule": "rgb", "size": [8, 8]}},
        "adapter": {
            "name": "toy",
            "version": "1",
            "rule": "r",
            "options": {"flip": "true"},
            "source_sha256": "e" * 64,
            "weights": [{"name": "w", "sha256": "f" * 64}],
        },
        "code": {"project_commit": None, "dirty": None, "kernel_sha256": "0" * 64},
        "detection": {"status": status, "adapter_elapsed_ms": 1.5, "call": "warm", "score": 0.5, "reason": "says so"},
        "removal": None,
        "fidelity": {"status": "measured", "mae": 0.5, "changed_fraction": 0.1, "psnr_db": 40.0, "psnr_status": "finite"},
        "outcome": outcome,
        "worker": None,
        **more,
    }


FILES = [
    (evidence(), evidence("cat-02", "not_detected", "mismatch", line=2)),
    (
        evidence(status="error", outcome="error", error={"type": "E", "message": "m"}),
        evidence(attempt=2),
        evidence("cat-02", "unavailable", "unavailable"),
    ),
    (
        evidence(
            case={"case_id": "cat-01", "state": "removed"},
            removal={"outcome": "signal_remained", "certifies_erasure": False},
        ),
    ),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "evidence.jsonl"


@given(data=st.data())
def test_every_complete_line_is_a_row_or_the_file_is_refused(path, mangled, told, data):
    written = data.draw(mangled(FILES))
    path.write_bytes(written)
    try:
        settled = list(settled_rows(path))
    except EvidenceError as error:
        event("refused")
        told(error, str(path))
        return
    event(f"{len(settled)} rows")
    # of a line that another attempt supersedes, only what decides is looked at
    complete = [json.loads(line.decode("utf-8", "replace")) for line in written.split(b"\n")[:-1]]
    keys = {tuple(str(row["key"][name] or "") for name in ("suite", "adapter", "case_id", "params")) for row in complete}
    assert sorted(one.row.key.row for one in settled) == sorted(keys)
    assert sum(one.attempts for one in settled) <= len(complete)
    for one in settled:
        assert msgspec.json.decode(msgspec.json.encode(one.row), type=EvidenceRow) == one.row
        assert {"schema_version": 1, "outcome": one.row.outcome}.items() <= {
            "schema_version": one.row.schema_version,
            "outcome": one.row.outcome,
        }.items()


@given(data=st.data())
def test_what_is_accepted_has_a_report(path, mangled, told, data):
    path.write_bytes(data.draw(mangled(FILES)))
    try:
        report = build_report(path, {})
    except EvidenceError as error:
        told(error, str(path))
        return
    assert json.loads(msgspec.json.encode(report))["results"]["rows"] == report["results"]["rows"]
    assert all(line.isprintable() for line in render_markdown(report).split("\n"))
    assert all(line.isprintable() for line in terminal_lines(report))


RUN = {
    "schema_version": 1,
    "run_id": "20261130T000000Z-00000000",
    "package": {"name": "pytest-benchbench", "version": "1.0", "kernel_sha256": "c" * 64},
    "project": {"commit": None, "dirty": None},
    "manifests": [{"path": "cases.jsonl", "name": "cases.jsonl", "kind": "watermark", "sha256": "a" * 64, "rows": 9}],
    "options": {
        "arguments": ["cases.jsonl"],
        "adapters": {},
        "shard": "1/2",
        "verify": "preflight",
        "require_available": False,
    },
    "versions": {"python": "3.11.7"},
    "machine": {"system": "Linux"},
    "started": "2026-11-30T00:00:00.000+00:00",
    "planned": {"rows": 9, "selected": 9, "left_out": 0, "lost": 0},
    "interrupted": False,
    "finished": "2026-11-30T00:01:00.000+00:00",
    "exit_status": 0,
}


@given(data=st.data())
def test_what_a_run_says_of_itself(path, mangled, told, data):
    directory = path.parent
    path.write_bytes(b"")
    (directory / "run.json").write_bytes(data.draw(mangled([RUN, {**RUN, "options": {"verify": "lazy"}}])))
    try:
        run = read_run(directory)
    except RecordedRunError as error:
        event("refused")
        told(error, str(directory))
        return
    event("read")
    assert run.document == msgspec.json.decode((directory / "run.json").read_bytes())
    assert run.parts[0].run_id == run.document["run_id"]
    assert run.parts[0].label.isprintable()
    assert run.parts[0].cut is None or str(run.parts[0].cut) == run.document["options"]["shard"]

"""Merging what was damaged or changed: it is refused, and nothing is written."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_benchbench.evidence.merging import MergeError
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.recorded_run import RecordedRunError
from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.session.merging import merge_runs

anew = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_evidence_that_was_merged_and_changed_is_refused(shards, tmp_path):
    merge_runs(shards, tmp_path / "once")
    path = tmp_path / "once" / "evidence.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"adapter_elapsed_ms": 1.5', b'"adapter_elapsed_ms": 1.6', 1))
    with pytest.raises(EvidenceError, match="is not what was merged"):
        merge_runs([tmp_path / "once"], tmp_path / "again")


def test_lines_behind_what_was_merged_are_not_passed_over(shards, row, tmp_path):
    merge_runs(shards, tmp_path / "once")
    with (tmp_path / "once" / "evidence.jsonl").open("a") as file:
        file.write(json.dumps(row("e")) + "\n")
    with pytest.raises(RecordedRunError, match="is not what was merged: it has not"):
        merge_runs([tmp_path / "once"], tmp_path / "again")


def test_damaged_evidence_is_refused_by_its_own_file_and_line(shards, tmp_path):
    path = shards[1] / "evidence.jsonl"
    for old, new in ((b'"detection": {', b'"detection": ['), (b'"fidelity": {"status": ', b'"fidelity": {"stat": ')):
        damaged = path.read_bytes().splitlines(keepends=True)
        damaged[1] = damaged[1].replace(old, new)
        path.write_bytes(b"".join(damaged))
        with pytest.raises(EvidenceError, match=rf"^{path}:2: "):
            merge_runs(shards, tmp_path / "merged")
        assert not list(tmp_path.glob("*merged*"))
        path.write_bytes(b"".join(damaged).replace(new, old))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "{",
        '{"schema_version": 2}',
        "[" * 100_000,
        '{"schema_version": 1, "run_id": 1}',
        '{"merged_from": [{}]}',
    ],
)
def test_a_damaged_description_is_refused(shards, tmp_path, text):
    (shards[0] / "run.json").write_text(text)
    with pytest.raises(RecordedRunError, match=r"run\.json: (not the description of a run|nested too deeply)"):
        merge_runs(shards, tmp_path / "merged")


@pytest.mark.parametrize("shard", ["0/3", "4/3", "x", ""])
def test_a_shard_that_is_none_is_refused(directories, row, tmp_path, shard):
    path = directories.write("one", [row("a")], shard=shard)
    with pytest.raises(RecordedRunError, match="expected I/N"):
        merge_runs([path], tmp_path / "merged")


@pytest.mark.parametrize(
    ("missing", "message"), [("run.json", "not the directory of a run"), ("evidence.jsonl", "it has no")]
)
def test_a_directory_without_a_run_is_refused(shards, tmp_path, missing, message):
    (shards[0] / missing).unlink()
    with pytest.raises(RecordedRunError, match=message):
        merge_runs(shards, tmp_path / "merged")


def test_nothing_existing_is_overwritten(shards, tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(MergeError, match="exists already"):
        merge_runs(shards, tmp_path / "there")
    assert list((tmp_path / "there").iterdir()) == []


def test_parents_are_made_and_taken_back(shards, tmp_path):
    merge_runs(shards, tmp_path / "new" / "place" / "merged")
    assert (tmp_path / "new" / "place" / "merged" / "report.md").is_file()
    (shards[0] / "evidence.jsonl").write_text("{}\n")
    with pytest.raises(EvidenceError):
        merge_runs(shards, tmp_path / "other" / "place" / "merged")
    assert not (tmp_path / "other").exists()


def test_progress_tells_every_byte_at_most_twice(shards, tmp_path):
    told = []
    merge_runs(shards, tmp_path / "merged", progress=told.append)
    size = (tmp_path / "merged" / "evidence.jsonl").stat().st_size
    assert size <= sum(told) <= 2 * size


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_flipped_bits_and_cuts_end_in_one_line_or_in_a_run(directories, tmp_path, data):
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        base = Path(folder)
        maker = type(directories)(base)
        runs = [maker.write(f"run-{index}", [maker.row(str(index))], shard=f"{index}/2") for index in (1, 2)]
        damaged = runs[0] / data.draw(st.sampled_from(["run.json", "evidence.jsonl"]))
        content_ = bytearray(damaged.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            content_[data.draw(st.integers(0, len(content_) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        del content_[data.draw(st.integers(0, len(content_))) :]
        damaged.write_bytes(content_)
        refusal = None
        try:
            merge_runs(runs, base / "merged", load_policy("strict"))
        except (MergeError, RecordedRunError, EvidenceError) as error:
            refusal = str(error)
        assert refusal is None or len(refusal.splitlines()) == 1
        assert (base / "merged").exists() == (refusal is None)
        assert {path.name for path in base.iterdir()} <= {"run-1", "run-2", "merged"}

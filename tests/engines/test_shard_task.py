"""What a worker does for one shard, carried out in this process; pytest itself runs in one of its own."""

import hashlib
import json
import os
import shutil
import signal

import msgspec
import pytest

from pytest_benchbench.engines.pytest_process import LOG_BYTES
from pytest_benchbench.engines.shard_job import SHARED_FILE, Installation, ShardResult, plan_jobs
from pytest_benchbench.engines.shard_process import KILLED_BY_SIGNAL
from pytest_benchbench.engines.shard_task import run_shard, stop_run
from pytest_benchbench.evidence.writing import EvidenceWriter
from pytest_benchbench.session.merging import merge_runs

HERE = msgspec.json.encode(Installation.here())


@pytest.fixture
def shared(tmp_path):
    """Give a folder for run directories that the worker shares."""
    (tmp_path / "shards").mkdir()
    return tmp_path / "shards"


def jobs_of(project, shared, count, *arguments, **options):
    given = arguments or ("--manifest=cases.jsonl",)
    jobs = plan_jobs(count, given, directory=shared, project=str(project.path), **options)
    if shared.is_dir():
        (shared / SHARED_FILE).write_text(jobs[0].run)
    return jobs


def carry_out(job):
    return msgspec.msgpack.decode(run_shard(HERE, msgspec.json.encode(job)), type=ShardResult)


def case_ids(text):
    return [json.loads(line)["key"]["case_id"] for line in text.splitlines()]


def test_a_shard_leaves_its_run_on_a_shared_file_system(project, shared):
    project.cases(8)
    project.write()
    results = [carry_out(job) for job in jobs_of(project, shared, 2)]
    assert [result.exit_code for result in results] == [0, 0]
    assert [result.directory for result in results] == ["shard-1-of-2", "shard-2-of-2"]
    ran = [case_ids((shared / result.directory / "evidence.jsonl").read_text()) for result in results]
    assert sorted(ran[0] + ran[1]) == [row["case_id"] for row in project.rows]
    assert ran[0]
    assert ran[1]


def test_a_worker_that_shares_nothing_sends_the_files(project, tmp_path):
    project.case("wrong", says="not_detected")
    project.write()
    (job,) = jobs_of(project, tmp_path / "elsewhere", 1)
    result = carry_out(job)
    assert (result.exit_code, result.directory) == (1, None)
    assert case_ids(result.files["evidence.jsonl"].decode()) == ["wrong"]
    assert {"run.json", "report.json", "report.md"} <= set(result.files)
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_of_another_run_is_not_taken_for_the_shared_one(project, shared):
    project.cases(1)
    project.write()
    (job,) = jobs_of(project, shared, 1)
    (shared / SHARED_FILE).write_text("another run")
    assert carry_out(job).directory is None
    assert [path.name for path in shared.iterdir()] == [SHARED_FILE]


def test_a_shard_goes_on_where_a_killed_one_stopped(project, shared):
    project.cases(3)
    project.case("deadly", says=f"die {project.path / 'flag'}")
    project.write()
    (job,) = jobs_of(project, shared, 1)
    killed = carry_out(job)
    assert killed.exit_code == KILLED_BY_SIGNAL + signal.SIGKILL
    before = case_ids((shared / "shard-1-of-1" / "evidence.jsonl").read_text())
    assert len(before) == 3
    result = carry_out(job)
    assert (result.exit_code, result.directory, result.resumed) == (0, "shard-1-of-1", True)
    rows = case_ids((shared / "shard-1-of-1" / "evidence.jsonl").read_text())
    assert rows[:3] == before
    assert set(rows[3:]) == {"deadly"}
    report = json.loads((shared / "shard-1-of-1" / "report.json").read_text())
    assert report["results"]["outcomes"]["match"] == report["results"]["rows"] == 4


def test_a_finished_shard_is_not_run_again(project, shared):
    project.cases(2)
    project.write()
    (job,) = jobs_of(project, shared, 1)
    first, evidence = carry_out(job), shared / "shard-1-of-1" / "evidence.jsonl"
    written = evidence.read_bytes()
    second = carry_out(job)
    assert (first.exit_code, second.exit_code, second.directory) == (0, 0, "shard-1-of-1")
    assert evidence.read_bytes() == written


def test_a_run_directory_that_somebody_writes_is_left_alone(project, shared, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.engines.shard_task.LOCK_SECONDS", 0)
    project.cases(2)
    project.write()
    (job,) = jobs_of(project, shared, 1)
    evidence = shared / carry_out(job).directory / "evidence.jsonl"
    written = evidence.read_bytes()
    writer = EvidenceWriter(evidence, append=True)
    try:
        assert carry_out(job).directory == "shard-1-of-1.2"
    finally:
        writer.abandon()
    assert evidence.read_bytes() == written
    assert len(case_ids((shared / "shard-1-of-1.2" / "evidence.jsonl").read_text())) == 2


def test_a_directory_of_a_try_that_never_began_is_left_alone(project, shared):
    project.cases(1)
    project.write()
    (shared / "shard-1-of-1").mkdir()
    (job,) = jobs_of(project, shared, 1)
    assert carry_out(job).directory == "shard-1-of-1.2"


@pytest.mark.parametrize("arguments", [[], ["-p", "no:cacheprovider", "--strict-config"]], ids=["by-default", "without"])
def test_shards_leave_nothing_in_the_cache_of_the_project(project, shared, arguments):
    project.cases(1)
    project.write()
    (job,) = jobs_of(project, shared, 1, "--manifest=cases.jsonl", *arguments)
    assert carry_out(job).exit_code == 0
    assert not (project.path / ".pytest_cache").exists()


def test_another_installation_runs_nothing(project, shared):
    project.cases(1)
    project.write()
    (job,) = jobs_of(project, shared, 1)
    other = msgspec.structs.replace(Installation.here(), version="9")
    answered = run_shard(msgspec.json.encode(other), msgspec.json.encode(job))
    fault = msgspec.msgpack.decode(answered, type=ShardResult).fault
    assert fault.endswith(", not 9")
    assert [path.name for path in shared.iterdir()] == [SHARED_FILE]


def test_a_project_that_is_not_there_is_named(project, shared):
    project.write()
    (job,) = jobs_of(project, shared, 1)
    result = carry_out(msgspec.structs.replace(job, project="/nowhere"))
    assert result.fault == "there is no folder /nowhere; say where the project lies on the workers by --project-dir"


def test_wrong_use_comes_back_with_what_pytest_said(project, shared):
    project.cases(1)
    project.write()
    (job,) = jobs_of(project, shared, 1, "--manifest=none.jsonl")
    result = carry_out(job)
    assert (result.exit_code, result.directory) == (4, None)
    assert "none.jsonl: no such manifest" in result.log


def test_the_log_is_the_end_of_what_was_printed(project, shared):
    project.cases(1)
    project.write()
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write("def pytest_collection_finish():\n    print('x' * 300_000)\n")
    (job,) = jobs_of(project, shared, 1, "--manifest=cases.jsonl", "-s")
    result = carry_out(job)
    assert len(result.log) == LOG_BYTES
    assert "1 passed" in result.log.splitlines()[-1]


def test_a_run_that_was_given_up_runs_nothing_more(project, shared):
    project.case("held", says=f"hold {project.path / 'flag'} {project.path / 'pipe'}")
    project.write()
    (job,) = jobs_of(project, shared, 1)
    stop_run(job.run)
    assert carry_out(job).exit_code  # of Python or of pytest, depending on how far it had come
    assert not (project.path / "flag").exists()


def test_a_shard_fetches_its_own_files_and_no_others(project, shared, tmp_path):
    project.cases(6)
    project.write()
    away = tmp_path / "away"
    away.mkdir()
    shutil.move(project.path / "cases.jsonl", away)
    shutil.move(project.path / "media", away)
    first, second = jobs_of(project, shared, 2, artifacts=str(away), cache=str(tmp_path / "cache"))
    assert carry_out(first).exit_code == 0
    kept = [path for path in (tmp_path / "cache" / "sha256").rglob("*") if path.is_file()]
    rows = case_ids((shared / "shard-1-of-2" / "evidence.jsonl").read_text())
    assert 0 < len(rows) < 6
    assert len(kept) == 1 + len(rows)
    assert carry_out(second).exit_code == 0
    assert list((tmp_path / "cache" / "work").iterdir()) == []
    for name in ("shard-1-of-2", "shard-2-of-2"):
        (manifest,) = json.loads((shared / name / "run.json").read_text())["manifests"]
        assert manifest["sha256"] == first.manifests[0].sha256


def test_a_fetched_file_that_is_not_the_pinned_one_stops_the_shard(project, shared, tmp_path):
    project.cases(1)
    project.write()
    (project.path / "media" / "0.bin").write_bytes(b"not_detected, swapped")
    (job,) = jobs_of(project, shared, 1, artifacts=str(project.path), cache=str(tmp_path / "cache"))
    result = carry_out(job)
    assert result.fault.startswith("cases.jsonl:1: path: media/0.bin has ")
    assert not result.passing
    assert [path.name for path in shared.iterdir()] == [SHARED_FILE]


def test_a_manifest_that_changed_since_the_run_began_is_refused(project, shared, tmp_path):
    project.cases(2)
    project.write()
    (job,) = jobs_of(project, shared, 1, artifacts=str(project.path), cache=str(tmp_path / "cache"))
    project.rows.pop()
    project.write()
    assert carry_out(job).fault.startswith("cases.jsonl has ")


def test_a_row_that_names_a_file_elsewhere_is_refused(project, shared, tmp_path):
    project.cases(1)
    project.rows[0]["path"] = "../secret"
    (tmp_path / "secret").write_bytes(b"detected")
    project.write()
    (job,) = jobs_of(project, shared, 1, artifacts=str(project.path), cache=str(tmp_path / "cache"))
    assert "cases.jsonl:1: path: ../secret leaves" in carry_out(job).fault


def test_what_is_wrong_with_a_fetched_manifest_is_said_by_pytest(project, shared, tmp_path):
    project.cases(1)
    manifest = project.write()
    manifest.write_text(manifest.read_text() + '{"case_id": 3}\n')
    (job,) = jobs_of(project, shared, 1, artifacts=str(project.path), cache=str(tmp_path / "cache"))
    result = carry_out(job)
    assert result.exit_code == 4
    assert "cases.jsonl:2: " in result.log


def test_the_users_own_cache_is_the_default(project, shared, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    project.cases(1)
    project.write()
    (job,) = jobs_of(project, shared, 1, artifacts=str(project.path))
    assert carry_out(job).exit_code == 0
    assert os.listdir(tmp_path / "own" / "pytest-benchbench" / "sha256")


def test_a_shard_without_rows_is_a_run_like_any_other(project, shared):
    project.cases(1)
    project.write()
    results = [carry_out(job) for job in jobs_of(project, shared, 3)]
    assert [result.exit_code for result in results] == [0, 0, 0]
    merged = merge_runs([shared / result.directory for result in results], shared / "merged")
    assert (merged.exit_status, merged.whole.gaps) == (0, ())
    assert project.results_of(merged.path) == project.results()


def test_the_shards_of_a_test_split_fetch_its_files_alone_and_open_it_together(project, shared, tmp_path):
    (project.path / "seen.bin").write_bytes(b"detected")
    for name, split in (("seen", "test"), ("not-there", "train")):
        row = {"id": name, "baseId": name, "split": split, "path": f"{name}.bin", "label": 0, "source": "s", "license": "l"}
        pinned = {"sha256": hashlib.sha256(b"detected").hexdigest(), "contentGroup": "photo", "transform": "none"}
        project.rows.append(row | pinned)
    project.write("dataset.jsonl")
    arguments = ("--manifest=dataset.jsonl", "--bench-split=test", "--bench-adapter=toy")
    jobs = jobs_of(project, shared, 2, *arguments, artifacts=str(project.path), cache=str(tmp_path / "cache"))
    results = [carry_out(job) for job in jobs]
    assert [(result.fault, result.exit_code) for result in results] == [(None, 0)] * 2
    ran = [case_ids((shared / result.directory / "evidence.jsonl").read_text()) for result in results]
    assert sorted(ran) == [[], ["seen"]]
    assert (project.path / "benchbench-ledger.jsonl").read_text().count("\n") == 1

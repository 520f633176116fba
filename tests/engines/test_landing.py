"""The folder of an engine's run: what lands in it, and how a run that was broken off is taken up."""

import json

import msgspec
import pytest

from pytest_benchbench.engines import EngineError
from pytest_benchbench.engines.landing import PLAN, Landing
from pytest_benchbench.engines.shard_job import SHARED_FILE, ShardResult, plan_jobs


def jobs_of(folder, shards=3, *arguments, project="/project"):
    return plan_jobs(shards, arguments, directory=folder / "shards", project=project)


def finish(folder, name, exit_status):
    """Leave a run directory as a worker on this file system does."""
    (folder / "shards" / name).mkdir()
    (folder / "shards" / name / "run.json").write_text(json.dumps({"run_id": "x", "exit_status": exit_status}))


def test_workers_see_the_word_of_the_run(tmp_path):
    jobs = jobs_of(tmp_path / "out")
    Landing.begin(tmp_path / "out", jobs)
    assert (tmp_path / "out" / "shards" / SHARED_FILE).read_text() == jobs[0].run


def test_an_existing_folder_is_refused_and_left_as_it_is(tmp_path):
    with pytest.raises(EngineError, match="exists already"):
        Landing.begin(tmp_path, jobs_of(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_directories_come_by_the_numbers_of_their_shards(tmp_path):
    landing = Landing.begin(tmp_path / "out", jobs_of(tmp_path / "out", 10))
    for index in (10, 2, 1):
        finish(tmp_path / "out", f"shard-{index}-of-10", 0)
        landing.keep(ShardResult(f"{index}/10", exit_code=0, directory=f"shard-{index}-of-10"))
    assert [path.name for path in landing.directories] == ["shard-1-of-10", "shard-2-of-10", "shard-10-of-10"]
    assert len(landing.missing) == 7


def test_files_that_were_sent_are_put_down_over_nothing(tmp_path):
    landing = Landing.begin(tmp_path / "out", jobs_of(tmp_path / "out"))
    finish(tmp_path / "out", "shard-1-of-3", 2)
    landing.keep(ShardResult("1/3", exit_code=0, files={"run.json": b"{}", "evidence.jsonl": b"row\n"}))
    (path,) = landing.directories
    assert path.name == "shard-1-of-3.2"
    assert (path / "evidence.jsonl").read_bytes() == b"row\n"


@pytest.mark.parametrize("name", ["../run.json", "/run.json", "a/b", "..", ""])
def test_a_file_that_was_sent_stays_in_its_directory(tmp_path, name):
    landing = Landing.begin(tmp_path / "out", jobs_of(tmp_path / "out"))
    with pytest.raises(EngineError, match="a worker sent a file of the name"):
        landing.keep(ShardResult("1/3", exit_code=0, files={name: b"{}"}))
    assert landing.directories == []


def test_a_directory_that_did_not_arrive_is_no_result(tmp_path):
    landing = Landing.begin(tmp_path / "out", jobs_of(tmp_path / "out"))
    with pytest.raises(EngineError, match="did not arrive here") as caught:
        landing.keep(ShardResult("1/3", exit_code=0, directory="shard-1-of-3"))
    assert caught.value.status == 21


def test_going_on_finds_what_is_finished(tmp_path):
    folder = tmp_path / "out"
    Landing.begin(folder, jobs_of(folder, 5))
    finish(folder, "shard-1-of-5", 0)
    finish(folder, "shard-2-of-5", None)  # killed
    finish(folder, "shard-3-of-5", 21)  # rows were lost
    finish(folder, "shard-4-of-5", None)
    finish(folder, "shard-4-of-5.2", 1)
    assert Landing.planned_shards(folder) == 5
    landing = Landing.go_on(folder, again := jobs_of(folder, 5))
    assert [path.name for path in landing.directories] == ["shard-1-of-5", "shard-4-of-5.2"]
    assert [job.shard for job in landing.missing] == ["2/5", "3/5", "5/5"]
    assert (folder / "shards" / SHARED_FILE).read_text() == again[0].run


def test_shards_whose_names_begin_alike_are_told_apart(tmp_path):
    folder = tmp_path / "out"
    Landing.begin(folder, jobs_of(folder, 10))
    finish(folder, "shard-1-of-100", 0)
    assert len(Landing.go_on(folder, jobs_of(folder, 10)).missing) == 10


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda folder: jobs_of(folder, 4), r"another number of shards \(3\)"),
        (lambda folder: jobs_of(folder, 3, "-x"), "other arguments for pytest"),
        (lambda folder: jobs_of(folder, 3, project="/other"), "another --project-dir"),
    ],
)
def test_going_on_with_something_else_is_refused(tmp_path, asked, said):
    folder = tmp_path / "out"
    Landing.begin(folder, jobs_of(folder))
    with pytest.raises(EngineError, match=said):
        Landing.go_on(folder, asked(folder))


def test_what_is_kept_of_a_run_holds_no_secrets(tmp_path):
    folder, arguments = tmp_path / "out", ["--bench-adapter=toy:key=hunter2", "--manifest=cases.jsonl"]
    (job,) = plan_jobs(1, arguments, directory=folder / "shards", project="/project")
    Landing.begin(folder, [msgspec.structs.replace(job, artifacts="ftp://me:hunter2@host/set")])
    assert "hunter2" not in (folder / PLAN).read_text()
    assert "ftp://host/set" in (folder / PLAN).read_text()


def test_going_on_by_other_sources_is_refused(tmp_path):
    folder = tmp_path / "out"
    Landing.begin(folder, jobs_of(folder))
    plan = msgspec.json.decode((folder / PLAN).read_bytes())
    plan["installation"]["kernel_sha256"] = "0" * 64
    (folder / PLAN).write_bytes(msgspec.json.encode(plan))
    with pytest.raises(EngineError, match="has other sources of pytest-benchbench"):
        Landing.go_on(folder, jobs_of(folder))


@pytest.mark.parametrize("content", [None, b"", b"{}", b'{"shards": 3}', b"\xff"])
def test_where_nothing_was_begun_nothing_is_gone_on_with(tmp_path, content):
    if content is not None:
        (tmp_path / PLAN).write_bytes(content)
    with pytest.raises(EngineError, match="there is no run to go on with"):
        Landing.go_on(tmp_path, jobs_of(tmp_path))


def test_the_whole_has_a_place_of_its_own(tmp_path):
    landing = Landing.begin(tmp_path / "out", jobs_of(tmp_path / "out"))
    assert landing.place_for_the_whole().name == "merged"
    landing.place_for_the_whole().mkdir()
    assert landing.place_for_the_whole().name == "merged.2"

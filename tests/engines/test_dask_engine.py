"""Shards on real workers of a real scheduler; workers, pytest and scheduler are killed while they work."""

import gc
import json
import os
import select
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import pytest_benchbench
from pytest_benchbench.engines import EngineError
from pytest_benchbench.engines.dask_engine import await_workers, connected, run_shards
from pytest_benchbench.engines.landing import Landing
from pytest_benchbench.engines.shard_job import plan_jobs
from pytest_benchbench.manifests.sharding import Shard
from pytest_benchbench.session.merging import merge_runs

pytest.importorskip("distributed", reason="pip install 'pytest-benchbench[dask]'")

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no named pipes and descriptors of processes here"),
]


@pytest.fixture(autouse=True)
def _no_client_of_an_earlier_test():
    """Collect closed clients now: one that is collected while another one starts keeps it waiting for a lock for ever."""
    gc.collect()
    yield
    gc.collect()


class Heard:
    """Keeps what is told, and what landed."""

    def __init__(self, landing):
        self.landing = landing
        self.done_by = {}
        self.resumed = set()
        self.notes = []

    def done(self, result, worker):
        self.landing.keep(result)
        self.done_by[result.shard] = worker
        if result.resumed:
            self.resumed.add(result.shard)

    def note(self, line):
        self.notes.append(line)

    def keep_log(self, result):
        return self.landing.keep_log(result)


class Run:
    """A run of a project's manifest in shards, as the command does it."""

    def __init__(self, project, folder, shards, *arguments, shared=True, **options):
        directory = folder / "shards" if shared else Path("/nowhere/shards")
        given = ("--manifest=cases.jsonl", *arguments)
        self.jobs = plan_jobs(shards, given, directory=directory, project=str(project.path), **options)
        self.landing = Landing.begin(folder, self.jobs)
        self.heard = Heard(self.landing)
        self.lost = None

    def carry_out(self, cluster, *, retries=2, patience=60):
        with connected(cluster.address) as client:
            self.lost = run_shards(client, self.jobs, retries=retries, patience=patience, listener=self.heard)

    def merged(self):
        return merge_runs(self.landing.directories, self.landing.place_for_the_whole())


@pytest.fixture
def held(project, tmp_path):
    """Add a case that holds whoever asks about it first; tells worker and process id of that one."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def hold(case_id):
        project.case(case_id, says=f"hold {tmp_path / f'{case_id}.flag'} {pipe}")

    def told():
        name, process = pipe.read_text().split()
        return name, int(process)

    hold.told = told
    return hold


@contextmanager
def in_background(run, cluster, **options):
    """Carry out a run while the test does something else; it has ended when that has, well or not."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run.carry_out, cluster, **options)
        yield future
        future.exception(timeout=240)


def test_shards_on_two_workers_give_the_results_of_one_ordinary_run(project, cluster, tmp_path):
    project.cases(10)
    project.case("wrong", says="not_detected")
    project.write()
    for name in ("one", "two"):
        cluster.add_worker(name)
    run = Run(project, tmp_path / "out", 4)
    run.carry_out(cluster)
    assert run.lost == {}
    assert sorted(run.heard.done_by) == ["1/4", "2/4", "3/4", "4/4"]
    assert len(set(run.heard.done_by.values())) == 2
    merged = run.merged()
    assert merged.exit_status == 1
    assert merged.whole.gaps == ()
    assert project.results_of(merged.path) == project.results()


def test_a_killed_workers_shard_goes_on_at_another_worker(project, cluster, held, tmp_path):
    project.cases(6)
    held("held")
    project.write()
    for name in ("one", "two"):
        cluster.add_worker(name)
    run = Run(project, tmp_path / "out", 2)
    with in_background(run, cluster):
        name, process = held.told()
        cluster.workers[name].kill()
    assert run.lost == {}
    assert len(run.heard.resumed) == 1
    assert not is_alive(process)
    merged = run.merged()
    rows = [json.loads(line) for line in (merged.path / "evidence.jsonl").read_text().splitlines()]
    assert {row["outcome"] for row in rows} <= {"match", "not_run"}  # a lost worker is not held against the row
    assert merged.exit_status == 0
    assert merged.whole.gaps == ()
    assert project.results_of(merged.path) == project.results()


def test_a_killed_workers_shard_begins_anew_where_nothing_is_shared(project, cluster, held, tmp_path):
    project.cases(4)
    held("held")
    project.write()
    for name in ("one", "two"):
        cluster.add_worker(name)
    run = Run(project, tmp_path / "out", 2, shared=False, artifacts=str(project.path), cache=str(tmp_path / "cache"))
    with in_background(run, cluster):
        name, _ = held.told()
        cluster.workers[name].kill()
    assert run.heard.resumed == set()
    merged = run.merged()
    assert merged.exit_status == 0
    assert project.results_of(merged.path) == project.results()


def test_a_killed_pytest_is_begun_again(project, cluster, held, tmp_path):
    project.cases(2)
    held("held")
    project.write()
    cluster.add_worker("one")
    run = Run(project, tmp_path / "out", 1)
    with in_background(run, cluster):
        _, process = held.told()
        os.kill(process, signal.SIGKILL)
    assert run.lost == {}
    assert any("begun again: pytest on tcp://" in note and "SIGKILL" in note for note in run.heard.notes)
    assert run.merged().exit_status == 0


def test_a_shard_that_comes_to_nothing_again_and_again_is_given_up(project, cluster, tmp_path):
    project.cases(1)
    project.write()
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write("def pytest_configure():\n    os.kill(os.getpid(), signal.SIGKILL)\n")
    cluster.add_worker("one")
    run = Run(project, tmp_path / "out", 1)
    run.carry_out(cluster, retries=1)
    assert list(run.lost) == ["1/1"]
    assert [note.split(":")[1] for note in run.heard.notes] == [" begun again", " given up"]
    assert run.landing.directories == []


def test_wrong_use_ends_the_run_with_its_line(project, cluster, tmp_path):
    project.cases(3)
    project.write()
    cluster.add_worker("one")
    run = Run(project, tmp_path / "out", 3, "--bench-verify=sometimes")
    with pytest.raises(EngineError, match=r"pytest exited 4 \(wrong use\): --bench-verify=sometimes: expected") as caught:
        run.carry_out(cluster)
    assert caught.value.status == 2
    assert "\n" not in str(caught.value)
    assert "--bench-verify=sometimes" in next((tmp_path / "out" / "logs").iterdir()).read_text()


def test_a_run_that_is_given_up_leaves_nothing_running(project, cluster, held, tmp_path):
    """A shard that cannot be run ends the whole: the one that is held on another worker is ended too."""
    held("held")
    project.case("other")
    project.write()
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write(EXIT_WHEN_TOLD)
    for name in ("one", "two"):
        cluster.add_worker(name, GO=str(tmp_path / "go"))
    os.mkfifo(tmp_path / "go")
    shards = next(count for count in range(2, 100) if apart(count, "held", "other"))
    run = Run(project, tmp_path / "out", shards)
    run.jobs = [job for job in run.jobs if any(Shard.parse(job.shard).takes(case) for case in ("held", "other"))]
    with in_background(run, cluster) as future:
        _, process = held.told()
        watched = os.pidfd_open(process)
        (tmp_path / "go").write_text("go")
    with pytest.raises(EngineError, match="pytest exited 3"):
        future.result()
    assert select.select([watched], [], [], 60)[0], "the held pytest still runs"
    os.close(watched)


def test_a_lost_scheduler_is_one_line(project, cluster, held, tmp_path):
    held("held")
    project.write()
    cluster.add_worker("one")
    run = Run(project, tmp_path / "out", 1)
    with in_background(run, cluster) as future:
        held.told()
        cluster.scheduler.kill()
    with pytest.raises(EngineError, match="the scheduler is lost") as caught:
        future.result()
    assert caught.value.status == 21


def test_when_no_worker_is_left_the_run_ends(project, cluster, held, tmp_path):
    held("held")
    project.write()
    cluster.add_worker("one")
    run = Run(project, tmp_path / "out", 1)
    with in_background(run, cluster, patience=1) as future:
        held.told()
        cluster.workers["one"].kill()
    with pytest.raises(EngineError, match="no worker is left, and none came within 1 s") as caught:
        future.result()
    assert caught.value.status == 21


def test_a_worker_with_other_sources_is_refused_by_name(cluster, tmp_path):
    shutil.copytree(Path(pytest_benchbench.__file__).parent, tmp_path / "other" / "pytest_benchbench")
    (tmp_path / "other" / "pytest_benchbench" / "another.py").write_text("")
    cluster.add_worker("one", PYTHONPATH=str(tmp_path / "other"))
    with connected(cluster.address) as client, pytest.raises(EngineError) as caught:
        await_workers(client, 1, 60)
    assert str(caught.value).startswith("worker tcp://127.0.0.1:")
    assert " has other sources of pytest-benchbench " in str(caught.value)


def test_a_worker_with_other_sources_that_comes_later_is_refused_too(project, cluster, tmp_path):
    shutil.copytree(Path(pytest_benchbench.__file__).parent, tmp_path / "other" / "pytest_benchbench")
    (tmp_path / "other" / "pytest_benchbench" / "another.py").write_text("")
    project.cases(1)
    project.write()
    cluster.add_worker("one", PYTHONPATH=str(tmp_path / "other"))
    run = Run(project, tmp_path / "out", 1)
    with pytest.raises(EngineError, match="has other sources"):
        run.carry_out(cluster)


def test_too_few_workers_are_said_with_what_to_do(cluster):
    with connected(cluster.address) as client, pytest.raises(EngineError, match=r"0 of 2 workers came within 0\.2 s; start"):
        await_workers(client, 2, 0.2)


def test_the_threads_of_the_workers_are_counted(cluster):
    cluster.add_worker("one")
    cluster.add_worker("two")
    with connected(cluster.address) as client:
        assert await_workers(client, 2, 60) == 2


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "no scheme at all", "nosuch://x"])
def test_nobody_at_the_address_is_one_line(address, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.engines.dask_engine.CONNECT_SECONDS", 1)
    with pytest.raises(EngineError, match=f"--scheduler={address}: no scheduler answers") as caught:
        connected(address).__enter__()
    assert "\n" not in str(caught.value)


def is_alive(process):
    """Say whether a process lives, or lies dead and unburied."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def apart(count, *case_ids):
    """Say whether cases lie in different shards."""
    return len({index for case in case_ids for index in range(1, count + 1) if Shard(index, count).takes(case)}) > 1


EXIT_WHEN_TOLD = """
def pytest_collection_finish(session):
    if not any("held" in item.nodeid for item in session.items):
        with open(os.environ["GO"]) as go:
            go.read()
        raise RuntimeError("broken")
"""

"""What a run is cut into, and what it refuses before anything runs."""

import hashlib
import os

import pytest

from pytest_benchbench.engines import EngineError
from pytest_benchbench.engines.shard_job import Installation, PinnedManifest, ShardJob, plan_jobs


def plan(shards, *arguments, **options):
    return plan_jobs(shards, arguments, directory=options.pop("directory", None) or "/out", project="/project", **options)


def test_one_job_a_shard(tmp_path):
    jobs = plan(3, "--manifest=cases.jsonl", "-x")
    assert [job.shard for job in jobs] == ["1/3", "2/3", "3/3"]
    assert [job.name for job in jobs] == ["shard-1-of-3", "shard-2-of-3", "shard-3-of-3"]
    assert {job.arguments for job in jobs} == {("--manifest=cases.jsonl", "-x")}
    assert len({job.run for job in jobs}) == 1
    assert jobs[0].run != plan(3)[0].run


@pytest.mark.parametrize(
    "argument",
    [
        "--bench-shard=1/2",
        "--bench-shard",
        "--bench-run-dir=x",
        "--bench-resume=x",
        "--bench-retry=error",
        "--bench-gate=strict",
        "--bench-dry-run",
    ],
)
def test_what_the_engine_sets_is_refused_by_name(argument):
    with pytest.raises(EngineError, match=argument.partition("=")[0]) as caught:
        plan(2, "-x", argument)
    assert caught.value.status == 2
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shards", [0, -1, 1_000_001])
def test_a_number_of_shards_that_cannot_be(shards):
    with pytest.raises(EngineError, match="--shards"):
        plan(shards)


def test_fetched_manifests_are_pinned_for_all_shards(tmp_path):
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "cases.jsonl").write_bytes(b"rows")
    jobs = plan(2, "--manifest", "sets//cases.jsonl", artifacts=str(tmp_path))
    assert jobs[1].manifests == (PinnedManifest("sets/cases.jsonl", hashlib.sha256(b"rows").hexdigest()),)
    assert jobs[1].arguments == ("--manifest=sets//cases.jsonl",)


def test_the_digest_of_a_golden_set_is_fetched_after_all_manifests(tmp_path):
    for name in ("golden-v1.json", "golden-v1.sha256", "cases.jsonl"):
        (tmp_path / name).write_bytes(name.encode())
    (job,) = plan(1, "--manifest=golden-v1.json", "--manifest=cases.jsonl", artifacts=str(tmp_path))
    assert [pinned.name for pinned in job.manifests] == ["golden-v1.json", "cases.jsonl", "golden-v1.sha256"]
    assert job.manifests[2].sha256 == hashlib.sha256(b"golden-v1.sha256").hexdigest()


def test_a_folder_is_handed_on_as_an_absolute_path(tmp_path, monkeypatch):
    (tmp_path / "cases.jsonl").write_bytes(b"rows")
    monkeypatch.chdir(tmp_path)
    (job,) = plan(1, "--manifest=cases.jsonl", artifacts=".")
    assert job.artifacts == os.fspath(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--artifacts: name the manifest"),
        (["cases.jsonl"], "--artifacts: name the manifest"),
        (["--manifest=none.jsonl"], "--manifest=none.jsonl: there is no such file"),
        (["--manifest=../cases.jsonl"], "--manifest=../cases.jsonl leaves"),
        (["--manifest=cases.jsonl", "--bench-artifact-root=x"], "--bench-artifact-root: "),
        (["--manifest=golden.json"], "--manifest=golden.json: golden.sha256: there is no such file"),
    ],
)
def test_a_manifest_that_cannot_be_fetched(tmp_path, arguments, said):
    (tmp_path / "cases.jsonl").write_bytes(b"rows")
    (tmp_path / "golden.json").write_bytes(b"{}")
    with pytest.raises(EngineError) as caught:
        plan(1, *arguments, artifacts=str(tmp_path))
    assert str(caught.value).startswith(said)


def test_installations_differ_by_version_sources_and_python():
    here = Installation.here()
    assert here.difference(here) is None
    for other, said in [
        (Installation("9", here.kernel_sha256, here.python), "has pytest-benchbench 9, not "),
        (Installation(here.version, "0" * 64, here.python), "has other sources of pytest-benchbench "),
        (Installation(here.version, here.kernel_sha256, "2.7"), "runs Python 2.7, not "),
    ]:
        assert here.difference(other).startswith(said)


def test_a_shard_knows_its_directory():
    assert ShardJob("r", "3/64", (), "/p", "/d").name == "shard-3-of-64"

"""A golden set read as manifests are: where its samples stand, and each of them read again."""

import hashlib
import json
import os

import pytest

from pytest_benchbench.manifests.golden_set_manifest import GoldenManifest
from pytest_benchbench.manifests.kinds import KINDS
from pytest_benchbench.manifests.reading import ManifestChangedError, index_manifest
from pytest_benchbench.manifests.selection import RowSelection, SelectionError
from pytest_benchbench.manifests.sharding import Shard
from pytest_benchbench.manifests.splits import count_splits


@pytest.fixture
def written(desk, golden, sample):
    """Six samples, one in three of the split tune."""
    samples = [
        sample(id=f"{number}-é", label=["ai", "human"][number % 2], split="holdout" if number % 3 else "tune")
        for number in range(6)
    ]
    return desk.write_bytes(json.dumps(golden(*samples), indent=1, ensure_ascii=False).encode(), name="golden.json")


def ids(manifest):
    return [ref.case_id for ref in manifest.adapters[None]]


def test_every_sample_is_read_again_where_it_stands(desk, written):
    manifest = desk.read(written)
    data = written.read_bytes()
    assert isinstance(manifest, GoldenManifest)
    assert (manifest.sha256, manifest.total_rows, manifest.rows) == (hashlib.sha256(data).hexdigest(), 6, 6)
    for index, ref in enumerate(manifest.adapters[None]):
        case, digest = manifest.read(ref)
        own = json.dumps(json.loads(data)["samples"][index], indent=1, ensure_ascii=False).replace("\n", "\n  ").encode()
        assert (case.id, ref.pointer) == (ref.case_id, f"/samples/{index}")
        assert digest == hashlib.sha256(own).hexdigest()
        assert case.sha256 == hashlib.sha256(case.text.encode()).hexdigest()
        assert str(ref) == f"golden.json:{data[: ref.offset].count(10) + 1}"


def test_a_split_and_a_shard_narrow_it_and_all_is_counted(desk, written):
    whole = desk.read(written, split="holdout")
    assert (len(ids(whole)), whole.rows, whole.total_rows) == (4, 6, 6)
    shards = [desk.read(written, split="holdout", shard=Shard(index, 3)) for index in (1, 2, 3)]
    assert sorted(case_id for shard in shards for case_id in ids(shard)) == sorted(ids(whole))
    assert sum(shard.rows for shard in shards) == 6
    assert count_splits(shards[0]) == {"tune": 2, "holdout": 4}


def test_it_names_no_file(desk, written):
    assert list(desk.read(written).artifacts()) == []


def test_another_process_finds_the_same(desk, written):
    first = desk.read(written, split="holdout", shard=Shard(1, 2))
    again = index_manifest(
        written, display="golden.json", sha256=first.sha256, kind="golden-set", split="holdout", shard=Shard(1, 2)
    )
    try:
        assert again.adapters == first.adapters
        assert [again.read(ref) for ref in again.adapters[None]] == [first.read(ref) for ref in first.adapters[None]]
    finally:
        again.close()


@pytest.mark.parametrize("change", [b" ", b"{"])
def test_another_process_finds_other_bytes(desk, written, change):
    sha256 = desk.read(written).sha256
    written.write_bytes(written.read_bytes() + change)
    with pytest.raises(ManifestChangedError, match=r"^golden\.json: the manifest was changed"):
        index_manifest(written, display="golden.json", sha256=sha256, kind="golden-set")


def test_a_change_is_noticed_at_the_next_sample(desk, written):
    manifest = desk.read(written)
    written.write_bytes(written.read_bytes().replace(b"quiet", b"QUIET"))
    os.utime(written, ns=(1, 1))
    with pytest.raises(ManifestChangedError):
        manifest.read(manifest.adapters[None][0])


def test_touching_it_changes_nothing(desk, written):
    manifest = desk.read(written)
    os.utime(written, ns=(1, 1))
    assert manifest.read(manifest.adapters[None][0]).case.id == "0-é"


def test_an_id_of_an_earlier_manifest(desk, written, image):
    seen = {}
    desk.read(desk.write(image(id="3-é")), seen=seen)
    assert desk.faults_of(written, seen=seen) == [
        f"golden.json:{line(written, 3)}: 3-é: id: '3-é' stands already in cases.jsonl:1"
    ]


def line(path, index):
    before = path.read_text().split('"id": ')[: index + 1]
    return "".join(before).count("\n")


def test_samples_are_chosen_by_what_evidence_keeps(desk, written):
    chosen = RowSelection.of([("label", "human"), ("borderline", "false"), ("pairOf", "null")], KINDS["golden-set"])
    manifest = desk.read(written)
    assert [ref.case_id for ref in manifest.adapters[None] if chosen.takes(manifest.read(ref).case)] == ["1-é", "3-é", "5-é"]


@pytest.mark.parametrize("field", ["text", "provenance", "reviewers", "labelOwner"])
def test_no_sample_is_chosen_by_what_evidence_leaves_out(field):
    with pytest.raises(SelectionError, match=f"no rows are chosen by {field}"):
        RowSelection.of([(field, "x")], KINDS["golden-set"])

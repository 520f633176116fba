"""What a split consists of: its bases, told from whole manifests."""

import hashlib
import json
from contextlib import ExitStack, closing

import pytest

from pytest_benchbench.manifests.reading import ManifestError, index_manifest, read_manifest
from pytest_benchbench.manifests.sharding import Shard
from pytest_benchbench.manifests.splits import BASES_KEPT, count_splits, split_bases


@pytest.fixture
def manifest(tmp_path):
    """Writes rows, given as dicts of what differs, and reads them."""

    def make(*rows, name="dataset.jsonl", **how):
        whole = {"label": 0, "source": "s", "contentGroup": "c", "transform": "none", "license": "l", "sha256": "a" * 64}
        (tmp_path / name).write_text("".join(json.dumps(whole | row) + "\n" for row in rows))
        return opened.enter_context(closing(read_manifest(tmp_path / name, media_types={}, **how)))

    with ExitStack() as opened:
        yield make


def row(number, split="test", **more):
    return {"id": f"img-{number}", "baseId": f"base-{number}", "split": split, **more}


def test_only_cases_of_the_split_are_kept(manifest):
    found = manifest(row(1), row(2, "train"), row(3), split="test")
    assert [ref.case_id for ref in found.adapters[None]] == ["img-1", "img-3"]
    assert (found.rows, found.split_rows, found.total_rows) == (3, 2, 3)


def test_all_cases_are_kept_without_a_split(manifest):
    assert manifest(row(1), row(2, "train")).split_rows == 2


def test_rows_of_other_splits_are_validated(manifest):
    with pytest.raises(ManifestError, match=r"dataset.jsonl:2: label: "):
        manifest(row(1), row(2, "train", label=2), split="test")


def test_files_are_those_of_the_split(manifest):
    found = manifest(row(1, path="1.png"), row(2, "train", path="2.png"), split="test")
    assert [file.path for file in found.artifacts()] == ["1.png"]


def test_an_index_finds_the_same_cases(manifest):
    found = manifest(row(1), row(2, "train"), row(3), split="test")
    where = {"display": found.display, "sha256": found.sha256, "kind": "dataset"}
    with closing(index_manifest(found.path, **where, split="test")) as again:
        assert again.adapters == found.adapters
        assert (again.rows, again.split_rows, again.total_rows) == (3, 2, 3)


def test_splits_are_counted_in_the_order_of_their_use(manifest):
    assert list(count_splits(manifest(row(1), row(2, "train"), row(3))).items()) == [("train", 1), ("test", 2)]


def test_the_digest_is_that_of_the_bases(manifest):
    found = manifest(row(2), row(1), row(3, "train"), split="test")
    assert split_bases([found], "test").sha256 == hashlib.sha256(b'["base-1","base-2"]').hexdigest()


@pytest.mark.parametrize(
    "rows",
    [
        [row(2), row(1)],
        [row(1), row(2), row(3, "train")],
        [row(1), row(2), {"id": "small", "baseId": "base-1", "split": "test", "transform": "resize-112"}],
        [row(1, license="other"), row(2, path="elsewhere.png")],
    ],
    ids=["order", "other-splits", "derivatives", "other-fields"],
)
def test_the_digest_stays_the_same(manifest, rows):
    plain = split_bases([manifest(row(1), row(2))], "test").sha256
    assert split_bases([manifest(*rows, name="other.jsonl")], "test").sha256 == plain


@pytest.mark.parametrize("rows", [[row(1)], [row(1), row(2), row(3)], [row(1), row(2, "calibration")]])
def test_another_set_of_bases_has_another_digest(manifest, rows):
    assert (
        split_bases([manifest(*rows)], "test").sha256
        != split_bases([manifest(row(1), row(2), name="b.jsonl")], "test").sha256
    )


def test_every_shard_gives_the_same_digest(manifest):
    rows = [row(number) for number in range(20)]
    whole = split_bases([manifest(*rows)], "test").sha256
    for index in (1, 2, 3):
        found = manifest(*rows, name=f"{index}.jsonl", shard=Shard(index, 3), split="test")
        assert found.split_rows < 20
        assert split_bases([found], "test").sha256 == whole


def test_two_manifests_are_one_split(manifest):
    parts = [manifest(row(1), name="a.jsonl"), manifest(row(2), name="b.jsonl")]
    assert split_bases(parts, "test").sha256 == split_bases([manifest(row(1), row(2))], "test").sha256


def test_bases_are_told_apart_by_short_digests(manifest):
    wanted = sorted(hashlib.sha256(f"base-{number}".encode()).hexdigest()[:12] for number in (1, 2))
    assert split_bases([manifest(row(2), row(1), row(1, "test", id="small"), row(3, "train"))], "test").sample == "".join(
        wanted
    )


def test_of_many_bases_the_smallest_digests_are_kept(manifest):
    bases = range(BASES_KEPT + 50)
    digests = sorted(hashlib.sha256(f"base-{number}".encode()).hexdigest()[:12] for number in bases)
    assert split_bases([manifest(*map(row, bases))], "test").sample == "".join(digests[:BASES_KEPT])

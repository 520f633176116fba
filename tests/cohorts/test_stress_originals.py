import hashlib
import threading

import pytest
from PIL import Image

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.stress_originals import default_workers, in_order, read_originals
from pytest_benchbench.cohorts.stress_transforms import find_transforms
from pytest_benchbench.manifests.reading import ManifestError, read_manifest

ALL = find_transforms([])


def read(path, *, roots=(), workers=2, progress=None):
    manifest = read_manifest(path, display="base.jsonl", media_types={}, outside_allowed=bool(roots))
    try:
        return read_originals(manifest, ALL, roots=roots, workers=workers, progress=progress)
    finally:
        manifest.close()


def faults(path, **how):
    with pytest.raises(ManifestError) as refused:
        read(path, **how)
    return str(refused.value).splitlines()


def test_originals_are_looked_at_in_their_order(write_originals, tmp_path):
    told = []
    originals = read(
        write_originals(tmp_path, [(300, 200), (40, 256), (257, 12)]), progress=lambda *counts: told.append(counts)
    )
    assert [one.ref.case_id for one in originals] == ["image-0", "image-1", "image-2"]
    assert [(one.long_side, one.group, one.format, one.has_metadata) for one in originals] == [
        (300, "full-res", "JPEG", True),
        (256, "thumbnail", "PNG", True),
        (257, "full-res", "WEBP", True),
    ]
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_row_decides_its_resolution_group_itself(write_originals, tmp_path):
    path = write_originals(
        tmp_path, [(300, 200), (30, 20)], {"resolutionGroup": "thumbnail"}, {"resolutionGroup": "full-res"}
    )
    assert [one.group for one in read(path)] == ["thumbnail", "full-res"]


def test_files_without_metadata_and_of_other_formats_are_told(write_originals, tmp_path):
    changes = []
    for name in ("plain.png", "other.tif"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
        changes.append({"path": name, "sha256": hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()})
    assert [one.has_metadata for one in read(write_originals(tmp_path, [(9, 9), (9, 9)], *changes))] == [False, None]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"transform": "jpeg-75"}, "transform: 'jpeg-75' is a derivative; give originals alone, whose transform is 'none'"),
        ({"path": None}, "path: missing: a derivative cannot be made without the file"),
        ({"path": "gone.png"}, "path: gone.png: there is no such file"),
        ({"sha256": "0" * 64}, "sha256: original-1.png"),
        ({"baseId": "base-0"}, "baseId: 'base-0' is also the base of base.jsonl:1; a base has one original"),
        ({"id": "x" * 190}, "id: -combined-screenshot makes it 210 characters long, more than 200"),
        ({"id": "image-0-jpeg-50"}, None),
    ],
)
def test_a_row_that_is_no_original_is_named_by_line_and_field(write_originals, tmp_path, change, fault):
    path = write_originals(tmp_path, [(20, 20), (20, 20)], {}, change)
    lines = faults(path)
    if fault is None:
        assert lines == ["base.jsonl:1: id: its derivative would be called 'image-0-jpeg-50', as another row is"]
    else:
        (line,) = lines
        assert line.startswith(f"base.jsonl:2: {fault}")


def test_every_fault_is_reported(write_originals, tmp_path):
    path = write_originals(tmp_path, [(9, 9)] * 3, {"transform": "blur-1"}, {"sha256": "0" * 64}, {"path": "gone.png"})
    assert [line.split(": ")[:2] for line in faults(path)] == [
        ["base.jsonl:1", "transform"],
        ["base.jsonl:2", "sha256"],
        ["base.jsonl:3", "path"],
    ]


def test_a_file_that_is_no_picture_is_refused(write_originals, tmp_path):
    path = write_originals(tmp_path, [(9, 9)], {"path": "base.jsonl"})
    (line,) = faults(path)
    assert line.startswith("base.jsonl:1: sha256: ")


def test_files_outside_need_a_root(write_originals, tmp_path):
    path = write_originals(tmp_path, [(9, 9)], {"path": "../original-0.jpg"})
    elsewhere = tmp_path / "inner"
    elsewhere.mkdir()
    path.rename(elsewhere / "base.jsonl")
    assert "leave" in faults(elsewhere / "base.jsonl")[0]
    assert len(read(elsewhere / "base.jsonl", roots=[tmp_path])) == 1


def test_another_kind_of_manifest_is_refused(tmp_path, write_originals):
    manifest = read_manifest(write_originals(tmp_path, [(9, 9)]), media_types={})
    manifest.kind = "watermark"
    with pytest.raises(CohortError, match="has watermark rows; a stress set is made from a dataset manifest"):
        read_originals(manifest, ALL, roots=(), workers=1)
    manifest.close()


@pytest.mark.parametrize("workers", [1, 4])
def test_what_threads_do_comes_back_in_order(workers):
    assert list(in_order(lambda number: number**2, range(50), workers)) == [number**2 for number in range(50)]


def test_no_more_is_taken_than_may_be_under_way():
    taken = []
    done = in_order(lambda number: number, (taken.append(number) or number for number in range(100)), 2)
    assert next(done) == 0
    assert len(taken) == 5
    done.close()
    assert len(taken) == 5


def test_an_error_ends_the_work_at_its_place():
    def work(number):
        if number == 3:
            raise CohortError("three")
        return number

    done = in_order(work, range(100), 4)
    assert [next(done), next(done), next(done)] == [0, 1, 2]
    with pytest.raises(CohortError, match="three"):
        next(done)
    assert not any(thread.name.startswith("benchbench-stress") for thread in threading.enumerate())


def test_workers_are_bounded():
    assert 1 <= default_workers() <= 8

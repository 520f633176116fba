import gzip
import shutil

import pytest

from pytest_benchbench.validation import contamination_search
from pytest_benchbench.validation.contamination import Holdout
from pytest_benchbench.validation.contamination_files import files_under
from pytest_benchbench.validation.contamination_search import scan_file, search


@pytest.fixture
def samples(golden_sets):
    return [sample for sample in golden_sets.located().golden_set.samples if sample.split == "holdout"]


@pytest.fixture
def holdout(samples):
    return Holdout(samples)


def test_each_overlap_has_its_file_and_line_and_the_files_are_counted(tmp_path, holdout, samples):
    (tmp_path / "a.yaml").write_text(f"x\n- {samples[0].id}\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(f"\n\n{samples[1].text}\n".encode()))
    (tmp_path / "c.png").write_bytes(b"\x89PNG\0")
    told = []
    found = search(holdout, files_under([tmp_path]), progress=told.append)
    assert [(each.file[len(str(tmp_path)) + 1 :], each.overlap.line, each.overlap.kind) for each in found.overlaps] == [
        ("a.yaml", 2, "id"),
        ("b.txt.gz", 3, "text"),
    ]
    assert (found.files, found.total, found.total_passed_over, found.gaps) == (2, 2, 1, 0)
    assert sum(told) == found.bytes > 0


def test_the_golden_set_is_left_out_and_a_copy_is_not(tmp_path, holdout, samples):
    own = tmp_path / "golden.json"
    own.write_text(samples[0].text)
    (tmp_path / "hard.json").hardlink_to(own)
    shutil.copy(own, tmp_path / "copy.json")
    found = search(holdout, files_under([tmp_path]), leave_out=[own])
    assert [each.file for each in found.overlaps] == [str(tmp_path / "copy.json")]
    assert [passed.reason for passed in found.passed_over] == ["the golden set itself"]


def test_a_gap_is_counted_and_what_was_found_before_it_is_kept(tmp_path, holdout, samples):
    packed = gzip.compress((samples[0].id + "\n" + "x y z\n" * 300_000).encode(), compresslevel=0)
    (tmp_path / "cut.gz").write_bytes(packed[:-20])
    found = search(holdout, files_under([tmp_path, tmp_path / "none"]))
    assert [each.overlap.kind for each in found.overlaps] == ["id"]
    assert found.gaps == 2
    assert found.passed_over[0].reason.startswith("its rest is not looked into: damaged gzip")


def test_what_is_kept_is_bounded_and_all_is_counted(tmp_path, holdout, samples, monkeypatch):
    monkeypatch.setattr(contamination_search, "MAX_KEPT", 2)
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text(samples[0].id)
        (tmp_path / f"{number}.bin").write_bytes(b"\0")
    found = search(holdout, files_under([tmp_path]))
    assert (len(found.overlaps), found.total, len(found.passed_over), found.total_passed_over) == (2, 4, 2, 4)


def test_a_file_by_itself(tmp_path, holdout):
    (tmp_path / "clean.txt").write_text("nothing of it\n")
    scanned = scan_file(holdout, tmp_path / "clean.txt")
    assert (scanned.overlaps, scanned.bytes, scanned.is_looked_into, scanned.passed_over) == ([], 14, True, None)

"""Runs that cannot be one: they are refused, and it is said in what they differ."""

import shutil

import pytest

from pytest_benchbench.evidence.merging import MergeError
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.session.merging import merge_runs

CONTRADICTIONS = {
    "package.kernel_sha256": {"package": {"name": "pytest-benchbench", "version": "1.1", "kernel_sha256": "d" * 64}},
    "project.commit": {"project": {"commit": "def", "dirty": False}},
    "project.dirty": {"project": {"commit": "abc", "dirty": True}},
    "manifests": {
        "manifests": [{"path": "cases.jsonl", "name": "cases.jsonl", "kind": "watermark", "sha256": "e" * 64, "rows": 1}]
    },
    "options.adapters": {"options": {"adapters": {"toy": {"flip": "true"}}}},
    "options.select": {"options": {"select": ["state=marked"]}},
    "options.verify": {"options": {"verify": "lazy"}},
    "options.network": {"options": {"network": "allow"}},
    "options.expectations": {"options": {"expectations": {"path": "x.yaml", "sha256": "f" * 64}}},
    "options.row_timeout": {"options": {"row_timeout": 3.5}},
    "options.max_pixels": {"options": {"max_pixels": 2000}},
    "options.artifact_roots": {"options": {"artifact_roots": ["elsewhere"]}},
    "options.measured": {"options": {"measured": "xfail"}},
    "options.added_later": {"options": {"added_later": 1}},
}


@pytest.mark.parametrize("field", CONTRADICTIONS)
def test_runs_that_differ_are_refused_and_say_in_what(directories, row, tmp_path, field):
    one = directories.write("one", [row("a")], shard="1/2")
    other = directories.write("other", [row("b")], shard="2/2", **CONTRADICTIONS[field])
    with pytest.raises(MergeError) as refused:
        merge_runs([one, other], tmp_path / "merged")
    said = str(refused.value)
    assert said.startswith(f"these runs cannot be merged, they differ: {field} (")
    assert (str(one) in said, str(other) in said, len(said.splitlines())) == (True, True, 1)
    assert not list(tmp_path.glob("*merged*"))


def test_options_that_change_no_answer_may_differ(directories, row, tmp_path):
    options = {"gate": "strict", "crash_retries": 3, "require_available": True}
    one = directories.write("one", [row("a")], shard="1/2", options=options)
    other = directories.write("other", [row("b")], shard="2/2")
    assert merge_runs([one, other], tmp_path / "merged").exit_status == 0


def test_other_versions_of_packages_are_noted(directories, row, tmp_path):
    one = directories.write("one", [row("a")], shard="1/2")
    other = directories.write("other", [row("b")], shard="2/2", versions={"python": "3.11.7", "numpy": "2.0.0"})
    merged = merge_runs([one, other], tmp_path / "merged")
    assert merged.notes == ("versions of numpy differ: 2.0.0, 2.4.6",)
    assert merged.document["versions"] == {"python": "3.11.7", "numpy": None}


def test_the_same_directory_twice_is_refused(shards, tmp_path):
    (tmp_path / "link").symlink_to(shards[0])
    for again in (shards[0], tmp_path / "link"):
        with pytest.raises(MergeError, match="the same directory is given twice"):
            merge_runs([*shards, again], tmp_path / "merged")


def test_a_copy_of_a_run_is_refused(shards, tmp_path):
    shutil.copytree(shards[0], tmp_path / "copy")
    with pytest.raises(MergeError, match=r"^run 20261130T.* is there twice: in .*run-1 and in .*copy$"):
        merge_runs([shards[0], tmp_path / "copy"], tmp_path / "merged")


def test_a_part_of_a_merged_run_beside_it_is_refused(shards, tmp_path):
    merge_runs(shards[:2], tmp_path / "some")
    with pytest.raises(MergeError, match=r"is there twice: in .*run-2 and in .*some \(run-2\)$"):
        merge_runs([shards[1], tmp_path / "some"], tmp_path / "merged")


def test_the_same_shard_twice_is_refused(directories, row, tmp_path):
    given_ = [directories.write(name, [row(name)], shard="1/2") for name in ("one", "other")]
    with pytest.raises(MergeError, match=r"^shard 1/2 is there twice: in .*one and in .*other$"):
        merge_runs(given_, tmp_path / "merged")


@pytest.mark.parametrize("shard", [None, "2/3"])
def test_parts_that_are_cut_differently_are_refused(directories, row, tmp_path, shard):
    given_ = [directories.write("one", [row("a")], shard="1/2"), directories.write("other", [row("b")], shard=shard)]
    with pytest.raises(MergeError, match=r"their parts are cut differently: .*shards of 2 in .*one"):
        merge_runs(given_, tmp_path / "merged")


def test_a_row_in_two_runs_is_refused_by_name(directories, row, tmp_path):
    one = directories.write("one", [row("a"), row("b"), row("c")])
    other = directories.write("other", [row("d"), row("b", attempt=2), row("c")])
    with pytest.raises(EvidenceError) as refused:
        merge_runs([other, one], tmp_path / "merged")
    said = str(refused.value)
    assert said.startswith("the same row twice: suite.py::test_detection::dwt-dct::b stands in ")
    assert f"{one}/evidence.jsonl:2" in said
    assert f"{other}/evidence.jsonl:2" in said
    assert said.endswith(", and 1 more rows so")
    assert not list(tmp_path.glob("*merged*"))


def test_a_case_that_comes_from_different_manifest_lines_is_refused(directories, row, tmp_path):
    one = directories.write("one", [row("a")])
    other = directories.write("other", [row("a", adapter="trustmark", row_sha256="0" * 64)])
    with pytest.raises(EvidenceError, match=r"other/evidence\.jsonl:1: a: rows of this case .*one/evidence\.jsonl:1"):
        merge_runs([one, other], tmp_path / "merged")


def test_one_adapters_verdicts_come_from_one_detector(directories, row, tmp_path):
    changed = {**row("b")["adapter"], "source_sha256": "9" * 64, "weights": [{"name": "w", "sha256": "8" * 64}]}
    one = directories.write("one", [row("a")], shard="1/2")
    other = directories.write("other", [{**row("b"), "adapter": changed}], shard="2/2")
    with pytest.raises(EvidenceError, match=r"other/evidence\.jsonl:1: dwt-dct is not the detector of run .*: "):
        merge_runs([one, other], tmp_path / "merged")


def test_what_stood_behind_no_verdict_may_differ(directories, row, tmp_path):
    absent = {**row("b")["adapter"], "version": None, "rule": None, "source_sha256": None}
    one = directories.write("one", [row("a")], shard="1/2")
    other = directories.write("other", [{**row("b", "unavailable"), "adapter": absent}], shard="2/2")
    assert merge_runs([one, other], tmp_path / "merged").exit_status == 0

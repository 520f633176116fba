"""Shards that were run one by one and merged come to what one run of all rows comes to."""

import json
import shutil

import pytest

from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.session.merging import merge_runs

SAYS = ["detected", "not_detected", "raise", "detected", "detected", "not_detected", "detected"]


@pytest.fixture
def seven(project):
    for number, says in enumerate(SAYS):
        project.case(f"cat-{number:02}", says)
    project.write()
    return project


def run(project, name, *arguments):
    """Run the manifest into a directory of its own; give the exit code and the directory."""
    result = project.run("cases.jsonl", *arguments)
    shutil.move(project.path / "run", project.path / name)
    return int(result.ret), project.path / name


def test_merged_shards_are_one_run(seven):
    status, whole = run(seven, "whole")
    shards = [run(seven, f"shard-{index}", f"--bench-shard={index}/3")[1] for index in (3, 1, 2)]
    merged = merge_runs(shards, seven.path / "merged")
    report = json.loads((whole / "report.json").read_bytes())
    assert encode_document(merged.reckoning.report["results"]) == encode_document(report["results"])
    assert (merged.exit_status, merged.whole.gaps, merged.notes) == (status, (), ())
    planned = json.loads((whole / "run.json").read_bytes())["planned"]
    assert merged.document["planned"] == planned


def test_a_gate_decides_on_the_merged_whole_as_on_one_run(seven):
    status, whole = run(seven, "whole", "--bench-gate=strict")
    shards = [run(seven, f"shard-{index}", f"--bench-shard={index}/2")[1] for index in (1, 2)]
    merged = merge_runs(shards, seven.path / "merged", load_policy("strict"))
    decision = json.loads((whole / "gate.json").read_bytes())
    assert json.loads((seven.path / "merged" / "gate.json").read_bytes())["rules"] == decision["rules"]
    assert merged.exit_status == status == 20


def test_a_missing_shard_is_a_gap_and_an_empty_one_is_none(project):
    project.case("cat-01")
    project.write()
    runs = [run(project, f"shard-{index}", f"--bench-shard={index}/2")[1] for index in (1, 2)]
    empty = [path for path in runs if not (path / "evidence.jsonl").read_bytes()]
    (full,) = set(runs) - set(empty)
    assert merge_runs(runs, project.path / "both").exit_status == 0
    assert merge_runs([full], project.path / "full").whole.gaps == ()
    missing = merge_runs(empty, project.path / "empty")
    assert (missing.exit_status, len(missing.whole.gaps)) == (21, 1)


def test_a_failure_of_a_suite_alone_is_a_failure_of_the_whole(seven):
    seven.pytester.makepyfile(
        test_mine="""
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_detection(case, observe):
            observe()
            assert case.case_id != "cat-03"
        """
    )
    seven.write(rows=[row for row, says in zip(seven.rows, SAYS, strict=True) if says == "detected"])
    codes, paths = [], []
    for index in (1, 2):
        result = seven.run("test_mine.py", "--manifest=cases.jsonl", f"--bench-shard={index}/2")
        shutil.move(seven.path / "run", seven.path / f"shard-{index}")
        codes.append(int(result.ret))
        paths.append(seven.path / f"shard-{index}")
    assert sorted(codes) == [0, 1]
    assert merge_runs(paths, seven.path / "merged").exit_status == 1

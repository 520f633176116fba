"""What a merged run lacks, and the exit code that it has."""

import pytest

from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.session.merging import merge_runs


@pytest.mark.parametrize(
    ("changes", "gap", "status", "lost"),
    [
        ({}, None, 0, 0),
        ({"finished": None}, "never finished", 21, 0),
        ({"planned": None, "finished": None, "exit_status": None}, "never finished", 21, 0),
        ({"interrupted": True, "exit_status": 2}, "was interrupted", 21, 0),
        ({"exit_status": 3}, "ended with exit code 3 (internal error)", 21, 0),
        ({"lost": 2}, "2 rows lost", 21, 2),
        ({"left_out": 1}, "1 row left out", 0, 0),
        ({"exit_status": 1}, None, 1, 0),
        ({"exit_status": 5}, None, 0, 0),
    ],
)
def test_a_gap_of_one_part_is_a_gap_of_the_whole(directories, row, tmp_path, changes, gap, status, lost):
    one = directories.write("one", [row("a")], shard="1/2")
    other = directories.write("other", [row("b")], shard="2/2", **changes)
    merged = merge_runs([one, other], tmp_path / "merged")
    assert merged.whole.gaps == (() if gap is None else (f"other (shard 2/2): {gap}",))
    assert (merged.exit_status, merged.whole.planned.lost) == (status, lost)
    assert ("finished" in merged.document) == ("never finished" not in (gap or ""))


def test_rows_that_a_run_counts_and_the_evidence_lacks_are_lost(directories, row, tmp_path):
    path = directories.write("one", [row("a"), row("b"), row("c", "error", outcome="not_run")], lost=1)
    lines = (path / "evidence.jsonl").read_bytes().splitlines(keepends=True)
    (path / "evidence.jsonl").write_bytes(lines[0] + lines[2] + lines[1][:-1])
    merged = merge_runs([path], tmp_path / "merged")
    assert [gap.partition(": ")[2] for gap in merged.whole.gaps] == [
        "no report was made from its evidence as it is",
        "1 row lost",
        "1 row ended that the evidence does not have",
    ]
    assert (merged.whole.planned.lost, merged.whole.planned.rows, merged.exit_status) == (2, 3, 21)


def test_more_rows_than_a_run_counts_are_a_gap(directories, row, tmp_path):
    path = directories.write("one", [row("a"), row("b")], planned={"rows": 1, "selected": 1, "left_out": 0, "lost": 0})
    merged = merge_runs([path], tmp_path / "merged")
    assert [gap.partition(": ")[2] for gap in merged.whole.gaps] == ["its evidence has 1 row more than ended"]
    assert merged.exit_status == 21


@pytest.mark.parametrize("decision", [True, False])
def test_losses_of_unknown_number_leave_a_gate_undecided(shards, tmp_path, decision):
    merged = merge_runs(shards[: 3 if decision else 2], tmp_path / "merged", load_policy("strict"))
    rule = next(rule for rule in merged.reckoning.decision.rules if rule.id == "nothing_lost")
    expected = (True, 0, "pass", 0) if decision else (None, None, "inconclusive", 21)
    assert (rule.passed, rule.observed, merged.reckoning.decision.decision, merged.exit_status) == expected


def test_missing_shards_are_named_and_many_are_counted(directories, row, tmp_path):
    one = directories.write("one", [row("a")], shard="2/30")
    (gap,) = merge_runs([one], tmp_path / "merged").whole.gaps
    assert gap.startswith("missing: shards 1/30, 3/30, ")
    assert gap.endswith(", 11/30 and 19 more")


@pytest.mark.parametrize(("total", "gaps"), [(3, 0), (4, 1)])
def test_a_shard_without_rows_need_not_be_there(directories, row, tmp_path, total, gaps):
    paths = []
    for index, ids in ((1, ["a", "b"]), (3, ["c"])):
        manifest = {"path": "c.jsonl", "name": "c.jsonl", "kind": "watermark", "sha256": "a" * 64}
        manifests = [{**manifest, "rows": total, "shard_rows": len(ids)}]
        paths.append(directories.write(f"r{index}", [row(i) for i in ids], shard=f"{index}/3", manifests=manifests))
    assert len(merge_runs(paths, tmp_path / "merged").whole.gaps) == gaps


def test_what_one_run_left_out_another_may_have_run(directories, row, tmp_path):
    one = directories.write("one", [row("a"), row("b")], left_out=2)
    other = directories.write("other", [row("c")], left_out=3)
    merged = merge_runs([one, other], tmp_path / "merged")
    assert merged.whole.gaps == ("by all runs: 1 row left out",)
    assert merged.document["planned"] == {"rows": 4, "selected": 3, "left_out": 1, "lost": 0}
    assert merge_runs([one, other], tmp_path / "gated", load_policy("strict")).exit_status == 21


def test_plans_of_different_size_excuse_nothing(directories, row, tmp_path):
    one = directories.write("one", [row("a")], left_out=2)
    other = directories.write("other", [row("b")], left_out=1)
    assert merge_runs([one, other], tmp_path / "merged").whole.planned.left_out == 3


@pytest.mark.parametrize(
    ("statuses", "options", "status"),
    [
        (["detected", "detected"], {}, 0),
        (["detected", "not_detected"], {}, 1),
        (["detected", "error"], {}, 1),
        (["detected", "unavailable"], {}, 0),
        (["detected", "unavailable"], {"require_available": True}, 1),
        (["unavailable", "unavailable"], {}, 21),
    ],
)
def test_the_exit_code_is_that_of_one_run(directories, row, tmp_path, statuses, options, status):
    paths = [
        directories.write(f"run-{index}", [row(str(index), said)], shard=f"{index}/2", options=options)
        for index, said in enumerate(statuses, 1)
    ]
    assert merge_runs(paths, tmp_path / "merged").exit_status == status


@pytest.mark.parametrize(("exit_status", "status"), [(0, 0), (20, 1)])
def test_a_failure_that_an_exit_code_hides_is_found(directories, row, tmp_path, exit_status, status):
    path = directories.write("one", [row("a")], exit_status=exit_status)
    (path / "failures.jsonl").write_text('{"attempt": 1, "node": "suite.py::test_detection::dwt-dct::a"}\n')
    assert merge_runs([path], tmp_path / "once").exit_status == status
    assert merge_runs([tmp_path / "once"], tmp_path / "again").exit_status == status


def test_a_gate_never_turns_failures_into_success(directories, row, tmp_path):
    policy = tmp_path / "lax.yaml"
    policy.write_text("name: lax\nrules: [{id: some, metric: planned_count, op: '>=', value: 1}]\n")
    path = directories.write("one", [row("a", "not_detected")])
    merged = merge_runs([path], tmp_path / "merged", load_policy(str(policy)))
    assert (merged.reckoning.decision.decision, merged.exit_status) == ("pass", 1)


def test_a_gate_that_does_not_pass_is_20(directories, row, tmp_path):
    path = directories.write("one", [row("a", "not_detected")])
    assert merge_runs([path], tmp_path / "merged", load_policy("strict")).exit_status == 20


def test_nothing_at_all_is_no_success(directories, tmp_path):
    paths = [directories.write(f"run-{index}", [], shard=f"{index}/2", exit_status=0) for index in (1, 2)]
    merged = merge_runs(paths, tmp_path / "merged")
    assert (merged.whole.gaps, merged.exit_status) == (("no row was selected",), 21)

"""The laws of merging: what is given in which order, in which parts and how often, changes nothing; no row counts twice."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_benchbench.evidence.merging import MergeError
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.recorded_run import RecordedRunError
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.reports.summary import build_report
from pytest_benchbench.session.merging import merge_runs

anew = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def row(directories):
    return directories.row


@pytest.fixture
def shards(directories, row):
    """Three shards of three, of one, two and one rows."""
    ids = {1: ["a"], 2: ["b", "c"], 3: ["d"]}
    return [
        directories.write(f"run-{index}", [row(case_id) for case_id in ids[index]], shard=f"{index}/3")
        for index in (1, 2, 3)
    ]


def content(directory):
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def results(report):
    return encode_document(report["results"])


answers = st.sampled_from(["detected", "not_detected", "error", "unavailable"])
histories = st.lists(st.lists(answers, min_size=1, max_size=3), min_size=1, max_size=6)


@anew
@given(histories, st.data())
def test_any_partition_of_rows_gives_the_results_of_one_run(directories, tmp_path, drawn, data):
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        base = Path(folder)
        maker = type(directories)(base)
        count = data.draw(st.integers(1, 3))
        parts = [[] for _ in range(count)]
        lines = []
        for number, tries in enumerate(drawn):
            made = [maker.row(f"case-{number}", status, attempt=k) for k, status in enumerate(tries, 1)]
            parts[data.draw(st.integers(0, count - 1))] += made
            lines += made
        whole = maker.write("whole", data.draw(st.permutations(lines)))
        given_ = [
            maker.write(f"part-{index}", data.draw(st.permutations(rows)), shard=f"{index}/{count}")
            for index, rows in enumerate(parts, 1)
        ]
        merged = merge_runs(given_, base / "merged", load_policy("strict"))
        alone = merge_runs([whole], base / "alone", load_policy("strict"))
        assert results(merged.reckoning.report) == results(build_report(whole / "evidence.jsonl", {}))
        assert merged.reckoning.decision.rules == alone.reckoning.decision.rules
        assert (merged.exit_status, merged.whole.gaps) == (alone.exit_status, ())


def test_the_order_of_the_directories_changes_nothing(shards, tmp_path):
    merge_runs(shards, tmp_path / "one", load_policy("strict"))
    merge_runs(shards[::-1], tmp_path / "other", load_policy("strict"))
    assert content(tmp_path / "one") == content(tmp_path / "other")
    ids = [json.loads(line)["key"]["case_id"] for line in (tmp_path / "one" / "evidence.jsonl").read_text().splitlines()]
    assert ids == ["a", "b", "c", "d"]


@pytest.mark.parametrize("first", [(0, 1), (0, 2), (1, 2)])
def test_merging_merged_runs_is_merging_all_at_once(shards, tmp_path, first):
    merge_runs(shards, tmp_path / "once")
    merge_runs([shards[index] for index in first], tmp_path / "some")
    (last,) = {0, 1, 2} - set(first)
    merge_runs([shards[last], tmp_path / "some"], tmp_path / "twice")
    assert content(tmp_path / "once") == content(tmp_path / "twice")


def test_merging_a_merged_run_again_changes_nothing(shards, tmp_path):
    merge_runs(shards, tmp_path / "once")
    merge_runs([tmp_path / "once"], tmp_path / "again")
    assert content(tmp_path / "once") == content(tmp_path / "again")


def test_gaps_stay_gaps_when_merged_again(shards, tmp_path):
    shutil.rmtree(shards[0])
    with (shards[1] / "run.json").open("r+") as file:
        document = json.load(file)
        del document["finished"]
        file.seek(0)
        json.dump(document, file)
        file.truncate()
    (shards[2] / "report.json").write_text(json.dumps({"inputs": {"evidence": {"sha256": "f" * 64}}}))
    once = merge_runs(shards[1:], tmp_path / "once")
    again = merge_runs([tmp_path / "once"], tmp_path / "again")
    assert once.whole.gaps == (
        "missing: shard 1/3",
        "run-2 (shard 2/3): never finished",
        "run-3 (shard 3/3): its evidence is not what its report was made from",
    )
    assert (again.whole, again.exit_status) == (once.whole, 21)
    assert content(tmp_path / "once") == content(tmp_path / "again")


def test_run_json_says_what_was_common_and_what_was_merged(shards, tmp_path):
    merged = merge_runs(shards, tmp_path / "merged")
    document = json.loads((tmp_path / "merged" / "run.json").read_text())
    assert document == merged.document
    assert document["package"] == {"name": "pytest-benchbench", "version": "1.0", "kernel_sha256": "c" * 64}
    assert document["planned"] == {"rows": 4, "selected": 4, "left_out": 0, "lost": 0}
    assert document["decoding"] == {"hits": 3, "misses": 6}
    assert (document["exit_status"], document["interrupted"], document["gaps"]) == (0, False, [])
    assert (document["options"]["shard"], document["options"]["arguments"]) == (None, None)
    assert (document["options"]["max_pixels"], document["manifests"][0]["shard_rows"]) == (1000, 4)
    second = document["merged_from"][1]
    assert {name: second[name] for name in ("shard", "name", "exit_status", "planned", "evidence_lines")} == {
        "shard": "2/3",
        "name": "run-2",
        "exit_status": 0,
        "planned": {"rows": 2, "selected": 2, "left_out": 0, "lost": 0},
        "evidence_lines": 2,
    }
    assert sorted(content(tmp_path / "merged")) == ["evidence.jsonl", "report.json", "report.md", "run.json"]


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


def test_evidence_that_was_merged_and_changed_is_refused(shards, tmp_path):
    merge_runs(shards, tmp_path / "once")
    path = tmp_path / "once" / "evidence.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"adapter_elapsed_ms": 1.5', b'"adapter_elapsed_ms": 1.6', 1))
    with pytest.raises(EvidenceError, match="is not what was merged"):
        merge_runs([tmp_path / "once"], tmp_path / "again")


def test_lines_behind_what_was_merged_are_not_passed_over(shards, row, tmp_path):
    merge_runs(shards, tmp_path / "once")
    with (tmp_path / "once" / "evidence.jsonl").open("a") as file:
        file.write(json.dumps(row("e")) + "\n")
    with pytest.raises(RecordedRunError, match="is not what was merged: it has not"):
        merge_runs([tmp_path / "once"], tmp_path / "again")


def test_nothing_at_all_is_no_success(directories, tmp_path):
    paths = [directories.write(f"run-{index}", [], shard=f"{index}/2", exit_status=0) for index in (1, 2)]
    merged = merge_runs(paths, tmp_path / "merged")
    assert (merged.whole.gaps, merged.exit_status) == (("no row was selected",), 21)


def test_damaged_evidence_is_refused_by_its_own_file_and_line(shards, tmp_path):
    path = shards[1] / "evidence.jsonl"
    for old, new in ((b'"detection": {', b'"detection": ['), (b'"fidelity": {"status": ', b'"fidelity": {"stat": ')):
        damaged = path.read_bytes().splitlines(keepends=True)
        damaged[1] = damaged[1].replace(old, new)
        path.write_bytes(b"".join(damaged))
        with pytest.raises(EvidenceError, match=rf"^{path}:2: "):
            merge_runs(shards, tmp_path / "merged")
        assert not list(tmp_path.glob("*merged*"))
        path.write_bytes(b"".join(damaged).replace(new, old))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "{",
        '{"schema_version": 2}',
        "[" * 100_000,
        '{"schema_version": 1, "run_id": 1}',
        '{"merged_from": [{}]}',
    ],
)
def test_a_damaged_description_is_refused(shards, tmp_path, text):
    (shards[0] / "run.json").write_text(text)
    with pytest.raises(RecordedRunError, match=r"run\.json: (not the description of a run|nested too deeply)"):
        merge_runs(shards, tmp_path / "merged")


@pytest.mark.parametrize("shard", ["0/3", "4/3", "x", ""])
def test_a_shard_that_is_none_is_refused(directories, row, tmp_path, shard):
    path = directories.write("one", [row("a")], shard=shard)
    with pytest.raises(RecordedRunError, match="expected I/N"):
        merge_runs([path], tmp_path / "merged")


@pytest.mark.parametrize(
    ("missing", "message"), [("run.json", "not the directory of a run"), ("evidence.jsonl", "it has no")]
)
def test_a_directory_without_a_run_is_refused(shards, tmp_path, missing, message):
    (shards[0] / missing).unlink()
    with pytest.raises(RecordedRunError, match=message):
        merge_runs(shards, tmp_path / "merged")


def test_nothing_existing_is_overwritten(shards, tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(MergeError, match="exists already"):
        merge_runs(shards, tmp_path / "there")
    assert list((tmp_path / "there").iterdir()) == []


def test_parents_are_made_and_taken_back(shards, tmp_path):
    merge_runs(shards, tmp_path / "new" / "place" / "merged")
    assert (tmp_path / "new" / "place" / "merged" / "report.md").is_file()
    (shards[0] / "evidence.jsonl").write_text("{}\n")
    with pytest.raises(EvidenceError):
        merge_runs(shards, tmp_path / "other" / "place" / "merged")
    assert not (tmp_path / "other").exists()


def test_progress_tells_every_byte_at_most_twice(shards, tmp_path):
    told = []
    merge_runs(shards, tmp_path / "merged", progress=told.append)
    size = (tmp_path / "merged" / "evidence.jsonl").stat().st_size
    assert size <= sum(told) <= 2 * size


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_flipped_bits_and_cuts_end_in_one_line_or_in_a_run(directories, tmp_path, data):
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        base = Path(folder)
        maker = type(directories)(base)
        runs = [maker.write(f"run-{index}", [maker.row(str(index))], shard=f"{index}/2") for index in (1, 2)]
        damaged = runs[0] / data.draw(st.sampled_from(["run.json", "evidence.jsonl"]))
        content_ = bytearray(damaged.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            content_[data.draw(st.integers(0, len(content_) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        del content_[data.draw(st.integers(0, len(content_))) :]
        damaged.write_bytes(content_)
        refusal = None
        try:
            merge_runs(runs, base / "merged", load_policy("strict"))
        except (MergeError, RecordedRunError, EvidenceError) as error:
            refusal = str(error)
        assert refusal is None or len(refusal.splitlines()) == 1
        assert (base / "merged").exists() == (refusal is None)
        assert {path.name for path in base.iterdir()} <= {"run-1", "run-2", "merged"}

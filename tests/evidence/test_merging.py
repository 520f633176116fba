"""The laws of merging: what is given in which order, in which parts and how often, changes nothing; no row counts twice."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.reports.summary import build_report
from pytest_benchbench.session.merging import merge_runs

anew = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


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
        "run-3 (shard 3/3): no report was made from its evidence as it is",
    )
    assert (again.whole, again.exit_status) == (once.whole, 21)
    assert content(tmp_path / "once") == content(tmp_path / "again")


def test_a_finished_shard_without_its_report_is_a_gap(shards, tmp_path):
    (shards[1] / "report.json").unlink()
    assert merge_runs(shards, tmp_path / "merged").whole.gaps == (
        "run-2 (shard 2/3): no report was made from its evidence as it is",
    )


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
    assert sorted(content(tmp_path / "merged")) == ["evidence.jsonl", "report.html", "report.json", "report.md", "run.json"]

"""What a run of a golden set leaves beside its evidence, and what a gate and a merge make of it."""

import json

from pytest_benchbench.reports.detector_benchmark import read_benchmark
from pytest_benchbench.session.merging import merge_runs


def benchmark(golden, run="run"):
    return read_benchmark(golden.path / run / "benchmark.json")


def results(golden, run="run"):
    return json.dumps(json.loads((golden.path / run / "report.json").read_text())["results"])


def test_a_run_leaves_its_benchmark(golden):
    golden.samples(0, 49.5, 50, 100)
    result = golden.score()
    assert result.ret == 0
    found = benchmark(golden)
    assert (found.goldenSet.name, found.goldenSet.status, found.banner) == ("harbours", "final", None)
    (reader,) = found.detectors
    assert (reader.confusion.tp, reader.confusion.fn, reader.planned) == (2, 2, 4)
    assert (reader.fpr.value, reader.humanizerBypass.n) == (None, 0)
    assert found.run.complete
    assert [entry.split for entry in found.versionHistory] == ["holdout"]
    assert "reader on harbours v1, split holdout: accuracy 0.5000 (2/4" in str(result.stdout)


def test_workers_shards_and_resuming_give_the_same_results(golden):
    golden.samples(0, 49.5, 50, 100)
    golden.score(run="whole")
    golden.score(run="two", workers=2)
    for index in (1, 2):
        golden.score(f"--bench-shard={index}/2", run=f"shard-{index}")
    assert benchmark(golden, "shard-1").versionHistory == ()
    merge_runs([golden.path / f"shard-{index}" for index in (1, 2)], golden.path / "merged")
    golden.score("-k", "text-1")
    assert benchmark(golden).run.gaps == ("3 rows left out",)
    golden.score("--bench-resume=run")
    whole = benchmark(golden, "whole")
    for run in ("two", "merged", "run"):
        assert results(golden, run) == results(golden, "whole")
        assert benchmark(golden, run).run.complete
        assert benchmark(golden, run).detectors[0].scores == whole.detectors[0].scores


def test_the_tune_split_is_in_no_history(golden):
    golden.samples(0)
    golden.score("--bench-split=tune")
    assert (benchmark(golden).split, benchmark(golden).versionHistory) == ("tune", ())


def test_a_strict_gate_passes_scores_and_refuses_what_has_none(golden):
    golden.samples(0, 100)
    assert golden.score("--bench-gate=strict", run="good").ret == 0
    assert golden.score("--bench-gate=strict", "--bench-adapter=reader", "--bench-adapter=crashing", run="bad").ret == 20
    reader, crashing = sorted(benchmark(golden, "bad").detectors, key=lambda line: line.alias == "crashing")
    assert (crashing.errors, crashing.scored, crashing.accuracy.value) == (2, 0, None)
    assert reader.confusion.tp == 1
    decision = json.loads((golden.path / "bad" / "gate.json").read_text())
    failed = {rule["id"] for rule in decision["rules"] if rule["passed"] is False}
    assert "no_error" in failed

"""``benchbench report`` about text detectors, and what it tells of wrong use."""

import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main


@pytest.fixture
def here(tmp_path, monkeypatch, directories, golden):
    """A folder with a run of each split, of two detectors."""
    monkeypatch.chdir(tmp_path)
    for split in ("tune", "holdout"):
        rows = [
            golden.row(f"{split}-{place}", "ai" if place % 2 else "human", 10.0 * place, adapter=adapter, split=split)
            for place in range(8)
            for adapter in ("x", "y")
        ]
        directories.write(split, rows, manifests=golden.manifests(status="example"))
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(main, ["report", *arguments])


def test_a_threshold_and_a_declared_pair(here):
    done = invoke("holdout", "--tune-run=tune", "--target-fpr=0.25", "--pair=x:y", "--output-dir=out", "--json", "--no-html")
    assert done.exit_code == 0, done.output
    assert "benchmark.json" in json.loads(done.stdout)["files"]
    benchmark = json.loads((here / "out/benchmark.json").read_text())
    assert [line["tprAtFpr"]["threshold"] for line in benchmark["detectors"]] == [50.0, 50.0]
    assert [(pair["a"], pair["b"], pair["p"]) for pair in benchmark["pairs"]] == [("x", "y", None)]
    report = (here / "out/report.md").read_text()
    assert "### Declared pairs" in report
    assert "true-positive rate at a declared false-positive rate of 0.25" in report.casefold()


def test_nothing_of_that_without_being_asked(here):
    done = invoke("holdout", "--output-dir=out", "--no-html")
    assert "example set: no claim" in done.stdout.splitlines()
    report = (here / "out/report.md").read_text()
    assert "Declared pairs" not in report
    assert "declared false-positive rate" not in report


def test_a_run_of_two_golden_sets_says_why_it_has_no_benchmark(here, directories, golden):
    rows = [
        golden.row(name, "human", 80.0, adapter="x", golden_set=sha256)
        for name, sha256 in (("a", "1" * 64), ("b", "2" * 64))
    ]
    directories.write("two", rows)
    done = invoke("two", "--output-dir=out", "--no-html")
    assert done.exit_code == 0, done.output
    assert not (here / "out/benchmark.json").exists()
    assert done.stderr.startswith(
        "note: no benchmark.json: it is about one run of one golden set, and this report is about 2 such;"
    )
    assert invoke("holdout", "--output-dir=one", "--no-html").stderr == ""


def test_several_runs_have_their_own_figures_and_no_benchmark(here, directories, golden):
    rows = [golden.row("holdout-0", "human", 80.0, adapter="x", split="holdout")]
    directories.write("again", rows, manifests=golden.manifests(status="example"), started="2026-12-01T00:00:00.000+00:00")
    done = invoke("holdout", "again", "--output-dir=out", "--no-html")
    assert done.exit_code == 0, done.output
    assert not (here / "out/benchmark.json").exists()
    assert done.stderr == (
        "note: no benchmark.json: it is about one run of one golden set, and this report is about 2 such; report.json has "
        "the figures of each under golden_sets, benchbench report RUN writes it of one run\n"
    )
    found = json.loads((here / "out/report.json").read_text())["results"]["golden_sets"]
    assert [(each["run"], each["banner"], len(each["detectors"])) for each in found] == [
        (1, "example set: no claim", 2),
        (2, "example set: no claim", 1),
    ]


def test_evidence_alone_knows_no_status_and_claims_nothing(here):
    done = invoke("holdout/evidence.jsonl", "--output-dir=out", "--no-html")
    benchmark = json.loads((here / "out/benchmark.json").read_text())
    # beside it lies its run.json, which is read; alone it says nothing of the set
    assert benchmark["banner"] == "example set: no claim"
    (here / "holdout/run.json").unlink()
    done = invoke("holdout/evidence.jsonl", "--output-dir=alone", "--no-html")
    assert done.exit_code == 0, done.output
    benchmark = json.loads((here / "alone/benchmark.json").read_text())
    assert benchmark["banner"] == "status of the set unknown: no claim"
    assert (benchmark["run"]["complete"], benchmark["versionHistory"]) == (False, [])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--tune-run=tune"], "--tune-run and --target-fpr need each other"),
        (["--target-fpr=0.1"], "--tune-run and --target-fpr need each other"),
        (["--tune-run=tune", "--target-fpr=1"], "1.0 is not in the range 0<=x<1"),
        (["--tune-run=tune", "--target-fpr=nan"], "nan is not a finite number"),
        (["--pair=x"], "'x': expected two detectors as A:B"),
        (["--pair=x:x"], "'x:x': the same detector twice"),
        (["--pair=x:y", "--pair=y:x"], "'y:x': this pair is declared twice"),
        (["--pair=x:z"], "--pair: no detector z in this run, there are: x, y"),
        (["tune", "--pair=x:y"], "for a report on one run"),
    ],
)
def test_wrong_use_is_exit_2_and_nothing_is_written(here, arguments, told):
    done = invoke("holdout", "--output-dir=out", "--no-html", *arguments)
    assert done.exit_code == 2, done.output
    assert told in done.output
    assert not (here / "out").exists()


def test_a_tune_run_that_is_none_is_one_line(here):
    done = invoke("tune", "--tune-run=holdout", "--target-fpr=0.1", "--output-dir=out", "--no-html")
    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert "Error: holdout: of the split holdout, a threshold comes from tune" in done.output
    assert not (here / "out").exists()


def test_the_schema_is_printed(here):
    done = invoke("--benchmark-schema")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["title"] == "Benchmark of text detectors of pytest-benchbench"

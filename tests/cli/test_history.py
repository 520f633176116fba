import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli.history import command

WRONG = [f"a{number:02}" for number in range(12)]


@pytest.fixture
def history(tmp_path):
    def history(*arguments):
        return CliRunner().invoke(command, [str(tmp_path / "series.json"), *map(str, arguments)])

    return history


@pytest.fixture
def append(history, text_runs):
    """``append(1, zippy=wrong)``: run the benchmark and append it."""

    def append(run, *arguments, **told):
        return history("--append", text_runs.directory(run, **told), *arguments)

    return append


def test_two_bad_runs_on_end_are_an_alert_and_exit_1(append, history):
    first = append(1, zippy=[], lmscan=[])
    assert first.exit_code == 0, first.output
    assert "nothing to compare with" in first.output
    watched = append(2, zippy=WRONG, lmscan=[])
    assert watched.exit_code == 0, watched.output
    assert "watch: zippy accuracy: -12.0 points against run 1, worse, p 0.00049 < 0.025" in watched.output
    alerted = append(3, zippy=WRONG, lmscan=[])
    assert alerted.exit_code == 1
    assert "alert: zippy accuracy: -12.0 points against run 1, worse, p 0.00049 < 0.025" in alerted.output
    assert "alert: zippy tpr: -20.0 points" in alerted.output
    assert "lmscan" not in "".join(line for line in alerted.output.splitlines() if line.startswith("alert"))
    assert history().output == alerted.output
    assert append(4, zippy=[], lmscan=[]).exit_code == 0


def test_json_has_every_run_with_identity_commit_and_date(append, history):
    append(1, zippy={"plan": "starter", "apiVersion": "v2"})
    append(2, zippy={"plan": "starter", "apiVersion": "v2", "model": "v9"})
    document = json.loads(history("--json").output)
    assert [run["date"] for run in document["runs"]] == ["2026-01-02T06:00:00+00:00", "2026-01-03T06:00:00+00:00"]
    assert {run["commit"] for run in document["runs"]} == {"abc"}
    assert document["alerts"] == document["watches"] == []
    (zippy,) = document["detectors"]
    assert zippy["runs"] == [1, 2]
    assert zippy["identity"]["apiVersion"] == "v2"
    assert zippy["identity"]["model"] == "v9"
    assert "run 2: zippy: model none -> v9, since run 1" in document["notes"]
    assert list(zippy["metrics"]) == ["accuracy", "tpr", "fpr", "humanizerBypass"]


def test_the_benchmark_is_reckoned_from_the_evidence_whatever_the_file_says(history, text_runs):
    run = text_runs.directory(1, zippy=WRONG)
    (run / "benchmark.json").write_text("{}")
    document = json.loads(history("--append", run, "--json").output)
    assert document["detectors"][0]["metrics"]["accuracy"][0]["k"] == 88


def test_the_same_run_twice_is_refused_and_the_series_stays(append, history, text_runs, tmp_path):
    append(1, zippy=[])
    before = (tmp_path / "series.json").read_bytes()
    result = history("--append", tmp_path / "run-1")
    assert result.exit_code == 2
    assert "is in the series already, as entry 1" in result.output
    assert (tmp_path / "series.json").read_bytes() == before


@pytest.mark.parametrize(
    ("of_run", "missing"),
    [
        ({"lost": 2}, "2 rows lost"),
        ({"left_out": 3}, "3 rows left out"),
        ({"finished": None}, "never finished"),
        ({"interrupted": True}, "interrupted"),
        ({"options": {"select": ["category=essay"]}}, "samples were selected by category=essay"),
        ({"shard": "1/2"}, "shard 1/2 alone"),
    ],
)
def test_a_run_that_lacks_rows_is_incomplete(append, tmp_path, of_run, missing):
    result = append(1, zippy=[], of_run=of_run)
    assert result.exit_code == 21, result.output
    assert "not complete" in result.output
    assert missing in result.output
    assert not (tmp_path / "series.json").exists()


def test_evidence_that_was_altered_is_no_finished_run(history, text_runs, tmp_path):
    run = text_runs.directory(1, zippy=WRONG)
    evidence = run / "evidence.jsonl"
    evidence.write_text(evidence.read_text().replace('"score": 10.0', '"score": 90.0'))
    result = history("--append", run)
    assert result.exit_code == 21
    assert "no report was made from its evidence as it is" in result.output
    assert not (tmp_path / "series.json").exists()


def test_a_tune_run_and_a_run_of_another_kind_are_refused(append, history, directories):
    tuned = append(1, zippy=[], split="tune")
    assert tuned.exit_code == 2
    assert "the run is of the split tune" in tuned.output
    result = history("--append", directories.write("images", [directories.row("c1")]))
    assert result.exit_code == 2
    assert "not a run of one golden set: this has no row of one" in result.output


def test_a_run_of_two_golden_sets_is_refused_with_what_to_do(history, directories, golden):
    rows = [golden.row(name, "human", 80.0, adapter="x", golden_set=digit * 64) for name, digit in (("a", "1"), ("b", "2"))]
    result = history("--append", directories.write("two", rows))
    assert result.exit_code == 2
    assert "not a run of one golden set: this is of 2: run each by itself" in result.output


def test_another_golden_set_is_another_series(append):
    append(1, zippy=[])
    result = append(2, zippy=[], name="others")
    assert result.exit_code == 2
    assert "begin another series" in result.output


def test_an_example_set_carries_its_banner(append, history):
    result = append(1, zippy=[], status="example")
    assert result.output.startswith("example set: no claim\n")
    assert json.loads(history("--json").output)["banner"] == "example set: no claim"


def test_a_shift_that_was_looked_into_becomes_the_baseline(append):
    append(1, zippy=[])
    append(2, zippy=WRONG)
    result = append(3, "--new-baseline", "zippy=the vendor announced another model", zippy=WRONG)
    assert result.exit_code == 0, result.output
    assert "new baseline: the vendor announced another model" in result.output
    assert append(4, zippy=WRONG).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--new-baseline", "zippy=why"], "give --append"),
        (["--new-baseline", "zippy", "--append", "RUN"], "give ALIAS=REASON"),
        (["--new-baseline", "zippy=", "--append", "RUN"], "give ALIAS=REASON"),
        (["--new-baseline", "a=b", "--new-baseline", "a=c", "--append", "RUN"], "given twice"),
        (["--new-baseline", "other=why", "--append", "RUN"], "the run has zippy"),
        (["--append", "nowhere"], "does not exist"),
        ([], "there is no such series; to begin one: benchbench history FILE --append RUN_DIR"),
    ],
)
def test_wrong_use_is_exit_2_in_one_line(history, text_runs, tmp_path, arguments, message):
    run = text_runs.directory(1, zippy=[])
    result = history(*(str(run) if each == "RUN" else each for each in arguments))
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "series.json").exists()


def test_a_damaged_series_is_not_judged(append, history, tmp_path):
    append(1, zippy=[])
    append(2, zippy=[])
    series = tmp_path / "series.json"
    series.write_text(series.read_text().replace('"packageVersion":"1.0"', '"packageVersion":"1.1"', 1))
    result = history()
    assert result.exit_code == 2
    assert "series.json:3: the chain is broken" in result.output

"""Runs of real sessions, reported on together by the command."""

import json
import shutil

import jsonschema
import pandas
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main
from pytest_benchbench.reports.report_schema import report_schema


@pytest.fixture
def runs(project):
    """Give what runs the manifest into a directory of its own."""

    def run(name, *arguments, workers=0):
        project.run("cases.jsonl", *arguments, workers=workers)
        shutil.move(project.path / "run", project.path / name)
        return project.path / name

    return run


def report(project, *paths, code=0, name="report"):
    arguments = [*map(str, paths), "--output-dir", str(project.path / name), "--format=parquet", "--no-html"]
    result = CliRunner().invoke(main, ["report", *arguments])
    assert result.exit_code == code, result.output
    if code:
        return result.stderr
    document = json.loads((project.path / name / "report.json").read_bytes())
    jsonschema.validate(document, report_schema())
    return document


def test_one_run_is_reported_on_as_it_was_at_its_end(project, runs):
    project.cases("detected", "not_detected", "raise")
    one = runs("one")
    document, own = report(project, one), json.loads((one / "report.json").read_bytes())
    for section in ("results", "timing", "attempts", "inputs"):
        assert json.dumps(document[section]) == json.dumps(own[section])
    assert document["environment"] == json.loads((one / "run.json").read_bytes())


def test_a_detector_that_changes_its_mind_is_unstable_across_runs(project, runs):
    for number in range(3):
        project.case(f"flaky-{number}", adapter="flaky", pair_id="p")  # answers by turns
    project.case("steady")
    project.write()
    document = report(project, runs("one"), runs("two", "-k", "not flaky-0"))
    # not by pandas.read_parquet: what is first imported here is forgotten with the project, and cannot be imported again
    frame = pandas.DataFrame(pyarrow.parquet.read_table(project.path / "report" / "rows.parquet").to_pydict())
    told = frame.groupby("case_id").status.nunique()
    listed = {entry["case_id"]: entry["verdicts"] for entry in document["results"]["unstable_across_runs"]["listed"]}
    assert set(listed) == set(told[told > 1].index) == {"flaky-1", "flaky-2"}
    for case, verdicts in listed.items():
        for verdict, numbers in verdicts.items():
            assert numbers == frame[(frame.case_id == case) & (frame.status == verdict)].run.tolist()
    assert document["results"]["repetition"] == {"runs": 2, "rows": 4, "rows_in_every_run": 3}
    assert document["environment"]["planned"] == {"rows": 8, "selected": 7, "left_out": 1, "lost": 0}


def test_workers_and_merged_shards_are_runs_like_others(project, runs):
    project.cases(*["detected", "not_detected"] * 3)
    parts = [str(runs(f"part-{index}", f"--bench-shard={index}/2")) for index in (1, 2)]
    CliRunner().invoke(main, ["merge", *parts, "--output-dir", str(project.path / "merged")])
    document = report(project, runs("alone"), runs("workers", workers=2), project.path / "merged")
    results = document["results"]
    assert (results["rows"], results["outcomes"]["match"], results["outcomes"]["mismatch"]) == (18, 9, 9)
    assert results["unstable_across_runs"]["count"] == 0
    (line,) = results["tables"]["adapter"]
    assert (line["artifacts"], line["detected_rate_of_artifacts"]["k"]) == (6, 3)
    assert {run["name"]: run["rows"] for run in document["runs"]} == {"alone": 6, "workers": 6, "merged": 6}
    assert document["timing"]["toy"]["cold"]["n"] == sum(run["cold"]["toy"]["n"] for run in document["runs"])
    assert "gaps" not in document["environment"]


def test_another_file_under_a_case_id_is_refused(project, runs):
    project.case("cat-01", "detected a")
    project.write()
    one = runs("one")
    project.rows.clear()
    project.case("cat-01", "detected b")
    project.write()
    said = report(project, one, runs("two"), code=1)
    assert said.count("\n") == 1
    assert f"{project.path}/two/evidence.jsonl:1: cat-01: artifact is " in said
    assert f", in {project.path}/one/evidence.jsonl:1 it is " in said


def test_another_option_makes_another_detector(project, runs):
    project.cases("detected")
    said = report(project, runs("one"), runs("two", "--bench-adapter=toy:flip=true"), code=1)
    assert said == (
        f"Error: {project.path}/two/evidence.jsonl:1: toy is not the detector of run {project.path}/one: options differ\n"
    )


def test_a_killed_run_is_reported_on_with_its_gap(project, runs):
    project.cases("detected", "exit", "detected")
    project.kill()
    document = report(project, project.path / "run")
    assert document["environment"]["gaps"] == ["never finished"]
    assert document["results"]["rows"] == 1
    assert document["runs"][0]["finished"] is None

"""``benchbench evaluate``: JSON on standard output, or a new file and tables; nothing half-written."""

import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main


@pytest.fixture
def rows(score_files):
    row = score_files.row
    return [row("a1", 1, 0.9), row("a2", 1, 0.5), row("r1", 0, 0.1), row("r2", 0, 0.2, contentGroup="art")]


@pytest.fixture
def evaluate():
    return lambda *arguments: CliRunner().invoke(main, ["evaluate", *map(str, arguments)])


def test_the_report_is_json_on_standard_output(evaluate, score_files, rows):
    done = evaluate(score_files.write(rows))
    assert (done.exit_code, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert (document["type"], document["threshold"], document["results"]["rows"]) == ("evaluation", 0.65, 4)
    (series,) = document["results"]["series"]
    assert series["scores"]["score"]["overall"]["confusion"] == {"tp": 1, "fn": 1, "tn": 2, "fp": 0}
    assert document["inputs"]["scores"]["name"] == "scores.jsonl"
    assert evaluate(score_files.write(rows), "--json").stdout == done.stdout


def test_tables_are_for_people(evaluate, score_files, rows):
    done = evaluate(score_files.write(rows), "--table")
    assert done.exit_code == 0
    assert done.stdout.startswith("# Evaluation of scores.jsonl\n")
    assert "| rows | 4 | 1 | 1 | 2 | 0 | 0.5000 (1/2) | 1.0000 (2/2) |" in done.stdout


def test_a_new_file_takes_the_json(evaluate, score_files, rows, tmp_path):
    path, output = score_files.write(rows), tmp_path / "report.json"
    done = evaluate(path, "--output", output)
    assert done.stdout.startswith("# Evaluation of")
    assert output.read_text() == evaluate(path).stdout
    assert evaluate(path, "--output", tmp_path / "two.json", "--json").stdout == output.read_text()


def test_nothing_is_written_over(evaluate, score_files, rows, tmp_path, occupy):
    output = tmp_path / "report.json"
    occupy(output)
    done = evaluate(score_files.write(rows), "--output", output)
    assert done.exit_code == 1
    assert "exists already" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"report.json", "scores.jsonl"}


def test_a_place_that_cannot_be_written_is_said(evaluate, score_files, rows, tmp_path):
    done = evaluate(score_files.write(rows), "--output", tmp_path / "absent" / "report.json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert (
        done.stderr
        == f"Error: {tmp_path / 'absent' / 'report.json'}: there is no folder {tmp_path / 'absent'}; make it first\n"
    )


def test_each_fault_has_a_line_and_nothing_is_written(evaluate, score_files, rows, tmp_path):
    path = score_files.write([*rows, {"id": "x", "score": 2}, {"id": "a1", "score": 0.1}])
    done = evaluate(path, "--output", tmp_path / "report.json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"Error: {path}:5: score: expected a number from 0 to 1, or null, got 2",
        f"{path}:6: id: 'a1' stands already in {path}:1",
    ]
    assert not (tmp_path / "report.json").exists()


def test_scores_of_two_models_are_refused(evaluate, score_files, rows):
    path = score_files.write([*rows, score_files.row("z", modelSha256="b" * 64)])
    done = evaluate(path)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: {path}: test: modelSha256: rows differ in it (")


def test_rows_without_label_are_joined_or_refused(evaluate, score_files, rows):
    path = score_files.write([{"id": row["id"], "score": row["score"]} for row in rows])
    done = evaluate(path)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "label: 4 rows have none" in done.stderr
    assert evaluate(path, "--manifest", score_files.manifest(rows)).exit_code == 0


def test_gaps_are_told_beside_the_figures(evaluate, score_files, rows):
    path, manifest = score_files.write(rows[:3]), score_files.manifest(rows)
    done = evaluate(path, "--manifest", manifest)
    assert done.exit_code == 0
    assert done.stderr == "gap: 1 row of the test split of dataset.jsonl without a score\n"
    assert json.loads(done.stdout)["gaps"] == ["1 row of the test split of dataset.jsonl without a score"]


def test_an_adapter_of_evidence_can_be_chosen(evaluate, score_files, rows):
    lines = [score_files.evidence_row(row, adapter=adapter) for row in rows for adapter in ("x", "y")]
    path = score_files.write(lines, "evidence.jsonl")
    assert len(json.loads(evaluate(path).stdout)["results"]["series"]) == 2
    assert [line["adapter"] for line in json.loads(evaluate(path, "--adapter", "x").stdout)["results"]["series"]] == ["x"]


def test_slices_are_chosen_by_name(evaluate, score_files, rows):
    path = score_files.write(rows)
    (series,) = json.loads(evaluate(path, "--by", "source,contentGroup").stdout)["results"]["series"]
    assert len(series["scores"]["score"]["slices"]["source,contentGroup"]) == 3
    done = evaluate(path, "--by", "licence")
    assert done.exit_code == 2
    assert "'licence' is no slice" in done.stderr


def test_the_schema_is_printed(evaluate):
    assert json.loads(evaluate("--schema").stdout)["title"] == "Evaluation of pytest-benchbench"


def test_a_run_directory_is_read(evaluate, directories, score_files, rows):
    path = directories.write("run", [score_files.evidence_row(row) for row in rows], lost=1)
    done = evaluate(path)
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert document["inputs"]["run"]["lost"] == 1
    assert document["gaps"]

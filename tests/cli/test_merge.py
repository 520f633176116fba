import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def halves(here, directories):
    """Two shards of two, of one row each."""
    return [directories.write(f"half-{index}", [directories.row(f"c{index}")], shard=f"{index}/2") for index in (1, 2)]


def invoke(*arguments):
    return CliRunner().invoke(main, ["merge", *map(str, arguments)])


def test_a_whole_is_said_to_be_so(here, halves):
    result = invoke("half-2", "half-1", "--output-dir", "merged")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert (lines[0], lines[-1]) == ("2 rows: 2 match", "merged 2 runs: merged/report.md")
    assert sorted(path.name for path in (here / "merged").iterdir()) == [
        "evidence.jsonl",
        "report.html",
        "report.json",
        "report.md",
        "run.json",
    ]


def test_gaps_come_first_and_the_report_has_them(here, halves):
    result = invoke("half-1", "--output-dir", "merged", "--gate", "strict")
    assert result.exit_code == 21
    assert result.stdout.splitlines()[:2] == ["gap: missing: shard 2/2", "gate strict: inconclusive"]
    report = (here / "merged" / "report.md").read_text()
    assert "\n\n- Gap: missing: shard 2/2\n\n" in report
    assert "### Merged from" in report
    assert json.loads((here / "merged" / "gate.json").read_text())["decision"] == "inconclusive"


def test_failures_are_exit_1_and_still_written(here, directories):
    directories.write("one", [directories.row("a", "not_detected")])
    result = invoke("one", "--output-dir", "merged")
    assert result.exit_code == 1
    assert result.stdout.startswith("1 row: 1 mismatch\n")
    assert result.stdout.endswith("merged 1 run: merged/report.md\n")
    assert (here / "merged" / "run.json").is_file()


def test_a_gate_that_does_not_pass_is_exit_20(here, directories):
    directories.write("one", [directories.row("a", "not_detected")])
    result = invoke("one", "--output-dir", "merged", "--gate", "strict")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (20, "gate strict: refused")


@pytest.mark.parametrize("gate", [["--gate", "off"], []])
def test_without_a_gate_nothing_is_decided(here, halves, gate):
    assert invoke("half-1", "half-2", "--output-dir", "merged", *gate).exit_code == 0
    assert not (here / "merged" / "gate.json").exists()


def test_contradictions_are_one_line_and_nothing_is_written(here, directories, halves):
    other = directories.write("other", [directories.row("c3")], shard="2/2", options={"max_pixels": 5})
    result = invoke("half-1", other, "--output-dir", "merged")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: these runs cannot be merged, they differ: options.max_pixels (1000 in half-1; 5 in {other})\n"
    )
    assert not (here / "merged").exists()


def test_the_same_row_twice_is_named_and_nothing_is_written(here, directories):
    directories.write("one", [directories.row("a")])
    directories.write("other", [directories.row("a")])
    result = invoke("one", "other", "--output-dir", "merged")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: the same row twice: suite.py::test_detection::dwt-dct::a stands in ")
    assert sorted(path.name for path in here.iterdir()) == ["one", "other"]


def test_json_has_the_verdict_and_the_gaps(here, directories, halves):
    directories.write("third", [directories.row("c")], shard="3/4")
    result = invoke("third", "--output-dir", "merged", "--json", "--gate", "strict")
    document = json.loads(result.stdout)
    assert result.exit_code == document["exit_status"] == 21
    assert document["gaps"] == ["missing: shards 1/4, 2/4, 4/4"]
    assert (document["runs"], document["rows"], document["outcomes"]["match"]) == (1, 1, 1)
    assert document["planned"] == {"rows": 1, "selected": 1, "left_out": 0, "lost": 0}
    assert document["gate"]["decision"] == "inconclusive"
    assert document["run_id"] == json.loads((here / "merged" / "run.json").read_text())["run_id"]


def test_other_versions_are_noted_beside_the_answer(here, directories, halves):
    directories.write("new", [directories.row("c2")], shard="2/2", versions={"python": "3.12.0"})
    result = invoke("half-1", "new", "--output-dir", "merged", "--json")
    assert json.loads(result.stdout)["notes"] == result.stderr.replace("note: ", "").splitlines()
    assert result.stderr.startswith("note: versions of numpy differ: 2.4.6, None\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--output-dir", "merged"],
        ["half-1"],
        ["absent", "--output-dir", "merged"],
        ["half-1/run.json", "--output-dir", "merged"],
        ["half-1", "--output-dir", "merged", "--gate", "no-such-policy"],
    ],
)
def test_wrong_use_is_exit_2(here, halves, arguments):
    assert invoke(*arguments).exit_code == 2
    assert not (here / "merged").exists()


def test_an_existing_output_is_refused(here, halves):
    (here / "merged").mkdir()
    result = invoke("half-1", "half-2", "--output-dir", "merged")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: merged: exists already; a run never overwrites another\n",
    )


def test_a_folder_that_cannot_be_written_is_said_in_one_line(here, halves):
    (here / "file").write_text("")
    result = invoke("half-1", "half-2", "--output-dir", "file/merged")
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1


def test_under_github_actions_the_whole_is_told_and_json_stays_json(here, directories, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(here))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    directories.write("one", [directories.row("a", "not_detected")], shard="1/2")
    result = invoke("one", "--output-dir", "merged", "--json", "--gate", "strict")
    assert result.exit_code == json.loads(result.stdout)["exit_status"] == 21
    assert "::error file=cases.jsonl,line=1,title=dwt-dct%3A mismatch::cases.jsonl:1: a: dwt-dct: " in result.stderr
    summary = (here / "summary.md").read_text()
    assert summary.startswith("## Benchmark cases.jsonl\n\n**Gate strict: refused**\n")
    assert "- Gap: missing: shard 2/2" in summary
    assert "The whole report: merged/report.md" in summary

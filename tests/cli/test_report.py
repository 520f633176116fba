import csv
import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pandas
import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def two(here, directories):
    """Two runs of two rows, which disagree about one."""
    row = directories.row
    directories.write("one", [row("a"), row("b")])
    directories.write("two", [row("a"), row("b", "not_detected")], started="2026-11-30T01:00:00.000+00:00")
    return ["one", "two"]


def invoke(*arguments):
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


def test_what_runs_observed_and_where_they_disagree(here, two):
    result = invoke(*two, "--output-dir", "new/made", "--no-html")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "4 rows: 1 mismatch, 3 match",
        "adapter  state   rows  detected  not detected",
        "dwt-dct  marked     4         3             1",
        "cases.jsonl:1: b: dwt-dct in run 2: expected detected, observed not_detected",
        "1 row about which the runs disagree",
        "reported on 2 runs: new/made/report.md",
    ]
    assert sorted(path.name for path in (here / "new" / "made").iterdir()) == ["report.json", "report.md"]


@pytest.mark.skipif(find_spec("jinja2") is None, reason="the extra html is not installed")
@pytest.mark.parametrize("option", [["--html"], []])
def test_a_page_is_written_where_it_can_be(here, two, option):
    result = invoke(*two, "--output-dir", "made", *option)
    assert result.stdout.splitlines()[-1] == "reported on 2 runs: made/report.html"
    assert "two" in (here / "made" / "report.html").read_text()


def test_without_an_extra_the_command_that_installs_it_is_said(here, two, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)  # as the import system says that there is none
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = invoke(*two, "--output-dir", "made", "--html")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (
        2,
        "Error: --html needs Jinja2: pip install 'pytest-benchbench[html]'",
    )
    result = invoke(*two, "--output-dir", "made", "--format", "parquet")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (
        2,
        "Error: --format parquet needs pyarrow: pip install 'pytest-benchbench[parquet]'",
    )
    assert not (here / "made").exists()
    assert invoke(*two, "--output-dir", "made").stdout.splitlines()[-1] == "reported on 2 runs: made/report.md"


def test_runs_without_a_common_row_are_told_loudly(here, directories):
    directories.write("one", [directories.row("a")])
    directories.write("two", [directories.row("b")], started="2026-11-30T01:00:00.000+00:00")
    result = invoke("one", "two", "--output-dir", "made", "--no-html")
    said = (
        "no row is in more than one run: nothing was repeated, and every number is of runs of different rows; "
        "parts of one run are joined by benchbench merge"
    )
    assert (result.exit_code, result.stderr, result.stdout.splitlines()[0]) == (0, "", f"gap: {said}")
    assert f"- Gap: {said}" in (here / "made" / "report.md").read_text()
    third = [directories.row("b"), directories.row("c")]
    directories.write("three", third, started="2026-11-30T02:00:00.000+00:00")
    result = invoke("one", "two", "three", "--output-dir", "more", "--no-html")
    assert result.stdout.splitlines()[0] == "gap: run 1 (one) has no row in common with another run: it repeats nothing"


def test_gaps_come_first_and_differences_are_noted_beside_the_answer(here, two, directories):
    directories.write(
        "old", [directories.row("a")], finished=None, versions={"numpy": "1"}, started="2026-11-29T01:00:00+00:00"
    )
    result = invoke(*two, "old", "--output-dir", "made", "--by", "state", "--by", "no.such")
    assert result.exit_code == 0
    assert result.stdout.startswith("gap: run 1 (old): never finished\n5 rows: ")
    assert result.stderr.splitlines() == [
        "note: versions of numpy differ: 1, 2.4.6",
        "note: versions of python differ: 3.11.7, None",
        "note: --by no.such: no case has this field",
    ]


def test_json_for_scripts(here, two):
    result = invoke(*two, "--output-dir", "made", "--json", "--no-html", "--format", "csv")
    document = json.loads(result.stdout)
    assert document["files"] == ["report.json", "report.md", "rows.csv"]
    assert [(run["run"], run["name"], run["rows"], run["gaps"]) for run in document["runs"]] == [
        (1, "one", 2, []),
        (2, "two", 2, []),
    ]
    assert (document["rows"], document["unstable"], document["unstable_across_runs"]) == (4, 0, 1)
    assert document["outcomes"]["match"] == 3
    assert json.loads(invoke("one", "--output-dir", "single", "--json").stdout)["unstable_across_runs"] is None


def test_exports_have_every_settled_row(here, two, directories):
    row = directories.row
    directories.write(
        "three", [row("a", "error"), row("a", attempt=2), row("=b", "error")], started="2026-11-30T02:00:00+00:00"
    )
    assert (
        invoke(*two, "three", "--output-dir", "made", "--format", "csv", "--format", "parquet", "--format", "csv").exit_code
        == 0
    )
    with (here / "made" / "rows.csv").open(newline="") as file:
        read = [(one["run"], one["case_id"], one["attempts"], one["outcome"]) for one in csv.DictReader(file)]
    assert read == [
        ("1", "a", "1", "match"),
        ("1", "b", "1", "match"),
        ("2", "a", "1", "match"),
        ("2", "b", "1", "mismatch"),
        ("3", "a", "2", "match"),
        ("3", "'=b", "1", "error"),
    ]
    frame = pandas.read_parquet(here / "made" / "rows.parquet")
    assert frame["case_id"].tolist() == ["a", "b", "a", "b", "a", "=b"]
    report = json.loads((here / "made" / "report.json").read_bytes())
    assert report["results"]["outcomes"]["match"] == (frame["outcome"] == "match").sum()


def test_the_decision_about_a_run_is_told_again(here, directories):
    directories.write("one", [directories.row("a", "not_detected")])
    CliRunner().invoke(main, ["merge", "one", "--output-dir", "gated", "--gate", "strict"])
    lines = invoke("gated", "--output-dir", "made").stdout.splitlines()
    assert lines[0] == "gate strict: refused"
    with (here / "gated" / "evidence.jsonl").open("a") as file:
        file.write('{"unfinished')
    assert invoke("gated", "--output-dir", "again").exit_code == 1


def test_a_damaged_decision_is_said(here, directories):
    (directories.write("one", [directories.row("a")]) / "gate.json").write_text("{}")
    result = invoke("one", "--output-dir", "made")
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert result.stderr.startswith("Error: one/gate.json: not the decision of a gate: ")


def test_what_cannot_be_counted_together_is_one_line_and_nothing_is_written(here, two, directories):
    other = {**directories.row("a"), "artifact": {"sha256": "f" * 64, "decoding": None}}
    directories.write("other", [other])
    result = invoke(*two, "other", "--output-dir", "made")
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)
    assert "evidence.jsonl:1: a: artifact is " in result.stderr
    assert not (here / "made").exists()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda run: (run / "run.json").unlink(), "one: not the directory of a run (it has no run.json)"),
        (lambda run: (run / "run.json").write_text("{"), "one/run.json: not the description of a run: "),
        (lambda run: (run / "evidence.jsonl").unlink(), "one: it has no evidence.jsonl"),
        (lambda run: (run / "evidence.jsonl").write_text("{}\n"), "one/evidence.jsonl:1: "),
        (lambda run: (run / "evidence.jsonl").write_text("[" * 5000 + "\n"), "one/evidence.jsonl:1: "),
    ],
)
def test_damage_is_one_line_and_nothing_is_written(here, two, damage, said):
    damage(here / "one")
    result = invoke(*two, "--output-dir", "made")
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)
    assert result.stderr.startswith(f"Error: {said}")
    assert not (here / "made").exists()


@pytest.mark.parametrize("gaps", ["x", [1], {"a": 1}])
def test_a_merged_run_with_damaged_gaps_is_one_line(here, two, gaps):
    CliRunner().invoke(main, ["merge", "one", "--output-dir", "merged"])
    document = json.loads((here / "merged" / "run.json").read_bytes())
    (here / "merged" / "run.json").write_text(json.dumps({**document, "gaps": gaps}))
    result = invoke("merged", "--output-dir", "made")
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert result.stderr.startswith("Error: merged/run.json: not the description of a run: ")


def test_a_merged_run_is_one_of_the_runs(here, two, directories):
    CliRunner().invoke(main, ["merge", "one", "--output-dir", "merged"])
    assert invoke("merged", "two", "--output-dir", "made").exit_code == 0
    result = invoke("merged", "one", "--output-dir", "again")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: the same run is given twice: run ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--output-dir", "made"],
        ["one"],
        ["absent", "--output-dir", "made"],
        ["one", "--output-dir", "made", "--format", "xlsx"],
        ["one", "--output-dir", "made", "--by", "a..b"],
        ["one", "--output-dir", "made", "--artifact-root", "absent"],
    ],
)
def test_wrong_use_is_exit_2(here, two, arguments):
    assert invoke(*arguments).exit_code == 2
    assert not (here / "made").exists()


def test_an_existing_output_is_refused(here, two):
    (here / "made").mkdir()
    result = invoke("one", "--output-dir", "made")
    assert (result.exit_code, result.stderr) == (1, "Error: made: exists already; a report never overwrites another\n")
    assert not list((here / "made").iterdir())


def test_a_folder_that_cannot_be_written_is_said_in_one_line(here, two):
    (here / "file").write_text("")
    result = invoke("one", "--output-dir", "file/made")
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_shows_how_far_it_is(here, two):
    import pty

    leader, follower = pty.openpty()
    code = "from pytest_benchbench.cli import main; main()"
    command = [sys.executable, "-c", code, "report", *two, "--output-dir", "made", "--no-html", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=follower, check=True)
    os.close(follower)
    assert os.read(leader, 1000).lstrip(b"\r\x1b[?25l").startswith(b"reading")
    os.close(leader)
    assert json.loads(done.stdout)["rows"] == 4

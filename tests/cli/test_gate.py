"""``benchbench gate``: a decision, its exit code, and nothing half-written."""

import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main
from pytest_benchbench.gates.metrics import METRICS

POLICY = """
name: mine
rules:
  - {id: recall, metric: real_recall, op: ">=", value: 0.5}
  - {id: sources, metric: real_recall, op: ">=", value: 0.5, slice: {source: "*"}}
"""


@pytest.fixture
def rows(score_files):
    row = score_files.row
    return [row("r1", 0, 0.1), row("r2", 0, 0.2), row("r3", 0, 0.9), row("a1", 1, 0.9)]


@pytest.fixture
def gate(tmp_path):
    (tmp_path / "mine.yaml").write_text(POLICY)
    policy = f"--policy={tmp_path / 'mine.yaml'}"

    def call(*arguments):
        given = [str(argument) for argument in arguments]
        if not any(argument.startswith("--policy") for argument in given):
            given.append(policy)
        return CliRunner().invoke(main, ["gate", *given])

    return call


def test_a_pass_is_told_rule_by_rule(gate, score_files, rows):
    done = gate(score_files.write(rows))
    assert (done.exit_code, done.stderr) == (0, "")
    first, recall, *_ = done.stdout.splitlines()
    assert first == "gate mine: pass"
    assert recall == "  passed: recall: 0.6666666667, required >= 0.5 (n 3; 1 failure, at most 1 pass)"


def test_a_refusal_comes_first_and_names_rows(gate, score_files, rows):
    rows[1] = score_files.row("r2", 0, 0.9)
    rows[0].pop("label")
    done = gate(score_files.write(rows))
    assert done.exit_code == 20
    assert done.stdout.splitlines()[:3] == [
        "gate mine: refused",
        "  recall: 0, required >= 0.5 (n 2; 2 failures, at most 1 pass)",
        "  sources [source=camera]: 0, required >= 0.5 (n 2; 2 failures, at most 1 pass; implied by recall)",
    ]
    assert "  carries.label: 1, required <= 0 (n 4; 1 failure, at most 0 pass; rows: r1 (scores.jsonl:1))" in done.stdout


def test_the_decision_is_json_and_a_new_file(gate, score_files, rows, tmp_path):
    output = tmp_path / "gate.json"
    done = gate(score_files.write(rows), "--json", f"--output={output}")
    assert done.exit_code == 0
    assert output.read_text() == done.stdout
    document = json.loads(done.stdout)
    assert list(document) == [
        "decision",
        "policy",
        "evidence",
        "rules",
        "threshold",
        "required",
        "reported",
        "missing_stress_sets",
    ]
    assert list(document["rules"][0]) == [
        "id",
        "passed",
        "observed",
        "required",
        "bound",
        "n",
        "failures",
        "max_failures",
        "implied_by",
        "power",
        "slice",
    ]


@pytest.mark.parametrize("output", ["there.json", "missing/gate.json"])
def test_nothing_is_written_over_or_nowhere(gate, score_files, rows, tmp_path, output):
    (tmp_path / "there.json").write_text("mine")
    done = gate(score_files.write(rows), f"--output={tmp_path / output}")
    assert done.exit_code == 1
    assert (tmp_path / "there.json").read_text() == "mine"


def test_what_cannot_be_read_is_told_by_line_and_nothing_is_written(gate, score_files, rows, tmp_path):
    path = score_files.write([*rows, '{"id": "x", "label": 0, "score": 2}', "{"])
    done = gate(path, f"--output={tmp_path / 'gate.json'}")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"Error: {path}:5: score: expected a number from 0 to 1, or null, got 2",
        f"{path}:6: {done.stderr.splitlines()[1].partition(':6: ')[2]}",
    ]
    assert not (tmp_path / "gate.json").exists()


def test_missing_rows_are_incomplete(gate, score_files, rows):
    manifest = score_files.manifest(rows)
    done = gate(score_files.write(rows[:-1]), f"--manifest={manifest}")
    assert done.exit_code == 21
    assert "nothing_missing: 1, required <= 0 (n 4; 1 failure, at most 0 pass; rows: a1)" in done.stdout


def test_a_run_in_which_nothing_could_be_asked_is_incomplete(gate, directories, score_files, rows):
    rows = [score_files.row(row["id"], row["label"], None, status="unavailable") for row in rows]
    assert gate(directories.write("run", [score_files.evidence_row(row) for row in rows])).exit_code == 21


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy=off"], "--policy off: there is nothing to decide by"),
        (["--policy=none"], "none: no such policy; built in: release, strict, tutorial"),
        (["--manifest=none.jsonl"], "'none.jsonl' does not exist"),
    ],
)
def test_wrong_use(gate, score_files, rows, arguments, message):
    done = gate(score_files.write(rows), *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_release_decides_unless_told_otherwise(score_files, rows):
    done = CliRunner().invoke(main, ["gate", str(score_files.write(rows)), "--held-out-unverified"])
    assert (done.exit_code, done.stdout.splitlines()[0]) == (20, "gate release: refused")
    assert "real_bases: 3, required >= 500 (n 3)" in done.stdout
    assert done.stderr.count("taken on trust (--held-out-unverified)") == 1


def test_the_help_lists_every_metric(gate):
    text = gate("--help").stdout
    assert [metric for metric in METRICS if f"  {metric} " not in text] == []


def test_terminals_obey_nothing_that_a_row_says(gate, score_files, rows):
    rows[0]["source"] = "\x1b[31mred\x1b[0m"
    assert "\x1b" not in gate(score_files.write(rows)).stdout


def test_merge_takes_a_manifest_only_for_a_gate(directories, score_files, rows, tmp_path):
    run = directories.write("run", [score_files.evidence_row(row) for row in rows])
    given = ["merge", str(run), f"--output-dir={tmp_path / 'merged'}", f"--manifest={score_files.manifest(rows)}"]
    done = CliRunner().invoke(main, given)
    assert (done.exit_code, (tmp_path / "merged").exists()) == (2, False)
    assert "--manifest and --held-out-unverified are for --gate" in done.stderr

import json
import random
import subprocess
import sys

import pytest
from click.testing import CliRunner

from pytest_benchbench.adapters.calibrator import load_calibrator
from pytest_benchbench.cli import main

MODEL = "a" * 64


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def score_rows(bases=200, wrong=20):
    """Give bases of which some are wrong, and all sure of themselves."""
    for number in range(bases):
        label = number % 2
        called_ai = label == 0 if number < wrong else label == 1
        group = {"generatorFamily": f"f{number % 3}"} if label else {"source": f"s{number % 3}"}
        yield {
            "id": f"r{number}",
            "baseId": f"b{number}",
            "split": "calibration",
            "label": label,
            "rawScore": 0.99 if called_ai else 0.01,
            **group,
        }


def put(rows, path="scores.jsonl"):
    with open(path, "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def invoke(*arguments):
    return CliRunner().invoke(main, ["calibrate", *arguments])


KNOWN = ["--model-sha256", MODEL, "--preprocessing-version", "1"]


def test_a_calibrator_is_fitted_and_explained(here):
    put(score_rows())
    result = invoke("scores.jsonl", "c.json", *KNOWN)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "200 rows of 100 AI and 100 real bases",
        "mapping       slope  intercept   brier  out of fold  lower by   +- SE  bal. acc.     FPR",
        "identity     1.0000     0.0000  0.0981       0.0981    0.0000  0.0000     0.9000  0.1000  eligible",
        "temperature  0.4782     0.0000  0.0900       0.0904    0.0077  0.0038     0.9000  0.1000  eligible",
        "platt        0.4598     0.0000  0.0901       0.0908    0.0073  0.0041     0.9000  0.1000  eligible",
        "identity: taken where no other mapping is eligible",
        "temperature: out of fold the Brier score is lower by more than one standard error "
        "(0.00768 lower, standard error 0.00377), and nothing is worse",
        "platt: out of fold the Brier score is lower by more than one standard error "
        "(0.00733 lower, standard error 0.00413), and nothing is worse",
        "chosen: temperature, of the eligible the best out of fold; a raw score of 0.784927 becomes 0.65",
        "deployable",
        f"c.json: SHA-256 {load_calibrator(here / 'c.json').sha256}",
    ]
    assert load_calibrator(here / "c.json").calibrator.deployable


def test_what_a_calibrator_lacks_is_listed(here):
    put(list(score_rows())[:-1])
    lines = invoke("scores.jsonl", "c.json", "--model-sha256", MODEL).stdout.splitlines()
    assert lines[lines.index("not deployable:") : -1] == [
        "not deployable:",
        "  99 unique AI bases, at least 100 needed",
        "  preprocessingVersion: it is not known how pictures were prepared",
    ]


def test_json_is_the_calibrator_without_the_folds_of_bases(here):
    put(score_rows())
    result = invoke("scores.jsonl", "c.json", *KNOWN, "--folds", "4", "--salt", "s", "--json")
    document = json.loads(result.stdout)
    written = json.loads((here / "c.json").read_text())
    assert len(written["folds"].pop("of_base")) == 200
    assert document == {
        "output": "c.json",
        "sha256": load_calibrator(here / "c.json").sha256,
        "notes": [],
        "calibrator": written,
    }
    assert (written["folds"]["salt"], written["folds"]["count"]) == ("s", 4)


def test_any_order_of_rows_gives_the_same_file(here):
    rows = list(score_rows())
    put(rows, "one.jsonl")
    random.Random(1).shuffle(rows)
    put(rows, "other.jsonl")
    for name in ("one", "other"):
        assert invoke(f"{name}.jsonl", f"{name}.json").exit_code == 0
    assert (here / "one.json").read_bytes() == (here / "other.json").read_bytes()


def test_one_row_of_another_split_is_enough_to_refuse_all(here):
    rows = list(score_rows())
    put([*rows, rows[0] | {"id": "t", "split": "test"}])
    result = invoke("scores.jsonl", "c.json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: scores.jsonl:201: split: 'test'; only rows that are marked calibration may be fitted on\n"
    )
    assert [path.name for path in here.iterdir()] == ["scores.jsonl"]


def test_nothing_that_exists_is_overwritten(here, occupy):
    put(score_rows())
    occupy(here / "c.json")
    before = (here / "c.json").lstat()
    result = invoke("scores.jsonl", "c.json")
    assert result.exit_code == 1
    assert result.stderr == "Error: c.json: exists already; nothing is ever overwritten, name a new file\n"
    assert (here / "c.json").lstat() == before


def test_of_two_processes_one_writes(here):
    put(score_rows())
    command = [sys.executable, "-c", "from pytest_benchbench.cli import main; main()", "calibrate", "scores.jsonl", "c.json"]
    processes = [subprocess.Popen([*command, "--salt", salt], stdout=-1, stderr=-1, text=True) for salt in "ab"]
    said = [process.communicate() for process in processes]
    codes = [process.returncode for process in processes]
    assert sorted(codes) == [0, 1]
    loser = codes.index(1)
    assert "c.json: exists already" in said[loser][1]
    assert load_calibrator(here / "c.json").calibrator.folds.salt == "ab"[1 - loser]
    assert sorted(path.name for path in here.iterdir()) == ["c.json", "scores.jsonl"]


def test_a_calibrator_that_could_not_be_read_is_not_written(here, monkeypatch):
    monkeypatch.setattr(sys.modules["pytest_benchbench.cli.calibrate"], "MAX_CALIBRATOR_BYTES", 1000)
    put(score_rows())
    result = invoke("scores.jsonl", "c.json")
    assert result.exit_code == 1
    assert "the folds of 200 bases take" in result.stderr
    assert not (here / "c.json").exists()


def test_a_missing_folder_is_named_before_anything_is_read(here):
    put(["no row"])
    result = invoke("scores.jsonl", "new/c.json")
    assert (result.exit_code, result.stderr) == (1, "Error: new/c.json: there is no folder new; make it first\n")


def test_rows_without_score_are_refused_or_counted(here):
    rows = list(score_rows())
    del rows[3]["rawScore"]
    put([*rows[:3], rows[3] | {"status": "too-small"}, *rows[4:]])
    result = invoke("scores.jsonl", "c.json")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: scores.jsonl:4: status: 'too-small': there is no raw score; --exclude-terminal leaves such rows out\n"
    )
    result = invoke("scores.jsonl", "c.json", "--exclude-terminal")
    assert result.exit_code == 0
    assert result.stdout.startswith("199 rows of 99 AI and 100 real bases, 1 too-small left out\n")


def test_a_manifest_says_what_rows_do_not(here):
    put({"id": row["id"], "rawScore": row["rawScore"]} for row in score_rows())
    shared = {"sha256": "0" * 64, "contentGroup": "photo", "transform": "none", "license": "CC0-1.0"}
    cases = ({name: value for name, value in row.items() if name != "rawScore"} for row in score_rows())
    put((shared | {"source": "generated"} | case for case in cases), "dataset.jsonl")
    assert invoke("scores.jsonl", "c.json", *KNOWN, "--manifest", "dataset.jsonl").exit_code == 0
    assert load_calibrator(here / "c.json").calibrator.deployable


@pytest.mark.parametrize(
    "arguments",
    [
        ["--model-sha256", "A" * 64],
        ["--model-sha256", "a" * 63],
        ["--preprocessing-version", ""],
        ["--preprocessing-version", " "],
        ["--folds", "1"],
        ["--folds", "101"],
        ["--salt", ""],
        ["--salt", "\udcff"],
    ],
)
def test_options_that_make_no_sense_are_wrong_use(here, arguments):
    put(score_rows())
    result = invoke("scores.jsonl", "c.json", *arguments)
    assert result.exit_code == 2
    assert not (here / "c.json").exists()


@pytest.fixture
def run(directories):
    """Write the run of a scorer, as ``run(name, **changes)``."""

    def evidence(row, adapter):
        scorer = {
            "rawScore": row["rawScore"],
            "modelSha256": MODEL,
            "preprocessingVersion": "1",
            "evaluationMode": "reference",
        }
        case = {name: value for name, value in row.items() if name != "rawScore"}
        return directories.row(
            row["id"],
            "scored",
            outcome="measured",
            adapter=adapter,
            kind="dataset",
            case=case,
            detection={
                "status": "scored",
                "score": row["rawScore"],
                "scorer": scorer,
                "adapter_elapsed_ms": 1.5,
                "call": "warm",
            },
        )

    def write(name, adapters=("onnx",), **changes):
        return directories.write(name, [evidence(row, each) for each in adapters for row in score_rows()], **changes)

    return write


def test_a_run_directory_and_its_evidence_give_the_same_calibrator(here, run):
    run("run")
    put(row | {"modelSha256": MODEL, "preprocessingVersion": "1", "evaluationMode": "reference"} for row in score_rows())
    for name, scores in (("a", "run"), ("b", "run/evidence.jsonl"), ("c", "scores.jsonl")):
        result = invoke(scores, f"{name}.json")
        assert (result.exit_code, result.stderr) == (0, "")
    assert (here / "a.json").read_bytes() == (here / "b.json").read_bytes() == (here / "c.json").read_bytes()
    assert load_calibrator(here / "a.json").calibrator.deployable


def test_rows_of_two_adapters_are_not_mixed(here, run):
    run("run", adapters=("one", "two"))
    result = invoke("run", "c.json")
    assert result.exit_code == 1
    assert "adapter: 'two', but 'one' in line 1; --adapter takes the rows of one" in result.stderr
    assert invoke("run", "c.json", "--adapter", "two").exit_code == 0


def test_a_run_that_lost_rows_is_incomplete(here, run):
    run("run", lost=2)
    result = invoke("run", "c.json")
    assert result.exit_code == 21
    assert result.stderr == "Error: run: the run lost 2 of its planned rows; go on with it by --bench-resume first\n"
    assert not (here / "c.json").exists()


def test_rows_that_were_left_out_of_a_run_are_told_of(here, run):
    run("run", left_out=3)
    result = invoke("run", "c.json")
    assert (result.exit_code, result.stderr) == (0, "note: 3 rows left out\n")

"""``benchbench validate`` on golden sets: the example, and the example with one thing wrong."""

import json
import sys

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main
from pytest_benchbench.cohorts.golden_set_example.recipe import build_golden_set_example

FILE = "golden-set-example-v1.json"
SUMMARY = [
    "tune: 45 samples of 3 categories: 18 human, 27 AI (9 of them humanized), 0 borderline",
    "holdout: 45 samples of 3 categories: 18 human, 27 AI (9 of them humanized), 2 borderline",
    "status: an example, on which no claim can rest",
    "dates: compared with one another; with a day by --as-of",
    "personal data: names of people are not recognised, a person has to read for them",
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    build_golden_set_example(tmp_path / "example")
    monkeypatch.chdir(tmp_path / "example")
    return tmp_path / "example"


def invoke(*arguments):
    return CliRunner().invoke(main, list(arguments))


def rewrite(here, change):
    """Change the first human sample and freeze the set again."""
    document = json.loads((here / FILE).read_text())
    sample = next(one for one in document["samples"] if one["label"] == "human")
    change(sample)
    (here / FILE).write_text(json.dumps(document))
    (here / FILE).with_suffix(".sha256").unlink()
    assert invoke("freeze", FILE).exit_code == 0
    return sample["id"]


def test_a_sound_set_is_said_to_be_so_with_what_it_holds(here):
    result = invoke("validate", FILE)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [f"{FILE}: 90 rows, valid", *SUMMARY]


def test_findings_are_lines_on_standard_error_and_the_exit_code_is_1(here):
    name = rewrite(here, lambda sample: sample.update(labelSource="GPTZero"))
    result = invoke("validate", FILE)
    assert result.exit_code == 1
    assert result.stderr == (
        f"{FILE}:1: label-source: 'GPTZero' names the detector GPTZero: a label is given when a sample is made, never by a "
        f"detector: '{name}' ({FILE}:1)\n"
    )
    assert result.stdout.splitlines() == SUMMARY


def test_detectors_that_a_conftest_registers_are_declared(here):
    rewrite(here, lambda sample: sample.update(labelSource="my-detect"))
    assert invoke("validate", FILE).exit_code == 0
    assert invoke("validate", FILE, "--adapter-name", "my-detect").exit_code == 1


def test_a_set_that_was_never_frozen_is_told(here):
    (here / FILE).with_suffix(".sha256").unlink()
    result = invoke("validate", FILE)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert result.stderr.startswith(f"{FILE}: not frozen: there is no golden-set-example-v1.sha256 beside it")


def test_a_set_that_was_changed_since_it_was_frozen_is_told(here):
    with (here / FILE).open("a") as file:
        file.write("\n")
    result = invoke("validate", FILE)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert result.stderr.startswith(f"{FILE}: changed since it was frozen")


def test_personal_data_is_told_as_json_by_place_and_kind_alone(here):
    name = rewrite(here, lambda sample: sample.update(text=f"{sample['text']} Ask jane.doe@corp.io."))
    result = invoke("validate", FILE, "--json")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "jane" not in result.stdout
    document = json.loads(result.stdout)
    assert (document["valid"], document["dataset"]) == (False, None)
    (golden,) = document["golden_sets"]
    assert (golden["file"], golden["name"], golden["version"], golden["status"], golden["as_of"]) == (
        FILE,
        "golden-set-example",
        "v1",
        "example",
        None,
    )
    assert golden["rules"]["pii"] == {"severity": "error", "findings": 1}
    (finding,) = golden["findings"]
    assert finding["rows"] == [{"id": name, "line": 1, "file": FILE}]
    assert (finding["place"]["field"], finding["place"]["kind"]) == ("text", "email")
    assert [counts["samples"] for counts in golden["counts"]] == [45, 45]


def test_no_date_is_after_the_day_that_is_given(here):
    assert invoke("validate", FILE, "--as-of", "2026-11-30").exit_code == 0
    result = invoke("validate", FILE, "--as-of", "2026-11-29")
    assert result.exit_code == 1
    assert "2026-11-30 is after 2026-11-29, the day on which the set is looked at" in result.stderr


def test_without_the_extra_the_set_is_not_valid(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "phonenumbers", None)
    result = invoke("validate", FILE)
    assert result.exit_code == 1
    assert result.stderr == (
        f"{FILE}: pii-not-checked: telephone numbers were not looked for: the package phonenumbers is missing; "
        "pip install 'pytest-benchbench[golden-set]'\n"
    )


@pytest.mark.parametrize("option", [("--phone-region", "XX"), ("--as-of", "tomorrow")])
def test_wrong_use_is_exit_2(here, option):
    assert invoke("validate", FILE, *option).exit_code == 2

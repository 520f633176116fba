from pathlib import Path

from click.testing import CliRunner

from pytest_benchbench.cli import main


def invoke(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_the_example_is_built_and_valid(tmp_path):
    folder = tmp_path / "example"
    result = invoke("cohort", "golden-set-example", "--output-dir", folder)
    golden_set = folder / "golden-set-example-v1.json"
    assert (result.exit_code, result.stdout) == (0, f"90 samples: {golden_set}\n")
    assert invoke("validate", golden_set).exit_code == 0


def test_an_existing_folder_is_refused(tmp_path):
    result = invoke("cohort", "golden-set-example", "--output-dir", tmp_path)
    assert (result.exit_code, result.stderr) == (1, f"Error: {tmp_path}: exists already; name a new folder\n")
    assert list(Path(tmp_path).iterdir()) == []


def test_a_folder_has_to_be_named():
    assert invoke("cohort", "golden-set-example").exit_code == 2

import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli.history import command as history
from pytest_benchbench.cli.reproduce import command
from pytest_benchbench.reports.detector_benchmark import encode_benchmark
from pytest_benchbench.reports.detector_finished_run import finished_benchmark


def reproduce(*arguments):
    return CliRunner().invoke(command, list(map(str, arguments)))


@pytest.fixture
def write(text_runs):
    """``write(1, zippy=wrong)``: a finished run, with the benchmark that runs leave."""

    def write(run, **told):
        directory = text_runs.directory(run, **told)
        (directory / "benchmark.json").write_bytes(encode_benchmark(finished_benchmark(directory)))
        return directory

    return write


def test_figures_within_the_tolerance_are_exit_0_and_others_exit_1(write):
    published = write(1, zippy=[])
    near, far = write(2, zippy=["a01", "a02", "h01"]), write(3, zippy=["a01", "a02", "h01", "h02"])
    result = reproduce(published, near, "--tolerance", "5")
    assert result.exit_code == 0, result.output
    assert result.output.endswith("all figures agree within 5 points\n")
    result = reproduce(published, far)
    assert result.exit_code == 1
    assert result.output.endswith("outside 3 points: zippy accuracy, zippy tpr, zippy fpr\n")
    assert "OUTSIDE 3; 4 lost, 0 gained, p 0.12: chance alone may explain it" in result.output


def test_a_series_stands_for_its_last_run_and_a_directory_for_its_run(write, tmp_path):
    series = tmp_path / "series.json"
    for run, wrong in ((1, ["a00"]), (2, [])):
        directory = write(run, zippy=wrong)
        assert CliRunner().invoke(history, [str(series), "--append", str(directory)]).exit_code == 0
    document = json.loads(reproduce(series, directory, "--json").output)
    assert json.loads(reproduce(series, directory / "benchmark.json", "--json").output) == document
    assert document["published"]["id"] == document["mine"]["id"]
    assert document["notes"] == ["both are the same run"]
    assert document["outside"] == []
    assert document["detectors"][0]["metrics"]["accuracy"]["published"]["k"] == 100


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (
            {"sha256": "6" * 64},
            "the golden sets differ: essays v1 555555555555 was published, essays v1 666666666666 is yours",
        ),
        ({"split": "tune"}, "the splits differ: holdout was published, tune is yours"),
    ],
)
def test_another_set_or_split_is_refused(write, told, message):
    result = reproduce(write(1, zippy=[]), write(2, zippy=[], **told))
    assert result.exit_code == 2
    assert message in result.output


def test_what_is_no_benchmark_is_refused(write, tmp_path):
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "folder").mkdir()
    published = write(1, zippy=[])
    for other, message in (("other.json", "other.json: "), ("folder", "it has no benchmark.json")):
        result = reproduce(published, tmp_path / other)
        assert result.exit_code == 2
        assert message in result.output
        assert "Traceback" not in result.output


@pytest.mark.parametrize("tolerance", ["nan", "-1", "101", "x"])
def test_a_tolerance_that_is_none_is_wrong_use(write, tolerance):
    published = write(1, zippy=[])
    assert reproduce(published, published, "--tolerance", tolerance).exit_code == 2

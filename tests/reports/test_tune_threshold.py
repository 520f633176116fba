"""The true-positive rate at a declared false-positive rate, its threshold taken from a run of the tune split."""

import pytest

from pytest_benchbench.reports.detector_benchmark import read_benchmark
from pytest_benchbench.reports.report_folder import write_report
from pytest_benchbench.reports.split_results import Asked
from pytest_benchbench.reports.tune_threshold import TuneRunError, read_tune_run

HUMANS = [10.0, 20.0, 30.0, 40.0]
AIS = [35.0, 45.0, 90.0]


@pytest.fixture
def run(directories, golden):
    """Write a run of a split: the scores of its human and AI samples."""

    def written(name, split, humans=HUMANS, ais=AIS, **more):
        rows = [golden.row(f"{split}-h{place}", "human", score, split=split, **more) for place, score in enumerate(humans)]
        rows += [golden.row(f"{split}-a{place}", "ai", score, split=split, **more) for place, score in enumerate(ais)]
        return directories.write(name, rows, manifests=golden.manifests())

    return written


@pytest.fixture
def at_fpr(tmp_path):
    def reported(holdout, tune, target):
        asked = Asked(tune=read_tune_run(tune, target))
        folder = write_report([holdout], tmp_path / "report", asked=asked, page=False).path
        assert "false-positive rate of" in (folder / "report.md").read_text()
        return read_benchmark(folder / "benchmark.json").detectors[0].tprAtFpr

    return reported


def test_the_threshold_is_of_the_tune_split_and_the_rates_of_both(run, at_fpr):
    holdout = run("holdout", "holdout", humans=[20.0, 40.0], ais=[34.0, 35.0, 99.0])
    found = at_fpr(holdout, run("tune", "tune"), 0.25)
    assert found.threshold == 35.0  # one of four humans scores as much
    assert (found.tune.fpr.k, found.tune.fpr.n, found.tune.tpr.k, found.tune.tpr.n) == (1, 4, 3, 3)
    assert (found.reported.fpr.k, found.reported.fpr.n) == (1, 2)
    assert (found.reported.tpr.k, found.reported.tpr.n, found.targetFpr) == (2, 3, 0.25)
    assert found.reported.tpr.lower < found.reported.tpr.value < found.reported.tpr.upper


def test_where_no_score_keeps_to_the_rate_nothing_is_called_ai(run, at_fpr):
    found = at_fpr(run("holdout", "holdout"), run("tune", "tune", humans=[95.0]), 0.0)
    assert found.threshold is None
    assert (found.tune.tpr.k, found.tune.fpr.k, found.reported.tpr.k, found.reported.tpr.n) == (0, 0, 0, 3)


@pytest.mark.parametrize(
    ("tune", "told"),
    [
        ({"split": "holdout"}, "of the split holdout, a threshold comes from tune"),
        ({"golden_set": "e" * 64}, "another golden set (eeeeeeeeeeee, not dddddddddddd)"),
        ({"adapter": "other"}, "no score of zippy"),
        ({"status": "error"}, "no score of zippy"),
        ({"humans": []}, "zippy scored no human sample"),
        ({"scorer": {"vendor": "x"}}, 'zippy is not the same detector: vendor was "x" and is null'),
        ({"scorer": {"model": "m"}}, "zippy is not the same detector: model differ"),
    ],
)
def test_a_tune_run_about_something_else_is_refused(run, at_fpr, tune, told):
    with pytest.raises(TuneRunError) as caught:
        at_fpr(run("holdout", "holdout"), run("tune", **{"split": "tune", **tune}), 0.05)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_threshold_says_nothing_about_its_own_split(run, at_fpr):
    with pytest.raises(TuneRunError, match="both runs are of the split tune"):
        at_fpr(run("one", "tune"), run("two", "tune"), 0.05)


def test_a_run_without_a_golden_set_gives_none(directories):
    with pytest.raises(TuneRunError, match="0 golden sets, a threshold needs one"):
        read_tune_run(directories.write("run", [directories.row("a")]), 0.05)

"""``summary.json`` lies in the directory of a run with rows of a deployed scorer, and in no other."""

import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main

DEPLOYED = """
    class Extension(Scorer):
        '''Reports as a scorer in a browser does; the first image that it scores is the first of its process.'''
        name = "extension"

        def load(self):
            self.is_first = True

        def detect(self, sample):
            detection = answer(sample.data)
            scorer = {"evaluationMode": "deployed", "first": self.is_first, "wallMs": 10.0, "cacheStatus": "miss"}
            self.is_first = self.is_first and detection.status != "scored"
            return Detection(detection.status, score=detection.score, scorer=scorer)

    def pytest_benchbench_adapters(registry, of_scorers=pytest_benchbench_adapters):
        of_scorers(registry)
        registry.register(Extension)
"""


@pytest.fixture
def extension(dataset):
    """Images of which two are scored and one is too small, and a scorer that reports as a deployed one does."""
    import textwrap

    conftest = dataset.path / "conftest.py"
    conftest.write_text(conftest.read_text() + textwrap.dedent(DEPLOYED))
    dataset.images("0.9", "too-small", "0.1", "0.2")
    return dataset


def score(dataset, *arguments, **more):
    return dataset.score("--bench-adapter=gpu=extension", *arguments, **more)


def summary(path):
    return json.loads((path / "summary.json").read_text())


def test_a_run_leaves_the_summary_of_its_evidence(extension, workers):
    assert score(extension, workers=workers).ret == 1
    (line,) = summary(extension.path / "run")["results"]["series"]
    assert (line["adapter"], line["statuses"]) == ("gpu", {"scored": 3, "too-small": 1})
    assert sum(group["rows"] for group in line["later"].values()) + line["first"]["count"] == 3


def test_a_run_of_another_scorer_leaves_none(extension):
    extension.score()
    assert not (extension.path / "run" / "summary.json").exists()


def test_a_resumed_run_sums_up_all_of_its_evidence(extension):
    assert score(extension, "-k", "img-1").ret == 0
    assert summary(extension.path / "run")["results"]["series"][0]["rows"] == 1
    assert score(extension, "--bench-resume=run").ret == 1
    (line,) = summary(extension.path / "run")["results"]["series"]
    assert (line["rows"], line["first"]["count"]) == (4, 2), "each of both processes had a first case"
    reported(extension, "run")


def test_a_summary_of_rows_that_no_longer_count_is_taken_away(extension):
    """Nothing of the second session is deployed: a terminal row was tried again, and its scorer broke."""
    extension.rows = extension.rows[1:2]
    extension.write("dataset.jsonl")
    flag = extension.path / "breaks"
    conftest = extension.path / "conftest.py"
    breaking = f"detection = answer(sample.data)\n        if os.path.exists({str(flag)!r}): raise RuntimeError('broke')"
    conftest.write_text(conftest.read_text().replace("detection = answer(sample.data)", breaking))
    assert score(extension).ret == 1
    assert summary(extension.path / "run")["results"]["series"][0]["statuses"] == {"too-small": 1}
    flag.touch()
    assert score(extension, "--bench-resume=run", "--bench-retry=error").ret == 1
    assert not (extension.path / "run" / "summary.json").exists()


def test_a_merged_run_has_the_summary_of_the_whole(extension):
    for shard in (1, 2):
        score(extension, f"--bench-shard={shard}/2", run=f"shard-{shard}")
    merge(extension, "shard-2", "shard-1")
    (line,) = summary(extension.path / "merged")["results"]["series"]
    assert (line["rows"], line["first"]["count"]) == (4, 2)
    reported(extension, "merged")


def merge(dataset, *runs):
    arguments = [*(str(dataset.path / run) for run in runs), "--output-dir", str(dataset.path / "merged")]
    assert CliRunner().invoke(main, ["merge", *arguments]).exit_code == 1, "a row is an error"


def reported(dataset, run):
    """A report on the run has the summary that lies in it."""
    arguments = ["report", str(dataset.path / run), "--output-dir", str(dataset.path / "report"), "--json"]
    result = CliRunner().invoke(main, arguments)
    assert "summary.json" in json.loads(result.stdout)["files"]
    assert (dataset.path / "report" / "summary.json").read_bytes() == (dataset.path / run / "summary.json").read_bytes()

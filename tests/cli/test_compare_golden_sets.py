"""``benchbench compare`` on two runs of a golden set."""

import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main

SERVICE = {"vendor": "v", "plan": "starter", "apiVersion": "v2"}


@pytest.fixture
def runs(tmp_path, monkeypatch, directories, golden):
    """Write runs by name, each from the scores of AI samples."""
    monkeypatch.chdir(tmp_path)

    def write(status="final", scorer=None, **scores):
        for name, of_run in scores.items():
            rows = [golden.row(f"s{place}", "ai", score, scorer=scorer) for place, score in enumerate(of_run)]
            directories.write(name, rows, manifests=golden.manifests(status=status))

    return write


def compare(*arguments):
    return CliRunner().invoke(main, ["compare", *arguments])


def test_a_sample_that_is_missed_now_is_a_regression(runs):
    runs(old=[50.0, 60.0], new=[49.9, 61.0])
    done = compare("old", "new", "--json")
    document = json.loads(done.stdout)
    assert (done.exit_code, document["changes"]["counts"]["newly_wrong"]) == (1, 1)
    assert [entry["case_id"] for entry in document["scores"]["largest"]] == ["s1", "s0"]
    assert compare("new", "old").exit_code == 0


@pytest.mark.parametrize(("status", "is_told"), [("example", True), ("final", False)])
def test_an_example_set_claims_nothing(runs, status, is_told):
    runs(status=status, old=[50.0], new=[60.0])
    done = compare("old", "new")
    assert done.exit_code == 0
    assert ("note: example set: no claim" in done.stderr.splitlines()) is is_told


def test_another_plan_is_refused_whatever_is_accepted(runs):
    runs(scorer=SERVICE, old=[50.0])
    runs(scorer={**SERVICE, "plan": "enterprise"}, new=[50.0])
    done = compare("old", "new", "--accept=plan")
    assert (done.exit_code, done.stderr) == (
        2,
        'Error: zippy is not the same detector: plan was "starter" and is "enterprise"\n',
    )

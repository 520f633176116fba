"""What becomes of the rows of a dataset: measured, or an error with its status, and the evidence of both."""

import json

import pytest

TERMINAL = ["too-small", "disabled", "unsupported", "inference-error", "timeout"]


def test_a_score_is_measured(dataset, workers):
    dataset.images("0.9", "0.1")
    result = dataset.score(workers=workers)
    assert result.ret == 0
    assert dataset.outcomes == {"img-1": "measured", "img-2": "measured"}
    assert [row["detection"]["score"] for row in sorted(dataset.evidence, key=lambda row: row["key"]["case_id"])] == [
        0.9,
        0.1,
    ]


def test_a_wrong_score_fails_nobody(dataset):
    dataset.images("0.01", label=1, generatorFamily="g")
    assert dataset.score().ret == 0


@pytest.mark.parametrize("verdict", ["detected", "not_detected"])
def test_a_verdict_without_a_score_is_measured(dataset, verdict):
    dataset.images(verdict)
    assert dataset.score().ret == 0
    assert (dataset.outcomes, dataset.statuses) == ({"img-1": "measured"}, {"img-1": verdict})


def test_a_terminal_status_is_an_error_that_keeps_its_status(dataset):
    dataset.images(*TERMINAL)
    assert dataset.score().ret == 1
    assert set(dataset.outcomes.values()) == {"error"}
    assert list(dataset.statuses.values()) == TERMINAL


def test_an_exception_is_an_error(dataset):
    dataset.images("raise")
    assert dataset.score().ret == 1
    assert dataset.outcomes == {"img-1": "error"}


@pytest.mark.parametrize("score", ["1.5", "-0.1"])
def test_a_score_that_is_no_probability_is_an_error(dataset, score):
    dataset.images(score)
    result = dataset.score()
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"dataset.jsonl:1: img-1: error: ValueError: score lies outside ?0, 1?: {score}"])


def test_a_scored_answer_without_a_score_is_an_error(dataset):
    dataset.images("scored")
    result = dataset.score()
    result.stdout.fnmatch_lines(["dataset.jsonl:1: img-1: error: ValueError: the answer is scored, and has no score"])


def test_a_worker_that_dies_is_an_error(dataset):
    dataset.images("0.5", "exit")
    dataset.score("--bench-crash-retries=0", workers=2)
    assert dataset.outcomes == {"img-1": "measured", "img-2": "error"}


def test_what_a_scorer_reports_is_in_the_evidence(dataset):
    dataset.images("0.5")
    dataset.score()
    assert dataset.evidence[0]["detection"]["scorer"] == {"rawScore": 0.25}


def test_a_number_that_is_none_in_what_a_scorer_reports_is_an_error(dataset):
    dataset.images("nan")
    result = dataset.score()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["dataset.jsonl:1: img-1: error: ValueError: *"])


def test_what_a_scorer_reports_is_bounded(dataset):
    dataset.images("huge")
    result = dataset.score()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["dataset.jsonl:1: img-1: error: ValueError: scorer has * bytes as JSON, more than *"])


def test_the_scorer_sees_the_image_and_nothing_else(dataset):
    told = {
        name: f"SEEN-{name}" for name in ("source", "generatorFamily", "generatorModel", "prompt", "splitGroup", "baseId")
    }
    dataset.image("img-1", label=1, **told)
    dataset.write("dataset.jsonl")
    dataset.score("--bench-adapter=nosy")
    shown = dataset.evidence[0]["detection"]["scorer"]["shown"]
    assert set(shown) == {"media_type", "sha256", "data", "decoded"}
    assert "SEEN" not in str(shown)


def test_evidence_has_the_row_without_its_path(dataset):
    dataset.images("0.5", resolutionGroup="thumbnail", splitGroup="batch-1")
    dataset.score()
    (row,) = dataset.rows
    assert dataset.evidence[0]["case"] == {name: value for name, value in row.items() if name != "path"}
    assert dataset.evidence[0]["kind"] == "dataset"


def test_the_row_of_a_crash_has_no_path_either(dataset):
    dataset.images("exit")
    dataset.score("--bench-crash-retries=0", workers=1)
    assert "path" not in dataset.evidence[0]["case"]
    assert dataset.evidence[0]["case"]["id"] == "img-1"


def test_no_private_field_is_left(dataset):
    from pytest_benchbench.manifests.dataset import DATASET

    private = {field for field in DATASET.row.__struct_fields__ if field.lower().endswith(("path", "url"))}
    assert private == DATASET.private


def test_measured_rows_may_be_shown_as_xfailed(dataset):
    dataset.pytester.makeini("[pytest]\nbench_measured = xfail\n")
    dataset.images("0.5")
    dataset.score().assert_outcomes(xfailed=1)


def test_an_expectation_of_a_row_that_expects_nothing(dataset):
    dataset.images("0.5")
    (dataset.path / "known.yaml").write_text("- {id: img-1, expected: detected, reason: r}\n")
    result = dataset.score("--bench-expectations=known.yaml")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: *known.yaml: *img-1*: dataset.jsonl:1 is a row of a dataset manifest, which expects *"]
    )


def test_a_suite_of_ones_own(dataset):
    dataset.images("0.5", "0.5")
    dataset.pytester.makepyfile(
        test_mine="""
        import pytest

        @pytest.mark.cases(kind="dataset", where={"transform": "none"})
        def test_score(observe, case):
            assert case.label == 0
            assert observe().detection.score == 0.5
        """
    )
    result = dataset.call(
        *("test_mine.py", "--manifest=dataset.jsonl", "--bench-split=test", "--bench-adapter=scorer", "--bench-run-dir=run")
    )
    assert result.ret == 0
    assert {row["key"]["suite"] for row in dataset.evidence} == {"test_mine.py::test_score"}


def test_a_suite_without_a_manifest_is_one_skipped_item(dataset):
    dataset.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.cases(kind="dataset")
        def test_score(observe):
            observe().check()
        """
    )
    result = dataset.call("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*no dataset manifest: give --manifest=PATH"])


def test_the_manifest_of_an_option_runs_the_built_in_suite(dataset):
    dataset.images("0.5")
    dataset.call("--manifest=dataset.jsonl", "--bench-split=test", "--bench-adapter=scorer", "--bench-run-dir=run")
    assert [row["key"]["suite"] for row in dataset.evidence] == ["dataset.jsonl::test_detection"]


def test_the_same_rows_give_the_same_results_with_workers(dataset):
    dataset.images("0.9", "0.1", "too-small", "detected")
    dataset.score()
    alone = dataset.results
    dataset.score("--bench-run-dir=shared", workers=2)
    shared = dataset.document("../shared/report.json")["results"]
    assert json.dumps(shared) == alone


@pytest.mark.parametrize(("answers", "unstable"), [("0.25, 0.75", 1), ("0.25, 0.25", 0)])
def test_a_score_that_changes_on_a_rerun_is_unstable(dataset, answers, unstable):
    dataset.images("0.5")
    with (dataset.path / "conftest.py").open("a") as conftest:
        conftest.write(
            f"""
answers = iter([{answers}])
Scorer.detect = lambda self, sample: Detection("scored", score=next(answers))
"""
        )
    dataset.pytester.makepyfile(
        """
        import pytest

        tries = iter([False, True])

        @pytest.mark.cases(kind="dataset")
        def test_score(observe):
            observe()
            assert next(tries)
        """
    )
    arguments = ("--manifest=dataset.jsonl", "--bench-split=test", "--bench-adapter=scorer", "--reruns=1")
    assert dataset.run(*arguments).ret == unstable
    assert [row["key"]["attempt"] for row in dataset.evidence] == [1, 2]
    results = dataset.document("report.json")["results"]
    assert (results["unstable"]["count"], results["outcomes"]["mismatch"]) == (unstable, unstable)

"""Going on with a run: only what is missing is asked, and nothing is counted twice."""

import pytest

# what is run


def test_only_what_is_missing_is_run(project, workers):
    project.cases("detected", "detected", "detected")
    assert project.run("cases.jsonl", "-k", "cat-02", workers=workers).ret == 0
    result = project.resume("cases.jsonl", workers=workers)
    assert result.ret == 0
    result.assert_outcomes(passed=2)
    assert sorted(project.tried) == [("cat-01", 1), ("cat-02", 1), ("cat-03", 1)]


def test_a_killed_run_is_finished(project, workers):
    flag = project.path / "died"
    project.cases("detected", f"once {flag}", "detected")
    project.kill()
    result = project.resume("cases.jsonl", workers=workers)
    assert result.ret == 0
    assert sorted(project.tried) == [("cat-01", 1), ("cat-02", 1), ("cat-02", 2), ("cat-03", 1)]
    assert project.document("run.json")["planned"] == {"rows": 3, "selected": 3, "left_out": 0, "lost": 0}


def test_a_resumed_run_gives_the_bytes_of_one_that_was_not_interrupted(project):
    project.cases("detected", "not_detected", "detected", "raise", expected="unresolved")
    project.run("cases.jsonl")
    whole = project.results
    (project.path / "run").rename(project.path / "whole")
    project.run("cases.jsonl", "-k", "cat-02 or cat-04")
    assert project.results != whole
    project.resume("cases.jsonl")
    assert project.results == whole


def test_a_finished_run_has_nothing_left(project, workers):
    project.cases("detected", "detected")
    project.run("cases.jsonl", workers=workers)
    before, evidence = project.results, project.evidence
    result = project.resume("cases.jsonl", workers=workers)
    assert result.ret == 0
    result.assert_outcomes()
    assert project.results == before
    assert project.evidence == evidence


def test_the_parameters_of_a_suite_are_rows_of_their_own(project):
    project.cases("detected", "detected")
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("size", [1, 2], ids=["a::b", "c[d]"])
        @pytest.mark.cases(kind="watermark")
        def test_sizes(observe, size):
            observe().check()
        """
    )
    project.run("--manifest=cases.jsonl", "-k", "cat-01 and d", "--bench-run-dir=run")
    assert [row["key"]["params"] for row in project.evidence] == ["c[d]"]
    result = project.resume("--manifest=cases.jsonl")
    result.assert_outcomes(passed=3)
    assert len({(row["key"]["case_id"], row["key"]["params"]) for row in project.evidence}) == 4


def test_rows_may_be_named_one_by_one(project):
    project.cases("detected", "detected", "detected")
    named = [f"cases.jsonl::test_detection::toy::cat-0{number}" for number in (1, 2)]
    project.run(*named, "-k", "cat-01")
    result = project.resume(*named)
    assert result.ret == 0
    result.assert_outcomes(passed=1)
    assert project.tried == [("cat-01", 1), ("cat-02", 1)]


def test_rows_left_out_again_are_counted(project):
    project.cases("detected", "detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    assert project.resume("cases.jsonl", "-k", "cat-02").ret == 0
    assert project.document("run.json")["planned"] == {"rows": 3, "selected": 2, "left_out": 1, "lost": 0}


def test_an_empty_selection_of_missing_rows_is_empty(project):
    project.cases("detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    assert project.resume("cases.jsonl", "-k", "nothing").ret == 5


def test_an_interrupted_run_is_finished(project):
    project.cases("detected", "interrupt", "detected")
    assert project.alone("--bench-run-dir=run", "cases.jsonl").ret == 2
    assert project.outcomes == {"cat-01": "match", "cat-02": "not_run", "cat-03": "not_run"}
    result = project.resume("cases.jsonl", "-k", "not cat-02")
    assert result.ret == 21
    assert project.tried[3:] == [("cat-03", 2)]
    assert project.document("run.json")["planned"] == {"rows": 3, "selected": 3, "left_out": 0, "lost": 1}


def test_what_a_stopped_run_left_out_is_run(project, workers):
    project.cases("not_detected", *["detected"] * 20)
    project.run("cases.jsonl", "-x", workers=workers)
    assert project.resume("cases.jsonl", workers=workers).ret == 1
    assert sorted(set(project.tried)) == [(f"cat-{number:02}", 1) for number in range(1, 22)]
    assert len(project.evidence) == 21


def test_lost_rows_are_asked_again(project):
    for number in range(1, 9):
        project.case(f"cat-{number:02}", f"once {project.path / str(number)}")
    project.write()
    assert project.run("cases.jsonl", "--max-worker-restart=0", "--bench-crash-retries=0", workers=2).ret == 21
    assert "not_run" in project.outcomes.values()
    for number in range(1, 9):
        (project.path / str(number)).touch()
    project.resume("cases.jsonl", "--bench-retry=error", workers=2)
    assert set(project.outcomes.values()) == {"match"}
    assert project.document("report.json")["results"]["rows"] == 8


def test_dry_collection_changes_nothing(project):
    project.cases("detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    before = {path.name: path.read_bytes() for path in (project.path / "run").iterdir()}
    result = project.resume("cases.jsonl", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["cases.jsonl::test_detection::toy::cat-02"])
    assert "toy::cat-01" not in result.stdout.str()
    assert {path.name: path.read_bytes() for path in (project.path / "run").iterdir()} == before


# retrying


def test_errors_and_unavailable_rows_stand_unless_they_are_retried(faulty):
    result = faulty.resume("cases.jsonl")
    assert result.ret == 1
    result.assert_outcomes()
    assert len(faulty.evidence) == 3


@pytest.mark.parametrize(
    ("retry", "again"),
    [("error", ["cat-02"]), ("unavailable", ["cat-03"]), ("error,unavailable", ["cat-02", "cat-03"])],
)
def test_what_is_retried_is_named(faulty, retry, again):
    faulty.resume("cases.jsonl", f"--bench-retry={retry}")
    assert sorted(faulty.tried[3:]) == [(case_id, 2) for case_id in again]


def test_the_first_verdict_of_a_retried_row_counts(project, workers):
    project.cases(f"once {project.path / 'died'}", "detected", "detected")
    assert project.run("cases.jsonl", "--bench-crash-retries=0", workers=2).ret == 1
    assert project.resume("cases.jsonl", "--bench-retry=error", workers=workers).ret == 0
    assert project.document("report.json")["results"]["outcomes"]["match"] == 3
    assert [row["outcome"] for row in project.evidence if row["key"]["case_id"] == "cat-01"] == ["error", "match"]


def test_retrying_needs_a_run(project):
    project.cases("detected")
    assert project.call("cases.jsonl", "--bench-retry=error").ret == 4


# what run.json says


def test_the_run_keeps_its_name_and_says_when_it_was_gone_on_with(project):
    project.cases("detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    before = project.document("run.json")
    project.resume("cases.jsonl")
    project.resume("cases.jsonl", "-q")
    after = project.document("run.json")
    assert (after["run_id"], after["started"]) == (before["run_id"], before["started"])
    assert after["options"]["arguments"] == before["options"]["arguments"]
    assert [session["arguments"][-1] for session in after["resumed"]] == ["cases.jsonl", "-q"]
    assert all(session["started"] > before["started"] for session in after["resumed"])
    assert {row["run_id"] for row in project.evidence} == {before["run_id"]}


def test_a_report_of_before_is_replaced(project):
    project.cases("detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    project.resume("cases.jsonl")
    assert project.document("report.json")["results"]["rows"] == 2
    assert not list((project.path / "run").glob(".*"))

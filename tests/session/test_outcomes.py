"""Each outcome of a row: what pytest shows, what the evidence says, the exit code; in one process and with workers."""

import pytest


def test_an_expectation_that_is_met_passes(project, workers):
    project.case("cat-01")
    project.write()
    result = project.run("cases.jsonl", workers=workers)
    assert result.ret == 0
    result.assert_outcomes(passed=1)
    assert project.outcomes == {"cat-01": "match"}


def test_a_wrong_answer_fails_with_one_line(project, workers):
    project.case("cat-01")
    project.case("cat-02", "not_detected")
    project.write()
    result = project.run("cases.jsonl", workers=workers)
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["cases.jsonl:2: cat-02: expected detected, observed not_detected (says the file)"])
    assert project.outcomes == {"cat-01": "match", "cat-02": "mismatch"}


def test_an_unresolved_row_is_measured_and_passes(project, workers):
    project.case("cat-01", expected="unresolved")
    project.write()
    result = project.run("cases.jsonl", workers=workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*1 measured*"])
    assert project.outcomes == {"cat-01": "measured"}


def test_a_team_may_see_measurements_as_xfailed(project):
    project.case("cat-01", expected="unresolved")
    project.write()
    result = project.run("cases.jsonl", "-o", "bench_measured=xfail")
    assert result.ret == 0
    result.assert_outcomes(xfailed=1)
    assert project.outcomes == {"cat-01": "measured"}


def test_an_unavailable_adapter_skips_with_the_reason(project, workers):
    project.case("cat-01")
    project.case("cat-02", adapter="absent", expected="not_detected")
    project.write()
    result = project.run("cases.jsonl", "-rs", workers=workers)
    assert result.ret == 0
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*absent is unavailable: no weights here (remedy: fetch weights)*"])
    assert project.outcomes == {"cat-01": "match", "cat-02": "unavailable"}


def test_a_run_in_which_nothing_was_available_is_incomplete(project, workers):
    project.case("cat-01", adapter="absent")
    project.write()
    assert project.run("cases.jsonl", workers=workers).ret == 21


def test_availability_can_be_required(project):
    project.case("cat-01")
    project.case("cat-02", adapter="absent")
    project.write()
    result = project.run("cases.jsonl", "--bench-require-available")
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=1)
    assert project.outcomes["cat-02"] == "unavailable"


def test_a_kernel_adapter_that_this_version_lacks_is_unavailable(project):
    project.case("cat-01")
    project.case("cat-02", adapter="pixelseal", expected="not_detected")
    project.write()
    result = project.run("cases.jsonl")
    assert result.ret == 0
    assert project.outcomes["cat-02"] == "unavailable"


def test_a_detector_that_breaks_is_an_error_and_the_others_go_on(project, workers):
    project.case("cat-01", "raise", expected="not_detected")
    project.case("cat-02")
    project.write()
    result = project.run("cases.jsonl", workers=workers)
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["cases.jsonl:1: cat-01: error: RuntimeError: the detector broke"])
    assert project.outcomes == {"cat-01": "error", "cat-02": "match"}


def test_an_undecodable_artifact_is_an_error(project, workers):
    project.case("cat-01", adapter="dwt-dct", expected="not_detected")
    project.case("cat-02")
    project.write()
    result = project.run("cases.jsonl", workers=workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["cases.jsonl:1: cat-01: error: UndecodableArtifactError: *"])
    assert project.outcomes == {"cat-01": "error", "cat-02": "match"}
    row = next(row for row in project.evidence if row["key"]["case_id"] == "cat-01")
    assert row["detection"] == {"status": "error", "adapter_elapsed_ms": None, "call": None}


def test_each_row_stands_once_in_the_evidence(project, workers):
    for number in range(30):
        project.case(f"cat-{number:02}", expected="unresolved" if number % 3 else "detected")
    project.write()
    project.run("cases.jsonl", workers=workers)
    assert sorted(row["key"]["case_id"] for row in project.evidence) == [f"cat-{number:02}" for number in range(30)]
    assert {row["key"]["attempt"] for row in project.evidence} == {1}


def test_results_do_not_depend_on_workers(project):
    for number in range(20):
        project.case(f"cat-{number:02}", "detected" if number % 3 else "not_detected", expected="unresolved")
    project.write()
    assert project.run("cases.jsonl").ret == 0
    alone = project.document("report.json")["results"]
    (project.path / "run").rename(project.path / "first")
    assert project.run("cases.jsonl", workers=2).ret == 0
    assert project.document("report.json")["results"] == alone


EXPECTATION = "- {{id: cat-01, expected: {expected}, reason: known to miss}}"


@pytest.mark.parametrize("row_expects", ["detected", "unresolved"])
def test_a_known_wrong_answer_is_xfailed(project, workers, row_expects):
    project.case("cat-01", "not_detected", expected=row_expects)
    project.write()
    (project.path / "known.yaml").write_text(EXPECTATION.format(expected="detected"))
    result = project.run("cases.jsonl", "--bench-expectations=known.yaml", workers=workers)
    assert result.ret == 0
    result.assert_outcomes(xfailed=1)
    assert project.outcomes == {"cat-01": "known_mismatch"}


def test_a_known_wrong_answer_that_is_right_now_fails(project, workers):
    project.case("cat-01", "detected")
    project.write()
    (project.path / "known.yaml").write_text(EXPECTATION.format(expected="detected"))
    result = project.run("cases.jsonl", "--bench-expectations=known.yaml", workers=workers)
    assert result.ret == 1
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["cases.jsonl:1: cat-01: now answered rightly (detected): take it out of *known.yaml"])
    assert project.outcomes == {"cat-01": "match"}


def test_a_known_wrong_answer_excuses_no_error(project):
    project.case("cat-01", "raise")
    project.write()
    (project.path / "known.yaml").write_text(EXPECTATION.format(expected="detected"))
    result = project.run("cases.jsonl", "--bench-expectations=known.yaml")
    assert result.ret == 1
    result.assert_outcomes(failed=1)
    assert project.outcomes == {"cat-01": "error"}


def test_an_expectation_against_its_row_is_a_fault_of_use(project):
    project.case("cat-01", "not_detected", expected="not_detected")
    project.write()
    (project.path / "known.yaml").write_text(EXPECTATION.format(expected="detected"))
    result = project.run("cases.jsonl", "--bench-expectations=known.yaml")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*cat-01: expected detected, but cases.jsonl:1 expects not_detected"])


def test_an_expectation_that_matches_no_row_warns(project):
    project.case("cat-02")
    project.write()
    (project.path / "known.yaml").write_text(EXPECTATION.format(expected="detected"))
    result = project.run("cases.jsonl", "--bench-expectations=known.yaml")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*known.yaml: 1 of 1 entries match no row: cat-01"])


def test_a_verdict_that_changes_on_a_rerun_is_unstable(project):
    project.case("cat-01", adapter="flaky")
    project.write()
    result = project.run("cases.jsonl", "--reruns=1")
    assert result.ret == 1
    assert [row["key"]["attempt"] for row in project.evidence] == [1, 2]
    assert project.document("report.json")["results"]["unstable"]["count"] == 1


def test_a_suite_that_never_observes_is_an_error(project, workers):
    project.case("cat-01")
    project.write()
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_forgetful(case):
            pass
        """
    )
    result = project.run("--manifest=cases.jsonl", workers=workers)
    assert result.ret == 1
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["cases.jsonl:1: cat-01: never observed: the suite never called observe()"])
    assert project.outcomes == {"cat-01": "error"}


@pytest.mark.parametrize("body", ["pytest.skip('not today')", "raise ValueError('setup of mine')"])
def test_a_row_that_is_left_before_it_is_observed_is_an_error(project, body):
    project.case("cat-01")
    project.write()
    project.pytester.makepyfile(
        f"""
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_leaving(observe):
            {body}
            observe()
        """
    )
    result = project.run("--manifest=cases.jsonl")
    assert result.ret == 1
    assert project.outcomes == {"cat-01": "error"}


def test_a_suites_own_assertion_does_not_change_the_evidence(project):
    project.case("cat-01")
    project.write()
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_strict(observe):
            observation = observe()
            observation.check()
            assert observation.detection.score is not None
        """
    )
    result = project.run("--manifest=cases.jsonl")
    assert result.ret == 1
    assert project.outcomes == {"cat-01": "match"}


def test_a_suite_cannot_swallow_an_error(project):
    project.case("cat-01", "raise")
    project.write()
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_swallowing(observe):
            try:
                observe()
            except Exception:
                pass
        """
    )
    result = project.run("--manifest=cases.jsonl")
    assert result.ret == 1
    assert project.outcomes == {"cat-01": "error"}


def test_observing_twice_fails(project):
    project.case("cat-01")
    project.write()
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_twice(observe):
            observe()
            observe()
        """
    )
    result = project.run("--manifest=cases.jsonl")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*observe() is called once for each row"])
    assert project.outcomes == {"cat-01": "match"}


def alone(project):
    """Run the manifest in a process of its own, without workers."""
    return project.pytester.runpytest_subprocess("-p", "no:xdist", "-p", "no:randomly", "--bench-run-dir=run", "cases.jsonl")


def test_an_interrupted_run_keeps_its_evidence_and_says_so(project):
    project.case("cat-01")
    project.case("cat-02", "interrupt")
    project.case("cat-03")
    project.write()
    assert alone(project).ret == 2
    assert project.outcomes == {"cat-01": "match", "cat-02": "not_run", "cat-03": "not_run"}
    assert project.document("run.json")["interrupted"] is True
    assert "interrupted" in (project.path / "run" / "report.md").read_text()


def test_a_process_that_dies_leaves_the_rows_that_it_finished(project):
    project.case("cat-01")
    project.case("cat-02", "exit")
    project.write()
    assert alone(project).ret == 3
    assert project.outcomes == {"cat-01": "match"}
    assert project.document("run.json")["run_id"] == project.evidence[0]["run_id"]
    assert "finished" not in project.document("run.json")


def test_an_entry_for_a_suite_that_does_not_exist_warns(project):
    project.case("cat-01")
    project.write()
    (project.path / "known.yaml").write_text("- {id: cat-01, suite: typo, expected: detected, reason: r}")
    result = project.run("cases.jsonl", "--bench-expectations=known.yaml")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["warning: known.yaml: 1 of 1 entries match no row: cat-01"])

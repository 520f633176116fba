"""The exit code of a run that was gone on with is the whole run's."""


def test_an_earlier_wrong_answer_fails(project, workers):
    project.cases("not_detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01", workers=workers)
    assert project.resume("cases.jsonl", workers=workers).ret == 1


def test_an_earlier_error_fails(project):
    project.cases("raise", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    assert project.resume("cases.jsonl").ret == 1


def test_an_earlier_unstable_row_fails(project):
    project.case("cat-01", adapter="flaky")
    project.case("cat-02", adapter="toy")
    project.write()
    project.run("cases.jsonl", "-k", "cat-01", "--reruns=1")
    assert project.resume("cases.jsonl").ret == 1


def test_a_known_wrong_answer_that_was_right_fails(project):
    project.cases("detected", "detected")
    (project.path / "known.yaml").write_text("- {id: cat-01, expected: detected, reason: known to miss}")
    project.run("cases.jsonl", "-k", "cat-01", "--bench-expectations=known.yaml")
    assert project.resume("cases.jsonl", "--bench-expectations=known.yaml").ret == 1


def test_a_known_wrong_answer_does_not_fail(project):
    project.cases("not_detected", "detected")
    (project.path / "known.yaml").write_text("- {id: cat-01, expected: detected, reason: known to miss}")
    project.run("cases.jsonl", "-k", "cat-01", "--bench-expectations=known.yaml")
    assert project.resume("cases.jsonl", "--bench-expectations=known.yaml").ret == 0


def test_an_assertion_of_the_suite_that_failed_before_fails(project, workers):
    project.cases("detected", "detected")
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_strict(case, observe):
            observe().check()
            assert case.case_id != "cat-01"
        """
    )
    assert project.run("--manifest=cases.jsonl", "-k", "cat-01", workers=workers).ret == 1
    assert project.outcomes == {"cat-01": "match"}
    assert project.resume("--manifest=cases.jsonl", workers=workers).ret == 1
    assert project.resume("--manifest=cases.jsonl", workers=workers).ret == 1


def test_a_teardown_that_failed_before_fails(project):
    project.cases("detected", "detected")
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def leaking(case):
            yield
            assert case.case_id != "cat-01"

        @pytest.mark.cases(kind="watermark")
        def test_strict(leaking, observe):
            observe().check()
        """
    )
    project.run("--manifest=cases.jsonl", "-k", "cat-01")
    assert project.resume("--manifest=cases.jsonl").ret == 1


def test_an_unavailable_row_of_before_fails_where_availability_is_required(project):
    project.case("cat-01", adapter="absent")
    project.case("cat-02")
    project.write()
    project.run("cases.jsonl")
    assert project.resume("cases.jsonl").ret == 0
    assert project.resume("cases.jsonl", "--bench-require-available").ret == 1


def test_a_retried_error_does_not_fail_any_more(project):
    flag = project.path / "died"
    project.cases(f"once {flag}", "detected")
    project.kill()
    assert project.resume("cases.jsonl").ret == 0
    assert project.resume("cases.jsonl").ret == 0


def test_a_gate_decides_on_everything(project):
    project.cases("not_detected", "detected")
    assert project.run("cases.jsonl", "--bench-gate=strict", "-k", "cat-01").ret == 21
    assert project.resume("cases.jsonl", "--bench-gate=strict").ret == 20
    assert project.document("gate.json")["decision"] == "refused"

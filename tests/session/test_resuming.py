"""Going on with a run: only what is missing is asked, nothing is counted twice, and the exit code is the whole run's."""

import fcntl
import json
import signal

import pytest

ALONE = ("-p", "no:xdist", "-p", "no:randomly")


def cases(project, *said, **fields):
    """Write cases cat-01, cat-02, ... whose files say this."""
    for number, says in enumerate(said, 1):
        project.case(f"cat-{number:02}", says, **fields)
    project.write()


def kill(project, *arguments):
    """Run in a process of its own, which a row that says ``exit`` ends at once."""
    result = project.pytester.runpytest_subprocess(*ALONE, "--bench-run-dir=run", "cases.jsonl", *arguments)
    assert result.ret == 3
    return result


def tried(project):
    """Case id and attempt of every line of the evidence, in its order."""
    return [(row["key"]["case_id"], row["key"]["attempt"]) for row in project.evidence]


def results(project):
    return json.dumps(project.document("report.json")["results"])


# what is run


def test_only_what_is_missing_is_run(project, workers):
    cases(project, "detected", "detected", "detected")
    assert project.run("cases.jsonl", "-k", "cat-02", workers=workers).ret == 0
    result = project.resume("cases.jsonl", workers=workers)
    assert result.ret == 0
    result.assert_outcomes(passed=2)
    assert sorted(tried(project)) == [("cat-01", 1), ("cat-02", 1), ("cat-03", 1)]


def test_a_killed_run_is_finished(project, workers):
    flag = project.path / "died"
    cases(project, "detected", f"once {flag}", "detected")
    kill(project)
    result = project.resume("cases.jsonl", workers=workers)
    assert result.ret == 0
    assert sorted(tried(project)) == [("cat-01", 1), ("cat-02", 1), ("cat-02", 2), ("cat-03", 1)]
    assert project.document("run.json")["planned"] == {"rows": 3, "selected": 3, "left_out": 0, "lost": 0}


def test_a_resumed_run_gives_the_bytes_of_one_that_was_not_interrupted(project):
    cases(project, "detected", "not_detected", "detected", "raise", expected="unresolved")
    project.run("cases.jsonl")
    whole = results(project)
    (project.path / "run").rename(project.path / "whole")
    project.run("cases.jsonl", "-k", "cat-02 or cat-04")
    assert results(project) != whole
    project.resume("cases.jsonl")
    assert results(project) == whole


def test_a_finished_run_has_nothing_left(project, workers):
    cases(project, "detected", "detected")
    project.run("cases.jsonl", workers=workers)
    before, evidence = results(project), project.evidence
    result = project.resume("cases.jsonl", workers=workers)
    assert result.ret == 0
    result.assert_outcomes()
    assert results(project) == before
    assert project.evidence == evidence


def test_the_parameters_of_a_suite_are_rows_of_their_own(project):
    cases(project, "detected", "detected")
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
    cases(project, "detected", "detected", "detected")
    named = [f"cases.jsonl::test_detection::toy::cat-0{number}" for number in (1, 2)]
    project.run(*named, "-k", "cat-01")
    result = project.resume(*named)
    assert result.ret == 0
    result.assert_outcomes(passed=1)
    assert tried(project) == [("cat-01", 1), ("cat-02", 1)]


def test_rows_left_out_again_are_counted(project):
    cases(project, "detected", "detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    assert project.resume("cases.jsonl", "-k", "cat-02").ret == 0
    assert project.document("run.json")["planned"] == {"rows": 3, "selected": 2, "left_out": 1, "lost": 0}


def test_an_empty_selection_of_missing_rows_is_empty(project):
    cases(project, "detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    assert project.resume("cases.jsonl", "-k", "nothing").ret == 5


def test_an_interrupted_run_is_finished(project):
    cases(project, "detected", "interrupt", "detected")
    assert project.pytester.runpytest_subprocess(*ALONE, "--bench-run-dir=run", "cases.jsonl").ret == 2
    assert project.outcomes == {"cat-01": "match", "cat-02": "not_run", "cat-03": "not_run"}
    result = project.resume("cases.jsonl", "-k", "not cat-02")
    assert result.ret == 21
    assert tried(project)[3:] == [("cat-03", 2)]
    assert project.document("run.json")["planned"] == {"rows": 3, "selected": 3, "left_out": 0, "lost": 1}


def test_what_a_stopped_run_left_out_is_run(project, workers):
    cases(project, "not_detected", *["detected"] * 20)
    project.run("cases.jsonl", "-x", workers=workers)
    assert project.resume("cases.jsonl", workers=workers).ret == 1
    assert sorted(set(tried(project))) == [(f"cat-{number:02}", 1) for number in range(1, 22)]
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
    cases(project, "detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    before = {path.name: path.read_bytes() for path in (project.path / "run").iterdir()}
    result = project.resume("cases.jsonl", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["cases.jsonl::test_detection::toy::cat-02"])
    assert "toy::cat-01" not in result.stdout.str()
    assert {path.name: path.read_bytes() for path in (project.path / "run").iterdir()} == before


# retrying


@pytest.fixture
def faulty(project):
    """A run with an answer, an error and an unavailable adapter."""
    project.case("cat-01")
    project.case("cat-02", "raise")
    project.case("cat-03", adapter="absent")
    project.write()
    assert project.run("cases.jsonl").ret == 1
    return project


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
    assert sorted(tried(faulty)[3:]) == [(case_id, 2) for case_id in again]


def test_the_first_verdict_of_a_retried_row_counts(project, workers):
    cases(project, f"once {project.path / 'died'}", "detected", "detected")
    assert project.run("cases.jsonl", "--bench-crash-retries=0", workers=2).ret == 1
    assert project.resume("cases.jsonl", "--bench-retry=error", workers=workers).ret == 0
    assert project.document("report.json")["results"]["outcomes"]["match"] == 3
    assert [row["outcome"] for row in project.evidence if row["key"]["case_id"] == "cat-01"] == ["error", "match"]


def test_retrying_needs_a_run(project):
    cases(project, "detected")
    assert project.call("cases.jsonl", "--bench-retry=error").ret == 4


# the exit code is the whole run's


def test_an_earlier_wrong_answer_fails(project, workers):
    cases(project, "not_detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01", workers=workers)
    assert project.resume("cases.jsonl", workers=workers).ret == 1


def test_an_earlier_error_fails(project):
    cases(project, "raise", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    assert project.resume("cases.jsonl").ret == 1


def test_an_earlier_unstable_row_fails(project):
    project.case("cat-01", adapter="flaky")
    project.case("cat-02", adapter="toy")
    project.write()
    project.run("cases.jsonl", "-k", "cat-01", "--reruns=1")
    assert project.resume("cases.jsonl").ret == 1


def test_a_known_wrong_answer_that_was_right_fails(project):
    cases(project, "detected", "detected")
    (project.path / "known.yaml").write_text("- {id: cat-01, expected: detected, reason: known to miss}")
    project.run("cases.jsonl", "-k", "cat-01", "--bench-expectations=known.yaml")
    assert project.resume("cases.jsonl", "--bench-expectations=known.yaml").ret == 1


def test_a_known_wrong_answer_does_not_fail(project):
    cases(project, "not_detected", "detected")
    (project.path / "known.yaml").write_text("- {id: cat-01, expected: detected, reason: known to miss}")
    project.run("cases.jsonl", "-k", "cat-01", "--bench-expectations=known.yaml")
    assert project.resume("cases.jsonl", "--bench-expectations=known.yaml").ret == 0


def test_an_assertion_of_the_suite_that_failed_before_fails(project, workers):
    cases(project, "detected", "detected")
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
    cases(project, "detected", "detected")
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
    cases(project, f"once {flag}", "detected")
    kill(project)
    assert project.resume("cases.jsonl").ret == 0
    assert project.resume("cases.jsonl").ret == 0


def test_a_gate_decides_on_everything(project):
    cases(project, "not_detected", "detected")
    assert project.run("cases.jsonl", "--bench-gate=strict", "-k", "cat-01").ret == 21
    assert project.resume("cases.jsonl", "--bench-gate=strict").ret == 20
    assert project.document("gate.json")["decision"] == "refused"


# what run.json says


def test_the_run_keeps_its_name_and_says_when_it_was_gone_on_with(project):
    cases(project, "detected", "detected")
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
    cases(project, "detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    project.resume("cases.jsonl")
    assert project.document("report.json")["results"]["rows"] == 2
    assert not list((project.path / "run").glob(".*"))


# what is refused


def refused(project, *arguments, says, workers=0):
    """Resume, and see that nothing is run, nothing is changed and one line says why."""
    before = {path.name: path.read_bytes() for path in (project.path / "run").iterdir() if path.is_file()}
    result = project.resume(*arguments, workers=workers)
    said = result.stderr.str() + result.stdout.str()
    assert result.ret == 4
    assert "Traceback" not in said
    assert [line for line in said.splitlines() if says in line]
    assert {path.name: path.read_bytes() for path in (project.path / "run").iterdir() if path.is_file()} == before


@pytest.fixture
def begun(project):
    """A run of which one row is missing."""
    cases(project, "detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    return project


def test_a_changed_manifest(begun, workers):
    begun.case("cat-03")
    begun.write()
    refused(begun, "cases.jsonl", workers=workers, says="manifest cases.jsonl: its bytes changed")


def test_another_manifest(begun):
    begun.rows.clear()
    begun.case("dog-01")
    begun.write("dogs.jsonl")
    refused(begun, "dogs.jsonl", says="manifest cases.jsonl is not given; manifest dogs.jsonl was not part of it")


def test_no_manifest(begun):
    begun.pytester.makepyfile("def test_nothing(): pass")
    refused(begun, says="--bench-resume: there is no manifest")


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--bench-select=arm=positive", "--bench-select: nothing then, arm=positive now"),
        ("--bench-verify=lazy", '--bench-verify: "preflight" then, "lazy" now'),
        ("--bench-network=deny", '--bench-network: "loopback" then, "deny" now'),
        ("--bench-max-pixels=1000", "--bench-max-pixels: "),
        ("--bench-adapter=toy:flip=false", '--bench-adapter: nothing then, {"toy":{"flip":"false"}} now'),
        ("--bench-artifact-root=.", "--bench-artifact-root: nothing then, . now"),
        ("--bench-expectations=known.yaml", "--bench-expectations: none then, "),
        ("--bench-shard=1/2", '--bench-shard: nothing then, "1/2" now'),
    ],
)
def test_an_option_that_changes_the_plan_or_an_observation(begun, option, says):
    (begun.path / "known.yaml").write_text("- {id: cat-02, expected: detected, reason: known to miss}")
    refused(begun, "cases.jsonl", option, says=says)


def test_options_that_change_neither_are_free(begun):
    options = ("-x", "-v", "--bench-crash-retries=3", "--bench-row-timeout=60", "--bench-gate=strict")
    assert begun.resume("cases.jsonl", *options).ret == 0


def test_more_that_is_collected(begun):
    begun.pytester.makepyfile("def test_nothing(): pass")
    refused(begun, "cases.jsonl", ".", says="what is collected: cases.jsonl then, ")


def test_a_place_is_the_same_wherever_it_is_named_from(begun):
    assert begun.resume(begun.path / "cases.jsonl").ret == 0


def test_rows_that_are_not_collected_any_more(project, workers):
    cases(project, "detected", "detected")
    suite = """
        import pytest

        @pytest.mark.cases(kind="watermark")
        def {name}(observe):
            observe().check()
        """
    project.pytester.makepyfile(suite.format(name="test_before"))
    project.run("--manifest=cases.jsonl", "-k", "cat-01", workers=workers)
    project.pytester.makepyfile(suite.format(name="test_after"))
    says = "test_before::toy"
    refused(project, "--manifest=cases.jsonl", workers=workers, says=says)


def test_parameters_that_are_not_collected_any_more(project):
    cases(project, "detected", "detected")
    suite = """
        import pytest

        @pytest.mark.parametrize("size", {sizes})
        @pytest.mark.cases(kind="watermark")
        def test_sizes(observe, size):
            observe().check()
        """
    project.pytester.makepyfile(suite.format(sizes=[1, 2]))
    project.run("--manifest=cases.jsonl", "-k", "cat-01")
    project.pytester.makepyfile(suite.format(sizes=[1, 3]))
    refused(project, "--manifest=cases.jsonl", says="test_sizes::toy::cat-01[2]; give the command of the run")


def test_a_changed_adapter(begun, workers):
    conftest = begun.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace('AdapterDescription("1"', 'AdapterDescription("2"'))
    refused(begun, "cases.jsonl", workers=workers, says="adapter toy: version 1 then, 2 now; adapter toy: its source file")


WEIGHTS = """
import pathlib
from pytest_benchbench import Weights

def describe(self):
    return AdapterDescription("1", "rule", (Weights("toy.onnx", pathlib.Path("weights").read_text()),))
Toy.describe = describe
"""


def test_changed_weights(project):
    conftest = project.path / "conftest.py"
    conftest.write_text(conftest.read_text() + WEIGHTS)
    (project.path / "weights").write_text("a" * 64)
    cases(project, "detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    (project.path / "weights").write_text("b" * 64)
    refused(project, "cases.jsonl", says="adapter toy: weights toy.onnx (aaaaaaaaaaaa) then, toy.onnx (bbbbbbbbbbbb) now")


def test_an_adapter_that_answered_and_is_unavailable_now(project):
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text()
        + """
def load(self):
    if os.path.exists("gone"):
        raise AdapterUnavailable("its weights are gone")
Toy.load = load
"""
    )
    cases(project, "detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    (project.path / "gone").touch()
    refused(project, "cases.jsonl", says="adapter toy answered then and is unavailable now: its weights are gone")


def test_an_adapter_that_never_answered_is_not_compared(faulty):
    assert faulty.resume("cases.jsonl", "--bench-retry=unavailable").ret == 1
    assert faulty.outcomes["cat-03"] == "unavailable"


def test_an_adapter_that_is_compared_is_the_one_that_is_asked(project):
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text()
        + """
def load(self):
    with open("loads", "a") as file:
        print("load", file=file)
Toy.load = load
"""
    )
    cases(project, "detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    project.resume("cases.jsonl")
    assert (project.path / "loads").read_text().splitlines() == ["load", "load"]


@pytest.mark.parametrize("missing", ["gone", "cases.jsonl"])
def test_no_run_directory(begun, missing):
    result = begun.call(f"--bench-resume={missing}", "cases.jsonl")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*--bench-resume: *{missing}: not the directory of a run (it has no run.json)"])


def test_a_run_directory_may_not_be_named_too(begun):
    result = begun.call("--bench-resume=run", "--bench-run-dir=other", "cases.jsonl")
    assert result.ret == 4


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"schema_version": 1, "run_id": "x"}', "[" * 100_000])
def test_a_damaged_description(begun, damage):
    (begun.path / "run" / "run.json").write_text(damage)
    refused(begun, "cases.jsonl", says="run/run.json: ")


def test_damaged_evidence(begun):
    path = begun.path / "run" / "evidence.jsonl"
    path.write_bytes(b'{"cut\n' + path.read_bytes())
    refused(begun, "cases.jsonl", says="evidence.jsonl:1: ")


def test_evidence_of_another_run(begun):
    path = begun.path / "run" / "evidence.jsonl"
    path.write_text(path.read_text().replace('"run_id":"', '"run_id":"other-'))
    refused(begun, "cases.jsonl", says="evidence.jsonl:1 was written by another run, other-")


def test_evidence_that_is_gone(begun):
    (begun.path / "run" / "evidence.jsonl").unlink()
    refused(begun, "cases.jsonl", says="run: it has no evidence.jsonl")


def test_a_merged_run(begun):
    from click.testing import CliRunner

    from pytest_benchbench.cli import main

    merged = CliRunner().invoke(main, ["merge", str(begun.path / "run"), "--output-dir", str(begun.path / "merged")])
    assert merged.exit_code == 0, merged.output
    result = begun.call("--bench-resume=merged", "cases.jsonl")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*a merged run cannot be gone on with: go on with its parts, and merge them again"])


def test_a_run_that_is_still_going_on(begun):
    with (begun.path / "run" / "evidence.jsonl").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused(begun, "cases.jsonl", says="another process is writing it")
    assert begun.resume("cases.jsonl").ret == 0


def test_a_running_run_is_locked(project):
    project.case("cat-01", "detected")
    project.write()
    project.pytester.makepyfile(
        """
        import fcntl
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_locked(observe):
            observe().check()
            with open("run/evidence.jsonl") as file, pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        """
    )
    assert project.run("--manifest=cases.jsonl").ret == 0


# what a killed process leaves


def test_a_last_line_that_was_cut_is_taken_away(begun):
    path = begun.path / "run" / "evidence.jsonl"
    line = path.read_bytes()
    path.write_bytes(line + line[:100])
    assert begun.resume("cases.jsonl").ret == 0
    assert tried(begun) == [("cat-01", 1), ("cat-02", 1)]


def test_a_row_that_always_kills_its_process_does_not_stop_the_run(project):
    cases(project, "detected", "exit", "detected")
    kill(project)
    second = project.pytester.runpytest_subprocess(*ALONE, "--bench-resume=run", "cases.jsonl")
    assert second.ret == 3
    assert project.resume("cases.jsonl").ret == 1
    assert project.outcomes == {"cat-01": "match", "cat-02": "error", "cat-03": "match"}
    assert tried(project) == [("cat-01", 1), ("cat-02", 1), ("cat-02", 2), ("cat-03", 1)]
    assert {row["error"]["type"] for row in project.evidence if "error" in row} == {"ProcessDied"}


def test_a_row_that_killed_its_process_may_not_be_retried(project):
    cases(project, "detected", "exit", "detected")
    kill(project)
    assert project.resume("cases.jsonl", "--bench-crash-retries=0").ret == 1
    assert tried(project) == [("cat-01", 1), ("cat-02", 1), ("cat-03", 1)]


def test_retrying_errors_retries_a_row_that_killed_its_process(project):
    cases(project, "detected", f"once {project.path / 'died'}")
    kill(project)
    assert project.resume("cases.jsonl", "--bench-crash-retries=0", "--bench-retry=error").ret == 0


def test_a_death_after_the_verdict_undoes_it(project):
    cases(project, "detected", "detected")
    project.pytester.makepyfile(
        """
        import os
        import pytest

        @pytest.fixture
        def dying(case):
            yield
            if case.case_id == "cat-01" and not os.path.exists("died"):
                open("died", "w").close()
                os._exit(3)

        @pytest.mark.cases(kind="watermark")
        def test_dying(dying, observe):
            observe().check()
        """
    )
    died = project.pytester.runpytest_subprocess(*ALONE, "--bench-run-dir=run", "--manifest=cases.jsonl")
    assert died.ret == 3
    assert project.outcomes == {"cat-01": "match"}
    assert project.resume("--manifest=cases.jsonl").ret == 0
    history = [(row["key"]["attempt"], row["outcome"]) for row in project.evidence if row["key"]["case_id"] == "cat-01"]
    assert history == [(1, "match"), (1, "error"), (2, "match")]


def test_deaths_are_counted_over_sessions_with_and_without_workers(project):
    cases(project, "detected", "exit", "detected")
    kill(project)
    result = project.resume("cases.jsonl", workers=2)
    assert result.ret == 1
    deaths = [row["error"]["type"] for row in project.evidence if row["key"]["case_id"] == "cat-02"]
    assert deaths == ["ProcessDied", "WorkerCrash"]


def test_a_worker_that_replaces_another_leaves_out_the_same_rows(project):
    cases(project, *["detected"] * 6, f"once {project.path / 'died'}", *["detected"] * 5)
    project.run("cases.jsonl", "-k", "cat-01 or cat-05")
    result = project.resume("cases.jsonl", workers=1)
    assert result.ret == 0
    assert sorted(tried(project)) == sorted([(f"cat-{number:02}", 1) for number in range(1, 13)] + [("cat-07", 2)])


def test_a_run_that_ends_by_itself_leaves_no_mark(project):
    cases(project, "detected", "raise")
    project.run("cases.jsonl")
    assert sorted(path.name for path in (project.path / "run").iterdir()) == [
        "evidence.jsonl",
        "report.json",
        "report.md",
        "run.json",
    ]


def test_a_batch_is_asked_row_by_row_after_a_death(project):
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text().replace(
            "return [Detection(sample.data.decode().split()[0]) for sample in samples]",
            "if b'exit' in b''.join(s.data for s in samples): os._exit(3)\n"
            "        return [Detection(sample.data.decode().split()[0]) for sample in samples]",
        )
    )
    cases(project, "detected", "detected", "exit", "detected", "detected", adapter="waves")
    kill(project)
    for _ in range(2):
        project.pytester.runpytest_subprocess(*ALONE, "--bench-resume=run", "cases.jsonl")
    assert project.resume("cases.jsonl").ret == 1
    assert project.outcomes == {f"cat-{n:02}": "error" if n == 3 else "match" for n in range(1, 6)}


def test_rows_beside_one_that_stays_an_error_are_not_blamed(project):
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text().replace(
            "return [Detection(sample.data.decode().split()[0]) for sample in samples]",
            "if b'exit' in b''.join(s.data for s in samples): os._exit(3)\n"
            "        return [Detection(sample.data.decode().split()[0]) for sample in samples]",
        )
    )
    cases(project, "detected", "detected", "exit", "detected", "detected", adapter="waves")
    kill(project, "--bench-crash-retries=0")
    resumed = project.pytester.runpytest_subprocess(*ALONE, "--bench-resume=run", "cases.jsonl", "--bench-crash-retries=0")
    assert resumed.ret == 3
    assert project.resume("cases.jsonl", "--bench-crash-retries=0").ret == 1
    assert project.outcomes == {f"cat-{n:02}": "error" if n in (1, 3) else "match" for n in range(1, 6)}


WATCHED = """
import fcntl

def pytest_sessionstart(session):
    if hasattr(session.config, "workerinput"):
        session.config.alive = open("alive", "w")
        fcntl.flock(session.config.alive, fcntl.LOCK_SH)

class Orphan(Toy):
    name = "orphan"

    def detect(self, sample):
        if sample.data.startswith(b"orphan") and not os.path.exists("orphaned"):
            open("orphaned", "w").close()
            os.kill(os.getppid(), signal.SIGKILL)
        return Detection("detected")
"""


@pytest.mark.timeout(120)
def test_a_killed_controller_takes_its_workers_along_and_loses_nothing(project):
    conftest = project.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace("for adapter in (Toy", "for adapter in (Toy, Orphan") + WATCHED)
    cases(project, *["detected"] * 5, "orphan", *["detected"] * 14, adapter="orphan")
    assert project.run("cases.jsonl", workers=2).ret == -signal.SIGKILL
    with (project.path / "alive").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # which every living worker holds
    kept = tried(project)
    assert project.resume("cases.jsonl", workers=2).ret == 0
    assert tried(project)[: len(kept)] == kept
    assert sorted(tried(project)) == [(f"cat-{number:02}", 1) for number in range(1, 21)]

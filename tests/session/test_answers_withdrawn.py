"""An adapter that finds out when it is closed that its answers do not count."""

CONFTEST = """
    from pytest_benchbench import Adapter, AdapterDescription, AnswersWithdrawn, Detection

    class Regretful(Adapter):
        name = "regretful"
        media_types = frozenset({"image"})
        needs = "bytes"

        def detect(self, sample):
            return Detection("detected")

        def describe(self):
            return AdapterDescription("1", "everything is detected")

        def close(self):
            raise AnswersWithdrawn("it asked a server")

    class Clumsy(Regretful):
        name = "clumsy"

        def close(self):
            raise OSError("stuck")

    def pytest_benchbench_adapters(registry):
        registry.register(Regretful)
        registry.register(Clumsy)
"""


def test_answers_that_are_taken_back_are_errors_in_the_evidence_too(project, workers):
    project.pytester.makeconftest(CONFTEST)
    project.case("a", adapter="regretful")
    project.case("b", adapter="clumsy")
    project.write()
    result = project.run("cases.jsonl", workers=workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*adapter regretful: its answers do not count: it asked a server"])
    assert (
        project.document("report.json")["results"]["outcomes"] | {"error": 1, "match": 1}
        == (project.document("report.json")["results"]["outcomes"])
    )
    last = project.evidence[-1]
    assert (last["key"]["case_id"], last["key"]["attempt"], last["outcome"]) == ("a", 1, "error")
    assert last["error"] == {"type": "AnswersWithdrawn", "message": "it asked a server"}


def test_what_was_taken_back_can_be_asked_again(project):
    project.pytester.makeconftest(CONFTEST)
    project.case("a", adapter="regretful")
    project.write()
    project.run("cases.jsonl")
    assert project.resume("cases.jsonl").ret == 1
    assert len(project.evidence) == 2
    assert project.resume("cases.jsonl", "--bench-retry=error").ret == 1
    assert [(row["key"]["attempt"], row["outcome"]) for row in project.evidence] == [
        (1, "match"),
        (1, "error"),
        (2, "match"),
        (2, "error"),
    ]


def test_the_other_faults_of_closing_hide_no_answers(project, workers):
    project.pytester.makeconftest(CONFTEST)
    project.case("a", adapter="clumsy")
    project.write()
    result = project.run("cases.jsonl", workers=workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*adapter clumsy: close failed: OSError: stuck"])

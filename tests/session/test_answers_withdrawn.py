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


def test_a_run_whose_answers_are_taken_back_fails_and_says_why(project, workers):
    project.pytester.makeconftest(CONFTEST)
    project.case("a", adapter="regretful")
    project.write()
    result = project.run("cases.jsonl", workers=workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*adapter regretful: its answers do not count: it asked a server"])


def test_the_other_faults_of_closing_hide_no_answers(project, workers):
    project.pytester.makeconftest(CONFTEST)
    project.case("a", adapter="clumsy")
    project.write()
    result = project.run("cases.jsonl", workers=workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*adapter clumsy: close failed: OSError: stuck"])

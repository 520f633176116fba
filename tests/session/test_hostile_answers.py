"""Answers that evidence cannot hold cost their own row: the run ends with a report, and other rows keep their verdicts."""

import pytest

ADAPTERS = """
    from pytest_benchbench import Adapter, AdapterDescription, BatchAdapter, Detection

    class Booby(Detection):
        def __getattribute__(self, name):
            if name == "scorer":
                raise LookupError("looked at")
            return super().__getattribute__(name)

    def answer(sample):
        word = sample.data.decode().split()[0]
        if word == "deep":
            value = {}
            for _ in range(100_000):
                value = {"a": value}
            return Detection("detected", scorer=value)
        if word == "giant":
            return Detection("detected", scorer={"a": "x" * 70_000_000})
        if word == "booby":
            return Booby("detected")
        return Detection(word)

    class One(Adapter):
        name = "one"
        media_types = frozenset({"image"})
        needs = "bytes"

        def detect(self, sample):
            return answer(sample)

        def describe(self):
            return AdapterDescription("1", "r")

    class Wave(BatchAdapter):
        name = "wave"
        media_types = frozenset({"image"})
        needs = "bytes"
        batch_size = 10

        def detect_batch(self, samples):
            return [answer(sample) for sample in samples]

        def describe(self):
            return AdapterDescription("1", "r")

    class Wordy(One):
        name = "wordy"

        def describe(self):
            return AdapterDescription("1", "x" * 70_000_000)

    def pytest_benchbench_adapters(registry):
        for adapter in (One, Wave, Wordy):
            registry.register(adapter)
"""


@pytest.fixture
def talkative(project):
    project.pytester.makeconftest(ADAPTERS)
    return project


@pytest.mark.parametrize("adapter", ["one", "wave"])
@pytest.mark.parametrize("answer", ["deep", "giant", "booby"])
def test_an_answer_that_evidence_cannot_hold_is_an_error_of_its_row(talkative, adapter, answer):
    for name, says in (("first", "detected"), ("second", answer), ("third", "not_detected")):
        talkative.case(name, says=says, adapter=adapter, expected="unresolved")
    talkative.write()
    result = talkative.run("cases.jsonl")
    assert result.ret == 1
    assert talkative.outcomes == {"first": "measured", "second": "error", "third": "measured"}
    result.stdout.fnmatch_lines(["cases.jsonl:2: second: error: *Error: *"])
    assert talkative.document("report.json")["results"]["outcomes"]["error"] == 1


def test_a_giant_description_is_a_failing_load(talkative):
    talkative.case("cat-01", adapter="wordy")
    talkative.write()
    assert talkative.run("cases.jsonl").ret == 1
    assert "more than 65536: every row repeats them" in talkative.evidence[0]["error"]["message"]

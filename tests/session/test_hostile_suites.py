"""Adapters, suites and files that misbehave cost their own row, never the session."""

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.evidence.foreign_text import MAX_CHARACTERS, is_one_line, one_line

ADAPTER = """
    from pytest_benchbench import Adapter, AdapterDescription, Detection
    import numpy

    class Odd(Adapter):
        name = "odd"
        media_types = frozenset({{"image"}})
        needs = "bytes"

        def detect(self, sample):
            {detect}

        def describe(self):
            return {describe}

    def pytest_benchbench_adapters(registry):
        registry.register(Odd)
"""


@pytest.mark.parametrize(
    ("detect", "describe"),
    [
        (r"return Detection('detected', scorer={'n': '\udcff'})", "AdapterDescription('1', 'r')"),
        ("return Detection('detected', temporal=[1, 2])", "AdapterDescription('1', 'r')"),
        ("return Detection('detected', score='high')", "AdapterDescription('1', 'r')"),
        (r"raise ValueError('\udcff')", "AdapterDescription('1', 'r')"),
        ("raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})", "AdapterDescription('1', 'r')"),
        ("return Detection('detected')", "AdapterDescription(1.0, 'r')"),
        ("return Detection('detected')", r"AdapterDescription('1', '\udcff')"),
        ("return Detection('detected')", "AdapterDescription('1', 'r', (('w', 'x'),))"),
    ],
    ids=["surrogate", "list", "text-score", "message", "mute", "version", "rule", "weights"],
)
@pytest.mark.parametrize("processes", [0, 1])
def test_an_adapter_that_says_what_evidence_cannot_carry_is_an_error(project, detect, describe, processes):
    project.pytester.makeconftest(ADAPTER.format(detect=detect, describe=describe))
    project.case("cat-01", adapter="odd", expected="not_detected")
    project.write()
    result = project.run("cases.jsonl", workers=processes)
    assert result.ret == 1
    assert project.outcomes == {"cat-01": "error"}


def test_a_text_of_a_foreign_type_becomes_plain(project):
    detect = "return Detection(numpy.str_('detected'), label=numpy.str_('x'), score=numpy.float32(0.5))"
    project.pytester.makeconftest(ADAPTER.format(detect=detect, describe="AdapterDescription('1', 'r')"))
    project.case("cat-01", adapter="odd")
    project.write()
    assert project.run("cases.jsonl").ret == 0
    assert project.evidence[0]["detection"]["label"] == "x"


@pytest.mark.parametrize(
    "body",
    [
        r"raise ValueError('\udcff')",
        "raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})",
        "record_property(1, 'x'); raise OSError('mine')",
    ],
    ids=["surrogate", "mute", "property"],
)
def test_a_suite_that_raises_what_evidence_cannot_carry_is_an_error(project, body):
    project.case("cat-01")
    project.write()
    project.pytester.makepyfile(
        f"""
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_mine(observe, record_property):
            {body}
        """
    )
    assert project.run("--manifest=cases.jsonl").ret == 1
    assert project.outcomes == {"cat-01": "error"}


@pytest.mark.parametrize("processes", [0, 1])
def test_a_manifest_that_changes_during_the_run_costs_its_rows(project, processes):
    for number in range(3):
        project.case(f"cat-{number}")
    project.write()
    project.pytester.makepyfile(
        """
        import pathlib
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_mine(observe):
            observe().check()
            with open(pathlib.Path(__file__).parent / "cases.jsonl", "a") as file:
                file.write("\\n")
        """
    )
    result = project.run("--manifest=cases.jsonl", workers=processes)
    assert result.ret == 1
    assert list(project.outcomes.values()) == ["match", "error", "error"]
    assert "changed after it was validated" in project.evidence[1]["error"]["message"]
    assert project.document("run.json")["exit_status"] == 1


@pytest.mark.skipif(not hasattr(pytest, "Subtests"), reason="subtests are part of pytest from 9.0 on")
def test_subtests_do_not_consume_the_observation(project):
    project.case("cat-01")
    project.write()
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_mine(observe, subtests):
            observation = observe()
            with subtests.test("status"):
                assert observation.detection.status == "detected"
            observation.check()
        """
    )
    assert project.run("--manifest=cases.jsonl").ret == 0
    assert [row["key"]["attempt"] for row in project.evidence] == [1]


@pytest.mark.parametrize("option", ["--fixtures", "--setup-plan", "--setup-only", "--collect-only"])
def test_a_session_that_asks_no_detector_begins_no_run(project, option):
    project.case("cat-01")
    project.write()
    assert project.run("cases.jsonl", option).ret == 0
    assert not (project.path / "run").exists()


def test_a_module_that_cannot_be_imported_begins_no_run(project):
    project.case("cat-01")
    project.write()
    project.pytester.makepyfile(test_broken="import no_such_module_here")
    assert project.run("cases.jsonl", "test_broken.py").ret == 2
    assert not (project.path / "run").exists()


def test_a_cold_batch_adapter_is_asked_about_its_own_row(project):
    for number in range(5):
        project.case(f"cat-{number}", adapter="waves")
    project.write()
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_cold(cold_adapter, observe):
            observe().check()
        """
    )
    assert project.run("--manifest=cases.jsonl").ret == 0
    assert (project.path / "waves.txt").read_text().split() == ["1"] * 5


def test_a_fault_in_setup_is_one_line_too(project):
    project.case("cat-01", adapter="dwt-dct", expected="not_detected")
    project.write()
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_media(artifact, observe):
            observe().check()
        """
    )
    result = project.run("--manifest=cases.jsonl")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["cases.jsonl:1: cat-01: error: UndecodableArtifactError: *"])
    assert "Traceback" not in result.stdout.str()
    assert project.outcomes == {"cat-01": "error"}


def test_without_the_skipping_plugin(project):
    project.case("cat-01")
    project.write()
    assert project.run("cases.jsonl", "-p", "no:skipping").ret == 0


def test_what_a_terminal_would_obey_is_shown_escaped():
    assert one_line("a\x1b[31mb\0c\nd \udcff") == r"a\x1b[31mb\x00c d \udcff"
    assert len(one_line("x" * 10_000)) == MAX_CHARACTERS


@given(st.text(max_size=30))
def test_the_quick_look_agrees_with_the_whole_one(text):
    assert not is_one_line(text) or one_line(text) == text

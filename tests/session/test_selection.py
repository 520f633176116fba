"""Choosing rows by pytest's own means and by the plugin's, and what that makes of the evidence."""

from xml.etree import ElementTree

import pytest

SUITE = """
    import pytest

    @pytest.mark.cases(kind="watermark")
    def test_detection(observe):
        observe().check()
"""


@pytest.fixture
def four(project):
    """Four rows, the second of which is answered wrongly."""
    for number in range(1, 5):
        project.case(
            f"cat-{number:02}", "not_detected" if number == 2 else "detected", state="marked" if number < 3 else "attacked"
        )
    project.write()
    project.pytester.makepyfile(test_bench=SUITE)
    return project


def ran(project):
    return sorted(row["key"]["case_id"] for row in project.evidence)


def rerun(project, *arguments, workers=0):
    if (project.path / "run").exists():
        (project.path / "run").rename(project.path / f"run-{len(list(project.path.glob('run-*')))}")
    return project.run(*arguments, workers=workers)


def test_node_ids_name_suite_adapter_and_case(four):
    result = four.run("--manifest=cases.jsonl", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["test_bench.py::test_detection::toy::cat-01"])
    assert not (four.path / "run").exists()


def test_by_keyword(four, workers):
    assert four.run("--manifest=cases.jsonl", "-k", "cat-01 or cat-03", workers=workers).ret == 0
    assert ran(four) == ["cat-01", "cat-03"]
    assert four.document("run.json")["planned"] == {"rows": 4, "selected": 2, "left_out": 2, "lost": 0}


def test_by_node_id(four, workers):
    arguments = ("--manifest=cases.jsonl", "test_bench.py::test_detection::toy::cat-03")
    assert four.run(*arguments, workers=workers).ret == 0
    assert ran(four) == ["cat-03"]


def test_by_adapter_node_id(four):
    four.case("cat-05", adapter="absent")
    four.write()
    assert four.run("--manifest=cases.jsonl", "test_bench.py::test_detection::absent").ret == 21
    assert ran(four) == ["cat-05"]


def test_by_node_id_of_the_built_in_suite(four):
    assert four.run("cases.jsonl::test_detection::toy::cat-04").ret == 0
    assert ran(four) == ["cat-04"]


def test_by_deselecting(four, workers):
    deselect = "--deselect=test_bench.py::test_detection::toy::cat-02"
    assert four.run("--manifest=cases.jsonl", deselect, workers=workers).ret == 0
    assert ran(four) == ["cat-01", "cat-03", "cat-04"]


@pytest.mark.parametrize("case_id", ["a b", "100%", "x::y", "a[1]", "not", "Fuß/é", "+20", "a/../b"])
def test_an_odd_id_can_be_named_again(project, case_id):
    project.case(case_id)
    project.case("other")
    project.write()
    listed = project.run("cases.jsonl", "--collect-only", "-q").stdout.lines
    nodeid = next(line for line in listed if "::toy::" in line and not line.endswith("::other"))
    assert rerun(project, nodeid).ret == 0
    assert ran(project) == [case_id]
    assert rerun(project, "cases.jsonl", f"--deselect={nodeid}").ret == 0
    assert ran(project) == ["other"]


def test_last_failed_first_failed_and_stepwise(four):
    manifest = "--manifest=cases.jsonl"
    assert four.run(manifest).ret == 1
    assert rerun(four, manifest, "--lf").ret == 1
    assert ran(four) == ["cat-02"]
    assert rerun(four, manifest, "--ff").ret == 1
    assert four.evidence[0]["key"]["case_id"] == "cat-02"
    assert rerun(four, manifest, "--sw").ret in {1, 2}
    assert ran(four) == ["cat-01", "cat-02"]
    assert four.document("run.json")["planned"]["left_out"] == 2


def test_stopping_at_the_first_failure_leaves_rows_out_and_loses_none(four):
    assert four.run("--manifest=cases.jsonl", "-x").ret == 1
    assert ran(four) == ["cat-01", "cat-02"]
    assert four.document("run.json")["planned"] == {"rows": 4, "selected": 4, "left_out": 2, "lost": 0}


def test_stopping_at_the_first_failure_with_workers(four):
    assert four.run("--manifest=cases.jsonl", "-x", workers=2).ret == 2
    assert four.document("run.json")["planned"]["lost"] == 0


def test_by_field(four, workers):
    assert four.run("--manifest=cases.jsonl", "--bench-select=state=attacked", workers=workers).ret == 0
    assert ran(four) == ["cat-03", "cat-04"]
    assert four.document("run.json")["planned"]["rows"] == 2


def test_by_transform_name(four):
    transform = {"name": "jpeg-75", "revision": "1", "parameters": {}}
    four.case("cat-05", transform=transform)
    four.write()
    assert four.run("cases.jsonl", "--bench-select=transform=jpeg-75").ret == 0
    assert ran(four) == ["cat-05"]


def test_an_empty_selection_is_5(four, workers):
    assert four.run("--manifest=cases.jsonl", "-k", "nothing", workers=workers).ret == 5
    assert four.run("--manifest=cases.jsonl", "--bench-select=state=clean", workers=workers).ret == 5
    assert not (four.path / "run").exists()


def test_without_the_cache_plugin(four):
    assert four.run("--manifest=cases.jsonl", "-p", "no:cacheprovider").ret == 1


def test_in_random_order_each_row_runs_once(four):
    result = four.pytester.runpytest_subprocess(
        "-p", "randomly", "-p", "no:xdist", "--bench-run-dir=run", "--manifest=cases.jsonl"
    )
    assert result.ret == 1
    assert ran(four) == ["cat-01", "cat-02", "cat-03", "cat-04"]


def test_a_timeout_is_an_error_of_its_row(project):
    project.case("cat-01", expected="not_detected")
    project.write()
    project.pytester.makepyfile(
        """
        import threading
        import pytest

        @pytest.mark.timeout(0.2, method="signal")
        @pytest.mark.cases(kind="watermark")
        def test_slow(observe):
            threading.Event().wait(30)
            observe()
        """
    )
    assert project.run("--manifest=cases.jsonl").ret == 1
    assert project.outcomes == {"cat-01": "error"}


def test_junit_properties_carry_the_observation(four, workers):
    conftest = four.path / "conftest.py"
    mine = "\nimport pytest\n@pytest.fixture(autouse=True)\ndef mine(record_property):\n    record_property('mine', 7)\n"
    conftest.write_text(conftest.read_text() + mine)
    four.run("--manifest=cases.jsonl", "--junitxml=junit.xml", "-o", "junit_family=xunit1", "-k", "cat-01", workers=workers)
    properties = [found.attrib for found in ElementTree.parse(four.path / "junit.xml").iter("property")]
    named = {found["name"]: found["value"] for found in properties}
    assert len(named) == len(properties)
    told = {
        "mine": "7",
        "benchbench.case_id": "cat-01",
        "benchbench.adapter": "toy",
        "benchbench.manifest": "cases.jsonl:1",
        "benchbench.expected": "detected",
        "benchbench.outcome": "match",
        "benchbench.detection.status": "detected",
    }
    assert named | told == named


def test_reruns_are_attempts_and_the_first_verdict_counts(four):
    assert four.run("--manifest=cases.jsonl", "--reruns=2").ret == 1
    attempts = [row["key"]["attempt"] for row in four.evidence if row["key"]["case_id"] == "cat-02"]
    assert attempts == [1, 2, 3]
    assert four.document("report.json")["results"]["outcomes"]["mismatch"] == 1

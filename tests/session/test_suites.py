"""What a suite may look like, and where its manifests come from."""

import pytest

PLAIN = """
    import pytest

    @pytest.mark.cases(kind="watermark")
    def test_mine(observe):
        observe().check()
"""


@pytest.fixture
def two(project):
    project.case("cat-01")
    project.case(
        "cat-02", adapter="dwt-dct", path=project.rows[0]["path"], sha256=project.rows[0]["sha256"], expected="unresolved"
    )
    project.rows.pop()
    project.case("dog-01", state="clean", arm="matched_negative", expected="detected")
    project.write()
    return project


def nodeids(project, *arguments):
    result = project.run("--collect-only", "-q", *arguments)
    return [line for line in result.stdout.lines if "::" in line]


def test_a_bare_manifest_runs_the_built_in_suite(two):
    assert nodeids(two, "cases.jsonl") == [
        "cases.jsonl::test_detection::toy::cat-01",
        "cases.jsonl::test_detection::toy::dog-01",
    ]


def test_a_manifest_option_runs_the_built_in_suite_when_nothing_else_is_named(two, workers):
    assert two.run("--manifest=cases.jsonl", workers=workers).ret == 0
    assert {row["key"]["suite"] for row in two.evidence} == {"cases.jsonl::test_detection"}


def test_a_suite_of_the_project_comes_before_the_built_in_one(two):
    two.pytester.makepyfile(test_bench=PLAIN)
    assert nodeids(two, "--manifest=cases.jsonl") == [
        "test_bench.py::test_mine::toy::cat-01",
        "test_bench.py::test_mine::toy::dog-01",
    ]


def test_where_narrows_a_suite_and_another_takes_the_rest(two):
    two.pytester.makepyfile(
        test_bench="""
        import pytest

        @pytest.mark.cases(kind="watermark", where={"state": "clean"})
        def test_clean(observe):
            observe().check()

        @pytest.mark.cases(kind="watermark", where={"state": ["marked", "attacked"]})
        def test_marked(observe):
            observe().check()
        """
    )
    assert nodeids(two, "--manifest=cases.jsonl") == [
        "test_bench.py::test_clean::toy::dog-01",
        "test_bench.py::test_marked::toy::cat-01",
    ]


def test_a_suite_may_be_parametrized(two, workers):
    two.pytester.makepyfile(
        test_bench="""
        import pytest

        @pytest.mark.parametrize("level", [1, 2])
        @pytest.mark.cases(kind="watermark")
        def test_levels(observe, level):
            assert level in (1, 2)
            observe().check()
        """
    )
    assert two.run("--manifest=cases.jsonl", workers=workers).ret == 0
    keys = sorted((row["key"]["case_id"], row["key"]["params"]) for row in two.evidence)
    assert keys == [("cat-01", "1"), ("cat-01", "2"), ("dog-01", "1"), ("dog-01", "2")]


def test_a_suite_in_a_class_gets_a_fresh_instance_for_each_row(two):
    two.pytester.makepyfile(
        test_bench="""
        import pytest

        class TestBench:
            @pytest.fixture(autouse=True)
            def counted(self):
                assert not hasattr(self, "seen")
                self.seen = True

            @pytest.mark.cases(kind="watermark")
            def test_method(self, observe, tmp_path, monkeypatch):
                assert self.seen
                observe().check()
        """
    )
    assert two.run("--manifest=cases.jsonl").ret == 0
    assert len(two.evidence) == 2


def test_what_a_suite_may_ask_for(two):
    two.pytester.makepyfile(
        test_bench="""
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_fixtures(case, adapter, cold_adapter, observe):
            assert case.case_id in ("cat-01", "dog-01")
            assert adapter.name == "toy" and cold_adapter is not adapter
            observation = observe()
            assert observation.detection.call == "cold"
            observation.check()
        """
    )
    assert two.run("--manifest=cases.jsonl").ret == 0


def test_a_decoded_artifact_and_its_reference(project):
    import hashlib

    import numpy as np
    from PIL import Image

    Image.fromarray(np.full((4, 6, 3), 9, np.uint8)).save(project.path / "a.png")
    digest = hashlib.sha256((project.path / "a.png").read_bytes()).hexdigest()
    same = {"path": "a.png", "sha256": digest, "adapter": "dwt-dct", "expected": "unresolved"}
    project.case("with", **same, reference_path="a.png", reference_sha256=digest)
    project.write()
    project.pytester.makepyfile(
        test_bench="""
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_media(artifact, reference):
            assert artifact.pixels.shape == (4, 6, 3)
            assert not artifact.pixels.flags.writeable
            assert (reference.pixels == 9).all()
            raise RuntimeError("seen")
        """
    )
    project.run("--manifest=cases.jsonl")
    assert project.evidence[0]["error"] == {"type": "RuntimeError", "message": "seen"}


@pytest.mark.parametrize("fixture", ["case", "observe", "artifact"])
def test_a_fixture_outside_of_a_suite_says_what_it_needs(project, fixture):
    project.pytester.makepyfile(f"def test_plain({fixture}): pass")
    result = project.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"*the fixture '{fixture}' needs @pytest.mark.cases(kind=...)*"])


def test_a_suite_without_a_manifest_is_one_skipped_item(project, workers):
    project.pytester.makepyfile(test_bench=PLAIN)
    result = project.run("-rs", workers=workers)
    assert result.ret == 0
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*no watermark manifest: give --manifest=PATH*"])
    assert not (project.path / "run").exists()


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.cases(kind='watermark')\nasync def test_async(observe): pass",
        "class TestCase(unittest.TestCase):\n    @pytest.mark.cases(kind='watermark')\n    def test_method(self): pass",
        "@pytest.mark.cases(kind='smell')\ndef test_kind(observe): pass",
        "@pytest.mark.cases('watermark')\ndef test_positional(observe): pass",
        "@pytest.mark.cases(kind='watermark', where={'flavour': 'sweet'})\ndef test_where(observe): pass",
        "@pytest.mark.cases(kind='watermark', where={'state': []})\ndef test_nothing(observe): pass",
        "@pytest.mark.cases(kind=['watermark'])\ndef test_list(observe): pass",
        "@pytest.mark.cases(kind='watermark')\nclass TestCase(unittest.TestCase):\n    def test_method(self): pass",
        "pytestmark = pytest.mark.cases(kind='watermark')\nclass TestCase(unittest.TestCase):\n    def test_one(self): pass",
    ],
    ids=["async", "unittest", "unknown-kind", "positional", "unknown-field", "no-value", "list", "class", "module"],
)
def test_a_marked_function_that_cannot_be_expanded_fails_at_collection(two, source):
    two.pytester.makepyfile(test_bench=f"import pytest\nimport unittest\n\n{source}\n")
    result = two.run("test_bench.py")
    assert result.ret == 2
    result.assert_outcomes(errors=1)


def test_manifests_of_the_configuration(two):
    two.pytester.makeini("[pytest]\nbench_manifest = cases.jsonl")
    two.pytester.makepyfile(test_bench=PLAIN)
    assert two.run().ret == 0
    assert len(two.evidence) == 2


def test_manifests_of_the_configuration_never_add_the_built_in_suite(two):
    two.pytester.makeini("[pytest]\nbench_manifest = cases.jsonl")
    two.pytester.makepyfile(test_unit="def test_unit(): pass")
    result = two.run()
    assert result.ret == 0
    result.assert_outcomes(passed=1)
    assert not (two.path / "run").exists()


def test_manifests_of_the_command_line_replace_those_of_the_configuration(two):
    two.write("other.jsonl", rows=two.rows[:1])
    two.pytester.makeini("[pytest]\nbench_manifest = cases.jsonl")
    two.pytester.makepyfile(test_bench=PLAIN)
    assert two.run("--manifest=other.jsonl").ret == 0
    assert len(two.evidence) == 1


def test_manifests_that_a_conftest_builds(two, workers):
    conftest = two.path / "conftest.py"
    hook = (
        "def pytest_benchbench_manifests(config):\n"
        "    assert not hasattr(config, 'workerinput')\n"
        "    return [config.rootpath / 'cases.jsonl']\n"
    )
    conftest.write_text(conftest.read_text() + "\n" + hook)
    two.pytester.makepyfile(test_bench=PLAIN)
    assert two.run(workers=workers).ret == 0
    assert len(two.evidence) == 2


def test_several_manifests_share_the_group_of_an_adapter(two):
    two.write("a.jsonl", rows=two.rows[:1])
    two.write("b.jsonl", rows=two.rows[1:])
    assert nodeids(two, "--manifest=a.jsonl", "--manifest=b.jsonl") == [
        "a.jsonl::test_detection::toy::cat-01",
        "b.jsonl::test_detection::toy::dog-01",
    ]
    two.pytester.makepyfile(test_bench=PLAIN)
    assert nodeids(two, "--manifest=a.jsonl", "--manifest=b.jsonl") == [
        "test_bench.py::test_mine::toy::cat-01",
        "test_bench.py::test_mine::toy::dog-01",
    ]


def test_options_of_an_adapter(two, workers):
    result = two.run("cases.jsonl", "--bench-adapter=toy:flip=true", workers=workers)
    assert result.ret == 1
    assert {row["detection"]["status"] for row in two.evidence} == {"not_detected"}
    assert two.evidence[0]["adapter"]["options"] == {"flip": "true"}


def test_a_batch_adapter_is_asked_in_waves_and_about_each_row_once(project):
    for number in range(10):
        project.case(f"cat-{number:02}", adapter="waves")
    project.write()
    assert project.run("cases.jsonl").ret == 0
    assert (project.path / "waves.txt").read_text().split() == ["4", "4", "2"]
    assert [row["batch"]["size"] for row in project.evidence] == [4] * 8 + [2] * 2


def test_a_manifest_outside_the_rootdir(two, tmp_path_factory):
    inner = two.path / "inner"
    inner.mkdir()
    (inner / "pytest.ini").write_text("[pytest]\n")
    (inner / "conftest.py").write_text((two.path / "conftest.py").read_text())
    (two.path / "conftest.py").unlink()
    two.pytester.chdir()
    result = two.run("--rootdir=inner", "-c", "inner/pytest.ini", "--confcutdir=.", "inner", "cases.jsonl")
    assert result.ret == 0
    assert {row["key"]["suite"] for row in two.evidence} == {"../cases.jsonl::test_detection"}


def test_another_working_directory(two, monkeypatch):
    (two.path / "elsewhere").mkdir()
    monkeypatch.chdir(two.path / "elsewhere")
    result = two.run("../cases.jsonl", f"--rootdir={two.path}")
    assert result.ret == 0


def test_the_default_run_directory_ignores_itself(two):
    result = two.pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:randomly", "cases.jsonl")
    assert result.ret == 0
    assert (two.path / ".benchbench" / ".gitignore").read_text() == "*\n"
    (run,) = (two.path / ".benchbench" / "runs").iterdir()
    assert sorted(path.name for path in run.iterdir()) == [
        "evidence.jsonl",
        "report.html",
        "report.json",
        "report.md",
        "run.json",
    ]


def test_the_built_in_suite_runs_whatever_the_project_calls_its_tests(two):
    two.pytester.makeini("[pytest]\npython_functions = check_*")
    assert two.run("cases.jsonl").ret == 0
    assert len(two.evidence) == 2


def test_several_rows_of_a_manifest_by_their_node_ids(two):
    two.pytester.makeini("[pytest]\nbench_manifest = cases.jsonl")
    assert two.run("cases.jsonl::test_detection::toy::cat-01", "cases.jsonl::test_detection::toy::dog-01").ret == 0
    assert len(two.evidence) == 2


def test_a_manifest_by_a_symbolic_link(two):
    (two.path / "latest.jsonl").symlink_to("cases.jsonl")
    assert two.run("latest.jsonl").ret == 0
    assert len(two.evidence) == 2


def test_a_conftest_is_not_asked_for_manifests_when_the_command_names_them(two):
    conftest = two.path / "conftest.py"
    conftest.write_text(conftest.read_text() + "\ndef pytest_benchbench_manifests(config):\n    raise AssertionError\n")
    assert two.run("cases.jsonl").ret == 0


def test_hidden_parameters_are_no_parameters(two):
    two.pytester.makepyfile(
        test_bench="""
        import pytest

        @pytest.mark.parametrize("level", [pytest.param(1, id=pytest.HIDDEN_PARAM)])
        @pytest.mark.cases(kind="watermark")
        def test_levels(observe, level):
            observe().check()
        """
    )
    assert two.run("--manifest=cases.jsonl").ret == 0
    assert {row["key"]["params"] for row in two.evidence} == {None}


def test_a_manifest_elsewhere_is_named_as_if_it_lay_in_the_project(two, workers, tmp_path):
    (tmp_path / "sets").mkdir()
    for path in [two.path / "cases.jsonl", *two.path.glob("*.bin")]:
        path.rename(tmp_path / "sets" / path.name)
    result = two.run(f"--manifest={tmp_path / 'sets' / 'cases.jsonl'}", f"--bench-manifest-root={tmp_path}", workers=workers)
    assert result.ret == 0
    assert {row["key"]["suite"] for row in two.evidence} == {"sets/cases.jsonl::test_detection"}

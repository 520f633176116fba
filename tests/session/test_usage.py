"""Faults of use: exit code 4, one line that says what and where, nothing run, nothing left behind."""

import pytest


def refused(project, *arguments, workers=0, says):
    result = project.run(*arguments, workers=workers)
    assert result.ret == 4
    assert says in result.stderr.str() + result.stdout.str()
    assert "Traceback" not in result.stderr.str() + result.stdout.str()
    assert not (project.path / "run").exists()
    assert not (project.path / ".benchbench").exists()
    return result


def test_a_bad_line(project, workers):
    project.case("cat-01")
    project.case("cat-02", sha256="ABC")
    project.write()
    refused(project, "cases.jsonl", workers=workers, says="cases.jsonl:2: sha256: expected 64 lower-case hex digits")


def test_a_missing_manifest(project, workers):
    refused(project, "--manifest=gone.jsonl", workers=workers, says="gone.jsonl: no such manifest")


def test_a_missing_manifest_among_the_arguments(project, workers):
    project.case("cat-01")
    project.write()
    refused(project, "cases.jsonl", "gone.jsonl", workers=workers, says="gone.jsonl: no such manifest")
    refused(project, f"{'x' * 300}.jsonl::test_detection", workers=workers, says="no such manifest")


def test_a_folder_in_the_place_of_a_manifest(project, workers):
    (project.path / "folder").mkdir()
    refused(project, "--manifest=folder", workers=workers, says="folder: is no file")


def test_an_empty_manifest(project, workers):
    project.write(rows=[])
    refused(project, "cases.jsonl", workers=workers, says="cases.jsonl")


def test_a_wrong_digest_is_found_before_any_detector_runs(project, workers):
    project.case("cat-01", "exit")
    project.case("cat-02", sha256="0" * 64)
    project.write()
    refused(project, "cases.jsonl", workers=workers, says="cases.jsonl:2: sha256")


def test_a_wrong_digest_is_an_error_of_its_row_when_verification_is_lazy(project):
    project.case("cat-01")
    project.case("cat-02", sha256="0" * 64, expected="not_detected")
    project.write()
    result = project.run("cases.jsonl", "--bench-verify=lazy")
    assert result.ret == 1
    assert project.outcomes == {"cat-01": "match", "cat-02": "error"}


def test_a_missing_file(project):
    project.case("cat-01", path="gone.bin")
    project.write()
    refused(project, "cases.jsonl", says="gone.bin")


def test_a_path_that_leaves_the_manifests_directory(project):
    outside = project.path.parent / f"{project.path.name}-outside.bin"
    outside.write_bytes(b"detected about cat-01")
    project.case("cat-01", path=f"../{outside.name}")
    project.write()
    refused(project, "cases.jsonl", says="cases.jsonl:1: path")


def test_an_artifact_root_lets_a_path_leave(project):
    outside = project.path.parent / f"{project.path.name}-root"
    outside.mkdir()
    row = project.case("cat-01")
    (project.path / row["path"]).rename(outside / "moved.bin")
    row["path"] = f"../{outside.name}/moved.bin"
    project.write()
    assert project.run("cases.jsonl", f"--bench-artifact-root={outside}").ret == 0


def test_a_symlink_that_leaves(project):
    outside = project.path.parent / f"{project.path.name}-target.bin"
    outside.write_bytes(b"detected about cat-01")
    row = project.case("cat-01")
    (project.path / row["path"]).unlink()
    (project.path / row["path"]).symlink_to(outside)
    project.write()
    refused(project, "cases.jsonl", says="cases.jsonl:1: path")


def test_an_unknown_adapter(project, workers):
    project.case("cat-01", adapter="no-such")
    project.write()
    refused(project, "cases.jsonl", workers=workers, says="cases.jsonl:1: adapter")


def test_the_same_manifest_twice(project):
    project.case("cat-01")
    project.write()
    refused(project, "--manifest=cases.jsonl", "--manifest=./cases.jsonl", says="the same manifest is given twice")


def test_the_same_id_in_two_manifests(project):
    project.case("cat-01")
    project.write("a.jsonl")
    project.write("b.jsonl")
    result = refused(project, "--manifest=a.jsonl", "--manifest=b.jsonl", says="b.jsonl:1: case_id")
    assert "a.jsonl:1" in result.stderr.str()


def test_a_manifest_that_no_suite_is_for(project, workers):
    project.case("cat-01")
    project.write()
    project.pytester.makepyfile("def test_unit(): pass")
    module = next(project.path.glob("test_*.py")).name
    refused(project, module, "--manifest=cases.jsonl", workers=workers, says="no suite of kind watermark was collected")


def test_a_row_that_no_suite_takes(project, workers):
    project.case("cat-01", state="clean", arm="matched_negative")
    project.case("cat-02")
    project.write()
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.cases(kind="watermark", where={"state": "clean"})
        def test_clean(observe):
            observe().check()
        """
    )
    refused(
        project,
        "--manifest=cases.jsonl",
        workers=workers,
        says="cases.jsonl:2: no collected suite of kind watermark takes this row",
    )


def test_an_existing_run_directory(project):
    project.case("cat-01")
    project.write()
    (project.path / "run").mkdir()
    (project.path / "run" / "precious").write_text("mine")
    result = project.run("cases.jsonl")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--bench-run-dir=*run: exists already*"])
    assert [p.name for p in (project.path / "run").iterdir()] == ["precious"]


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--bench-verify=sometimes", "expected preflight or lazy"),
        ("--bench-select=state", "expected field=value"),
        ("--bench-select=flavour=sweet", "rows have no field 'flavour'"),
        ("--bench-adapter=toy:taste=sweet", "unknown option 'taste'; it has: flip"),
        ("--bench-adapter=toy:flip=perhaps", "--bench-adapter=toy: "),
        ("--bench-adapter=nobody", "unknown adapter 'nobody'"),
        ("--bench-adapter=mine=toy", "without an alias"),
        ("--bench-adapter==toy", "expected [ALIAS=]NAME[:key=value,...]"),
        ("--bench-max-pixels=-1", "positive whole number"),
        ("--bench-artifact-root=nowhere", "no such directory"),
        ("--bench-expectations=gone.yaml", "gone.yaml"),
        ("--bench-gate=gone.yaml", "--bench-gate: "),
        ("--bench-gate=relaese", "--bench-gate: "),
    ],
)
def test_a_bad_option(project, option, says):
    project.case("cat-01")
    project.write()
    refused(project, "cases.jsonl", option, says=says)


def test_an_adapter_that_takes_a_built_in_name(project):
    project.case("cat-01")
    project.write()
    conftest = project.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace('name = "toy"', 'name = "dwt-dct"'))
    refused(project, "cases.jsonl", says="adapter 'dwt-dct' is registered already")


@pytest.mark.parametrize("name", ["set.json", "rows.jsonl"])
def test_a_file_of_another_shape(project, name):
    (project.path / name).write_text('{"samples": []}\n' if name.endswith("json") else '{"x": 1}\n')
    refused(project, name, says=name)


@pytest.mark.parametrize("extra", [("-k", "unit"), ("--collect-only",), ()], ids=["keyword", "collect-only", "plain"])
def test_a_fault_of_use_cannot_be_deselected(project, workers, extra):
    project.case("cat-01")
    project.write()
    project.pytester.makepyfile(test_u="def test_unit(): pass")
    refused(project, "test_u.py", "--manifest=cases.jsonl", *extra, workers=workers, says="no suite of kind watermark")


def test_a_manifest_beside_a_node_id_of_something_else(project):
    project.case("cat-01")
    project.write()
    project.pytester.makepyfile(test_u="def test_unit(): pass")
    refused(project, "test_u.py::test_unit", "--manifest=cases.jsonl", says="no suite of kind watermark")


@pytest.mark.parametrize("option", ["--manifest", "--bench-run-dir", "--bench-artifact-root"])
def test_a_name_that_is_too_long(project, option):
    project.case("cat-01")
    project.write()
    result = project.pytester.runpytest_inprocess(
        "-p", "no:xdist", "-p", "no:randomly", f"{option}={'x' * 300}", "cases.jsonl"
    )
    assert result.ret == 4
    assert "INTERNALERROR" not in result.stdout.str()


def test_a_run_directory_below_a_file(project):
    project.case("cat-01")
    project.write()
    arguments = ("-p", "no:xdist", "-p", "no:randomly", "--bench-run-dir=cases.jsonl/run", "cases.jsonl")
    result = project.pytester.runpytest_inprocess(*arguments)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: *cases.jsonl/run: File exists"])


@pytest.mark.parametrize("answer", ["'cases.jsonl'", "[1]", "config.rootpath"])
def test_a_hook_that_answers_with_something_else(project, answer):
    conftest = project.path / "conftest.py"
    conftest.write_text(conftest.read_text() + f"\ndef pytest_benchbench_manifests(config):\n    return {answer}\n")
    project.pytester.makepyfile("def test_unit(): pass")
    refused(project, says="must return a list of paths")


def test_every_worker_would_ask_about_every_row(project):
    project.case("cat-01")
    project.write()
    refused(project, "cases.jsonl", "--dist=each", "--tx=2*popen", says="--dist=each")


def test_a_json_file_of_another_plugin_is_left_alone(project):
    (project.path / "api.json").write_text('{"openapi": "3.1.0"}')
    result = project.run("api.json")
    assert "benchbench" not in result.stderr.str()

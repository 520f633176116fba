"""What a run may be gone on with: what differs is refused and named."""

import fcntl

import pytest


def refused(project, *arguments, says, workers=0):
    """Resume, and see that nothing is run, nothing is changed and one line says why."""
    before = {path.name: path.read_bytes() for path in (project.path / "run").iterdir() if path.is_file()}
    result = project.resume(*arguments, workers=workers)
    said = result.stderr.str() + result.stdout.str()
    assert result.ret == 4
    assert "Traceback" not in said
    assert [line for line in said.splitlines() if says in line]
    assert {path.name: path.read_bytes() for path in (project.path / "run").iterdir() if path.is_file()} == before


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
    project.cases("detected", "detected")
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
    project.cases("detected", "detected")
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
    project.cases("detected", "detected")
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
    project.cases("detected", "detected")
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
    project.cases("detected", "detected")
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

"""Manifests in fresh processes: pytest itself runs, over a few rows each."""

import json
import signal

import pytest

from pytest_benchbench.adapters.registry import installed_registry
from pytest_benchbench.engines import EngineError
from pytest_benchbench.engines.process_profile import ProcessProfile, check_arguments, read_manifests
from pytest_benchbench.engines.shard_process import KILLED_BY_SIGNAL, TELLS_COST

pytestmark = pytest.mark.skipif(not TELLS_COST, reason="this system tells no costs")


@pytest.fixture
def here(project, monkeypatch):
    monkeypatch.chdir(project.path)
    return project.path


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "profile").mkdir()
    return tmp_path / "profile"


def read(*names, arguments=(), split=None):
    return read_manifests(names, installed_registry(), arguments=arguments, split=split)


def run(folder, names, repeat, *arguments, suite=None, split=None):
    """Run manifests, and give them with the processes in the order in which they ran."""
    manifests = read(*names, arguments=arguments, split=split)
    profile = ProcessProfile(manifests, folder, arguments=arguments, suite=suite)
    return manifests, [process for _, process in profile.run(repeat)]


def test_manifests_take_turns_and_every_run_is_kept(project, here, folder):
    project.cases(2)
    project.write("one.jsonl")
    project.case("wrong", says="not_detected")
    project.write("other one.jsonl")
    manifests, processes = run(folder, ["one.jsonl", "other one.jsonl"], 2)
    assert [(process.manifest, process.repetition) for process in processes] == [
        ("one.jsonl", 1),
        ("other one.jsonl", 1),
        ("one.jsonl", 2),
        ("other one.jsonl", 2),
    ]
    assert [process.exit_status for process in processes] == [0, 1, 0, 1]
    assert [process.fault for process in processes] == [None] * 4
    assert manifests[1].processes == [processes[1], processes[3]]
    assert sorted(path.relative_to(folder).as_posix() for path in folder.glob("*/*")) == [
        "1-one/repetition-1",
        "1-one/repetition-2",
        "2-other-one/repetition-1",
        "2-other-one/repetition-2",
    ]
    for process in processes:
        evidence = (folder / process.directory / "evidence.jsonl").read_text().splitlines()
        assert process.observed.rows == len(evidence) == (2 if process.manifest == "one.jsonl" else 3)
        assert process.cost.user_s > 0
        assert 20 * 2**20 < process.cost.peak_bytes < 2**30
    assert processes[1].observed.statuses == {"detected": 2, "not_detected": 1}
    assert processes[1].observed.answers_sha256 == processes[3].observed.answers_sha256
    assert not (here / ".pytest_cache").exists()
    assert not list(folder.rglob("report.html"))


def test_a_process_that_dies_is_told_and_keeps_no_other_from_running(project, here, folder, tmp_path):
    project.case("deadly", says=f"die {tmp_path / 'flag'}")
    project.write()
    _, (first, second) = run(folder, ["cases.jsonl"], 2)
    assert first.exit_status == KILLED_BY_SIGNAL + signal.SIGKILL
    assert first.fault.startswith("pytest ended by SIGKILL: ")
    assert first.observed is None
    assert "test session starts" in (folder / "1-cases" / "repetition-1.log").read_text()
    assert (second.exit_status, second.fault, second.observed.statuses) == (0, None, {"detected": 1})


def test_arguments_reach_pytest_and_a_suite_may_be_ones_own(project, here, folder):
    project.cases(2)
    project.write()
    (here / "test_mine.py").write_text(
        "import pytest\n\n\n@pytest.mark.cases(kind='watermark')\ndef test_mine(observe):\n    observe().check()\n"
    )
    _, (process,) = run(folder, ["cases.jsonl"], 1, "--bench-select=adapter=toy", "-k", "case-000", suite="test_mine.py")
    (row,) = (json.loads(line) for line in (folder / process.directory / "evidence.jsonl").read_text().splitlines())
    assert (row["key"]["suite"], row["key"]["case_id"]) == ("test_mine.py::test_mine", "case-000")
    assert (process.observed.rows, process.observed.left_out) == (1, 1)


def test_what_pytest_refuses_is_wrong_use_and_said_in_its_words(project, here, folder):
    project.cases(1)
    project.write()
    with pytest.raises(EngineError) as refused:
        run(folder, ["cases.jsonl"], 3, "--bench-select=nosuch=1")
    assert str(refused.value).startswith("cases.jsonl: pytest exited 4 (wrong use): --bench-select: ")
    assert refused.value.status == 2


def test_a_manifest_that_changes_meanwhile_is_in_no_figure(project, here, folder):
    project.cases(1)
    project.write()
    (manifest,) = read("cases.jsonl")
    project.cases(1)
    project.rows[1]["case_id"] = "another"
    project.write()
    ((_, process),) = ProcessProfile([manifest], folder).run(1)
    assert process.fault == "the manifest was changed since the profile began, or others ran with it"


def test_a_manifest_that_mixes_adapters_is_refused_before_anything_runs(project, here):
    project.cases(3)
    project.rows[0]["adapter"] = "other"
    project.write()
    with pytest.raises(EngineError) as refused:
        read("cases.jsonl")
    assert str(refused.value) == (
        "cases.jsonl: mixes adapters: other (1 rows), toy (2 rows); what a process costs could be attributed to none of "
        "them: write one manifest for each"
    )


def test_several_manifests_may_have_an_adapter_each_and_the_same_ids(project, here):
    project.cases(1)
    project.write("one.jsonl")
    project.rows[0]["adapter"] = "dwt-dct"
    project.write("two.jsonl")
    one, two = read("one.jsonl", "two.jsonl")
    assert (one.adapter, one.rows, two.adapter, two.needs_network) == ("toy", 1, "dwt-dct", False)
    assert one.sha256 != two.sha256


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "cases.jsonl: empty: a manifest has at least one row"),
        ("{}\n", "cases.jsonl:1: a row of no known kind"),
        ('{"schema_version": 1, "case_id": "a"}\n', "cases.jsonl:1: "),
        (None, "cases.jsonl: cannot be read: "),
    ],
)
def test_a_faulty_manifest_is_refused_with_its_faults(here, text, said):
    if text is not None:
        (here / "cases.jsonl").write_text(text)
    with pytest.raises(EngineError) as refused:
        read("cases.jsonl")
    assert str(refused.value).startswith(said)


def test_a_dataset_is_profiled_by_each_adapter_on_its_own(project, here, folder):
    project.write_dataset(["train", "calibration", "train"])
    project.rows = project.rows[:1]
    project.write()
    arguments = ["--bench-adapter=one=toy", "--bench-adapter", "two=toy", "-q"]
    with pytest.raises(EngineError, match="configure it without an alias"):  # said by pytest, of the other manifest
        run(folder, ["cases.jsonl", "dataset.jsonl"], 1, *arguments, split="train")
    manifests, processes = run(folder, ["dataset.jsonl"], 1, *arguments, split="train")
    assert [(manifest.name, manifest.adapter, manifest.rows) for manifest in manifests] == [
        ("dataset.jsonl (one)", "one", 2),
        ("dataset.jsonl (two)", "two", 2),
    ]
    assert [process.fault for process in processes] == [None, None]
    assert [process.observed.statuses for process in processes] == [{"scored": 2}] * 2
    assert [process.directory for process in processes] == ["1-dataset-one/repetition-1", "2-dataset-two/repetition-1"]
    for process, alias in zip(processes, ("one", "two"), strict=True):
        given = [argument for argument in process.observed.arguments if "adapter" in argument or "split" in argument]
        assert given == [f"--bench-adapter={alias}=toy", "--bench-split=train"]
    assert not (here / "benchbench-ledger.jsonl").exists()


@pytest.mark.parametrize(
    ("split", "arguments", "said"),
    [
        (
            None,
            ["--bench-adapter=toy"],
            "dataset.jsonl: rows of a dataset manifest have splits, and none is run by default: give --split=NAME, "
            "one of train, calibration, test",
        ),
        ("dev", ["--bench-adapter=toy"], "--split=dev: dataset.jsonl can have the splits train, calibration, test"),
        (
            "test",
            ["--bench-adapter=toy"],
            "--split=test: no row of dataset.jsonl is of this split: it has 2 of train, 1 of calibration",
        ),
        (
            "train",
            ["-q"],
            "dataset.jsonl: rows of a dataset manifest name no adapter: give -- --bench-adapter=NAME, once for each that is "
            "profiled",
        ),
        ("train", ["--bench-adapter"], "--bench-adapter=: expected [ALIAS=]NAME[:key=value,...]"),
        ("train", ["--bench-adapter=toy:x"], "--bench-adapter=toy: expected key=value in each part behind the ':', without"),
        (
            "train",
            ["--bench-adapter=toy", "--bench-adapter=toy:flip=true"],
            "--bench-adapter=toy is given twice; give one of them an alias: ALIAS=NAME",
        ),
    ],
)
def test_a_dataset_that_cannot_be_asked_so_is_refused_before_anything_runs(project, here, split, arguments, said):
    project.write_dataset(["train", "calibration", "train"])
    with pytest.raises(EngineError) as refused:
        read("dataset.jsonl", arguments=arguments, split=split)
    assert str(refused.value).startswith(said)


def test_a_split_of_manifests_without_splits_is_refused(project, here):
    project.cases(1)
    project.write()
    with pytest.raises(EngineError) as refused:
        read("cases.jsonl", split="train")
    assert str(refused.value) == "--split=train: no row of cases.jsonl has a split; leave it out"


def test_a_manifest_given_twice_is_refused(project, here):
    project.cases(1)
    project.write()
    with pytest.raises(EngineError, match="given twice; --repeat"):
        read("cases.jsonl", "./cases.jsonl")


@pytest.mark.parametrize(
    "argument",
    [
        "--manifest=a.jsonl",
        "--bench-run-dir=x",
        "--bench-shard=1/2",
        "--bench-gate=strict",
        "--bench-resume",
        "--bench-split=test",
        "--bench-dry-run",
    ],
)
def test_what_a_profile_sets_itself_is_refused(argument):
    with pytest.raises(EngineError) as refused:
        check_arguments(["-q", argument])
    assert str(refused.value).startswith(f"{argument.partition('=')[0]}: leave it out; ")

"""``--bench-dry-run``: the plan of a run, and nothing of the run."""

import pytest


def shown(result):
    """Give the lines of the summary, without the line that names it."""
    lines = result.stdout.str().split("benchbench: dry run ", 1)[1].splitlines()[1:]
    return [line.rstrip() for line in lines if not line.startswith("=")]


@pytest.fixture
def two(project):
    project.cases("detected", "raise", "exit")
    project.case("other-01", adapter="absent")
    project.write()
    return project


def left_behind(project):
    by_pytester = {"__pycache__", ".pytest_cache", "runpytest-0", "runpytest-current", "stdout", "stderr"}
    return {path.name for path in project.path.iterdir()} - by_pytester


@pytest.mark.parametrize("workers", [0, 2])
def test_rows_are_counted_by_suite_and_adapter_and_nothing_is_run(two, workers):
    before = left_behind(two)
    result = two.call("cases.jsonl", "--bench-dry-run", "--bench-gate=strict", workers=workers)
    assert result.ret == 0
    assert shown(result) == [
        "cases.jsonl: watermark, 4 rows",
        "suite                        adapter  planned  would run",
        "cases.jsonl::test_detection  absent         1          1",
        "cases.jsonl::test_detection  toy            3          3",
        "4 planned, 4 would run; gate strict; nothing was run or written",
    ]
    assert left_behind(two) == before


def test_what_the_command_leaves_out_is_planned_and_told(two):
    two.pytester.makepyfile(
        test_own="""
        import pytest

        @pytest.mark.parametrize("strength", [1, 2])
        @pytest.mark.cases(kind="watermark", where={"adapter": "toy"})
        def test_own(observe, strength):
            raise AssertionError("called")

        def test_plain():
            raise AssertionError("called")
        """
    )
    result = two.call("test_own.py", "--manifest=cases.jsonl", "--bench-select=adapter=toy", "-k", "01", "--bench-dry-run")
    assert result.ret == 0
    assert shown(result) == [
        "cases.jsonl: watermark, 4 rows; 3 selected, over all adapters",
        "suite                  adapter  planned  would run",
        "test_own.py::test_own  toy            6          2",
        "6 planned, 2 would run, 4 left out; nothing was run or written",
    ]


def test_splits_are_counted_and_none_is_opened(dataset):
    for number, split in enumerate(["test", "train", "test"]):
        dataset.image(f"img-{number}", split=split)
    dataset.write("dataset.jsonl")
    given = ["--bench-split=test", "--bench-adapter=a=scorer", "--bench-adapter=b=other"]
    result = dataset.call("dataset.jsonl", *given, "--bench-dry-run")
    assert result.ret == 0
    assert shown(result) == [
        "dataset.jsonl: dataset, 3 rows; 1 of train, 2 of test; split test: 2",
        "suite                          adapter  planned  would run",
        "dataset.jsonl::test_detection  a              2          2",
        "dataset.jsonl::test_detection  b              2          2",
        "4 planned, 4 would run; nothing was run or written",
    ]
    assert dataset.ledger == []


def test_a_shard_says_how_many_rows_it_has_and_an_empty_one_is_no_fault(project):
    project.cases("detected")
    codes = []
    for index in (1, 2):
        result = project.call("cases.jsonl", f"--bench-shard={index}/2", "--bench-dry-run")
        codes.append(result.ret)
        rows = int(shown(result)[0].partition("; ")[2].split()[0])
        assert shown(result)[0] == f"cases.jsonl: watermark, 1 rows; {rows} in shard {index}/2"
        assert shown(result)[-1].startswith(f"{rows} planned, {rows} would run")
    assert codes == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent.jsonl"], "absent.jsonl: no such manifest"),
        (["cases.jsonl", "--bench-adapter=toy:nosuch=1"], "toy"),
        (["cases.jsonl", "--bench-adapter=nosuch"], "nosuch"),
        (["cases.jsonl", "--bench-select=nosuch=1"], "--bench-select: "),
        (["cases.jsonl", "--bench-gate=nosuch"], "--bench-gate: nosuch: no such policy"),
        (["cases.jsonl", "--bench-split=test"], "--bench-split=test: no row of cases.jsonl has a split"),
        (["cases.jsonl", "--bench-run-dir=."], "exists already"),
        (["cases.jsonl", "--bench-resume=run"], "--bench-dry-run plans a run and begins none: leave out --bench-resume"),
        (["--bench-evidence=run"], "--bench-dry-run plans a run and begins none: leave out --bench-evidence"),
        ([], "--bench-dry-run: there is no manifest to plan"),
    ],
)
def test_what_a_run_would_refuse_is_refused(two, arguments, said):
    result = two.call(*arguments, "--bench-dry-run")
    assert result.ret == 4
    assert said in result.stderr.str()


def test_a_file_that_is_another_is_found_before_any_run(two):
    (two.path / two.rows[0]["path"]).write_text("something else")
    assert two.call("cases.jsonl", "--bench-dry-run").ret == 4
    assert two.call("cases.jsonl", "--bench-dry-run", "--bench-verify=lazy").ret == 0


def test_a_selection_without_rows_would_run_nothing(two):
    result = two.call("cases.jsonl", "-k", "nosuch", "--bench-dry-run")
    assert (result.ret, shown(result)[-1]) == (5, "4 planned, 0 would run, 4 left out; nothing was run or written")


def test_a_suite_that_cannot_be_collected_is_pytests_to_tell(two):
    two.pytester.makepyfile(test_own="import nosuch")
    assert two.call("test_own.py", "--manifest=cases.jsonl", "--bench-dry-run").ret in (2, 4)

"""Runs that are counted together: in whichever order they are given, about the same cases, by the same detectors."""

import itertools
import json
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.repeated_runs import RepeatedRuns

anew = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def fed(*paths):
    runs = RepeatedRuns.read(list(paths))
    seen = []
    number = [0]
    runs.feed(lambda run: number.__setitem__(0, run), lambda settled: seen.append((number[0], settled.row.key.case_id)))
    return runs, seen


def refusal(*paths):
    with pytest.raises(EvidenceError) as caught:
        fed(*paths)
    return str(caught.value)


def alter(row, **fields):
    return {**row, "case": {**row["case"], **fields}, "row_sha256": "d" * 64}


@pytest.fixture
def row(directories):
    return directories.row


@pytest.fixture
def two(directories):
    """Write two runs, one of each list of rows; the first began first."""

    def write(first, other):
        return (
            directories.write("one", first),
            directories.write(
                "two", other, started="2026-11-30T01:00:00.000+00:00", finished="2026-11-30T02:00:00.000+00:00"
            ),
        )

    return write


def test_the_rows_of_all_runs_come_in_the_order_in_which_the_runs_began(two, row):
    one, other = two([row("a"), row("b")], [row("b"), row("a"), row("c")])
    for paths in (one, other), (other, one):
        runs, seen = fed(*paths)
        assert seen == [(1, "a"), (1, "b"), (2, "b"), (2, "a"), (2, "c")]
        assert [run.name for run in runs.runs] == ["one", "two"]
        assert runs.rows_in == (2, 3)
        assert (runs.repetition().rows, runs.repetition().in_every_run) == (3, 2)


def test_rows_about_which_runs_disagree(two, row):
    one, other = two(
        [row("a"), row("b"), row("c"), row("d", "error")],
        [row("d"), row("b", "not_detected"), row("c"), row("a", "unavailable")],
    )
    runs, _ = fed(one, other)
    (found,) = runs.unstable_rows()
    assert (found.row.key.case_id, found.verdicts) == ("b", {"detected": [1], "not_detected": [2]})
    assert runs.repetition().unstable == 1


def test_attempts_that_disagree_within_a_run_are_no_verdict_of_it(two, row):
    one, other = two(
        [row("a"), row("a", "not_detected", attempt=2), row("b")],
        [row("a"), row("b", "error"), row("b", attempt=2)],
    )
    (found,) = fed(one, other)[0].unstable_rows()
    assert found.verdicts == {"detected": [2], "unstable": [1]}


answers = st.sampled_from(["detected", "not_detected", "scored", "error", "unavailable"])
observed = st.lists(st.dictionaries(st.sampled_from("abcdef"), answers), min_size=2, max_size=4)


@anew
@given(observed, st.data())
def test_what_runs_have_in_common_is_counted_as_a_loop_over_all_rows_counts_it(directories, tmp_path, drawn, data):
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        maker = type(directories)(Path(folder))
        paths = [
            maker.write(
                f"run-{number}",
                [
                    maker.row(case, status, outcome="measured" if status == "scored" else None)
                    for case, status in run.items()
                ],
                started=f"2026-11-30T0{number}:00:00.000+00:00",
            )
            for number, run in enumerate(drawn, 1)
        ]
        runs, seen = fed(*data.draw(st.permutations(paths)))
        told = {found.row.key.case_id: found.verdicts for found in runs.unstable_rows()}
    verdicts = defaultdict(lambda: defaultdict(list))
    for number, run in enumerate(drawn, 1):
        for case, status in run.items():
            if status not in {"error", "unavailable"}:
                verdicts[case][status].append(number)
    assert told == {case: dict(found) for case, found in verdicts.items() if len(found) > 1}
    assert seen == [(number, case) for number, run in enumerate(drawn, 1) for case in run]
    common = runs.repetition()
    assert common.rows == len({case for run in drawn for case in run})
    assert common.in_every_run == len(set.intersection(*map(set, drawn)))
    assert common.unstable == len(told)


def test_runs_that_share_no_row_with_another_one_are_known(directories, row):
    count = itertools.count()

    def alone(*parts):
        paths = [
            directories.write(f"run-{next(count)}", rows, started=f"2026-11-30T{place:02}:00:00.000+00:00")
            for place, rows in enumerate(parts)
        ]
        return fed(*paths)[0].alone()

    assert alone([row("a"), row("b")], [row("b")]) == ()
    assert alone([row("a")], [row("b")]) == (1, 2)
    assert alone([row("a")], [row("c", adapter="other")], [row("a")], []) == (2,)
    assert alone([row("a")]) == ()


def test_another_artifact_under_a_case_id_is_refused_with_both_places(two, row):
    one, other = two([row("a"), row("b")], [row("b"), {**row("a"), "artifact": {"sha256": "f" * 64, "decoding": None}}])
    said = refusal(other, one)
    assert said.startswith(
        f'{other}/evidence.jsonl:2: a: artifact is "{"f" * 64}", in {one}/evidence.jsonl:1 it is "ca978112'
    )
    assert said.endswith("; runs are counted together only where a case id means the same in all of them")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"state": "attacked"}, 'state is "attacked", in {one}/evidence.jsonl:1 it is "marked"; '),
        ({"transform": {"parameters": {"quality": 75}}}, "transform.parameters.quality is 75, in {one}"),
        ({"seed": 0}, "seed is 0, in {one}/evidence.jsonl:1 it is absent; "),
        ({"expected": None}, 'expected is null, in {one}/evidence.jsonl:1 it is "detected"; '),
    ],
)
def test_any_other_identity_is_refused_by_the_field(two, row, fields, said):
    first = alter(row("a"), **({"transform": {"parameters": {"quality": 50}}} if "transform" in fields else {}))
    one, other = two([first], [alter(row("a"), **fields)])
    assert refusal(one, other).startswith(f"{other}/evidence.jsonl:1: a: {said.format(one=one)}")


def test_numbers_that_are_written_differently_differ(two, row):
    one, other = two([alter(row("a"), seed=1)], [alter(row("a"), seed=1.0)])
    assert "a: seed is 1.0, in " in refusal(one, other)
    one, other = (shutil.move(path, f"{path}-") for path in (one, other))
    one, other = two([alter(row("a"), seed=1)], [alter(row("a"), seed=True)])
    assert "a: seed is true, in " in refusal(one, other)


def test_the_same_files_may_lie_elsewhere(two, row):
    one, other = two([alter(row("a"), path="x/a.png")], [alter(row("a"), path="y/a.png", reference_path="b.png")])
    assert len(fed(one, other)[1]) == 2


def test_a_row_whose_manifest_was_gone_says_nothing_about_its_case(two, row):
    gone = {**row("a", "error"), "row_sha256": "", "case": {"case_id": "a"}, "artifact": {"sha256": "", "decoding": None}}
    one, other = two([row("a"), row("b")], [gone, alter(row("b"), state="clean")])
    assert ": b: state is " in refusal(one, other)


def test_another_detector_under_a_name_is_refused_with_what_differs(two, row):
    adapter = {**row("a")["adapter"], "version": "2", "options": {"threshold": 3}}
    one, other = two([row("a")], [{**row("a"), "adapter": adapter}])
    assert refusal(one, other) == (
        f"{other}/evidence.jsonl:1: dwt-dct is not the detector of run {one}: version, options differ"
    )


def test_a_detector_that_gave_no_verdict_is_none(two, row):
    adapter = {**row("a")["adapter"], "version": None}
    one, other = two([row("a")], [{**row("a", "unavailable"), "adapter": adapter}])
    assert len(fed(one, other)[1]) == 2


def test_the_same_run_twice_is_refused(directories, row, tmp_path):
    one = directories.write("one", [row("a")])
    copied = shutil.copytree(one, tmp_path / "copied")
    assert refusal(one, one / "." / "../one") == f"{one / '../one'}: the same run is given twice, also as {one}"
    run_id = json.loads((one / "run.json").read_text())["run_id"]
    assert refusal(one, copied) in {
        f"the same run is given twice: run {run_id} is in {first} and in {second}"
        for first, second in [(one, copied), (copied, one)]
    }
    (copied / "run.json").unlink()
    assert "the same run is given twice: evidence " in refusal(one, copied / "evidence.jsonl")
    (tmp_path / "bare.jsonl").write_text((one / "evidence.jsonl").read_text() * 2)
    assert f": the same run is given twice: run {run_id} is in " in refusal(one, tmp_path / "bare.jsonl")


def test_two_runs_without_rows_are_two(two):
    assert fed(*two([], []))[0].rows_in == (0, 0)


def test_evidence_beside_its_run_is_that_run(two, row, tmp_path):
    one, _ = two([row("a")], [])
    (run,) = fed(one / "evidence.jsonl")[0].runs
    assert (run.document["run_id"], run.gaps) == (json.loads((one / "run.json").read_text())["run_id"], ())
    shutil.copy(one / "evidence.jsonl", tmp_path / "alone.jsonl")
    (run,) = fed(tmp_path / "alone.jsonl")[0].runs
    assert (run.document, run.gaps) == ({}, ("evidence without run.json: nobody knows whether it is all",))

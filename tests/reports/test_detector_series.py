import json
import os
import threading

import msgspec
import pytest

from pytest_benchbench.reports.detector_series import (
    SeriesError,
    UnfitEntryError,
    append_entry,
    entry_of,
    read_series,
    unfit,
)


def entry(benchmark):
    return entry_of(benchmark, {})


@pytest.fixture
def append(text_benchmarks, tmp_path):
    """``append(1)``: put the run of that number at the end of the series."""

    def append(run, **told):
        append_entry(tmp_path / "series.json", entry(text_benchmarks.benchmark(run, **(told or {"zippy": ["a01"]}))))
        return (tmp_path / "series.json").read_bytes()

    return append


def test_a_series_is_json_with_one_entry_of_its_version_history_a_run(append, tmp_path):
    append(1)
    data = append(2)
    document = json.loads(data)
    assert document["goldenSet"] == "essays"
    assert [each["runId"] for each in document["versionHistory"]] == ["run-1", "run-2"]
    assert set(document["versionHistory"][0]) >= {
        "date",
        "commit",
        "dirty",
        "split",
        "evidenceSha256",
        "detectors",
        "benchmark",
    }
    read = read_series(tmp_path / "series.json")
    assert [each.runId for each in read.entries] == ["run-1", "run-2"]
    assert read.last_sha256 == document["lastSha256"]
    assert read.entries[1].benchmark.detectors[0].scores["a01"] == 10.0


def test_earlier_entries_stay_byte_for_byte(append):
    lines = [append(run).split(b"\n") for run in (1, 2, 3)]
    assert lines[1][:1] == lines[0][:1]
    assert lines[1][1] == lines[0][1] + b","
    assert lines[2][:2] == lines[1][:2]
    assert lines[2][2] == lines[1][2] + b","


def test_nothing_stays_beside_the_series(append, tmp_path):
    append(1)
    append(2)
    assert [path.name for path in tmp_path.iterdir()] == ["series.json"]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_changed_entry_breaks_the_chain(append, tmp_path, number):
    for run in (1, 2, 3):
        data = append(run)
    lines = data.split(b"\n")
    lines[number] = lines[number].replace(b'"packageVersion":"0.1.0"', b'"packageVersion":"0.1.1"')
    (tmp_path / "series.json").write_bytes(b"\n".join(lines))
    with pytest.raises(SeriesError, match=rf"series\.json:{number + 2}: the chain is broken"):
        read_series(tmp_path / "series.json")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_entry_taken_out_breaks_the_chain(append, tmp_path, number):
    for run in (1, 2, 3):
        data = append(run)
    lines = data.split(b"\n")
    del lines[number]
    lines[-3] = lines[-3].removesuffix(b",")
    (tmp_path / "series.json").write_bytes(b"\n".join(lines))
    with pytest.raises(SeriesError, match="the chain is broken"):
        read_series(tmp_path / "series.json")


def _reformatted(data):
    return json.dumps(json.loads(data), indent=2).encode()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_reformatted, "not a series of benchmarks"),
        (lambda data: data[:-1], "cut off"),
        (lambda data: data[: len(data) // 2], "cut off"),
        (lambda data: data.replace(b"\n", b"\r\n"), "reformatted"),
        (
            lambda data: data.replace(b'"essays","versionHistory":[\n', b'"essays", "versionHistory":[\n'),
            ":1: .*reformatted",
        ),
        (lambda data: data.replace(b'"goldenSet":"essays"', b'"goldenSet":"other"', 1), ":2: benchmark.goldenSet.name"),
        (lambda data: data.replace(b"},\n{", b"}\n{"), ":2: .*comma"),
        (lambda data: data.replace(b'"split":"holdout"', b'"split":"holdout","x":1', 1), ":2: "),
        (lambda data: data.replace(b'"k":', b'"k":1,"k":', 1), ":2: .*twice"),
        (lambda data: data.replace(b'"commit":"abc', b'"commit":"bbc', 1), ":2: benchmark.versionHistory"),
        (lambda data: b"", "not a series"),
        (lambda data: b"{}\n", "not a series"),
        (lambda data: b"\xff" + data, "not a series"),
    ],
)
def test_damage_is_named_by_its_place_and_nothing_is_appended(append, tmp_path, damage, message):
    append(1)
    series = tmp_path / "series.json"
    series.write_bytes(damage(append(2)))
    with pytest.raises(SeriesError, match=message):
        read_series(series)
    if before := series.read_bytes():
        with pytest.raises(SeriesError, match=message):
            append(3)
        assert series.read_bytes() == before


def test_a_first_run_that_is_refused_leaves_no_file(append, tmp_path):
    with pytest.raises(UnfitEntryError, match="several detectors"):
        append(1, zippy={"varying": {"plan": ["free", "paid"]}})
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_replaced_is_left_as_it_was(append, tmp_path, monkeypatch):
    before = append(1)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SeriesError, match="No space left"):
        append(2)
    assert (tmp_path / "series.json").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_several_that_append_at_once_wait_for_one_another(text_benchmarks, tmp_path):
    benchmarks = [text_benchmarks.benchmark(run, zippy=["a01"]) for run in range(6)]
    begin = threading.Barrier(3)

    def work(mine):
        begin.wait()
        for benchmark in mine:
            append_entry(tmp_path / "series.json", entry(benchmark))

    same_day = [msgspec.structs.replace(each, versionHistory=_at_noon(each)) for each in benchmarks]
    workers = [threading.Thread(target=work, args=(same_day[place::3],)) for place in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert {each.runId for each in read_series(tmp_path / "series.json").entries} == {f"run-{run}" for run in range(6)}


def _at_noon(benchmark):
    return tuple(msgspec.structs.replace(each, date="2026-05-02T12:00:00+00:00") for each in benchmark.versionHistory)


def test_a_link_to_a_series_stays_a_link(append, tmp_path, text_benchmarks):
    append(1)
    (tmp_path / "link.json").symlink_to(tmp_path / "series.json")
    append_entry(tmp_path / "link.json", entry(text_benchmarks.benchmark(2, zippy=[])))
    assert (tmp_path / "link.json").is_symlink()
    assert len(read_series(tmp_path / "series.json").entries) == 2


def test_links_that_go_round_are_one_line(tmp_path):
    (tmp_path / "series.json").symlink_to(tmp_path / "series.json")
    with pytest.raises(SeriesError, match="cannot be written"):
        append_entry(tmp_path / "series.json", None)
    with pytest.raises(SeriesError, match="cannot be read"):
        read_series(tmp_path / "series.json")


def test_a_pipe_is_neither_read_nor_written(tmp_path):
    os.mkfifo(tmp_path / "series.json")
    with pytest.raises(SeriesError, match="not a regular file"):
        read_series(tmp_path / "series.json")
    with pytest.raises(SeriesError, match="not a regular file"):
        append_entry(tmp_path / "series.json", None)


def test_a_folder_that_is_missing_is_named(tmp_path):
    with pytest.raises(SeriesError, match="no folder"):
        append_entry(tmp_path / "none" / "series.json", None)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"name": "others"}, "the run is of the golden set others, the series of essays: begin another series"),
        ({"name": None}, "nothing says which golden set"),
        (
            {"zippy": {"wrong": [], "varying": {"plan": ["free", "paid"]}}},
            "several detectors under one name: plan free and paid",
        ),
    ],
)
def test_a_run_that_cannot_follow_is_refused_and_the_series_stays(append, tmp_path, told, message):
    before = append(1)
    with pytest.raises(UnfitEntryError, match=message):
        append(2, **{"zippy": [], **told})
    assert (tmp_path / "series.json").read_bytes() == before


def test_runs_follow_in_time_and_stand_once(append):
    append(2)
    with pytest.raises(UnfitEntryError, match="in the series already, as entry 1"):
        append(2)
    with pytest.raises(UnfitEntryError, match="runs follow in time"):
        append(1)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"split": "tune"}, "the run is of the split tune; a series is about the split holdout alone"),
        ({"complete": False}, "the run is not complete: 2 rows were lost"),
    ],
)
def test_runs_of_the_tune_split_and_incomplete_ones_are_unfit(text_benchmarks, told, reason):
    assert unfit((), text_benchmarks.benchmark(1, zippy=[])) is None
    assert unfit((), text_benchmarks.benchmark(1, zippy=[], **told)) == reason

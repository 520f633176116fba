import json

import pytest

from pytest_benchbench.evidence.observed_run import ObservedRun
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.recorded_run import RecordedRunError


def sized(row, media_type, **decoding):
    row["case"]["media_type"] = media_type
    row["artifact"]["decoding"] = decoding or None
    return row


def test_rows_count_as_what_they_are(directories):
    rows = [
        directories.row("a"),
        directories.row("b", "not_detected"),
        directories.row("c", "error"),
        directories.row("d", "unavailable"),
    ]
    path = directories.write("run", rows, left_out=2, lost=1)
    run = ObservedRun.read(path)
    assert (run.rows, run.left_out, run.lost) == (4, 2, 1)
    assert run.statuses == {"detected": 1, "not_detected": 1, "error": 1, "unavailable": 1}
    assert run.manifests == ("a" * 64,)
    assert run.code == {"kernel_sha256": "c" * 64, "commit": "abc", "dirty": False}
    assert run.run_id == json.loads((path / "run.json").read_text())["run_id"]
    assert (run.by_workers, run.may_connect) == (False, False)


def test_the_digest_of_the_answers_sees_a_row_that_changed_but_no_order(directories):
    rows = [directories.row("a"), directories.row("b", "not_detected")]
    swapped = [directories.row("a", "not_detected"), directories.row("b")]
    one, other, changed = (
        ObservedRun.read(directories.write(name, given))
        for name, given in (("one", rows), ("other", rows[::-1]), ("changed", swapped))
    )
    assert one.answers_sha256 == other.answers_sha256 != changed.answers_sha256
    assert one.statuses == changed.statuses


def test_the_largest_artifact_of_each_medium_is_found(directories):
    rows = [
        sized(directories.row("a"), "image", size=[100, 90]),
        sized(directories.row("b"), "image", size=[300, 20]),
        sized(directories.row("c"), "video", size=[64, 32], frames=10),
        sized(directories.row("d"), "video", size=[32, 32], frames=21),
        sized(directories.row("e"), "audio", size=[8_000]),
        sized(directories.row("f"), "audio", size=[12_000]),
        sized(directories.row("g"), "image"),
        sized(directories.row("h"), "text", rule="utf-8", characters=3),
    ]
    assert ObservedRun.read(directories.write("run", rows)).largest == {
        "audio": {"seconds": 0.75},
        "image": {"width": 100, "height": 90},
        "video": {"width": 32, "height": 32, "frames": 21},
    }


def test_rows_of_a_dataset_are_images(directories):
    row = sized(directories.row("a"), "image", size=[100, 90]) | {"kind": "dataset"}
    del row["case"]["media_type"]
    assert ObservedRun.read(directories.write("run", [row])).largest == {"image": {"width": 100, "height": 90}}


def test_what_stood_behind_the_answers_is_named_once(directories):
    rows = [directories.row("a"), directories.row("b"), directories.row("c", adapter="other")]
    rows[1]["adapter"] = dict(reversed(rows[1]["adapter"].items()))
    assert [record["name"] for record in ObservedRun.read(directories.write("run", rows)).adapters] == ["dwt-dct", "other"]


def test_workers_and_an_open_network_are_seen(directories):
    rows = [directories.row("a"), directories.row("b", worker="gw0")]
    run = ObservedRun.read(directories.write("run", rows, options={"network": "allow"}))
    assert (run.by_workers, run.may_connect) == (True, True)


def test_a_folder_without_a_run_and_damaged_evidence_are_refused(directories, tmp_path):
    with pytest.raises(RecordedRunError):
        ObservedRun.read(tmp_path / "nothing")
    path = directories.write("run", [directories.row("a")])
    (path / "evidence.jsonl").write_text("{}\n")
    with pytest.raises(EvidenceError):
        ObservedRun.read(path)

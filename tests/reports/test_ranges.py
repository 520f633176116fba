"""Ranges against sorting by hand."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st


def measured(**numbers):
    return {"status": "measured", "mae": 1.0, "changed_fraction": 0.5, "psnr_db": 40.0, **numbers}


@settings(max_examples=30, deadline=None)
@given(scores=st.lists(st.floats(-5, 5), min_size=1, max_size=12))
def test_detection_range_is_smallest_middle_and_largest(row, report, scores):
    (line,) = report([row(f"c{i}", score=score) for i, score in enumerate(scores)])["results"]["detection_ranges"]
    middle = np.percentile(scores, 50, method="inverted_cdf")
    assert (line["rows"], line["min"], line["median"], line["max"]) == (len(scores), min(scores), middle, max(scores))


def test_quantities_and_states_have_lines_of_their_own(row, report):
    rows = [
        row("a", message_bit_accuracy=0.75, score=2.0),
        row("b", state="attacked", message_bit_accuracy=0.5),
        row("c", state="clean"),
    ]
    lines = report(rows)["results"]["detection_ranges"]
    assert [(line["state"], line["quantity"], line["min"]) for line in lines] == [
        ("attacked", "message_bit_accuracy", 0.5),
        ("marked", "message_bit_accuracy", 0.75),
        ("marked", "score", 2.0),
    ]


def test_a_quantity_of_zero_is_a_number(row, report):
    (line,) = report([row("a", score=0.0)])["results"]["detection_ranges"]
    assert (line["rows"], line["max"]) == (1, 0.0)


def test_a_row_without_a_verdict_is_in_no_detection_range(row, report):
    assert report([row("a", status="error", score=1.0)])["results"]["detection_ranges"] == []


def test_fidelity_is_grouped_by_adapter_state_and_transform(row, report):
    rows = [
        row("a", transform="jpeg", fidelity=measured(psnr_db=40.0)),
        row("b", transform="jpeg", fidelity=measured(psnr_db=30.0)),
        row("c", transform="crop", fidelity={"status": "no_reference"}),
        row("d", adapter="x", transform="jpeg", fidelity={"status": "error", "reason": "truncated"}),
        row("e", state="attacked", transform="jpeg", fidelity={"status": "incomparable", "reason": "size"}),
    ]
    lines = report(rows)["results"]["fidelity"]
    counts = ("measured", "incomparable", "no_reference", "error")
    assert [(line["adapter"], line["state"], line["transform"], *(line[name] for name in counts)) for line in lines] == [
        ("dwt-dct", "attacked", "jpeg", 0, 1, 0, 0),
        ("dwt-dct", "marked", "crop", 0, 0, 1, 0),
        ("dwt-dct", "marked", "jpeg", 2, 0, 0, 0),
        ("x", "marked", "jpeg", 0, 0, 0, 1),
    ]
    assert lines[2]["ranges"]["psnr_db"] == {"rows": 2, "min": 30.0, "median": 30.0, "max": 40.0}


def test_identical_pixels_have_no_psnr_and_are_counted(row, report):
    same = measured(mae=0.0, changed_fraction=0.0, psnr_db=None, psnr_status="unbounded_identical")
    (line,) = report([row("a", fidelity=same), row("b", fidelity=measured(psnr_db=35.0))])["results"]["fidelity"]
    assert (line["measured"], line["unbounded_identical"]) == (2, 1)
    assert line["ranges"]["psnr_db"]["rows"] == 1
    assert line["ranges"]["mae"] == {"rows": 2, "min": 0.0, "median": 0.0, "max": 1.0}


@pytest.mark.parametrize(
    ("figure", "status", "also"),
    [("snr_db", "snr_status", {}), ("mean_psnr_db", "mean_psnr_status", {"changed_frame_fraction": 0.5})],
)
def test_sounds_and_videos_have_their_own_figures(row, report, figure, status, also):
    rows = [
        row("a", fidelity={"status": "measured", figure: 31.0, status: "finite", **also}),
        row("b", fidelity={"status": "measured", figure: 33.0, status: "finite", **also}),
        row("c", fidelity={"status": "measured", figure: None, status: "unbounded_identical", **dict.fromkeys(also, 0.0)}),
    ]
    (line,) = report(rows)["results"]["fidelity"]
    assert (line["measured"], line["unbounded_identical"]) == (3, 1)
    assert line["ranges"][figure] == {"rows": 2, "min": 31.0, "median": 31.0, "max": 33.0}
    assert line["ranges"].keys() == {figure, *also}
    for share in also:
        assert line["ranges"][share] == {"rows": 3, "min": 0.0, "median": 0.5, "max": 0.5}


@pytest.mark.parametrize("status", ["error", "unavailable"])
def test_fidelity_does_not_depend_on_the_detector(row, report, status):
    (line,) = report([row("a", status=status, fidelity=measured())])["results"]["fidelity"]
    assert line["measured"] == 1


def test_a_row_that_was_not_run_has_no_fidelity(row, report):
    assert report([row("a", status="error", outcome="not_run")])["results"]["fidelity"] == []

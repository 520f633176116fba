"""Spreads of scores and bit accuracies, against numpy."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.reports.histograms import bin_edges, histogram

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(values=st.lists(finite, min_size=1, max_size=50))
def test_every_value_is_in_one_bin_and_edges_ascend(values):
    edges = bin_edges(min(values), max(values))
    assert len(edges) == 21
    assert np.isfinite(edges).all()
    assert (edges[1:] >= edges[:-1]).all()
    assert edges[0] <= min(values) <= max(values) <= edges[-1]
    assert sum(histogram(np.array(values), edges)) == len(values)


@settings(deadline=None)
@given(values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
def test_counts_are_those_of_numpy(values):
    edges = bin_edges(min(values), max(values))
    assert histogram(np.array(values), edges) == np.histogram(values, edges)[0].tolist()


@pytest.mark.parametrize(
    ("low", "high", "first", "last"),
    [
        (0.2, 0.4, 0.0, 1.0),
        (0.0, 1.0, 0.0, 1.0),
        (-1.0, 1.0, -1.0, 1.0),
        (0.5, 1.5, 0.5, 1.5),
        (3.0, 3.0, 1.5, 4.5),
        (-0.25, -0.25, -0.75, 0.25),
        (-1.5e308, 1.5e308, -1.5e308, 1.5e308),
        (1.7976931348623157e308, 1.7976931348623157e308, 8.988465674311579e307, 1.7976931348623157e308),
    ],
)
def test_bins_reach_over_the_unit_interval_or_over_all_values(low, high, first, last):
    edges = bin_edges(low, high)
    assert (edges[0], edges[-1]) == (first, last)


def test_states_of_a_series_share_edges(row, report):
    rows = [
        row("a", state="clean", status="not_detected", score=-1.0),
        row("b", state="marked", score=3.0),
        row("c", state="marked", score=2.0, message_bit_accuracy=1.0),
        row("d", state="marked", status="error"),
        row("e", state="clean", adapter="perth", score=0.25),
    ]
    lines = report(rows)["results"]["histograms"]
    told = [(line["adapter"], line["quantity"], line["state"], sum(line["counts"])) for line in lines]
    assert told == [
        ("dwt-dct", "message_bit_accuracy", "marked", 1),
        ("dwt-dct", "score", "clean", 1),
        ("dwt-dct", "score", "marked", 2),
        ("perth", "score", "clean", 1),
    ]
    assert lines[1]["edges"] == lines[2]["edges"] == [pytest.approx(-1 + 0.2 * edge) for edge in range(21)]
    assert lines[0]["counts"] == [0] * 19 + [1]
    assert lines[3]["counts"][5] == 1


def test_nothing_reported_is_no_line(row, report):
    assert report([row("a")])["results"]["histograms"] == []

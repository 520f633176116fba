"""Cold and warm calls of each adapter."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st


@settings(max_examples=30, deadline=None)
@given(times=st.lists(st.floats(0, 1e5), min_size=1, max_size=15))
def test_numbers_are_nearest_ranks(row, report, times):
    warm = report([row(f"c{i}", elapsed=time) for i, time in enumerate(times)])["timing"]["dwt-dct"]["warm"]
    p50, p90, p95 = np.percentile(times, [50, 90, 95], method="inverted_cdf")
    assert warm == {"n": len(times), "p50_ms": p50, "p90_ms": p90, "p95_ms": p95, "max_ms": max(times)}


def test_cold_calls_and_adapters_are_kept_apart(row, report):
    rows = [
        row("a", call="cold", elapsed=100.0),
        row("b", elapsed=1.0),
        row("c", elapsed=3.0),
        row("d", adapter="x", call="cold", elapsed=7.0),
    ]
    timing = report(rows)["timing"]
    assert timing["dwt-dct"] == {
        "cold": {"n": 1, "p50_ms": 100.0, "p90_ms": 100.0, "p95_ms": 100.0, "max_ms": 100.0},
        "warm": {"n": 2, "p50_ms": 1.0, "p90_ms": 3.0, "p95_ms": 3.0, "max_ms": 3.0},
    }
    assert timing["x"]["warm"] is None


def test_a_row_without_a_time_is_in_no_number(row, report):
    rows = [row("a", elapsed=None), row("b", status="unavailable"), row("c", elapsed=2.0)]
    assert report(rows)["timing"]["dwt-dct"]["warm"]["n"] == 1


@pytest.mark.parametrize("status", ["error", "timeout", "inference-error", "too-small", "unsupported"])
def test_a_call_without_a_verdict_is_in_no_number(row, report, status):
    rows = [row("a", status=status, elapsed=9000.0), row("b", status="scored", elapsed=2.0)]
    assert report(rows)["timing"]["dwt-dct"]["warm"] == {"n": 1, "p50_ms": 2.0, "p90_ms": 2.0, "p95_ms": 2.0, "max_ms": 2.0}


def test_without_any_call_there_is_no_timing(row, report):
    assert report([row("a", status="unavailable")])["timing"] == {}

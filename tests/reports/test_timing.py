"""Cold and warm calls of each adapter."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom


@settings(max_examples=30, deadline=None)
@given(times=st.lists(st.floats(0, 1e5), min_size=1, max_size=15))
def test_numbers_are_nearest_ranks(row, report, times):
    warm = report([row(f"c{i}", elapsed=time) for i, time in enumerate(times)])["timing"]["dwt-dct"]["warm"]
    p50, p90, p95 = np.percentile(times, [50, 90, 95], method="inverted_cdf")
    assert numbers(warm) == {"n": len(times), "p50_ms": p50, "p90_ms": p90, "p95_ms": p95, "max_ms": max(times)}


def numbers(latency):
    return {name: value for name, value in latency.items() if name != "intervals"}


@settings(max_examples=15, deadline=None)
@given(n=st.integers(1, 150), data=st.data())
def test_intervals_reach_from_rank_to_rank_of_the_binomial_law(row, report, n, data):
    times = data.draw(st.permutations([float(i) for i in range(1, n + 1)]))  # the value is the rank
    intervals = report([row(f"c{i}", elapsed=time) for i, time in enumerate(times)])["timing"]["dwt-dct"]["warm"][
        "intervals"
    ]
    assert intervals.keys() == {"p50_ms", "p90_ms", "p95_ms"}
    for name, p in {"p50_ms": 0.5, "p90_ms": 0.9, "p95_ms": 0.95}.items():
        below = binom(n, p)
        low = max((rank for rank in range(1, n + 1) if below.cdf(rank - 1) <= 0.025), default=None)
        high = min((rank for rank in range(1, n + 1) if below.sf(rank - 1) <= 0.025), default=None)
        if low is None or high is None:
            assert intervals[name] is None
        else:
            assert {key: value for key, value in intervals[name].items() if key != "coverage"} == {
                "low_rank": low,
                "high_rank": high,
                "low_ms": float(low),
                "high_ms": float(high),
            }
            assert intervals[name]["coverage"] == pytest.approx(below.cdf(high - 1) - below.cdf(low - 1), abs=1e-12)


def test_a_hundred_calls_bound_their_95th_percentile_by_the_90th_and_the_slowest(row, report):
    rows = [row(f"c{i}", elapsed=1.5 * i) for i in range(1, 101)]
    interval = report(rows)["timing"]["dwt-dct"]["warm"]["intervals"]["p95_ms"]
    assert (interval["low_rank"], interval["high_rank"]) == (90, 100)
    assert (interval["low_ms"], interval["high_ms"]) == (135.0, 150.0)


def test_cold_calls_and_adapters_are_kept_apart(row, report):
    rows = [
        row("a", call="cold", elapsed=100.0),
        row("b", elapsed=1.0),
        row("c", elapsed=3.0),
        row("d", adapter="x", call="cold", elapsed=7.0),
    ]
    timing = report(rows)["timing"]
    assert {call: numbers(latency) for call, latency in timing["dwt-dct"].items()} == {
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
    latency = report(rows)["timing"]["dwt-dct"]["warm"]
    assert numbers(latency) == {"n": 1, "p50_ms": 2.0, "p90_ms": 2.0, "p95_ms": 2.0, "max_ms": 2.0}
    assert set(latency["intervals"].values()) == {None}


def test_without_any_call_there_is_no_timing(row, report):
    assert report([row("a", status="unavailable")])["timing"] == {}


MS = ("p50_ms", "p90_ms", "p95_ms", "max_ms")


def shared(row, size, elapsed, *, rows=None, prefix="c", **more):
    """Give the rows of one call that they shared."""
    return [
        row(f"{prefix}{elapsed}-{i}", elapsed=None, status="scored", **more)
        | {"batch": {"size": size, "elapsed_ms": elapsed}}
        for i in range(size if rows is None else rows)
    ]


def test_a_call_that_rows_shared_is_a_time_of_its_batch_and_no_rows_own(row, report):
    rows = [
        *shared(row, 4, 1000.0, call="cold"),
        *(one for elapsed in (40.0, 80.0, 60.0) for one in shared(row, 4, elapsed)),
        *shared(row, 2, 30.0),
        *shared(row, 4, 4.0, adapter="x"),
    ]
    alone = row("alone", elapsed=9.0) | {"batch": {"size": 1, "elapsed_ms": 9.0}}
    document = report([alone, *rows])
    assert document == report([*rows[::-1], alone]) | {"inputs": document["inputs"]}
    assert numbers(document["timing"]["dwt-dct"]["warm"]) == dict.fromkeys(MS, 9.0) | {"n": 1}
    found = document["batch_timing"]
    assert found["x"]["cold"] is None
    cold, warm = (found["dwt-dct"][call] for call in ("cold", "warm"))
    assert numbers(cold["per_batch"]) == dict.fromkeys(MS, 1000.0) | {"n": 1}
    assert numbers(cold["row_share"]) == dict.fromkeys(MS, 250.0) | {"n": 1}
    assert numbers(warm["per_batch"]) == {"n": 4, "p50_ms": 40.0, "p90_ms": 80.0, "p95_ms": 80.0, "max_ms": 80.0}
    assert numbers(warm["row_share"]) == {"n": 4, "p50_ms": 15.0, "p90_ms": 20.0, "p95_ms": 20.0, "max_ms": 20.0}
    assert (cold["batch_size"], warm["batch_size"]) == (
        {"min": 4, "median": 4, "max": 4},
        {"min": 2, "median": 4, "max": 4},
    )


def test_batches_that_took_alike_are_several_and_one_that_lacks_rows_is_one(row, report):
    alike = [*shared(row, 3, 5.0), *shared(row, 3, 5.0, prefix="d")]
    lacking = shared(row, 3, 6.0, rows=1)
    assert report([*alike, *lacking])["batch_timing"]["dwt-dct"]["warm"]["per_batch"]["n"] == 3


def test_a_batch_without_any_verdict_is_in_no_number_and_without_batches_there_is_no_section(row, report):
    failed = [row(f"c{i}", elapsed=None, status="error") | {"batch": {"size": 2, "elapsed_ms": 9000.0}} for i in range(2)]
    assert "batch_timing" not in report([*failed, row("d")])

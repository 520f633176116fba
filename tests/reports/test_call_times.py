"""Times of calls on both sides: percentiles over shared rows, and noise that a repeated measurement stays within."""

import random

import numpy as np
import pytest


def times(compared, old, new):
    return compared(old, new).document()["time"]


def test_each_row_is_compared_with_itself(row, compared):
    sizes = [1.0, 5.0, 40.0, 2.0, 9.0, 30.0, 4.0]
    old = [row(f"c{place}", elapsed=size) for place, size in enumerate(sizes)]
    new = [row(f"c{place}", elapsed=1.5 * size) for place, size in reversed(list(enumerate(sizes)))]
    (line,) = times(compared, old, new)
    assert (line["adapter"], line["new_adapter"], line["call"]) == ("dwt-dct", "dwt-dct", "warm")
    assert (line["old"]["p50_ms"], line["new"]["p50_ms"]) == (5.0, 7.5)
    assert line["change"] == {"rows": 7, "ratio": 1.5, "low": 1.5, "high": 1.5, "beyond_noise": True}


def test_only_rows_of_both_sides_count(row, compared):
    old = [row("a", elapsed=1.0), row("b", elapsed=100.0)]
    (line,) = times(compared, old, [row("a", elapsed=2.0), row("c", elapsed=50.0)])
    assert (line["old"]["max_ms"], line["new"]["max_ms"], line["change"]["rows"]) == (1.0, 2.0, 1)


def test_cold_and_warm_calls_are_apart(row, compared):
    old = [row("a", elapsed=500.0, call="cold"), row("b", elapsed=1.0), row("c", elapsed=2.0)]
    new = [row("a", elapsed=3.0), row("b", elapsed=400.0, call="cold"), row("c", elapsed=2.0)]
    cold, warm = times(compared, old, new)
    assert (cold["call"], cold["old"]["max_ms"], cold["new"]["max_ms"], cold["change"]) == ("cold", 500.0, 400.0, None)
    assert (warm["old"]["n"], warm["new"]["n"], warm["change"]["rows"]) == (2, 2, 1)


@pytest.mark.parametrize("status", ["error", "timeout", "unavailable"])
def test_calls_without_a_verdict_are_in_no_number(row, compared, status):
    old = [row("a", elapsed=1.0), row("b", elapsed=900.0, status=status, outcome="error")]
    (line,) = times(compared, old, old)
    assert line["old"]["max_ms"] == 1.0


def test_few_rows_leave_the_noise_unknown(row, compared):
    old = [row(f"c{place}") for place in range(5)]
    (line,) = times(compared, old, [row(f"c{place}", elapsed=9.0) for place in range(5)])
    assert line["change"] == {"rows": 5, "ratio": 9.0, "low": None, "high": None, "beyond_noise": None}


def test_a_row_without_any_duration_gives_no_ratio(row, compared):
    (line,) = times(compared, [row("a", elapsed=0.0)], [row("a", elapsed=1.0)])
    assert line["change"] is None


def drawn(row, seed, *, factor=1.0, slow_from=0.0, count=400):
    noise = random.Random(seed)
    return [
        row(
            f"c{place}",
            elapsed=(5 + place % 7) * noise.lognormvariate(0, 0.1) * (factor if place >= slow_from * count else 1),
        )
        for place in range(count)
    ]


def test_a_real_slowdown_is_beyond_the_noise(row, compared):
    (line,) = times(compared, drawn(row, 1), drawn(row, 2, factor=1.3))
    assert line["change"]["ratio"] == pytest.approx(1.3, rel=0.05)
    assert line["change"]["beyond_noise"]


def test_repeating_a_measurement_stays_within_the_noise(row, compared):
    within = [not times(compared, drawn(row, 2 * n), drawn(row, 2 * n + 1))[0]["change"]["beyond_noise"] for n in range(20)]
    assert all(within)


def test_a_machine_that_slows_down_during_one_run_widens_the_noise(row, compared):
    """The median rises by a third, but the beginning of both runs was alike."""
    (line,) = times(compared, drawn(row, 1), drawn(row, 2, factor=1.4, slow_from=0.3))
    assert line["change"]["ratio"] > 1.25
    assert not line["change"]["beyond_noise"]


def test_blocks_follow_the_order_of_either_run(row, compared):
    """Drift shows in the order in which the rows ran, which the other run need not have had."""
    old, new = drawn(row, 1), drawn(row, 2, factor=1.4, slow_from=0.3)
    shuffled = [old[place] for place in np.random.default_rng(3).permutation(len(old))]
    (line,) = times(compared, shuffled, new)
    assert not line["change"]["beyond_noise"]

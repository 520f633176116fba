"""No span of time has more calls than a limit allows, over all threads; waits grow, and are those that are asked for."""

import threading

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.metering import RateLimit
from pytest_benchbench.adapters.remote.timekeeping import FIRST_WAIT, LONGEST_WAIT, SYSTEM, RateGate, Timekeeper

arrivals = st.lists(st.integers(0, 50), min_size=1, max_size=60)
limits = st.builds(RateLimit, st.integers(1, 5), st.integers(1, 20).map(float))


@given(arrivals, limits)
def test_no_span_has_more_calls_than_the_limit(gaps, limit):
    gate, now, starts = RateGate(limit), 0.0, []
    for gap in gaps:
        now += gap
        wait = gate.reserve(now)
        assert wait >= 0.0
        starts.append(now + wait)
    assert starts == sorted(starts)
    assert all(late - early >= limit.seconds for early, late in zip(starts, starts[limit.calls :], strict=False))


@given(arrivals, limits)
def test_nobody_waits_longer_than_needed(gaps, limit):
    gate, now, starts = RateGate(limit), 0.0, []
    for gap in gaps:
        now += gap
        start = now + gate.reserve(now)
        earliest = max([now, *starts[-1:]])
        if len(starts) >= limit.calls:
            earliest = max(earliest, starts[-limit.calls] + limit.seconds)
        assert start == earliest
        starts.append(start)


def test_threads_share_a_limit():
    gate, waits, ready = RateGate(RateLimit(3, 10.0)), [], threading.Barrier(12)

    def ask():
        ready.wait()
        waits.append(gate.reserve(100.0))

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(waits) == [0.0] * 3 + [10.0] * 3 + [20.0] * 3 + [30.0] * 3


def test_a_pause_holds_for_everyone():
    gate = RateGate(RateLimit(10, 1.0))
    gate.hold(50.0)
    gate.hold(20.0)
    assert gate.reserve(10.0) == 40.0
    assert gate.reserve(60.0) == 0.0


def test_what_must_not_wait_is_told_how_long_it_would():
    gate = RateGate(RateLimit(2, 900.0))
    assert [gate.reserve_at_once(now) for now in (0.0, 10.0, 20.0, 899.0, 900.0)] == [None, None, 880.0, 1.0, None]


def test_instances_of_one_account_share_a_gate(clock):
    limit = RateLimit(1, 1.0)
    assert clock.gate("gptzero here", limit) is clock.gate("gptzero here", limit)
    assert clock.gate("gptzero here", limit) is not clock.gate("gptzero there", limit)


def test_waits_double_up_to_a_bound_and_half_is_chance():
    low, high = Timekeeper(uniform=lambda low, high: low), Timekeeper(uniform=lambda low, high: high)
    assert [high.backoff(tries) for tries in range(1, 9)] == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    assert [low.backoff(tries) for tries in (1, 99)] == [FIRST_WAIT / 2, LONGEST_WAIT / 2]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": " 0 "}, 0.0),
        ({"retry-after": "9" * 400}, 999999999.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "1.5"}, None),
        ({"retry-after": "١٢"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Fri, 15 Jan 2027 08:01:00 GMT"}, 60.0),
        ({"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0.0),
        ({"retry-after": "Tue, 01 Dec 2026 10:01:00 GMT", "date": "Tue, 01 Dec 2026 10:00:00 GMT"}, 60.0),
        ({"retry-after": "Tue, 01 Dec 2026 10:01:00", "date": "Tue, 01 Dec 2026 10:00:00 GMT"}, 60.0),
        ({"retry-after": "Fri, 99 Jan 2027 08:01:00 GMT"}, None),
        ({"retry-after": f"Fri, {'9' * 20} Jan 2027 08:01:00 GMT"}, None),
        ({"retry-after": f"Fri, 15 Jan 2027 08:01:00 +{'9' * 20}"}, None),
    ],
)
def test_what_a_vendor_asks_to_wait(clock, headers, seconds):
    assert clock.asked_wait(headers) == seconds  # the clock says Friday, 15 January 2027, 8:00


def test_a_wait_ends_with_the_run():
    ended = threading.Event()
    ended.set()
    SYSTEM.sleep(3600.0, ended)


def test_a_run_that_ends_while_it_waits_sends_nothing_more(ask, texts, vendors, player, clock):
    adapter = ask("gptzero")
    refunded = []
    adapter.meter.refund = refunded.append
    clock.sleep = lambda seconds, event: adapter.delivery.close()
    vendors.play([player.refusal(503, "later")])
    (answer,) = adapter.detect_batch(texts(1))
    assert (answer.type, len(vendors.asked), len(refunded)) == ("NotSent", 1, 1)
    assert answer.message.startswith("the run ended before the vendor's turn came; nothing was sent")


def test_the_limit_is_kept_by_calls(ask, texts, clock):
    adapter = ask("copyleaks", concurrency=1)
    adapter.detect_batch(texts(25))
    assert clock.waits == [1.0, 1.0]  # 10 a second; the clock stands still but for waits, and the login counts

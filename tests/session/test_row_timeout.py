"""The timer of rows: handlers and timers of others are served and come back."""

import math
import signal
import time

import pytest

from pytest_benchbench.session.row_timeout import RowTimeout, RowTimer


class Pool:
    def drop(self, alias):
        raise AssertionError("nothing was interrupted")


@pytest.fixture
def timer(tmp_path):
    with (tmp_path / "stderr").open("w") as file:
        yield RowTimer(5.0, Pool(), file.fileno())


@pytest.fixture
def alarms():
    """Count alarms by a handler of one's own."""
    received = []

    def handler(number, frame):
        received.append(number)

    before = signal.signal(signal.SIGALRM, handler)
    yield handler, received
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_handler_and_timer_are_restored(timer, alarms):
    handler, received = alarms
    signal.setitimer(signal.ITIMER_REAL, 1000, 7)
    with timer.row():
        timer.restart()
        assert signal.getsignal(signal.SIGALRM) != handler
        assert signal.getitimer(signal.ITIMER_REAL)[0] <= 5
    assert signal.getsignal(signal.SIGALRM) is handler
    remaining, interval = signal.getitimer(signal.ITIMER_REAL)
    assert 990 < remaining <= 1000
    assert interval == 7
    assert received == []


def test_without_a_timer_of_before_there_is_none_afterwards(timer, alarms):
    with timer.row():
        timer.restart()
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_timer_of_before_is_served_meanwhile(timer, alarms):
    _, received = alarms
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with timer.row():
        timer.restart()
        give_up = time.monotonic() + 4
        while not received and time.monotonic() < give_up:
            pass
        assert received == [signal.SIGALRM]
        assert not timer.has_run_out
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0  # the row's own is still to come
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_handler_that_is_installed_meanwhile_stays(timer, alarms):
    def own(number, frame):
        pass

    with timer.row():
        timer.restart()
        signal.signal(signal.SIGALRM, own)
    assert signal.getsignal(signal.SIGALRM) is own


def test_nothing_is_raised_outside_of_a_phase(tmp_path, alarms):
    with (tmp_path / "stderr").open("w") as file:
        timer = RowTimer(0.05, Pool(), file.fileno())
        with timer.row():
            timer.restart()
            while not timer.has_run_out:
                pass
            signal.raise_signal(signal.SIGALRM)
            timer.stop()


def test_a_row_that_is_looked_into_has_no_limit(timer, alarms):
    with timer.row():
        timer.restart()
        timer.pytest_enter_pdb()
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        assert not timer.has_run_out


def test_the_interruption_is_no_exception():
    assert not issubclass(RowTimeout, Exception)
    assert math.isfinite(RowTimer(5.0, Pool(), 2).limit)

"""When a vendor is asked: rate limits that hold over all threads and instances of a process, and waits between tries."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from pytest_benchbench.adapters.metering import RateLimit

FIRST_WAIT = 1.0
"""Seconds before the first further try, doubled with each."""

LONGEST_WAIT = 60.0
"""Seconds to which the waits grow."""

LONGEST_ASKED_WAIT = 300.0
"""Seconds that a vendor may ask to wait for (``Retry-After``); one that asks for more is not asked again."""


class RateGate:
    """Gives out the times at which calls may be made: in no span of a limit's seconds more than its calls.

    Args:
        limit: The limit that holds.
    """

    def __init__(self, limit: RateLimit) -> None:
        self._limit = limit
        self._starts: deque[float] = deque(maxlen=limit.calls)
        self._held_until = float("-inf")
        self._lock = threading.Lock()

    def reserve(self, now: float) -> float:
        """Take the next free time for a call.

        Args:
            now: Seconds of a monotonic clock.

        Returns:
            Seconds to wait from ``now`` on, 0 or more.
        """
        with self._lock:
            return self._take(now, self._next(now))

    def reserve_at_once(self, now: float) -> float | None:
        """Take a call that needs no waiting.

        Args:
            now: Seconds of a monotonic clock.

        Returns:
            ``None`` if it was taken, else the seconds after which one could be.
        """
        with self._lock:
            start = self._next(now)
            if start > now:
                return start - now
            self._take(now, start)
            return None

    def hold(self, until: float) -> None:
        """Let no call start before a time: the vendor asked for a pause."""
        with self._lock:
            self._held_until = max(self._held_until, until)

    def _next(self, now: float) -> float:
        start = max(now, self._held_until)
        if self._starts:
            start = max(start, self._starts[-1])  # times are given out in order
        if len(self._starts) == self._limit.calls:
            start = max(start, self._starts[0] + self._limit.seconds)
        return start

    def _take(self, now: float, start: float) -> float:
        self._starts.append(start)
        return start - now


class Timekeeper:
    """The clocks of a process, its rate limits, and chance. Tests put others in their place, so that none has to wait.

    Args:
        monotonic: Seconds that never go back.
        wall: Seconds since 1970.
        sleep: Waits for some seconds, or until an event is set.
        uniform: A random number between two.
    """

    def __init__(
        self,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        sleep: Callable[[float, threading.Event], object] = lambda seconds, ended: ended.wait(seconds),
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self.monotonic = monotonic
        self.wall = wall
        self.sleep = sleep
        self.uniform = uniform
        self._gates: dict[str, RateGate] = {}
        self._lock = threading.Lock()

    def gate(self, name: str, limit: RateLimit) -> RateGate:
        """Give the gate of a name, the same for all who ask: an account has one limit, however many instances use it."""
        with self._lock:
            return self._gates.setdefault(name, RateGate(limit))

    def backoff(self, tries: int) -> float:
        """Say how long to wait before a further try: twice as long each time, of which half is left to chance.

        Args:
            tries: How many there have been, 1 or more.

        Returns:
            Seconds.
        """
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (tries - 1))
        return self.uniform(longest / 2, longest)

    def asked_wait(self, headers: Mapping[str, str]) -> float | None:
        """Read how long a vendor asks to wait (``Retry-After``, RFC 9110 section 10.2.3).

        Args:
            headers: Of its answer, by lower-case names. A date is held against the vendor's own ``Date`` where there is
                one, so that clocks need not agree.

        Returns:
            Seconds, 0 or more; ``None`` where it does not ask, or cannot be understood.
        """
        value = headers.get("retry-after", "").strip()
        if value.isascii() and value.isdigit():
            return float(value[:9])
        if (until := _http_date(value)) is None:
            return None
        now = _http_date(headers.get("date", ""))
        return max(0.0, until - (self.wall() if now is None else now))


SYSTEM = Timekeeper()
"""The clocks of this process."""


def _http_date(value: str) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

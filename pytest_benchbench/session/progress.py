"""How far a run is: which rows are in flight since when, how many are done, how fast, and how long the rest may take."""

from __future__ import annotations

from collections import deque

WINDOW_SECONDS = 60.0
"""The pace is that of as much of the time before, so that a slow detector after a quick one is noticed."""

_SAMPLES = 120


class Progress:
    """Keeps what a progress line is about. Times are seconds of one monotonic clock.

    Attributes:
        in_flight: When the rows that are being run began, by node id.
    """

    def __init__(self) -> None:
        self.in_flight: dict[str, float] = {}
        self._total = 0
        self._samples: deque[tuple[float, int]] = deque(maxlen=_SAMPLES)

    @property
    def is_sampled(self) -> bool:
        """Whether it is known how many rows are to be run."""
        return bool(self._samples)

    def begin(self, nodeid: str, now: float) -> None:
        """Know that a row, or another try at one, begins."""
        self.in_flight[nodeid] = now

    def end(self, nodeid: str) -> None:
        """Know that a row is no longer run; one that was not is passed over."""
        self.in_flight.pop(nodeid, None)

    def longest(self, now: float) -> float:
        """Give the seconds for which the longest row in flight has been run; 0 when there is none."""
        return now - min(self.in_flight.values(), default=now)

    def sample(self, remaining: int, now: float) -> None:
        """Take note of how many rows are still to be run; now and then, more often than every ``WINDOW_SECONDS``."""
        self._total = max(self._total, remaining)
        self._samples.append((now, self._total - remaining))

    def line(self, now: float) -> str:
        """Write the progress in one line of printable ASCII, as of the last sample.

        Rows done of those to be run; once some are done the pace of the last minute and an estimate of the time left; and
        what is in flight: the row that has been run the longest, and how many others.
        """
        parts = []
        if self._samples:
            done = self._samples[-1][1]
            parts.append(f"{done} of {self._total} rows{self._pace(done)}")
        if self.in_flight:
            nodeid = min(self.in_flight, key=self.in_flight.__getitem__)
            others = f" and {count} more" if (count := len(self.in_flight) - 1) else ""
            parts.append(f"running for {_span(self.longest(now))}: {_shown(nodeid)}{others}")
        return f"benchbench: {'; '.join(parts)}"

    def _pace(self, done: int) -> str:
        begun, _ = self._samples[-1]
        first, done_first = next(
            ((when, count) for when, count in self._samples if when >= begun - WINDOW_SECONDS), self._samples[-1]
        )
        if done == done_first:  # nothing was done lately: what was done in all tells more than nothing
            first, done_first = self._samples[0]
        if done == done_first or begun <= first:
            return ""
        seconds_a_row = (begun - first) / (done - done_first)
        pace = f"{1 / seconds_a_row:.1f} rows/s" if seconds_a_row <= 1 else f"{seconds_a_row:.1f} s/row"
        left = self._total - done
        return f", {pace}" + (f", about {_span(left * seconds_a_row)} left" if left else "")


def _shown(nodeid: str) -> str:
    """Name a row by adapter and case; what is no printable ASCII is escaped, so that its width is known."""
    name = "::".join(nodeid.split("::")[-2:])
    text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in name)
    return text.encode("ascii", "backslashreplace").decode("ascii")


def _span(seconds: float) -> str:
    """Write a time as ``0:07``, ``12:30`` or ``3:05:00``."""
    minutes, second = divmod(int(seconds + 0.5), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"

"""What became of a detection from one state of a pair to the other."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_benchbench.statistics.intervals import wilson_interval
from pytest_benchbench.statistics.paired import Difference, mcnemar_exact, paired_difference


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole with its 95 % Wilson interval.

    Attributes:
        k: The part.
        n: The whole.
        rate: ``k / n``; ``None`` for ``n == 0``, as are the bounds.
        low: Lower bound.
        high: Upper bound.
    """

    k: int
    n: int
    rate: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, k: int, n: int) -> Share:
        """Give the share with its interval.

        Raises:
            ValueError: ``k`` lies outside [0, n].
        """
        interval = wilson_interval(k, n)
        return cls(k, n, None, None, None) if interval is None else cls(k, n, k / n, *interval)


@dataclass(frozen=True, slots=True)
class Transitions:
    """Pairs by whether the first and the second of each were detected.

    The share that is detected afterwards is no retention: it mixes what was kept with what was gained, and says nothing of
    what there was to lose. So the four counts stay apart.

    Attributes:
        kept: Detected before and after.
        lost: Detected before, not after.
        gained: Not before, but after.
        absent: Neither before nor after.
    """

    kept: int
    lost: int
    gained: int
    absent: int

    def __post_init__(self) -> None:
        """Refuse impossible counts.

        Raises:
            ValueError: A count is negative.
        """
        if min(self.kept, self.lost, self.gained, self.absent) < 0:
            raise ValueError(f"counts are at least 0: {self}")

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return self.kept + self.lost + self.gained + self.absent

    @property
    def before(self) -> Share:
        """The share that was detected before."""
        return Share.of(self.kept + self.lost, self.pairs)

    @property
    def after(self) -> Share:
        """The share that is detected after."""
        return Share.of(self.kept + self.gained, self.pairs)

    @property
    def kept_share(self) -> Share:
        """Of the pairs detected before, those still detected after."""
        return Share.of(self.kept, self.kept + self.lost)

    @property
    def gained_share(self) -> Share:
        """Of the pairs not detected before, those detected after."""
        return Share.of(self.gained, self.gained + self.absent)

    @property
    def mcnemar_p(self) -> float | None:
        """The two-sided exact p-value of "neither direction is likelier"; ``None`` when nothing changed."""
        return mcnemar_exact(self.lost, self.gained)

    def change(self, confidence: float = 0.95) -> Difference | None:
        """Give the share after minus the share before, with its paired interval; ``None`` without a pair."""
        return paired_difference(self.kept, self.gained, self.lost, self.absent, confidence)

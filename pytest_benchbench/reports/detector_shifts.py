"""Detectors that moved together: what points to the set, the harness or the pipeline rather than to one vendor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pytest_benchbench.reports.detector_outcomes import sample_id
from pytest_benchbench.statistics.regression import Metric, Step, chance_of_shift
from pytest_benchbench.statistics.unchanged import at_least

SURPRISING: Final = 0.05
"""Several detectors that move together less often than this by chance are taken for a common cause."""

NAMED: Final = 20
"""How many of the samples that changed in several detectors are named."""

Reading = Literal["single", "several", "common"]


@dataclass(frozen=True, slots=True)
class Moved:
    """One detector in one run against its baseline.

    Attributes:
        step: The comparison.
        before: For each sample whether the metric counted it in the baseline.
        after: The same of the run.
    """

    step: Step
    before: Mapping[str, bool]
    after: Mapping[str, bool]

    @property
    def way(self) -> Literal["up", "down"] | None:
        """Which way the rate moved, if it did by as much as is an effect."""
        if not self.step.is_large:
            return None
        return "up" if self.step.transitions.gained > self.step.transitions.lost else "down"

    def changed(self) -> set[str]:
        """Name the samples that changed the way in which the rate moved."""
        is_counted = self.way == "up"
        return {
            name for name, was in self.before.items() if was is not is_counted and self.after.get(name, was) is is_counted
        }


def shifts(metric: Metric, detectors: Mapping[str, Moved]) -> list[dict[str, Any]]:
    """Say which detectors moved the same way in one run, and how surprising that is.

    For each detector the number of samples that changed at all is taken as it is, and each is as likely to have changed
    either way; that gives how often it leans this way by as much as is an effect. From that follows how often at least so
    many detectors do, *if none had to do with another*. They do have to do with one another, because they read the same
    texts: the number says how surprising the shift would be without a common cause, and no more.

    Args:
        metric: What moved.
        detectors: By alias, those that have a baseline in this run and a pair.

    Returns:
        For each way in which any moved: the ``metric``, the ``way``, who ``moved`` and by how many points, ``of`` how many,
        the ``chance`` of so many under independence, the ``reading`` (``single``; ``common`` for several that
        are less likely than ``SURPRISING``; ``several`` otherwise), and how many samples changed so in at least two of them.
    """
    found = []
    for way in ("down", "up"):
        moved = {alias: each for alias, each in sorted(detectors.items()) if each.way == way}
        if not moved:
            continue
        chance = at_least(len(moved), [chance_of_shift(each.step.transitions) for each in detectors.values()])
        counted = Counter(name for each in moved.values() for name in each.changed())
        shared = sorted(sample_id(name) for name, count in counted.items() if count > 1)
        reading: Reading = "single" if len(moved) == 1 else "common" if chance < SURPRISING else "several"
        found.append(
            {
                "metric": metric,
                "way": way,
                "moved": [{"alias": alias, "points": each.step.points} for alias, each in moved.items()],
                "of": len(detectors),
                "chance": chance,
                "reading": reading,
                "sharedSamples": {"count": len(shared), "listed": shared[:NAMED]},
            }
        )
    return found

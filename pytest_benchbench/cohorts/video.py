"""The video cohort: two clips drawn by formula, and a hard negative."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.cohorts.attacks.registry import DEFAULT_VIDEO_ATTACKS, find_attacks
from pytest_benchbench.cohorts.carriers.video import CARRIERS, HARD_NEGATIVE
from pytest_benchbench.cohorts.media import MEDIA
from pytest_benchbench.cohorts.recipe import Carrier, Part, Recipe
from pytest_benchbench.cohorts.schemes import schemes_of

NAME = "video"
DEFAULT_ADAPTERS: tuple[str, ...] = ("videoseal",)


def video(
    attacks: Iterable[str] = DEFAULT_VIDEO_ATTACKS,
    adapters: Iterable[AdapterChoice | str] = DEFAULT_ADAPTERS,
    *,
    double_embedded: bool = False,
) -> Recipe:
    """Describe the cohort. Whether re-encoding at crf 23 destroys the mark is measured for each clip.

    Args:
        attacks: Names of what is done to marked clips.
        adapters: Whose marks are embedded.
        double_embedded: Add rows in which somebody else's message is embedded over the mark.

    Raises:
        CohortError: There is no such attack or adapter.
    """
    carriers = synthetic_clips()
    chosen = find_attacks("video", attacks)
    return Recipe(
        name=NAME,
        title=NAME,
        module=__name__,
        parts=(
            Part(
                medium=MEDIA["video"],
                prefix="video",
                parameters={},
                carriers=len(carriers),
                open_carriers=lambda: carriers,
                hard_negatives=(Carrier.of(HARD_NEGATIVE, HARD_NEGATIVE.draw),),
                attacks=chosen,
                schemes=schemes_of("video", adapters),
                forged=True,
                double_embedded=double_embedded,
                removals=frozenset((carrier.name, "h264-23") for carrier in carriers),
            ),
        ),
        parameters={
            "carriers": [{**carrier.record(), "formula": carrier.formula} for carrier in (*CARRIERS, HARD_NEGATIVE)],
            "attacks": [attack.name for attack in chosen],
            "double_embedded": double_embedded,
        },
    )


def synthetic_clips() -> tuple[Carrier, ...]:
    """Give the two drawn clips."""
    return tuple(Carrier.of(carrier, carrier.draw) for carrier in CARRIERS)

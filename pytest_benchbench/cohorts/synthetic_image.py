"""The synthetic image cohort: three carriers drawn by formula, and a hard negative."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.cohorts.attacks.registry import DEFAULT_IMAGE_ATTACKS, find_attacks
from pytest_benchbench.cohorts.carriers.synthetic import CARRIERS, HIGH_FREQUENCY
from pytest_benchbench.cohorts.media import MEDIA
from pytest_benchbench.cohorts.recipe import Carrier, Part, Recipe, check_side
from pytest_benchbench.cohorts.schemes import schemes_of

NAME = "synthetic-image"
DEFAULT_SIDE = 512
DEFAULT_ADAPTERS: tuple[str, ...] = ("dwt-dct", "trustmark")


def synthetic_image(
    side: int = DEFAULT_SIDE,
    attacks: Iterable[str] = DEFAULT_IMAGE_ATTACKS,
    adapters: Iterable[AdapterChoice | str] = DEFAULT_ADAPTERS,
) -> Recipe:
    """Describe the cohort.

    Args:
        side: Width and height in pixels, 256 to 8192, divisible by 16.
        attacks: Names of what is done to marked pictures.
        adapters: Whose marks are embedded.

    Raises:
        CohortError: The side cannot be used, or there is no such attack or adapter.
    """
    check_side(side)
    carriers = synthetic_pictures(side)
    chosen = find_attacks("image", attacks)
    return Recipe(
        name=NAME,
        title=f"{NAME} at {side}x{side}",
        module=__name__,
        parts=(
            Part(
                medium=MEDIA["image"],
                prefix=f"synthetic-{side}",
                parameters={"size": side},
                carriers=len(carriers),
                open_carriers=lambda: carriers,
                hard_negatives=(Carrier.of(HIGH_FREQUENCY, partial(HIGH_FREQUENCY.draw, side)),),
                attacks=chosen,
                schemes=schemes_of("image", adapters),
            ),
        ),
        parameters={
            "size": side,
            "carriers": [{**carrier.record(), "formula": carrier.formula} for carrier in (*CARRIERS, HIGH_FREQUENCY)],
            "attacks": [attack.name for attack in chosen],
        },
    )


def synthetic_pictures(side: int) -> tuple[Carrier, ...]:
    """Give the three drawn carriers at ``side`` pixels."""
    return tuple(Carrier.of(carrier, partial(carrier.draw, side)) for carrier in CARRIERS)

"""The synthetic image cohort: three carriers drawn by formula, and a hard negative."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_benchbench.cohorts.attacks.image import DEFAULT_IMAGE_ATTACKS
from pytest_benchbench.cohorts.carriers.synthetic import CARRIERS, HIGH_FREQUENCY, SyntheticCarrier
from pytest_benchbench.cohorts.recipe import Carrier, ImageRecipe, check_side, named_attacks
from pytest_benchbench.cohorts.schemes import IMAGE_SCHEMES

NAME = "synthetic-image"
DEFAULT_SIDE = 512


def synthetic_image(side: int = DEFAULT_SIDE, attacks: Iterable[str] = DEFAULT_IMAGE_ATTACKS) -> ImageRecipe:
    """Describe the cohort.

    Args:
        side: Width and height in pixels, 256 to 8192, divisible by 16.
        attacks: Names of what is done to marked pictures.

    Raises:
        CohortError: The side cannot be used, or there is no such attack.
    """
    carriers = tuple(_carrier(carrier) for carrier in CARRIERS)
    chosen = named_attacks(attacks)
    return ImageRecipe(
        name=NAME,
        prefix="synthetic",
        module=__name__,
        side=check_side(side),
        carriers=len(carriers),
        open_carriers=lambda: carriers,
        hard_negatives=(_carrier(HIGH_FREQUENCY),),
        attacks=chosen,
        schemes=IMAGE_SCHEMES,
        parameters={
            "size": side,
            "carriers": [{**carrier.record(), "formula": carrier.formula} for carrier in (*CARRIERS, HIGH_FREQUENCY)],
            "attacks": [attack.name for attack in chosen],
        },
        distributions=("numpy", "Pillow"),
    )


def _carrier(carrier: SyntheticCarrier) -> Carrier:
    return Carrier(
        name=carrier.name,
        draw=carrier.draw,
        record={"carrier": carrier.record()},
        seed=carrier.seed,
        source_revision=f"pytest-benchbench/{carrier.name}@{carrier.revision}",
    )

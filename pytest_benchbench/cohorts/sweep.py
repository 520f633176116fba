"""The sweep: one carrier set through the strength grid of one attack family, for robustness curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.cohorts import CohortUsageError
from pytest_benchbench.cohorts.attacks.registry import families_of
from pytest_benchbench.cohorts.audio import synthetic_sounds
from pytest_benchbench.cohorts.carriers.photographs import BUNDLED_LIST, bundled_folder
from pytest_benchbench.cohorts.carriers.source_list import read_source_list
from pytest_benchbench.cohorts.media import MEDIA
from pytest_benchbench.cohorts.real_image import photographs
from pytest_benchbench.cohorts.recipe import Carrier, Part, Recipe, check_side
from pytest_benchbench.cohorts.schemes import SCHEMES, schemes_of
from pytest_benchbench.cohorts.synthetic_image import synthetic_pictures
from pytest_benchbench.cohorts.video import synthetic_clips

NAME = "sweep"
DEFAULT_SIDE = 512


@dataclass(frozen=True, slots=True)
class _CarrierSet:
    """Carriers of one medium: how many, and how to get them at a size in pixels (images only)."""

    media_type: str
    number: int
    open: Callable[[int], Iterable[Carrier]]
    distributions: tuple[str, ...] = ()


def _photographs(side: int) -> Iterable[Carrier]:
    return photographs(replace(read_source_list(BUNDLED_LIST), base=bundled_folder()), side)


def _carrier_sets() -> Mapping[str, _CarrierSet]:
    images = len(read_source_list(BUNDLED_LIST).images)
    return {
        "photographs": _CarrierSet("image", images, _photographs, ("scikit-image",)),
        "synthetic-image": _CarrierSet("image", len(synthetic_pictures(DEFAULT_SIDE)), synthetic_pictures),
        "audio": _CarrierSet("audio", len(synthetic_sounds()), lambda side: synthetic_sounds()),
        "video": _CarrierSet("video", len(synthetic_clips()), lambda side: synthetic_clips()),
    }


CARRIER_SETS: tuple[str, ...] = ("photographs", "synthetic-image", "audio", "video")
"""Names of the carrier sets."""

_DEFAULT_SET = {"image": "photographs", "audio": "audio", "video": "video"}


def sweep(
    family: str, adapters: Iterable[AdapterChoice | str], *, carriers: str | None = None, side: int = DEFAULT_SIDE
) -> Recipe:
    """Describe a sweep.

    Args:
        family: An attack family; its members are the strengths, weak to strong.
        adapters: Whose marks are embedded, all of one medium.
        carriers: One of ``CARRIER_SETS``; by default the photographs, or the cohort carriers of the adapters' medium.
        side: Width and height of images in pixels, 256 to 8192, divisible by 16.

    Raises:
        CohortUsageError: The side cannot be used, there is no such family, carrier set or adapter, or they do not go
            together.
    """
    check_side(side)
    adapters = tuple(adapters)
    if not adapters:
        raise CohortUsageError("a sweep needs at least one adapter")
    if carriers is not None and carriers not in CARRIER_SETS:
        raise CohortUsageError(f"unknown carriers {carriers!r}; known: {', '.join(CARRIER_SETS)}")
    first = adapters[0].name if isinstance(adapters[0], AdapterChoice) else adapters[0]
    medium_of_adapter = SCHEMES[first].media_type if first in SCHEMES else "image"
    chosen_set = carriers or _DEFAULT_SET[medium_of_adapter]
    carrier_set = _carrier_sets()[chosen_set]
    schemes = schemes_of(carrier_set.media_type, adapters)
    families = families_of(carrier_set.media_type)
    if family not in families:
        raise CohortUsageError(f"unknown {carrier_set.media_type} attack family {family!r}; known: {', '.join(families)}")
    attacks = families[family]
    is_image = carrier_set.media_type == "image"
    size = {"size": side} if is_image else {}
    return Recipe(
        name=NAME,
        title=f"{NAME} of {family} over {chosen_set}" + (f" at {side}x{side}" if is_image else ""),
        module=__name__,
        parts=(
            Part(
                medium=MEDIA[carrier_set.media_type],
                prefix=f"sweep-{side}" if is_image else "sweep",
                parameters=size,
                carriers=carrier_set.number,
                open_carriers=lambda: carrier_set.open(side),
                attacks=attacks,
                schemes=schemes,
            ),
        ),
        parameters={
            **size,
            "carriers": chosen_set,
            "family": family,
            "strengths": [attack.strength for attack in attacks],
            "attacks": [attack.name for attack in attacks],
        },
        distributions=carrier_set.distributions,
    )

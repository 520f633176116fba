"""The real-image cohort: any list of images that says why each may be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.cohorts.attacks.registry import DEFAULT_IMAGE_ATTACKS, find_attacks
from pytest_benchbench.cohorts.carriers.photographs import BUNDLED_LIST, bundled_folder, verified_photographs
from pytest_benchbench.cohorts.carriers.source_list import SourceList, read_source_list
from pytest_benchbench.cohorts.media import MEDIA
from pytest_benchbench.cohorts.recipe import Carrier, Part, Recipe, check_side
from pytest_benchbench.cohorts.schemes import schemes_of

NAME = "real-image"
DEFAULT_SIDE = 512
DEFAULT_ADAPTERS: tuple[str, ...] = ("dwt-dct", "trustmark")


def real_image(
    side: int = DEFAULT_SIDE,
    attacks: Iterable[str] = DEFAULT_IMAGE_ATTACKS,
    source: Path | None = None,
    adapters: Iterable[AdapterChoice | str] = DEFAULT_ADAPTERS,
) -> Recipe:
    """Describe the cohort; the images themselves are verified when it is built.

    Args:
        side: Width and height in pixels to which every image is brought, 256 to 8192, divisible by 16.
        attacks: Names of what is done to marked pictures.
        source: The list of images; scikit-image's photographs if absent.
        adapters: Whose marks are embedded.

    Raises:
        CohortError: The side cannot be used, there is no such attack or adapter, or the list is refused.
    """
    check_side(side)
    sources = read_source_list(source or BUNDLED_LIST, display=None if source else BUNDLED_LIST.name)
    chosen = find_attacks("image", attacks)
    return Recipe(
        name=NAME,
        title=f"{NAME} at {side}x{side}",
        module=__name__,
        parts=(
            Part(
                medium=MEDIA["image"],
                prefix=f"real-{side}",
                parameters={"size": side},
                carriers=len(sources.images),
                open_carriers=lambda: photographs(sources if source else replace(sources, base=bundled_folder()), side),
                attacks=chosen,
                schemes=schemes_of("image", adapters),
            ),
        ),
        parameters={
            "size": side,
            "source_manifest_sha256": sources.sha256,
            "images": len(sources.images),
            "attacks": [attack.name for attack in chosen],
        },
        distributions=() if source else ("scikit-image",),
    )


def photographs(sources: SourceList, side: int) -> Iterator[Carrier]:
    """Verify a list of images and give each, brought to ``side`` pixels, in the order of the list.

    Raises:
        CohortError: An image is not what its entry says.
    """
    for photograph in list(verified_photographs(sources)):  # the whole list, before anything is built on it
        yield Carrier(
            name=photograph.image.identity,
            draw=partial(photograph.draw, side),
            record={"source": photograph.record(side)},
            seed=None,
            source_revision=f"source-list@sha256:{sources.sha256}",
        )

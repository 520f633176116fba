"""The real-image cohort: any list of images that says why each may be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from pytest_benchbench.cohorts.attacks.image import DEFAULT_IMAGE_ATTACKS
from pytest_benchbench.cohorts.carriers.photographs import BUNDLED_LIST, bundled_folder, verified_photographs
from pytest_benchbench.cohorts.carriers.source_list import SourceList, read_source_list
from pytest_benchbench.cohorts.recipe import Carrier, ImageRecipe, check_side, named_attacks
from pytest_benchbench.cohorts.schemes import IMAGE_SCHEMES

NAME = "real-image"
DEFAULT_SIDE = 512


def real_image(
    side: int = DEFAULT_SIDE, attacks: Iterable[str] = DEFAULT_IMAGE_ATTACKS, source: Path | None = None
) -> ImageRecipe:
    """Describe the cohort; the images themselves are verified when it is built.

    Args:
        side: Width and height in pixels to which every image is brought, 256 to 8192, divisible by 16.
        attacks: Names of what is done to marked pictures.
        source: The list of images; scikit-image's photographs if absent.

    Raises:
        CohortError: The side cannot be used, there is no such attack, or the list is refused.
    """
    sources = read_source_list(source or BUNDLED_LIST, display=None if source else BUNDLED_LIST.name)
    chosen = named_attacks(attacks)
    return ImageRecipe(
        name=NAME,
        prefix="real",
        module=__name__,
        side=check_side(side),
        carriers=len(sources.images),
        open_carriers=lambda: _carriers(sources if source else replace(sources, base=bundled_folder()), side),
        hard_negatives=(),
        attacks=chosen,
        schemes=IMAGE_SCHEMES,
        parameters={
            "size": side,
            "source_manifest_sha256": sources.sha256,
            "images": len(sources.images),
            "attacks": [attack.name for attack in chosen],
        },
        distributions=("numpy", "Pillow", *(() if source else ("scikit-image",))),
    )


def _carriers(sources: SourceList, side: int) -> Iterator[Carrier]:
    for photograph in list(verified_photographs(sources)):  # the whole list, before anything is built on it
        yield Carrier(
            name=photograph.image.identity,
            draw=photograph.draw,
            record={"source": photograph.record(side)},
            seed=None,
            source_revision=f"source-list@sha256:{sources.sha256}",
        )

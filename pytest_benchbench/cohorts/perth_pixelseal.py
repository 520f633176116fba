"""The Perth and PixelSeal study: Perth on sounds made by formula and on speech, PixelSeal on two photographs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.cohorts import CohortUsageError
from pytest_benchbench.cohorts.attacks.registry import find_attacks
from pytest_benchbench.cohorts.audio import spoken, synthetic_sounds
from pytest_benchbench.cohorts.carriers.photographs import BUNDLED_LIST, bundled_folder
from pytest_benchbench.cohorts.carriers.source_list import SourceList, read_source_list
from pytest_benchbench.cohorts.carriers.speech import DISTRIBUTIONS as SPEECH_DISTRIBUTIONS
from pytest_benchbench.cohorts.media import MEDIA
from pytest_benchbench.cohorts.real_image import photographs
from pytest_benchbench.cohorts.recipe import Carrier, Part, Recipe, check_side
from pytest_benchbench.cohorts.schemes import schemes_of

NAME = "perth-pixelseal"
DEFAULT_SIDE = 512
DEFAULT_ADAPTERS: tuple[str, ...] = ("perth", "pixelseal")

PHOTOGRAPHS = ("astronaut", "chelsea")
"""The photographs of the list that PixelSeal marks: both free to use without condition."""

PIXELSEAL_ATTACKS = ("jpeg-90",)


def perth_pixelseal(side: int = DEFAULT_SIDE, adapters: Iterable[AdapterChoice | str] = DEFAULT_ADAPTERS) -> Recipe:
    """Describe the study.

    Perth is made for speech. On the sounds made by formula, which are deliberately something else, its marks assert
    nothing: they are measurements.

    Args:
        side: Width and height of the photographs in pixels, 256 to 8192, divisible by 16.
        adapters: ``perth``, ``pixelseal`` or both.

    Raises:
        CohortUsageError: The side cannot be used, or another adapter is named.
    """
    check_side(side)
    chosen = {given.name if isinstance(given, AdapterChoice) else given: given for given in adapters}
    if other := sorted(set(chosen) - set(DEFAULT_ADAPTERS)):
        raise CohortUsageError(f"{other[0]} takes no part in this study; it is about {' and '.join(DEFAULT_ADAPTERS)}")
    parts: list[Part] = []
    if "perth" in chosen:
        perth, sounds = schemes_of("audio", [chosen["perth"]]), synthetic_sounds()
        parts += [
            Part(
                medium=MEDIA["audio"],
                prefix="study",
                parameters={},
                carriers=len(sounds),
                open_carriers=lambda: sounds,
                attacks=(),
                schemes=perth,
                expected_marked="unresolved",
            ),
            spoken("study", (), perth),
        ]
    if "pixelseal" in chosen:
        sources = _two_photographs()
        parts.append(
            Part(
                medium=MEDIA["image"],
                prefix=f"study-{side}",
                parameters={"size": side},
                carriers=len(sources.images),
                open_carriers=lambda: _opened(sources, side),
                attacks=find_attacks("image", PIXELSEAL_ATTACKS),
                schemes=schemes_of("image", [chosen["pixelseal"]]),
                forged=True,
            )
        )
    return Recipe(
        name=NAME,
        title=f"{NAME} at {side}x{side}",
        module=__name__,
        parts=tuple(parts),
        parameters={"size": side, "photographs": list(PHOTOGRAPHS), "attacks": list(PIXELSEAL_ATTACKS)},
        distributions=(
            *(SPEECH_DISTRIBUTIONS if "perth" in chosen else ()),
            *(("scikit-image",) if "pixelseal" in chosen else ()),
        ),
    )


def _two_photographs() -> SourceList:
    sources = read_source_list(BUNDLED_LIST, display=BUNDLED_LIST.name)
    return replace(sources, images=tuple(image for image in sources.images if image.identity in PHOTOGRAPHS))


def _opened(sources: SourceList, side: int) -> Iterator[Carrier]:
    return photographs(replace(sources, base=bundled_folder()), side)

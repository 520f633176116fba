"""The audio cohort: three sounds made by formula, a hard negative, and speech on request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.cohorts.attacks.attack import Attack
from pytest_benchbench.cohorts.attacks.registry import DEFAULT_AUDIO_ATTACKS, find_attacks
from pytest_benchbench.cohorts.carriers.audio import CARRIERS, HARD_NEGATIVE
from pytest_benchbench.cohorts.carriers.speech import DISTRIBUTIONS as SPEECH_DISTRIBUTIONS, VOICES, speech_carriers
from pytest_benchbench.cohorts.media import MEDIA
from pytest_benchbench.cohorts.recipe import Carrier, Part, Recipe
from pytest_benchbench.cohorts.schemes import Scheme, schemes_of

NAME = "audio"
DEFAULT_ADAPTERS: tuple[str, ...] = ("audioseal", "perth")

REMOVALS = frozenset({("tone-stack", "noise-10")})
"""Where it is measured whether the mark is destroyed: noise at 10 dB drowns pure tones more than noise."""


def audio(
    attacks: Iterable[str] = DEFAULT_AUDIO_ATTACKS,
    adapters: Iterable[AdapterChoice | str] = DEFAULT_ADAPTERS,
    *,
    with_speech: bool = False,
    double_embedded: bool = False,
) -> Recipe:
    """Describe the cohort.

    Args:
        attacks: Names of what is done to marked sounds.
        adapters: Whose marks are embedded.
        with_speech: Add three voices of a speech synthesiser.
        double_embedded: Add rows in which somebody else's message is embedded over the mark.

    Raises:
        CohortError: There is no such attack or adapter.
    """
    carriers = synthetic_sounds()
    chosen = find_attacks("audio", attacks)
    schemes = schemes_of("audio", adapters)
    formula = Part(
        medium=MEDIA["audio"],
        prefix="audio",
        parameters={},
        carriers=len(carriers),
        open_carriers=lambda: carriers,
        hard_negatives=(Carrier.of(HARD_NEGATIVE, HARD_NEGATIVE.draw),),
        attacks=chosen,
        schemes=schemes,
        forged=True,
        double_embedded=double_embedded,
        removals=REMOVALS,
    )
    parameters: dict[str, Any] = {
        "carriers": [{**made.record(), "formula": made.formula} for made in (*CARRIERS, HARD_NEGATIVE)],
        "attacks": [attack.name for attack in chosen],
        "double_embedded": double_embedded,
    }
    if with_speech:
        parameters["speech"] = [{"name": voice.name, "revision": voice.revision} for voice in VOICES]
    return Recipe(
        name=NAME,
        title=f"{NAME}{' with speech' if with_speech else ''}",
        module=__name__,
        parts=(formula, spoken("audio", chosen, schemes)) if with_speech else (formula,),
        parameters=parameters,
        distributions=SPEECH_DISTRIBUTIONS if with_speech else (),
    )


def synthetic_sounds() -> tuple[Carrier, ...]:
    """Give the three sounds made by formula."""
    return tuple(Carrier.of(carrier, carrier.draw) for carrier in CARRIERS)


def spoken(prefix: str, attacks: tuple[Attack[Any], ...], schemes: tuple[Scheme, ...]) -> Part:
    """Give the part of a cohort whose carriers are spoken; they are rendered when the cohort is built."""
    return Part(
        medium=MEDIA["audio"],
        prefix=prefix,
        parameters={},
        carriers=len(VOICES),
        open_carriers=_speech,
        attacks=attacks,
        schemes=schemes,
    )


def _speech() -> Iterable[Carrier]:
    return (Carrier.of(speech, speech.draw, "speech") for speech in speech_carriers())

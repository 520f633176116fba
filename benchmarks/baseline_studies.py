"""The studies of ``docs/baselines``: which cohort each of them is run over. ``baselines.py`` makes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

REPETITIONS = 3

WORK = Path(".benchbench/baselines")
"""Where cohorts and runs go unless told otherwise, seen from the root of this repository."""

CARRIER = "transform.parameters.carrier.name"
PATTERN = "transform.parameters.embed.pattern"
VOICE = "transform.parameters.speech.name"

PUBLISHED_ATTACKS = (
    *("crop-centre-50-unrestored", "rotate-10", "perspective-0.1", "perspective-0.5", "hflip"),
    *("brightness-up-1.5", "brightness-up-2", "contrast-up-1.5", "contrast-up-2", "hue-down-0.1", "hue-up-0.1"),
    *("saturation-up-1.5", "saturation-up-2", "median-3", "median-7", "blur-0.8", "blur-2.9"),
    *("jpeg-50-420", "jpeg-80-420", "combined-omniseal"),
    *("jpeg-75-420", "jpeg-60-420", "webp-80", "webp-60", "resize-50-unrestored"),
    *("crop-centre-90-unrestored", "crop-centre-70-unrestored", "blur-1", "brightness-up-1.2", "brightness-down-0.8"),
    *("jpeg-90", "jpeg-90-420", "jpeg-95-420", "resize-75", "resize-75-unrestored", "crop-5", "crop-5-unrestored"),
)
"""Attacks for which figures were published, and those in which the details of a name decide."""

SPEECH_ATTACKS = (
    *("noise-40", "noise-30", "noise-20", "noise-10", "noise-5"),
    *("mp3-160", "mp3-128", "mp3-64", "mp3-40", "mp3-32", "mp3-24", "mp3-16", "mp3-8"),
)
"""The families ``noise`` and ``mp3``: a sweep has no speech among its carriers."""


@dataclass(frozen=True, slots=True)
class Study:
    """A cohort that is run three times.

    Attributes:
        name: Its folder below ``docs/baselines``.
        about: What is studied.
        cohort: Arguments of ``benchbench cohort``.
        by: Fields by which the report has tables too.
        counts_bits: Whether the bits of the embedded message are counted too, see ``baseline_bits.py``.
    """

    name: str
    about: str
    cohort: tuple[str, ...]
    by: tuple[str, ...] = ()
    counts_bits: bool = False


def _adapters(*names: str) -> tuple[str, ...]:
    return tuple(argument for name in names for argument in ("--adapter", name))


def _attacks(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(argument for name in names for argument in ("--attack", name))


def _sweep(family: str, *adapters: str, size: int = 512) -> Study:
    prefix = "sweep" if len(adapters) > 1 else f"{adapters[0]}-sweep"
    sized = () if size == 512 else ("--size", str(size))
    name, about = f"{prefix}-{family}", f"{' and '.join(adapters)} through the strengths of {family}"
    return Study(name, about, ("sweep", "--family", family, *sized, *_adapters(*adapters)))


def commands(study: Study, work: Path = WORK) -> list[list[str]]:
    """Give the commands that make a study, in their order.

    Args:
        study: What is made.
        work: Where cohort, runs and report go, seen from the root of this repository.
    """
    cohort = work / study.name
    runs = [f"{cohort}-run-{number}" for number in range(1, REPETITIONS + 1)]
    fields = [argument for field in study.by for argument in ("--by", field)]
    return [
        ["benchbench", "cohort", *study.cohort, "--output-dir", str(cohort)],
        *(
            ["pytest", "-q", f"{cohort}/manifest.jsonl", f"--bench-manifest-root={work}", f"--bench-run-dir={run}"]
            for run in runs
        ),
        ["benchbench", "report", *runs, *fields, "--output-dir", f"{cohort}-report"],
    ]


_IMAGE = ("dwt-dct", "dwt-dct-svd", "rivagan")

_STUDIES = (
    Study(
        "synthetic-image",
        "three adapters on drawn pictures",
        ("synthetic-image", *_adapters(*_IMAGE)),
        by=(f"state,transform.name,{CARRIER}",),
    ),
    Study(
        "real-image",
        "three adapters on photographs",
        ("real-image", *_adapters(*_IMAGE)),
        by=(f"state,{PATTERN}",),
    ),
    Study(
        "published-attacks",
        "dwt-dct and dwt-dct-svd under the attacks for which figures were published",
        ("real-image", *_adapters("dwt-dct", "dwt-dct-svd"), *_attacks(PUBLISHED_ATTACKS)),
        by=(f"state,transform.name,{PATTERN}",),
        counts_bits=True,
    ),
    *(_sweep(family, "dwt-dct", "dwt-dct-svd") for family in ("jpeg", "jpeg-420", "noise", "resize", "blur")),
    *(_sweep(family, "rivagan", size=256) for family in ("jpeg", "noise", "resize")),
    Study("audio", "perth on sounds made by formula", ("audio", *_adapters("perth"))),
    Study(
        "audio-with-speech",
        "perth on sounds made by formula and on speech",
        ("audio", "--with-speech", *_adapters("perth")),
        by=(f"state,transform.name,{VOICE}",),
    ),
    Study(
        "perth-pixelseal",
        "the part of perth in the study",
        ("perth-pixelseal", *_adapters("perth")),
        by=(f"state,{VOICE}",),
    ),
    *(_sweep(family, "perth") for family in ("noise", "mp3")),
    Study(
        "perth-speech",
        "perth on speech and on sounds made by formula, through noise and MP3",
        ("audio", "--with-speech", *_adapters("perth"), *_attacks(SPEECH_ATTACKS)),
        by=(f"state,transform.name,{VOICE}",),
    ),
)

STUDIES = {study.name: study for study in _STUDIES}
"""By name, in the order in which they are made."""

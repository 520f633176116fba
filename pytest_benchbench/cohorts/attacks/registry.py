"""Every attack by name and by family, for each kind of medium."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_benchbench.cohorts import CohortUsageError
from pytest_benchbench.cohorts.attacks import audio, image, image_metadata, video
from pytest_benchbench.cohorts.attacks.attack import Attack

DEFAULT_IMAGE_ATTACKS: tuple[str, ...] = ("jpeg-90", "resize-75", "crop-5")
"""What the default cohorts do to each marked picture."""

DEFAULT_AUDIO_ATTACKS: tuple[str, ...] = ("mp3-128", "aac-128", "noise-10")
"""What the default cohorts do to each marked sound."""

DEFAULT_VIDEO_ATTACKS: tuple[str, ...] = ("h264-23", "downscale-75", "halve-rate")
"""What the default cohorts do to each marked clip."""

_ATTACKS: Mapping[str, Mapping[str, Attack[Any]]] = {
    "image": {attack.name: attack for attack in image.ATTACKS},
    "audio": {attack.name: attack for attack in audio.ATTACKS},
    "video": {attack.name: attack for attack in video.ATTACKS},
    "image-file": {attack.name: attack for attack in image_metadata.ATTACKS},
}


def attacks_of(media_type: str) -> Mapping[str, Attack[Any]]:
    """Give every attack by its name.

    Args:
        media_type: ``image`` (``Pixels``), ``audio`` (``Samples``), ``video`` (``Clip``), or ``image-file`` (``ImageFile``)
            for what is done to a file beside its pixels.

    Raises:
        CohortUsageError: There are no attacks on such media.
    """
    try:
        return _ATTACKS[media_type]
    except KeyError:
        raise CohortUsageError(f"no attacks on {media_type!r}; known: {', '.join(_ATTACKS)}") from None


def families_of(media_type: str) -> Mapping[str, tuple[Attack[Any], ...]]:
    """Give the strength grids, each from weak to strong; attacks without a strength belong to none.

    Raises:
        CohortUsageError: There are no attacks on such media.
    """
    grids: dict[str, tuple[Attack[Any], ...]] = {}
    for attack in attacks_of(media_type).values():
        if attack.strength is not None:
            grids[attack.family] = (*grids.get(attack.family, ()), attack)
    return grids


def find_attacks(media_type: str, names: Iterable[str]) -> tuple[Attack[Any], ...]:
    """Find attacks by name, each once, in the given order.

    Raises:
        CohortUsageError: There is no such attack, or there are none on such media.
    """
    known = attacks_of(media_type)
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=5, cutoff=0.4)
            families = dict.fromkeys(attack.family for attack in known.values())
            hint = f"closest: {', '.join(close)}" if close else f"families: {', '.join(families)}"
            raise CohortUsageError(f"unknown {media_type} attack {name!r}; {hint}")
    return tuple(known[name] for name in chosen)

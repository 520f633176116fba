"""Pictures with other brightness, contrast and colours; every pixel stays where it is.

A factor of 1 changes nothing. Families go one way each: ``-up`` away from 1 upwards, ``-down`` towards 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import PIL.Image
import PIL.ImageEnhance

from pytest_benchbench.cohorts.attacks.attack import Change, FileAttack, named
from pytest_benchbench.cohorts.attacks.image_geometry import PNG
from pytest_benchbench.cohorts.pictures import Pixels

_ENHANCERS = {
    "brightness": PIL.ImageEnhance.Brightness,  # against black
    "contrast": PIL.ImageEnhance.Contrast,  # against the picture's mean grey
    "saturation": PIL.ImageEnhance.Color,  # against its grey version
}


def enhanced(quantity: str, factor: float) -> Change[Pixels]:
    """Scale the distance to black, to mean grey or to the grey picture; values are truncated and clipped, as Pillow does."""

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        enhancer = _ENHANCERS[quantity]
        attacked = enhancer(PIL.Image.fromarray(pixels)).enhance(factor)
        return np.asarray(attacked), {"enhancer": f"Pillow ImageEnhance.{enhancer.__name__}", "factor": factor}

    return change


def hue_turned(turns: float) -> Change[Pixels]:
    """Turn the hue by a part of the colour circle, in Pillow's 8-bit HSV, as torchvision does with pictures of Pillow."""
    steps = int(turns * 255)

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        hue, saturation, value = PIL.Image.fromarray(pixels).convert("HSV").split()
        turned = PIL.Image.fromarray(np.asarray(hue) + np.uint8(steps % 256))
        attacked = PIL.Image.merge("HSV", (turned, saturation, value)).convert("RGB")
        return np.asarray(attacked), {"space": "Pillow 8-bit HSV", "turns": turns, "steps_of_256": steps}

    return change


def gamma_corrected(exponent: float) -> Change[Pixels]:
    """Raise each value, as a part of 255, to ``exponent``; rounded half to even. More than 1 darkens."""
    table = np.rint(255 * (np.arange(256) / 255) ** exponent).astype(np.uint8)

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        return table[pixels], {"formula": "255 (v / 255)^exponent", "exponent": exponent}

    return change


def greyed(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
    """Give every pixel its BT.601 luma in all three channels."""
    grey = PIL.Image.fromarray(pixels).convert("L").convert("RGB")
    return np.asarray(grey), {"luma": "BT.601, Pillow convert L"}


def _kept(family: str, strength: float, change: Change[Pixels]) -> FileAttack[Pixels]:
    return FileAttack(name=named(family, strength), family=family, strength=strength, change=change, writer=PNG)


def _hue(family: str, turns: float) -> FileAttack[Pixels]:
    return _kept(family, turns, hue_turned(turns if family == "hue-up" else -turns))


ATTACKS: tuple[FileAttack[Pixels], ...] = (
    *(_kept("brightness-up", factor, enhanced("brightness", factor)) for factor in (1.2, 1.25, 1.5, 1.75, 2)),
    *(_kept("brightness-down", factor, enhanced("brightness", factor)) for factor in (0.8, 0.75, 0.5, 0.25, 0.1)),
    *(_kept("contrast-up", factor, enhanced("contrast", factor)) for factor in (1.25, 1.5, 1.75, 2)),
    *(_kept("contrast-down", factor, enhanced("contrast", factor)) for factor in (0.8, 0.75, 0.5, 0.25, 0.1)),
    *(_kept("saturation-up", factor, enhanced("saturation", factor)) for factor in (1.25, 1.5, 1.75, 2)),
    *(_kept("saturation-down", factor, enhanced("saturation", factor)) for factor in (0.75, 0.5, 0.25, 0.1)),
    *(_hue("hue-up", turns) for turns in (0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5)),
    *(_hue("hue-down", turns) for turns in (0.05, 0.1, 0.2, 0.25, 0.3, 0.4)),
    *(_kept("gamma-up", exponent, gamma_corrected(exponent)) for exponent in (1.25, 1.5, 2, 3)),
    *(_kept("gamma-down", exponent, gamma_corrected(exponent)) for exponent in (0.8, 0.67, 0.5, 0.33)),
    FileAttack(name="grayscale", family="grayscale", change=greyed, writer=PNG),
)
"""Every attack of this module, each family from weak to strong."""

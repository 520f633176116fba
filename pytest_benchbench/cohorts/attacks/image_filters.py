"""Pictures blurred, sharpened, made noisy, and partly covered."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import PIL.Image
import PIL.ImageDraw
import PIL.ImageEnhance
import PIL.ImageFilter
import PIL.ImageFont
from numpy.typing import NDArray

from pytest_benchbench.cohorts.attacks.attack import Change, FileAttack, named
from pytest_benchbench.cohorts.attacks.image_geometry import PLACE_GENERATOR, PNG, place_within
from pytest_benchbench.cohorts.attacks.noise import GENERATOR, normal_deviates, uniform_words
from pytest_benchbench.cohorts.pictures import Pixels

TEXT = "benchbench"
"""What is written over pictures."""


def blurred(sigma: float) -> Change[Pixels]:
    """Smooth by Pillow's Gaussian (three box filters) of ``sigma`` pixels."""

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        filtered = PIL.Image.fromarray(pixels).filter(PIL.ImageFilter.GaussianBlur(sigma))
        return np.asarray(filtered), {"filter": "Pillow GaussianBlur, three box filters", "sigma": sigma}

    return change


def median_filtered(size: int) -> Change[Pixels]:
    """Replace each value by the median of the ``size`` x ``size`` square around it, edges repeated."""

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        filtered = PIL.Image.fromarray(pixels).filter(PIL.ImageFilter.MedianFilter(size))
        return np.asarray(filtered), {"filter": "Pillow MedianFilter", "size": size}

    return change


def sharpened(factor: float) -> Change[Pixels]:
    """Go away from the 3 x 3 smoothed picture: 1 changes nothing, 2 doubles the difference."""

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        enhanced = PIL.ImageEnhance.Sharpness(PIL.Image.fromarray(pixels)).enhance(factor)
        return np.asarray(enhanced), {"filter": "Pillow ImageEnhance.Sharpness", "factor": factor}

    return change


def with_noise(sigma: float, seed: int) -> Change[Pixels]:
    """Add independent normal noise of ``sigma`` steps of 256 to each channel; rounded half to even and clipped."""

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        noise = normal_deviates(pixels.size, seed).reshape(pixels.shape)
        noisy = np.clip(np.rint(pixels + sigma * noise), 0, 255).astype(np.uint8)
        return noisy, {"sigma": sigma, "unit": "steps of 256", "channels": "independent", "generator": GENERATOR}

    return change


def with_text(percent: int) -> Change[Pixels]:
    """Write a word in white over the centre, ``percent`` of the width wide, in Pillow's own bitmap letters.

    These letters need no FreeType, so the same pixels are covered everywhere.
    """

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        height, width = pixels.shape[:2]
        font = PIL.ImageFont.load_default_imagefont()
        left, top, right, bottom = (round(side) for side in font.getbbox(TEXT))
        letters = PIL.Image.new("L", (right - left, bottom - top))
        PIL.ImageDraw.Draw(letters).text((-left, -top), TEXT, fill=255, font=font)
        across = max(1, (width * percent + 50) // 100)
        down = max(1, round(across * letters.height / letters.width))
        place = ((width - across) // 2, (height - down) // 2)
        attacked = PIL.Image.fromarray(pixels)
        mask = letters.resize((across, down), PIL.Image.Resampling.NEAREST)
        attacked.paste((255, 255, 255), place, mask)
        record = {
            "text": TEXT,
            "font": "Pillow's bitmap default",
            "scaling": "nearest",
            "colour": [255, 255, 255],
            "percent_of_width": percent,
            "box": [*place, place[0] + across, place[1] + down],
        }
        return np.asarray(attacked), record

    return change


def under_checkerboard(opacity: int) -> Change[Pixels]:
    """Composite a checkerboard of black and white, squares an eighth of the shorter side, over the picture.

    The alpha of the board is ``opacity`` percent of 255, halves rounded up; the rule is Pillow's ``alpha_composite``.
    """

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        height, width = pixels.shape[:2]
        square = max(1, min(height, width) // 8)
        light = (np.arange(height)[:, np.newaxis] // square + np.arange(width)[np.newaxis] // square) % 2
        board = np.empty((height, width, 4), dtype=np.uint8)
        board[:, :, :3] = light[:, :, np.newaxis] * 255
        board[:, :, 3] = (255 * opacity + 50) // 100
        below = PIL.Image.fromarray(pixels).convert("RGBA")
        composite = PIL.Image.alpha_composite(below, PIL.Image.fromarray(board)).convert("RGB")
        record = {
            "overlay": "checkerboard, black first",
            "square": square,
            "opacity_percent": opacity,
            "rule": "Pillow alpha_composite",
        }
        return np.asarray(composite), record

    return change


def under_patch(opacity: int, seed: int) -> Change[Pixels]:
    """Composite a patch of one colour, half as wide and as high as the picture, over a place of it.

    Place and colour are drawn by the seed. The patch's alpha is ``opacity`` percent of 255 (halves rounded up) in its middle
    and falls to 0 over the outer eighth of its shorter side; the rule is Pillow's ``alpha_composite``.
    """

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        height, width = pixels.shape[:2]
        across, down = max(1, width // 2), max(1, height // 2)
        left, top = place_within((width - across, height - down), seed)
        colour = [int(word) >> 56 for word in uniform_words(5, seed)[2:]]  # the first two words drew the place
        soft = max(1, min(across, down) // 8)
        alpha = (255 * opacity + 50) // 100
        from_edge = np.minimum(_steps_from_edge(down)[:, np.newaxis], _steps_from_edge(across)[np.newaxis])
        patch = np.empty((down, across, 4), dtype=np.uint8)
        patch[:, :, :3] = colour
        patch[:, :, 3] = alpha * np.minimum(from_edge, soft) // soft
        composite = PIL.Image.fromarray(pixels).convert("RGBA")
        composite.alpha_composite(PIL.Image.fromarray(patch), (left, top))
        record = {
            "overlay": "patch with soft edges",
            "colour": colour,
            "box": [left, top, left + across, top + down],
            "soft_pixels": soft,
            "opacity_percent": opacity,
            "rule": "Pillow alpha_composite",
            "generator": f"{PLACE_GENERATOR}; colour = the high bytes of the next 3 words",
        }
        return np.asarray(composite.convert("RGB")), record

    return change


def _steps_from_edge(side: int) -> NDArray[np.int64]:
    """Count for each place of a side the steps to the nearer end, 1 for the ends."""
    places = np.arange(side)
    return np.minimum(places, side - 1 - places) + 1


def _patch(opacity: int) -> FileAttack[Pixels]:
    return FileAttack(
        name=named("alpha-patch", opacity),
        family="alpha-patch",
        strength=opacity,
        change=under_patch(opacity, seed=0),
        writer=PNG,
        seed=0,
        seeded=partial(under_patch, opacity),
    )


def _kept(family: str, strength: float, change: Change[Pixels], *, seed: int | None = None) -> FileAttack[Pixels]:
    name = named(family, strength)
    return FileAttack(name=name, family=family, strength=strength, change=change, writer=PNG, seed=seed)


ATTACKS: tuple[FileAttack[Pixels], ...] = (
    *(_kept("blur", sigma, blurred(sigma)) for sigma in (0.5, 0.8, 1, 1.7, 2, 2.9, 4, 8)),
    *(_kept("median", size, median_filtered(size)) for size in (3, 5, 7, 9, 13, 17)),
    *(_kept("sharpen", factor, sharpened(factor)) for factor in (1.25, 1.5, 1.75, 2)),
    *(_kept("noise", sigma, with_noise(sigma, seed=0), seed=0) for sigma in (1, 2, 5, 10, 20, 25, 40)),
    *(_kept("overlay-text", percent, with_text(percent)) for percent in (10, 25, 50, 75, 100)),
    *(_kept("alpha-composite", opacity, under_checkerboard(opacity)) for opacity in (5, 10, 25, 50, 75)),
    *map(_patch, (25, 50, 75)),
)
"""Every attack of this module, each family from weak to strong."""

"""Pictures resized, cropped, turned, mirrored and tilted.

``resize``, ``crop``, ``crop-centre`` and the crops of one edge restore the old size with LANCZOS unless their names say
otherwise; ``long-side`` and ``crop-somewhere`` never do. What is left of a crop, and
what is turned or tilted, is never compared pixel by pixel.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.attack import Change, FileAttack, Writer, named
from pytest_benchbench.cohorts.attacks.noise import uniform_words
from pytest_benchbench.cohorts.pictures import PNG_ENCODER, Pixels, encode_png, resize

PNG: Writer[Pixels] = Writer(encode_png, ".png", PNG_ENCODER)
"""How every changed picture is written."""

Edge = Literal["left", "top", "right", "bottom"]

PLACE_GENERATOR = "PCG64 raw words; place = word * (room + 1) >> 64, across then down"
"""How places are drawn, for the records."""


def scaled(percent: int, *, restored: bool) -> Change[Pixels]:
    """Scale to ``percent`` of both sides (halves rounded up, at least one pixel) with LANCZOS, and back if ``restored``."""

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        height, width = pixels.shape[:2]
        smaller = (max(1, _percent_of(width, percent)), max(1, _percent_of(height, percent)))
        attacked = resize(pixels, smaller)
        if restored:
            attacked = resize(attacked, (width, height))
        record = {"percent": percent, "resized_to": list(smaller), "filter": "lanczos", "size_restored": restored}
        return attacked, record

    return change


def fitted_into(long_side: int) -> Change[Pixels]:
    """Scale until the longer side has ``long_side`` pixels, the other to the nearest (halves rounded up), with LANCZOS.

    A picture that is no larger stays as it is and its record says so: nothing is ever scaled up.
    """

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        height, width = pixels.shape[:2]
        longer = max(height, width)
        smaller = (width, height)
        if longer > long_side:
            smaller = (_part_of(width, long_side, longer), _part_of(height, long_side, longer))
        record = {"long_side": long_side, "resized_to": list(smaller), "filter": "lanczos", "scaled": longer > long_side}
        return resize(pixels, smaller), {**record, "size_restored": False}

    return change


def cropped_border(percent_per_edge: int, *, restored: bool) -> Change[Pixels]:
    """Cut a border off each edge, in percent of the side (halves rounded up), and scale back if ``restored``."""

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        height, width = pixels.shape[:2]
        left, top = _percent_of(width, percent_per_edge), _percent_of(height, percent_per_edge)
        attacked, record = _cut(pixels, (left, top, width - left, height - top), restored)
        return attacked, {"percent_per_edge": percent_per_edge, **record}

    return change


def cropped_centre(percent: int, *, restored: bool) -> Change[Pixels]:
    """Keep the centre, ``percent`` of both sides (halves rounded up); an odd remainder is cut off right and below."""

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        height, width = pixels.shape[:2]
        kept_width, kept_height = _percent_of(width, percent), _percent_of(height, percent)
        left, top = (width - kept_width) // 2, (height - kept_height) // 2
        attacked, record = _cut(pixels, (left, top, left + kept_width, top + kept_height), restored)
        return attacked, {"percent_of_side": percent, **record}

    return change


def cropped_somewhere(percent: int, seed: int) -> Change[Pixels]:
    """Keep ``percent`` of both sides (halves rounded up, at least one pixel) at a place drawn by the seed, and this size."""

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        height, width = pixels.shape[:2]
        kept_width, kept_height = max(1, _percent_of(width, percent)), max(1, _percent_of(height, percent))
        left, top = place_within((width - kept_width, height - kept_height), seed)
        attacked, record = _cut(pixels, (left, top, left + kept_width, top + kept_height), restored=False)
        return attacked, {"percent_of_side": percent, **record, "generator": PLACE_GENERATOR}

    return change


def place_within(room: tuple[int, int], seed: int) -> tuple[int, int]:
    """Draw a place of 0 to ``room`` pixels from the left and from the top, each with the same chance."""
    across, down = (int(word) for word in uniform_words(2, seed))
    return across * (room[0] + 1) >> 64, down * (room[1] + 1) >> 64


def cropped_edge(edge: Edge, percent: int, *, restored: bool) -> Change[Pixels]:
    """Cut ``percent`` of the side (halves rounded up) off one edge; left and top move the origin of every block."""

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        height, width = pixels.shape[:2]
        across, down = _percent_of(width, percent), _percent_of(height, percent)
        box = {
            "left": (across, 0, width, height),
            "top": (0, down, width, height),
            "right": (0, 0, width - across, height),
            "bottom": (0, 0, width, height - down),
        }[edge]
        attacked, record = _cut(pixels, box, restored)
        return attacked, {"edge": edge, "percent": percent, **record}

    return change


def rotated(degrees: int) -> Change[Pixels]:
    """Turn counter-clockwise about the centre, bicubic; the size stays, corners are cut off and filled with black."""

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        turned = PIL.Image.fromarray(pixels).rotate(degrees, PIL.Image.Resampling.BICUBIC, expand=False)
        return np.asarray(turned), {"degrees": degrees, "filter": "bicubic", "fill": 0, "expand": False}

    return change


def mirrored(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
    """Mirror left and right."""
    return np.ascontiguousarray(pixels[:, ::-1]), {"mirrored": "left and right"}


def tilted(scale: float, seed: int) -> Change[Pixels]:
    """Pull the four corners inwards and draw the picture between them, bicubic, on black.

    Each corner moves by up to ``scale`` of half the side in both directions, as in torchvision's ``RandomPerspective``. How
    far is drawn once for a seed, so that a larger scale moves the same corners farther.
    """

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        height, width = pixels.shape[:2]
        fractions = (uniform_words(8, seed) >> np.uint64(44)).astype(np.float64).reshape(4, 2) / 2**20
        inwards = np.round(fractions * scale * (width / 2, height / 2), 3)
        outer = np.array([(0, 0), (width, 0), (width, height), (0, height)], dtype=np.float64)
        corners = outer + inwards * [(1, 1), (-1, 1), (-1, -1), (1, -1)]
        coefficients = _plane(corners, outer)
        image = PIL.Image.fromarray(pixels)
        attacked = image.transform(
            (width, height), PIL.Image.Transform.PERSPECTIVE, coefficients, PIL.Image.Resampling.BICUBIC
        )
        record = {"scale": scale, "corners": np.round(corners, 3).tolist(), "filter": "bicubic", "fill": 0}
        return np.asarray(attacked), record

    return change


def _plane(result: NDArray[np.float64], source: NDArray[np.float64]) -> list[float]:
    """Solve for the 8 coefficients that lead from four points of the result to those of the source, in Pillow's order."""
    rows, values = [], []
    for (x, y), (source_x, source_y) in zip(result, source, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -source_x * x, -source_x * y])
        rows.append([0, 0, 0, x, y, 1, -source_y * x, -source_y * y])
        values += [source_x, source_y]
    solved: list[float] = np.linalg.solve(np.array(rows), np.array(values)).tolist()
    return solved


def _cut(pixels: Pixels, box: tuple[int, int, int, int], restored: bool) -> tuple[Pixels, dict[str, Any]]:
    height, width = pixels.shape[:2]
    left, top, right, bottom = box
    if left >= right or top >= bottom:
        raise CohortError(f"a crop would leave nothing of {width}x{height} pixels")
    attacked = pixels[top:bottom, left:right].copy()
    if restored:
        attacked = resize(attacked, (width, height))
    return attacked, {"box": list(box), "filter": "lanczos" if restored else None, "size_restored": restored}


def _percent_of(side: int, percent: int) -> int:
    return (side * percent + 50) // 100


def _part_of(side: int, numerator: int, denominator: int) -> int:
    return max(1, (2 * side * numerator + denominator) // (2 * denominator))


_VARIANTS = ((True, ""), (False, "-unrestored"))


def _resizes() -> list[FileAttack[Pixels]]:
    return [
        FileAttack(
            name=f"{named('resize', percent)}{variant}",
            family=f"resize{variant}",
            strength=percent,
            change=scaled(percent, restored=restored),
            writer=PNG,
            keeps_positions=restored,
        )
        for restored, variant in _VARIANTS
        for percent in (95, 89, 84, 77, 75, 71, 63, 55, 50, 45, 32)
    ]


def _crop(family: str, strength: int, variant: str, change: Change[Pixels]) -> FileAttack[Pixels]:
    return FileAttack(
        name=f"{named(family, strength)}{variant}",
        family=f"{family}{variant}",
        strength=strength,
        change=change,
        writer=PNG,
        keeps_positions=False,
    )


def _crops() -> list[FileAttack[Pixels]]:
    attacks = []
    edges: tuple[Edge, ...] = ("left", "top", "right", "bottom")
    for restored, variant in _VARIANTS:
        attacks += [_crop("crop", cut, variant, cropped_border(cut, restored=restored)) for cut in (1, 2, 5, 10, 15, 25)]
        attacks += [
            _crop("crop-centre", kept, variant, cropped_centre(kept, restored=restored))
            for kept in (95, 90, 80, 71, 70, 50, 45, 32)
        ]
        for edge in edges:
            attacks += [
                _crop(f"crop-{edge}", cut, variant, cropped_edge(edge, cut, restored=restored)) for cut in (1, 5, 10, 25)
            ]
    return attacks


def _fit(long_side: int) -> FileAttack[Pixels]:
    return FileAttack(
        name=named("long-side", long_side),
        family="long-side",
        strength=long_side,
        change=fitted_into(long_side),
        writer=PNG,
        keeps_positions=False,
    )


def crop_somewhere(percent: int) -> FileAttack[Pixels]:
    """Keep ``percent`` of both sides at a place that its seed draws; 0 unless it is given another one."""
    return FileAttack(
        name=named("crop-somewhere", percent),
        family="crop-somewhere",
        strength=percent,
        change=cropped_somewhere(percent, seed=0),
        writer=PNG,
        seed=0,
        keeps_positions=False,
        seeded=partial(cropped_somewhere, percent),
    )


def _rotate(degrees: int) -> FileAttack[Pixels]:
    return FileAttack(
        name=named("rotate", degrees),
        family="rotate",
        strength=degrees,
        change=rotated(degrees),
        writer=PNG,
        keeps_positions=False,
    )


def _perspective(scale: float) -> FileAttack[Pixels]:
    return FileAttack(
        name=named("perspective", scale),
        family="perspective",
        strength=scale,
        change=tilted(scale, seed=0),
        writer=PNG,
        seed=0,
        keeps_positions=False,
    )


ATTACKS: tuple[FileAttack[Pixels], ...] = (
    *_resizes(),
    *map(_fit, (1024, 512, 256, 112)),
    *_crops(),
    *map(crop_somewhere, (90, 75)),
    *map(_rotate, (5, 10, 15, 30, 45, 90)),
    FileAttack(name="hflip", family="hflip", change=mirrored, writer=PNG, keeps_positions=False),
    *map(_perspective, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)),
)
"""Every attack of this module, each family from weak to strong."""

"""Pictures as people pass them on: uploaded, posted again, shown in a screenshot, shown as a thumbnail.

Each does several things one after another, as sites and people do, and ends in a lossy file with halved chroma.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import PIL.Image

from pytest_benchbench.cohorts.attacks.attack import Change, FileAttack, Writer, chained
from pytest_benchbench.cohorts.attacks.image_compression import jpeg_writer, webp_writer
from pytest_benchbench.cohorts.attacks.image_filters import sharpened
from pytest_benchbench.cohorts.attacks.image_geometry import PNG, crop_somewhere, fitted_into, scaled
from pytest_benchbench.cohorts.pictures import Pixels

_PAGE = (245, 245, 247)
_BAR = (32, 33, 36)


def written(writer: Writer[Pixels]) -> Change[Pixels]:
    """Write the picture and read it back: the loss of an earlier copy."""

    def change(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
        with PIL.Image.open(io.BytesIO(writer.encode(pixels))) as opened:
            return np.asarray(opened.convert("RGB")), {"written_and_read": dict(writer.record)}

    return change


def shown_on_page(pixels: Pixels) -> tuple[Pixels, dict[str, Any]]:
    """Put the picture on a light page, an eighth of it (at least one pixel) free on each side, the strip above it dark.

    Nothing of the picture is covered.
    """
    height, width = pixels.shape[:2]
    beside, above = max(1, width // 8), max(1, height // 8)
    page = np.empty((height + 2 * above, width + 2 * beside, 3), dtype=np.uint8)
    page[:] = _PAGE
    page[:above] = _BAR
    page[above : above + height, beside : beside + width] = pixels
    box = [beside, above, beside + width, above + height]
    return page, {"page": list(_PAGE), "bar": list(_BAR), "bar_height": above, "box": box}


def _step(name: str, change: Change[Pixels]) -> FileAttack[Pixels]:
    return FileAttack(name=name, family="", change=change, writer=PNG)


def _shared(name: str, writer: Writer[Pixels], *steps: FileAttack[Pixels]) -> FileAttack[Pixels]:
    """Do the steps and write; where a step draws, the whole is seeded with the seed of that step."""
    draws = any(step.seeded for step in steps)

    def seeded(seed: int) -> Change[Pixels]:
        return chained(*(step.with_seed(seed) for step in steps))

    return FileAttack(
        name=name,
        family=name,
        change=chained(*steps),
        writer=writer,
        seed=0 if draws else None,
        keeps_positions=False,
        seeded=seeded if draws else None,
    )


ATTACKS: tuple[FileAttack[Pixels], ...] = (
    _shared("combined-upload", jpeg_writer(80, "4:2:0"), _step("long-side-2048", fitted_into(2048))),
    _shared(
        "combined-repost",
        jpeg_writer(70, "4:2:0"),
        _step("jpeg-85-420", written(jpeg_writer(85, "4:2:0"))),
        crop_somewhere(90),
        _step("resize-80-unrestored", scaled(80, restored=False)),
    ),
    _shared(
        "combined-screenshot",
        jpeg_writer(85, "4:2:0"),
        _step("resize-75-unrestored", scaled(75, restored=False)),
        _step("page", shown_on_page),
    ),
    _shared(
        "combined-thumbnail",
        webp_writer(70),
        _step("long-side-256", fitted_into(256)),
        _step("sharpen-1.5", sharpened(1.5)),
    ),
)
"""Every attack of this module; none has a strength."""

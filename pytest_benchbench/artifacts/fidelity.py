"""How a decoded image compares with its reference. It says nothing about whether an invisible mark remains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pytest_benchbench.artifacts.image import Image

_BLOCK_POSITIONS = 21_845
"""Pixel positions in one step: 65,535 samples, whose squares (at most 255 squared each) still sum inside 32 bits."""


@dataclass(frozen=True, slots=True)
class Fidelity:
    """Image fidelity, or why there is none.

    Attributes:
        status: ``measured`` or ``incomparable``.
        reason: Why incomparable.
        mae: Mean absolute error over all samples, in 8-bit steps, 0 to 255.
        changed_fraction: Share of pixel positions in which any of the three samples differs, 0 to 1.
        psnr_db: Peak signal-to-noise ratio in dB, peak 255; ``None`` for identical pixels, where it has no bound.
        psnr_status: ``finite`` or ``unbounded_identical``.
    """

    status: Literal["measured", "incomparable"]
    reason: str | None = None
    mae: float | None = None
    changed_fraction: float | None = None
    psnr_db: float | None = None
    psnr_status: Literal["finite", "unbounded_identical"] | None = None


def image_fidelity(artifact: Image, reference: Image) -> Fidelity:
    """Compare decoded pixels.

    With a and r the samples of artifact and reference, N their number (3 x width x height)::

        mae = sum |a - r| / N
        changed_fraction = positions with any a != r / (width x height)
        psnr_db = 10 log10(255^2 N / sum (a - r)^2)

    The sums are exact integers, so the figures do not depend on the order of summation or on the machine.

    Returns:
        ``incomparable`` with the reason when either image is not 8-bit throughout or the sizes differ, else ``measured``.
    """
    for name, image in (("artifact", artifact), ("reference", reference)):
        if image.incomparable is not None:
            return Fidelity("incomparable", f"{name}: {image.incomparable}")
    if artifact.pixels.shape != reference.pixels.shape:
        (height, width, _), (other_height, other_width, _) = artifact.pixels.shape, reference.pixels.shape
        return Fidelity("incomparable", f"size: artifact {width}x{height}, reference {other_width}x{other_height}")
    absolute, squared, changed = _differences(artifact, reference)
    samples = artifact.pixels.size
    return Fidelity(
        "measured",
        mae=absolute / samples,
        changed_fraction=changed / (samples // 3),
        psnr_db=10.0 * math.log10(255 * 255 * samples / squared) if squared else None,
        psnr_status="finite" if squared else "unbounded_identical",
    )


def _differences(artifact: Image, reference: Image) -> tuple[int, int, int]:
    """Sum absolute and squared differences, and count changed positions, in blocks that stay in the processor's cache."""
    left, right = artifact.pixels.reshape(-1), reference.pixels.reshape(-1)
    absolute = squared = changed = 0
    for start in range(0, left.size, 3 * _BLOCK_POSITIONS):
        a, b = left[start : start + 3 * _BLOCK_POSITIONS], right[start : start + 3 * _BLOCK_POSITIONS]
        difference = np.maximum(a, b)
        difference -= np.minimum(a, b)
        absolute += int(difference.sum(dtype=np.uint32))
        squared += int(np.multiply(difference, difference, dtype=np.uint16).sum(dtype=np.uint32))
        # Bits of each sample and its two successors; every third element then speaks for one position.
        any_channel = difference[:-2] | difference[1:-1]
        any_channel |= difference[2:]
        changed += int(np.count_nonzero(any_channel[::3].copy()))  # counting is several times faster in one piece
    return absolute, squared, changed

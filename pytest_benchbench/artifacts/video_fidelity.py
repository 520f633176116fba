"""How a decoded video compares with its reference. It says nothing about whether an invisible mark remains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from pytest_benchbench.artifacts.video import Video

_RATE_TOLERANCE = Fraction(1, 10_000)
"""Relative difference up to which two average rates are one: containers round. 30 and 30000/1001 differ ten times that."""

_TIME_TOLERANCE = 0.5
"""Share of the mean distance of two frames by which the times of a frame may differ."""

_BLOCK_SAMPLES = 65_536
"""Samples in one step; their squares (at most 255 squared each) sum inside 32 bits."""


@dataclass(frozen=True, slots=True)
class VideoFidelity:
    """Video fidelity, or why there is none.

    Attributes:
        status: ``measured`` or ``incomparable``.
        reason: Why incomparable.
        mean_psnr_db: Mean, over the frames that differ, of the frame's peak signal-to-noise ratio in dB, peak 255; ``None``
            if none differs. Identical frames have no finite ratio and are left out, not given an invented one:
            ``changed_frame_fraction`` says how many frames the mean is about.
        mean_psnr_status: ``finite`` or ``unbounded_identical``.
        changed_frame_fraction: Share of frames in which any sample differs, 0 to 1.
    """

    status: Literal["measured", "incomparable"]
    reason: str | None = None
    mean_psnr_db: float | None = None
    mean_psnr_status: Literal["finite", "unbounded_identical"] | None = None
    changed_frame_fraction: float | None = None


def video_fidelity(artifact: Video, reference: Video) -> VideoFidelity:
    """Compare decoded frames, the first with the first and so on. Both clips are streamed: memory for one frame of each.

    With a and r the 8-bit samples of frame t in artifact and reference, N their number (3 x width x height)::

        psnr_t = 10 log10(255^2 N / sum (a - r)^2)
        mean_psnr_db = sum of psnr_t over the frames with any a != r / their number
        changed_frame_fraction = their number / frames

    Within a frame the sums are exact integers.

    Returns:
        ``incomparable`` with the reason where either clip is not 8-bit throughout, or where frame count, size
        (``shape_mismatch``), average rate or the times of the frames differ (``frame_rate_mismatch``); else ``measured``.

    Raises:
        UndecodableArtifactError: A clip could not be decoded again.
    """
    reason = _why_incomparable(artifact, reference)
    if reason is not None:
        return VideoFidelity("incomparable", reason)
    samples = 3 * artifact.shape[1] * artifact.shape[2]
    ratios = []
    for left, right in zip(artifact.pictures(), reference.pictures(), strict=True):
        squared = _squared_difference(left, right)
        if squared:
            ratios.append(10.0 * math.log10(255 * 255 * samples / squared))
    return VideoFidelity(
        "measured",
        mean_psnr_db=math.fsum(ratios) / len(ratios) if ratios else None,
        mean_psnr_status="finite" if ratios else "unbounded_identical",
        changed_frame_fraction=len(ratios) / artifact.shape[0],
    )


def _why_incomparable(artifact: Video, reference: Video) -> str | None:
    for name, video in (("artifact", artifact), ("reference", reference)):
        if video.incomparable is not None:
            return f"{name}: {video.incomparable}"
    if artifact.shape != reference.shape:
        return f"shape_mismatch: artifact {_shape(artifact)}, reference {_shape(reference)}"
    if abs(artifact.rate - reference.rate) > _RATE_TOLERANCE * reference.rate:
        return f"frame_rate_mismatch: artifact {artifact.rate}, reference {reference.rate} frames per second"
    if (artifact.is_variable or reference.is_variable) and not _same_times(artifact, reference):
        return "frame_rate_mismatch: the frames are shown at other times"
    return None


def _same_times(artifact: Video, reference: Video) -> bool:
    times = [video.seconds if video.seconds is not None else _regular(video) for video in (artifact, reference)]
    return bool(np.abs(times[0] - times[1]).max() * reference.rate < _TIME_TOLERANCE)


def _regular(video: Video) -> npt.NDArray[np.float64]:
    return np.arange(video.shape[0]) / float(video.rate)


def _shape(video: Video) -> str:
    frames, height, width, _ = video.shape
    return f"{frames} frames of {width}x{height}"


def _squared_difference(left: npt.NDArray[np.uint8], right: npt.NDArray[np.uint8]) -> int:
    """Sum the squared differences of two frames, in blocks that stay in the processor's cache."""
    first, second = left.reshape(-1), right.reshape(-1)
    squared = 0
    for start in range(0, first.size, _BLOCK_SAMPLES):
        a, b = first[start : start + _BLOCK_SAMPLES], second[start : start + _BLOCK_SAMPLES]
        difference = np.maximum(a, b)
        difference -= np.minimum(a, b)
        squared += int(np.multiply(difference, difference, dtype=np.uint16).sum(dtype=np.uint32))
    return squared

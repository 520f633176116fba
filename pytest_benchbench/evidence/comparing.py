"""Fidelity of a decoded artifact against its decoded reference, as a row of evidence keeps it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from pytest_benchbench.artifacts.audio import Audio
from pytest_benchbench.artifacts.audio_fidelity import audio_fidelity
from pytest_benchbench.artifacts.fidelity import image_fidelity
from pytest_benchbench.artifacts.image import Image
from pytest_benchbench.artifacts.media import DecodedMedia
from pytest_benchbench.artifacts.video import Video
from pytest_benchbench.artifacts.video_fidelity import video_fidelity
from pytest_benchbench.evidence.observation import FidelityRecord

_MEASURES: dict[type, Callable[[Any, Any], Any]] = {Image: image_fidelity, Audio: audio_fidelity, Video: video_fidelity}
"""What compares two media of a type. The fields of its answer are named as in ``FidelityRecord``."""


def compare(artifact: DecodedMedia | None, reference: DecodedMedia | None) -> FidelityRecord:
    """Compare two decoded media of one type.

    Returns:
        ``measured`` with the figures of this type, or ``incomparable`` with the reason and no figure.

    Raises:
        UndecodableArtifactError: A video could not be decoded again.
    """
    measure = _MEASURES.get(type(artifact))
    if measure is None or type(reference) is not type(artifact):
        return FidelityRecord("incomparable", reason=f"no fidelity is defined for {type(artifact).__name__.lower()}")
    measured = measure(artifact, reference)
    if measured.status != "measured":
        return FidelityRecord(measured.status, reason=measured.reason)
    return FidelityRecord(**{field.name: getattr(measured, field.name) for field in fields(measured)})

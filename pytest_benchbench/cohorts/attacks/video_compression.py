"""Clips written by H.264, H.265 and VP9 at constant quality, one thread each, in yuv420p."""

from __future__ import annotations

from functools import partial

from pytest_benchbench.cohorts.attacks.attack import FileAttack, Writer, named, unchanged
from pytest_benchbench.cohorts.clips import CLIP_ENCODER, Clip, VideoEncoder, encode_clip, x264


def clip_writer(encoder: VideoEncoder) -> Writer[Clip]:
    """Write by an encoder."""
    return Writer(partial(encode_clip, encoder=encoder), encoder.extension, encoder.record(), encoder.deterministic)


def h265(crf: int) -> VideoEncoder:
    """H.265 by x265 (0 to 51), without its pool of threads."""
    parameters = "pools=none:frame-threads=1:log-level=none"
    return VideoEncoder("libx265", {"crf": str(crf), "preset": "medium", "threads": "1", "x265-params": parameters})


def vp9(crf: int) -> VideoEncoder:
    """VP9 by libvpx (0 to 63), constant quality."""
    options = {"crf": str(crf), "b": "0", "deadline": "good", "cpu-used": "2", "row-mt": "0", "threads": "1"}
    return VideoEncoder("libvpx-vp9", options, container="webm")


CLIP_WRITER = clip_writer(CLIP_ENCODER)
"""How a clip is written whose frames were changed: as the clips of a cohort are."""


def _encode(family: str, crf: int, encoder: VideoEncoder) -> FileAttack[Clip]:
    name, writer = named(family, crf), clip_writer(encoder)
    return FileAttack(name=name, family=family, strength=crf, change=unchanged, writer=writer)


ATTACKS: tuple[FileAttack[Clip], ...] = (
    *(_encode("h264", crf, x264(crf)) for crf in (15, 18, 22, 23, 28, 30, 40, 50)),
    *(_encode("h265", crf, h265(crf)) for crf in (18, 23, 28, 30, 40, 50)),
    *(_encode("vp9", crf, vp9(crf)) for crf in (20, 31, 40, 50, 60)),
)
"""Every attack of this module, each family from weak to strong."""

"""Clips as the recipes handle them, and the encoders by which they become files.

Between RGB and the codec stands a colour conversion, stated like the codec's options: BT.601, limited range, swscale's
bicubic chroma with exact rounding. The file is tagged with it, so that a reader need not guess.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.cohorts import CohortError

INSTALL = "pip install 'pytest-benchbench[cohorts,audio,video]'"
"""What brings the encoders."""

Frames = NDArray[np.uint8]
"""RGB frames: (T, H, W, 3), 0 to 255."""

_EXTENSIONS = {"mp4": ".mp4", "webm": ".webm", "matroska": ".mkv"}
_CHROMA_STEP = {"yuv420p": 2, "yuv444p": 1}
_SMALLEST_SIDE = {"libx265": 66}
"""x265 (seen in PyAV 18.1) reads beyond a picture that is one block of 64 wide: other frames at each run, or a crash."""


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """Frames at a constant rate.

    Attributes:
        frames: (T, H, W, 3) uint8 RGB, at least one frame.
        rate: Frames per second.
    """

    frames: Frames
    rate: Fraction

    def __post_init__(self) -> None:
        if self.frames.ndim != 4 or self.frames.shape[3] != 3 or not self.frames.size:
            raise CohortError(f"a clip of shape {self.frames.shape}: expected (frames, height, width, 3), none of them 0")
        if self.frames.dtype != np.uint8:
            raise CohortError(f"a clip of {self.frames.dtype}: expected 8-bit RGB")
        if self.rate <= 0:
            raise CohortError(f"a clip of {self.rate} frames per second")


@dataclass(frozen=True, slots=True)
class VideoEncoder:
    """A codec with everything that decides what it writes.

    Attributes:
        codec: FFmpeg's name of the encoder.
        options: The encoder's options; ``threads`` belongs to them, because the bytes may depend on it.
        pixel_format: ``yuv420p`` (sides must be even) or ``yuv444p``.
        container: FFmpeg's name of the muxer; it is told to be bit-exact, so that neither a version nor a random
            identifier gets into the file.
        deterministic: Whether the same clip gives the same bytes, or only the same decoded frames.
    """

    codec: str
    options: Mapping[str, str]
    pixel_format: Literal["yuv420p", "yuv444p"] = "yuv420p"
    container: Literal["mp4", "webm", "matroska"] = "mp4"
    deterministic: Literal["bytes", "samples"] = "bytes"

    @property
    def extension(self) -> str:
        """How the name of a file of this container ends, with the dot."""
        return _EXTENSIONS[self.container]

    @property
    def side_step(self) -> int:
        """What both sides must be divisible by."""
        return _CHROMA_STEP[self.pixel_format]

    def record(self) -> dict[str, Any]:
        """Say in a case row how a clip was written; JSON values."""
        return {
            "library": "FFmpeg",
            "codec": self.codec,
            "options": dict(self.options),
            "pixel_format": self.pixel_format,
            "colour": "BT.601, limited range, tagged smpte170m",
            "conversion": "swscale bicubic, accurate_rnd, bitexact, 1 thread",
            "container": self.container,
            "container_options": {"fflags": "+bitexact"},
        }


def x264(crf: int) -> VideoEncoder:
    """H.264 by x264, constant quality (0 to 51); its bytes depend on the number of threads.

    Without its macroblock tree: in version 165 (PyAV 18.1) that reads memory which nobody has written, so that the same clip
    gave other bytes, and other frames, from time to time.
    """
    return VideoEncoder("libx264", {"crf": str(crf), "preset": "medium", "threads": "1", "mbtree": "0"})


CLIP_ENCODER = x264(8)
"""How clean and marked clips of a cohort are written."""


def encode_clip(clip: Clip, encoder: VideoEncoder = CLIP_ENCODER) -> bytes:
    """Encode a clip, without sound.

    Raises:
        CohortError: PyAV is not installed, the encoder is not in it, the sides do not suit the pixel format, or the
            encoder refuses the clip.
    """
    try:
        av: Any = importlib.import_module("av")
    except ImportError:
        raise CohortError(f"clips cannot be written without PyAV: {INSTALL}") from None
    height, width = clip.frames.shape[1:3]
    if height % encoder.side_step or width % encoder.side_step:
        raise CohortError(f"{encoder.codec}: {encoder.pixel_format} needs even sides, not {width}x{height}")
    smallest = _SMALLEST_SIDE.get(encoder.codec, 1)
    if min(height, width) < smallest:
        raise CohortError(f"{encoder.codec}: needs sides of at least {smallest} pixels, not {width}x{height}")
    buffer = io.BytesIO()
    try:
        with av.open(buffer, "w", format=encoder.container, options={"fflags": "+bitexact"}) as container:
            _write_frames(container, clip, encoder)
    except (av.error.FFmpegError, ValueError) as refused:  # ValueError: PyAV knows no such codec
        raise CohortError(f"{encoder.codec}: cannot encode {width}x{height}: {refused}") from refused
    return buffer.getvalue()


def decode_clip(data: bytes) -> Clip:
    """Decode a file as an adapter will be shown it, each value rounded to 8 bits.

    Raises:
        UndecodableArtifactError: The bytes are no video that can be decoded within the limits of ``decode_video``.
    """
    from pytest_benchbench.artifacts.video import decode_video  # its decoders come with the extra `video`

    video = decode_video(data)
    return Clip(np.stack([np.rint(frame * 255.0).astype(np.uint8) for frame in video.frames()]), video.rate)


def _write_frames(container: Any, clip: Clip, encoder: VideoEncoder) -> None:
    frame_of = importlib.import_module("av").VideoFrame.from_ndarray
    colours: Any = importlib.import_module("av.video.reformatter")
    rounding = colours.Interpolation.BICUBIC | colours.Interpolation.ACCURATE_RND | colours.Interpolation.BITEXACT
    stream = container.add_stream(encoder.codec, rate=clip.rate, options=dict(encoder.options))
    context = stream.codec_context
    known = context.supported_options
    for name in encoder.options.keys() - {option.name for option in (*known.generic, *known.private)}:
        raise CohortError(f"{encoder.codec} has no option {name!r}")  # FFmpeg would encode without it
    stream.height, stream.width = clip.frames.shape[1:3]
    stream.pix_fmt = encoder.pixel_format
    stream.time_base = context.time_base = 1 / clip.rate
    context.colorspace = _SMPTE170M
    context.color_range = colours.ColorRange.MPEG
    context.color_primaries = colours.ColorPrimaries.SMPTE170M
    context.color_trc = colours.ColorTrc.SMPTE170M
    for index, pixels in enumerate(clip.frames):
        frame = frame_of(np.ascontiguousarray(pixels), format="rgb24").reformat(
            format=encoder.pixel_format,
            dst_colorspace=colours.Colorspace.ITU601,
            dst_color_range=colours.ColorRange.MPEG,
            interpolation=rounding,
            threads=1,
        )
        frame.pts, frame.time_base = index, 1 / clip.rate
        container.mux(_timed(stream.encode(frame), clip))
    container.mux(_timed(stream.encode(None), clip))


def _timed(packets: list[Any], clip: Clip) -> list[Any]:
    """Give packets of a very short clip their decoding times: x265 leaves them undefined where it cannot reorder frames."""
    if len(clip.frames) < _FRAMES_TO_REORDER:
        for packet in packets:
            packet.dts = packet.pts
    return packets


_FRAMES_TO_REORDER = 3
"""Fewer frames are always coded in the order in which they are shown."""

_SMPTE170M = 6
"""FFmpeg's number of the BT.601 matrix (``AVCOL_SPC_SMPTE170M``); PyAV's own enumeration counts otherwise."""

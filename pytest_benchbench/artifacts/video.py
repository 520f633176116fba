"""Video artifacts: RGB frames by written rules, streamed or held as a whole. ``docs/decoding.md`` is the table of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_benchbench.artifacts.containers import identify_video
from pytest_benchbench.artifacts.media import DEFAULT_MAX_PIXELS, UndecodableArtifactError
from pytest_benchbench.artifacts.picture_layout import CONVERSION, PictureLayout
from pytest_benchbench.artifacts.video_frames import Survey, VideoFile
from pytest_benchbench.artifacts.video_structure import BrokenVideoError, listed_pictures

DEFAULT_MAX_FRAMES = 216_000
"""Largest accepted number of frames: an hour at 60 frames per second."""

MAX_ARRAY_BYTES = 2 * 1024**3
"""What the frames of one clip may take as an array of float32: 2 GiB."""

_MAX_MESSAGE_CHARACTERS = 200


@dataclass(frozen=True, slots=True, eq=False)
class _Stream:
    """A file whose frames are decoded when they are asked for."""

    file: VideoFile
    layout: PictureLayout


@dataclass(slots=True, eq=False)
class Video:
    """A decoded video. Every frame was decoded once when it was made, so that it is known to be whole.

    Attributes:
        shape: (frames, height, width, 3).
        rate: Average number of frames per second.
        decoding: The rule and its facts: ``rule`` (steps joined by ``+``), ``format``, ``codec``, ``pixel_format``, ``size``
            ([width, height] of a frame), ``frames``, ``rate`` (as text), ``variable_frame_rate``, ``bit_depth`` (of the
            stored samples), ``conversion``, ``decoder``, and where they apply ``color_matrix``, ``color_range``,
            ``untagged``, ``alpha``, ``display_matrix``, ``sample_aspect_ratio``, ``interlaced``, ``video_streams``.
        incomparable: Why fidelity against this video is refused, or ``None``: the frames are all that the file shows, in
            8-bit samples.
        seconds: When each frame is shown, float64 (frames,), read-only, the first at 0; ``None`` where the file says only a
            rate.
        decode_seconds: Wall time that ``frames`` has spent decoding so far; what is done with a frame is not in it.
    """

    shape: tuple[int, int, int, int]
    rate: Fraction
    decoding: dict[str, Any]
    incomparable: str | None
    seconds: npt.NDArray[np.float64] | None
    _content: _Stream | npt.NDArray[np.float32] = field(repr=False)
    decode_seconds: float = field(default=0.0, init=False)

    @property
    def is_variable(self) -> bool:
        """Whether the frames follow each other at varying distances."""
        return bool(self.decoding.get("variable_frame_rate"))

    @property
    def nbytes(self) -> int:
        """Bytes of frames and times that it holds; a video that is streamed holds no frame."""
        frames = 0 if isinstance(self._content, _Stream) else self._content.nbytes
        return frames + (0 if self.seconds is None else self.seconds.nbytes)

    def frames(self) -> Iterator[npt.NDArray[np.float32]]:
        """Give the frames in the order in which they are shown, from the first one at each call.

        Memory: one frame, unless the video is held as a whole.

        Yields:
            RGB of shape (height, width, 3), float32 in [0, 1]; a fresh array each time.

        Raises:
            UndecodableArtifactError: Decoding failed, which it did not before: memory is short.
        """
        if not isinstance(self._content, _Stream):
            yield from (frame.copy() for frame in self._content)
            return
        white = np.float32(self._content.layout.white)
        for picture in self._pictures(self._content):
            begin = time.perf_counter()
            frame = np.divide(picture, white, dtype=np.float32)
            if white > 255:
                np.minimum(frame, np.float32(1), out=frame)  # above the white of limited range lies headroom
            self.decode_seconds += time.perf_counter() - begin
            yield frame

    def pictures(self) -> Iterator[npt.NDArray[np.uint8]]:
        """Give the frames in 8 bits: as stored if that is how they are stored, else rounded.

        Yields:
            RGB of shape (height, width, 3), uint8; a fresh array each time.

        Raises:
            UndecodableArtifactError: As in ``frames``.
        """
        if isinstance(self._content, _Stream) and self._content.layout.bits <= 8:
            yield from self._pictures(self._content)
            return
        for frame in self.frames():
            yield np.rint(frame * np.float32(255)).astype(np.uint8)

    def array(self) -> npt.NDArray[np.float32]:
        """Give all frames at once. Unless the video is held as a whole, each call decodes it.

        Returns:
            RGB of shape (frames, height, width, 3), float32 in [0, 1], read-only.

        Raises:
            UndecodableArtifactError: They would take more than ``MAX_ARRAY_BYTES``, or more than there is.
        """
        if not isinstance(self._content, _Stream):
            return self._content
        size = 4 * int(np.prod(self.shape, dtype=object))
        if size > MAX_ARRAY_BYTES:
            frames, height, width, _ = self.shape
            raise UndecodableArtifactError(
                f"{frames} frames of {width}x{height} take {size / 1024**3:.1f} GiB as one array, more than the limit of "
                f"{MAX_ARRAY_BYTES / 1024**3:g} GiB; cut the clip, or ask an adapter that reads frame by frame"
            )
        try:
            array = np.empty(self.shape, np.float32)
            for index, frame in enumerate(self.frames()):
                array[index] = frame
        except MemoryError as error:
            raise UndecodableArtifactError(_one_line(error)) from None
        array.flags.writeable = False
        return array

    def held(self) -> Video:
        """Give this video with all its frames in memory.

        Raises:
            UndecodableArtifactError: As in ``array``.
        """
        return self if not isinstance(self._content, _Stream) else replace(self, _content=self.array())

    def _pictures(self, stream: _Stream) -> Iterator[Any]:
        """Decode, keeping the time; a pass must give as many frames as the first one gave."""
        number = 0
        begin = time.perf_counter()
        try:
            for picture in stream.file.pictures(stream.layout):
                self.decode_seconds += time.perf_counter() - begin
                number += 1
                yield picture
                begin = time.perf_counter()
            self.decode_seconds += time.perf_counter() - begin
            if number != self.shape[0]:
                raise BrokenVideoError(f"{number} of {self.shape[0]} frames could be decoded again")
        except Exception as error:
            raise UndecodableArtifactError(_one_line(error)) from None


def decode_video(data: bytes, *, max_pixels: int = DEFAULT_MAX_PIXELS, max_frames: int = DEFAULT_MAX_FRAMES) -> Video:
    """Decode a video file to RGB by the rules of ``docs/decoding.md``: every frame once, keeping none.

    The result depends on the bytes and FFmpeg, not on the number of threads or the processor. Other files that the bytes
    refer to are not opened. Needs PyAV (``pytest-benchbench[video]``).

    Args:
        data: The whole file.
        max_pixels: Largest accepted product of width and height of a frame; checked before a frame is decoded.
        max_frames: Largest accepted number of frames.

    Raises:
        UndecodableArtifactError: Not an accepted container, broken, truncated, too large, of samples without an agreed way
            to RGB, or PyAV is missing. One line.
    """
    try:
        container = identify_video(data)
        file = VideoFile(data, container, listed_pictures(data, container), max_pixels, max_frames)
        return _described(file, file.survey())
    except UndecodableArtifactError:
        raise
    except Exception as error:
        raise UndecodableArtifactError(_one_line(error)) from None


def _described(file: VideoFile, survey: Survey) -> Video:
    layout = survey.layout
    width, height = layout.size
    steps: list[str] = [layout.kind]
    reasons = []
    facts: dict[str, Any] = {}
    if layout.kind == "yuv":
        facts |= {"color_matrix": layout.matrix, "color_range": layout.range}
        if layout.untagged:
            facts["untagged"] = list(layout.untagged)
    if layout.shallowest < 8:
        steps.append("scaled")
        reasons.append(f"{layout.shallowest}-bit samples")
    if layout.bits > 8:
        steps.append("rgb48")
        reasons.append(f"{layout.bits}-bit samples")
    if survey.alpha is not None:
        steps.append("alpha-dropped")
        facts["alpha"] = survey.alpha
        if survey.alpha == "dropped":
            reasons.append("transparency was dropped")
    if layout.turn is not None:
        steps.append("display-matrix")
        facts["display_matrix"] = layout.turn[0]
    elif layout.display_matrix is not None:
        facts["display_matrix"] = layout.display_matrix
        reasons.append("the orientation is no multiple of 90 degrees and was not applied")
    if survey.sample_aspect_ratio is not None:
        facts["sample_aspect_ratio"] = f"{survey.sample_aspect_ratio}, not applied"
    if survey.interlaced:
        facts["interlaced"] = "not deinterlaced"
    if survey.streams > 1:
        facts["video_streams"] = survey.streams
    decoding = {
        "rule": "+".join(steps),
        "format": file.container,
        "codec": survey.codec,
        "pixel_format": layout.pixel_format,
        "size": [width, height],
        "frames": survey.frames,
        "rate": str(survey.rate),
        "variable_frame_rate": survey.variable,
        "bit_depth": layout.bits,
        **facts,
        "conversion": CONVERSION,
        "decoder": survey.decoder,
    }
    return Video(
        shape=(survey.frames, height, width, 3),
        rate=survey.rate,
        decoding=decoding,
        incomparable="; ".join(reasons) or None,
        seconds=survey.seconds,
        _content=_Stream(file, layout),
    )


def _one_line(error: Exception) -> str:
    """Put an exception into one line; FFmpeg's own say what failed and, needlessly, in which of its functions."""
    said = getattr(error, "strerror", None) or str(error)
    text = "".join(character if character.isprintable() else " " for character in str(said))
    text = " ".join(text.split())[:_MAX_MESSAGE_CHARACTERS]
    if isinstance(error, BrokenVideoError):
        return text
    if hasattr(error, "strerror"):
        return f"FFmpeg cannot decode it: {text}"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

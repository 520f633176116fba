"""One pass over the pictures of a video file by FFmpeg: every damage that it would conceal is an error here.

PyAV is imported by the functions that need it, so that a run without videos does without it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from pytest_benchbench.artifacts.containers import DEMUXERS, VideoContainer
from pytest_benchbench.artifacts.picture_layout import Picture, PictureConverter, PictureLayout
from pytest_benchbench.artifacts.video_structure import BrokenVideoError

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

INSTALL = "pip install 'pytest-benchbench[video]'"
"""What brings the decoders."""

_STRICT = {"err_detect": "crccheck+explode", "flags": "+bitexact"}
"""Decoder options: raise at the first damage where FFmpeg would paint something over it; no shortcuts of the processor."""

_VP8_SHOWN = 0x10
"""Bit of a VP8 packet's first byte that says whether its picture is shown (RFC 6386, section 9.1)."""


@dataclass(frozen=True, slots=True, eq=False)
class VideoFile:
    """A video file that can be read from its beginning as often as wanted, by several passes side by side.

    Attributes:
        data: The whole file.
        container: What it is.
        listed: Coded pictures that the container lists, where that has been counted.
        max_pixels: Largest accepted product of width and height of a picture.
        max_frames: Largest accepted number of pictures.
    """

    data: bytes
    container: VideoContainer
    listed: int | None
    max_pixels: int
    max_frames: int

    def pictures(self, layout: PictureLayout) -> Iterator[Picture]:
        """Decode the pictures, upright and in RGB, one after another.

        Yields:
            Arrays of shape (height, width, 3), ``uint8`` or, for deeper samples, ``uint16``; each a fresh one.

        Raises:
            BrokenVideoError: The file is damaged.
            Exception: Whatever FFmpeg raises on damaged data.
        """
        with _open(self) as file:
            converter = PictureConverter(layout)
            for frame in _frames(self, file, _first_video_stream(file), Timing()):
                yield converter.picture(frame)

    def survey(self) -> Survey:
        """Decode every picture once, keeping none, and say what there is.

        Raises:
            BrokenVideoError: The file is damaged, too large, or holds what there is no rule for.
            Exception: Whatever FFmpeg raises on damaged data.
        """
        timing = Timing()
        layout = None
        transparent = interlaced = False
        with _open(self) as file:
            stream = _first_video_stream(file)
            for frame in _frames(self, file, stream, timing):
                if layout is None:
                    layout = PictureLayout.of(frame)
                    converter = PictureConverter(layout)
                    converter.picture(frame)  # what cannot be converted is found now
                converter.check(frame)
                interlaced = interlaced or frame.interlaced_frame
                transparent = transparent or (layout.has_alpha and converter.is_transparent(frame))
            if layout is None:
                raise BrokenVideoError("the video stream holds no picture")
            rate = stream.average_rate or stream.guessed_rate
            if not rate or rate < 0:
                raise BrokenVideoError("the file says no frame rate")
            # WebM keeps transparency beside the pictures, where FFmpeg's own decoder does not look.
            transparent = transparent or stream.metadata.get("alpha_mode") == "1"
            ratio = stream.sample_aspect_ratio
            from av import ffmpeg_version_info

            return Survey(
                layout=layout,
                alpha="dropped" if transparent else "opaque" if layout.has_alpha else None,
                interlaced=interlaced,
                frames=timing.frames,
                rate=Fraction(rate),
                seconds=None if self.container == "avi" else timing.seconds(stream.time_base),
                variable=self.container != "avi" and timing.is_variable,
                codec=stream.codec.canonical_name,
                sample_aspect_ratio=str(ratio) if ratio and ratio != 1 else None,
                streams=len(file.streams.video),
                decoder=f"FFmpeg {ffmpeg_version_info}",
            )


@dataclass(frozen=True, slots=True)
class Survey:
    """What decoding a whole file has shown.

    Attributes:
        layout: How its pictures are stored.
        alpha: ``opaque`` or ``dropped`` where there is an alpha channel, else ``None``.
        interlaced: Whether any picture consists of two fields.
        frames: How many there are.
        rate: Average number of frames per second.
        seconds: When each is shown, float64 (frames,), the first at 0; ``None`` where the file says it only by its rate.
        variable: Whether their distances differ by more than one tick of the container's clock.
        codec: FFmpeg's name of the format.
        sample_aspect_ratio: Width to height of a sample where that is not 1:1.
        streams: Video streams in the file, cover pictures included.
        decoder: Name and version.
    """

    layout: PictureLayout
    alpha: Literal["opaque", "dropped"] | None
    interlaced: bool
    frames: int
    rate: Fraction
    seconds: npt.NDArray[np.float64] | None
    variable: bool
    codec: str
    sample_aspect_ratio: str | None
    streams: int
    decoder: str


@dataclass(slots=True)
class Timing:
    """When pictures are shown, on the container's clock."""

    frames: int = 0
    ticks: list[int] = field(default_factory=list)

    def add(self, frame: VideoFrame) -> None:
        """Take the next picture."""
        self.frames += 1
        if frame.pts is not None:
            self.ticks.append(frame.pts)

    @property
    def is_variable(self) -> bool:
        """Whether distances differ by more than the rounding to the clock explains."""
        distances = np.diff(np.array(self.ticks, np.float64))
        return distances.size > 1 and bool(np.ptp(distances) > 1)

    def seconds(self, tick: Fraction | None) -> npt.NDArray[np.float64] | None:
        """Give the times from the first picture on; ``None`` unless every picture has one."""
        if tick is None or len(self.ticks) != self.frames:
            return None
        times = (np.array(self.ticks, np.float64) - self.ticks[0]) * float(tick)
        times.flags.writeable = False
        return times


def _open(video: VideoFile) -> InputContainer:
    """Open the bytes with the named demuxer alone; nothing else that they name is ever opened.

    Raises:
        BrokenVideoError: PyAV is not installed.
    """
    try:
        import av
    except ImportError:
        raise BrokenVideoError(f"decoding videos needs PyAV (remedy: {INSTALL})") from None

    def refuse(url: str, *_: object) -> Any:
        raise BrokenVideoError("the file refers to another file, which is not opened")

    return av.open(
        io.BytesIO(video.data),
        "r",
        format=DEMUXERS[video.container],
        options=_limits(video),
        metadata_errors="replace",
        io_open=refuse,
    )


def _limits(video: VideoFile) -> dict[str, str]:
    """Bound what a header can make FFmpeg allocate. Codecs pad pictures, so the exact check follows on the frames."""
    return {"max_pixels": str(2 * video.max_pixels + (1 << 16))}


def _first_video_stream(file: InputContainer) -> VideoStream:
    """Give the first video stream that is no cover picture, ready to be decoded by one thread.

    Raises:
        BrokenVideoError: There is none, or no decoder for it.
    """
    from av.stream import Disposition

    for stream in file.streams.video:
        if not stream.disposition & Disposition.attached_pic:
            if stream.codec_context is None:
                raise BrokenVideoError("this FFmpeg has no decoder for the video stream")
            return stream
    raise BrokenVideoError("there is no video stream in the file")


def _frames(video: VideoFile, file: InputContainer, stream: VideoStream, timing: Timing) -> Iterator[VideoFrame]:
    """Decode all pictures in the order in which they are shown, and account for every packet of the stream."""
    context = stream.codec_context
    context.thread_type, context.thread_count = "NONE", 1
    context.options = _STRICT | _limits(video)
    packets = unseen = 0
    for packet in file.demux(stream):
        if packet.size:
            packets += 1
            if packet.is_corrupt:
                raise BrokenVideoError(f"coded picture {packets} is truncated or damaged")
            unseen += packet.is_discard or (context.name == "vp8" and not memoryview(packet)[0] & _VP8_SHOWN)
        for frame in packet.decode():
            _check(video, frame, timing.frames)
            timing.add(frame)
            yield frame
    _account(video, stream, packets, packets - unseen, timing.frames)


def _check(video: VideoFile, frame: VideoFrame, number: int) -> None:
    if frame.is_corrupt:
        raise BrokenVideoError(f"frame {number} is damaged")
    if number >= video.max_frames:
        raise BrokenVideoError(f"more than {video.max_frames} frames")
    if frame.width * frame.height > video.max_pixels:
        size = f"{frame.width}x{frame.height}"
        raise BrokenVideoError(f"{size} pixels are more than the limit of {video.max_pixels} (--bench-max-pixels)")


def _account(video: VideoFile, stream: VideoStream, packets: int, shown: int, frames: int) -> None:
    """Hold what was read against what the container lists, and what was decoded against what was read.

    An MP4's index has one entry for each coded picture of the edit list, an AVI's header has their number.
    """
    listed = video.listed
    if video.container == "mp4":
        listed = len(stream.index_entries)
    elif video.container == "avi" and stream.frames:
        listed = stream.frames
    if listed is not None and packets != listed:
        raise BrokenVideoError(f"the container lists {listed} coded pictures, but {packets} could be read")
    if frames != shown:
        raise BrokenVideoError(f"of {shown} coded pictures {frames} could be decoded")

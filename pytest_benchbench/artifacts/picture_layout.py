"""How the pictures of a video are stored, and the one conversion of each kind to upright RGB.

The conversion is swscale's, with flags under which it rounds exactly and gives the same result on every processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from pytest_benchbench.artifacts.video_structure import BrokenVideoError

if TYPE_CHECKING:
    from av.video.format import VideoFormat
    from av.video.frame import VideoFrame

Picture = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
"""RGB, shape (height, width, 3)."""

CONVERSION = "swscale bicubic+full_chroma_int+full_chroma_inp+accurate_rnd+bitexact"

_MATRICES = {1: "bt709", 4: "fcc", 5: "bt601", 6: "bt601", 7: "smpte240m", 9: "bt2020nc"}
"""Matrix coefficients (ITU-T H.273, table 4) to their names; 5 and 6 are the two tags of BT.601."""

_LEAST_DEEP_ROWS = 16
"""swscale (seen in FFmpeg 8.1) overflows where so few rows of halved chroma leave its vertical filter two taps."""

_UNTAGGED = 2
_BT601 = 6
_LIMITED, _FULL = 1, 2

_TURNS: dict[tuple[int, int, int, int], tuple[str, bool, bool, bool]] = {
    (0, 1, -1, 0): ("rotated by 90 degrees clockwise", True, False, True),
    (-1, 0, 0, -1): ("rotated by 180 degrees", False, True, True),
    (0, -1, 1, 0): ("rotated by 270 degrees clockwise", True, True, False),
    (-1, 0, 0, 1): ("mirrored left to right", False, False, True),
    (1, 0, 0, -1): ("mirrored top to bottom", False, True, False),
    (0, 1, 1, 0): ("mirrored along the falling diagonal", True, False, False),
    (0, -1, -1, 0): ("mirrored along the rising diagonal", True, True, True),
}
"""Signs of a display matrix (a, b, c, d of ISO/IEC 14496-12, section 6.2.2: x' = ax + cy, y' = bx + dy) to what is done:
its name, whether rows become columns, and then whether the order of rows and of columns is reversed."""


@dataclass(frozen=True, slots=True)
class PictureLayout:
    """How all pictures of a video are stored.

    Attributes:
        width: Of the stored picture, before it is turned.
        height: The same.
        pixel_format: FFmpeg's name.
        kind: ``yuv``, ``rgb``, ``gray`` or ``palette``.
        bits: Bits of the deepest stored sample; of a palette's entries.
        shallowest: Bits of the shallowest one.
        has_alpha: Whether a sample may be transparent.
        matrix: Of YUV samples: the name of their matrix.
        range: Of YUV samples: ``limited`` or ``full``.
        untagged: Which of the two the file does not say.
        display_matrix: Its signs if it is one of ``_TURNS``, in words if it is another one, else ``None``.
    """

    width: int
    height: int
    pixel_format: str
    kind: Literal["yuv", "rgb", "gray", "palette"]
    bits: int
    shallowest: int
    has_alpha: bool
    matrix: str | None
    range: Literal["limited", "full"] | None
    untagged: tuple[str, ...]
    display_matrix: tuple[int, int, int, int] | str | None

    @classmethod
    def of(cls, frame: VideoFrame) -> PictureLayout:
        """Read the layout off a picture.

        Raises:
            BrokenVideoError: There is no agreed way from such samples to RGB.
        """
        stored = frame.format
        kind = _kind(stored)
        depths = [component.bits for component in stored.components]
        if max(depths) > 8 and frame.height < _LEAST_DEEP_ROWS and stored.chroma_height(frame.height) < frame.height:
            raise BrokenVideoError(f"FFmpeg converts {max(depths)}-bit pictures lower than {_LEAST_DEEP_ROWS} rows wrongly")
        matrix, samples, untagged = _colours(frame) if kind == "yuv" else (None, None, ())
        return cls(
            width=frame.width,
            height=frame.height,
            pixel_format=stored.name,
            kind=kind,
            bits=max(depths),
            shallowest=min(depths),
            has_alpha=stored.has_palette or any(component.is_alpha for component in stored.components),
            matrix=matrix,
            range=samples,
            untagged=untagged,
            display_matrix=_display_matrix(frame),
        )

    @property
    def turn(self) -> tuple[str, bool, bool, bool] | None:
        """Give the entry of ``_TURNS`` that is applied."""
        return _TURNS[self.display_matrix] if isinstance(self.display_matrix, tuple) else None

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the upright picture."""
        return (self.height, self.width) if self.turn and self.turn[1] else (self.width, self.height)

    @property
    def white(self) -> int:
        """The integer that stands for 1.0 in a converted picture: what swscale makes of the stored white.

        Of samples deeper than 8 bits it makes 16-bit RGB in which white is 255 x 256 for limited range, and the stored
        number shifted up for full range and gray; only stored RGB is spread over all of 0 to 65535.
        """
        if self.bits <= 8:
            return 255
        if self.kind == "rgb":
            return 65535
        return 65280 if self.range == "limited" else (2**self.bits - 1) << (16 - self.bits)


class PictureConverter:
    """Converts the pictures of one pass. It is not for two threads at a time.

    Args:
        layout: How the first picture is stored; the others must be stored alike.
    """

    def __init__(self, layout: PictureLayout) -> None:
        from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter

        flags = Interpolation.BICUBIC | Interpolation.FULL_CHR_H_INT | Interpolation.FULL_CHR_H_INP
        self._layout = layout
        self._reformatter = VideoReformatter()
        self._how: dict[str, Any] = {
            "src_colorspace": Colorspace.ITU601 if "color_matrix" in layout.untagged else None,
            "src_color_range": ColorRange.MPEG if "color_range" in layout.untagged else None,
            "interpolation": flags | Interpolation.ACCURATE_RND | Interpolation.BITEXACT,
            "threads": 1,
        }
        self._tags: tuple[Any, ...] | None = None

    def check(self, frame: VideoFrame) -> None:
        """Check that a picture is stored like those before it.

        Raises:
            BrokenVideoError: Size, format, colours or orientation have changed.
        """
        tags = (frame.width, frame.height, frame.format.name, frame.colorspace, frame.color_range, frame.rotation)
        if self._tags is None:
            self._tags = tags
        elif tags != self._tags:
            raise BrokenVideoError("size, pixel format, colours or orientation of the pictures change within the video")

    def picture(self, frame: VideoFrame) -> Picture:
        """Convert a picture to RGB and turn it upright.

        Returns:
            A fresh array of shape (height, width, 3), ``uint8``, or ``uint16`` for stored samples of more than 8 bits; 0 is
            black and the layout's ``white`` is white.

        Raises:
            BrokenVideoError: It is not stored like those before it.
            Exception: Whatever swscale raises.
        """
        self.check(frame)
        pixels = self._converted(frame, "rgb24" if self._layout.bits <= 8 else "rgb48le")
        if self._layout.turn is not None:
            _, sideways, rows, columns = self._layout.turn
            if sideways:
                pixels = pixels.transpose(1, 0, 2)
            pixels = pixels[:: -1 if rows else 1, :: -1 if columns else 1]
        return pixels.copy()  # they may lie in the frame's own memory

    def is_transparent(self, frame: VideoFrame) -> bool:
        """Look whether any sample of a picture with an alpha channel or a palette is not opaque."""
        bits = self._layout.bits
        lowest = int(self._converted(frame, "rgba" if bits <= 8 else "rgba64le")[..., 3].min())
        return lowest < 255 if bits <= 8 else lowest >> (16 - bits) < 2**bits - 1

    def _converted(self, frame: VideoFrame, pixel_format: str) -> Picture:
        pixels: Any = self._reformatter.reformat(frame, format=pixel_format, **self._how).to_ndarray()
        return cast("Picture", pixels)


def _kind(stored: VideoFormat) -> Literal["yuv", "rgb", "gray", "palette"]:
    """Tell how samples are stored.

    Raises:
        BrokenVideoError: Floating point, deeper than 16 bits, raw sensor data, XYZ.
    """
    colours = [component for component in stored.components if not component.is_alpha]
    name = stored.name
    if name.startswith(("xyz", "bayer")) or "f16" in name or max(component.bits for component in colours) > 16:
        raise BrokenVideoError(f"samples of pixel format {name} have no agreed way to RGB")
    if stored.has_palette:
        return "palette"
    if stored.is_rgb:
        return "rgb"
    return "gray" if len(colours) == 1 else "yuv"


def _colours(frame: VideoFrame) -> tuple[str, Literal["limited", "full"], tuple[str, ...]]:
    """Read matrix and range of YUV samples, and say which of them are assumed.

    Raises:
        BrokenVideoError: swscale has no such matrix.
    """
    untagged = []
    matrix = frame.colorspace
    if matrix == _UNTAGGED:
        untagged.append("color_matrix")
        matrix = _BT601
    if matrix not in _MATRICES:
        raise BrokenVideoError(f"colour matrix {matrix} (ITU-T H.273) has no agreed way to RGB")
    full = frame.color_range == _FULL or frame.format.name.startswith("yuvj")
    if not full and frame.color_range != _LIMITED:
        untagged.append("color_range")
    return _MATRICES[matrix], "full" if full else "limited", tuple(untagged)


def _display_matrix(frame: VideoFrame) -> tuple[int, int, int, int] | str | None:
    """Read how a picture is to be shown: signs for one of ``_TURNS``, words for anything between, ``None`` as it is."""
    from av.sidedata.sidedata import Type

    try:
        side_data: Any = frame.side_data
        matrix = np.frombuffer(side_data[Type.DISPLAYMATRIX], np.int32)
    except KeyError:
        return None
    except ValueError:  # PyAV does not know all kinds of side data
        if frame.rotation:
            raise BrokenVideoError("the orientation of the pictures cannot be read") from None
        return None
    a, b, c, d = (int(matrix[index]) for index in (0, 1, 3, 4))
    signs = ((a > 0) - (a < 0), (b > 0) - (b < 0), (c > 0) - (c < 0), (d > 0) - (d < 0))
    if signs == (1, 0, 0, 1) and a == d:
        return None
    if signs in _TURNS and (abs(a), abs(b)) == (abs(d), abs(c)):
        return signs
    return f"not applied: [{a / 65536:g}, {b / 65536:g}; {c / 65536:g}, {d / 65536:g}]"

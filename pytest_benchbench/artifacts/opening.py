"""Opening an image file with Pillow so that the answer depends on the bytes alone.

In plain Pillow three switches of the process decide what happens to a file: ``ImageFile.LOAD_TRUNCATED_IMAGES`` (which
widely used packages turn on when they are imported), ``Image.MAX_IMAGE_PIXELS``, and the warning filters. This module
neither sets the first two nor relies on them:

- The image classes are called directly instead of ``Image.open``, which would apply Pillow's pixel limit and may load any of
  some forty plugins, PostScript among them. Which class is called is decided by the first bytes, from a fixed list. (The
  classes of WebP and TIFF apply Pillow's limit themselves: beyond twice ``MAX_IMAGE_PIXELS``, 179 million pixels unless the
  process says otherwise, they refuse, whatever our own limit.)
- Every tile's codec runs inside ``_StrictDecoder``, which raises where Pillow may have been told to look away.
- Warnings out of Pillow's modules are ignored while a file is read, whatever ``-W`` says.
"""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from PIL import (
    BmpImagePlugin,
    GifImagePlugin,
    Image as Pillow,
    ImageFile,
    Jpeg2KImagePlugin,
    JpegImagePlugin,
    PngImagePlugin,
    PpmImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from pytest_benchbench.artifacts.structure import (
    BrokenImageError,
    avif_bit_depth,
    check_jpeg,
    check_jpeg2000_blocks,
    gif_frames,
    jpeg2000_size_and_depth,
    png_bit_depth,
    tiff_pages,
    webp_size,
)

_BITS_PER_SAMPLE = 258
_PHOTOMETRIC = 262
_ORIENTATION = 274
_TILE_WIDTH = 322
_TILE_LENGTH = 323
_SAMPLE_FORMAT = 339
_WHITE_IS_ZERO = 0
_PALETTE = 3

_PPM_HEADER_BYTES = 4096

_STRICT = "benchbench-strict"


@dataclass(slots=True)
class OpenedImage:
    """An image whose header has been read and found acceptable.

    Attributes:
        format: One of ``FORMATS``.
        image: Pillow's object; its pixels are there after ``load``.
        bit_depth: Bits of a stored sample; of a palette's entries, not of its indices.
        frames: Number of frames or pages.
        turned: The TIFF orientation, 1 to 8, that Pillow applies by itself while loading.
    """

    format: str
    image: ImageFile.ImageFile
    bit_depth: int
    frames: int
    turned: int = 1

    def load(self) -> None:
        """Decode the first frame.

        Raises:
            BrokenImageError: The pixels break off.
            Exception: Whatever Pillow raises on broken data.
        """
        image, progress = self.image, _Progress()
        if isinstance(image, JpegImagePlugin.JpegImageFile) and image.fp is not None:
            # The class's own method may be told to invent an end of the image.
            image.load_read = image.fp.read  # type: ignore[method-assign, assignment]
        if not getattr(image, "use_load_libtiff", False):  # that path always raises on errors, and knows one codec name
            image.tile = [ImageFile._Tile(_STRICT, tile[1], tile[2], (tile[0], tile[3], progress)) for tile in image.tile]
        image.load()
        if progress.unfinished:
            raise BrokenImageError("the file is truncated: it ends before its last pixel")


class _Progress:
    """How many codecs of an image have started and not come to their end."""

    unfinished = 0


class _StrictDecoder(ImageFile.PyDecoder):
    """Runs a tile's own codec, raises its errors at once and counts whether it came to its end."""

    def __init__(self, mode: str, codec: str, args: Any, progress: _Progress, *extra: Any) -> None:
        super().__init__(mode)
        self._codec = Pillow._getdecoder(mode, codec, args, extra)
        self._progress = progress
        progress.unfinished += 1

    @property
    def pulls_fd(self) -> bool:
        return self._codec.pulls_fd

    def setfd(self, fd: IO[bytes]) -> None:
        self._codec.setfd(fd)

    def setimage(self, im: Any, extents: tuple[int, int, int, int] | None = None) -> None:
        self._codec.setimage(im, extents)

    def decode(self, buffer: Any) -> tuple[int, int]:
        consumed, error = self._codec.decode(buffer)
        if error < 0:
            raise BrokenImageError(ImageFile.ERRORS.get(error, f"the codec reports error {error}"))
        if consumed < 0:
            self._progress.unfinished -= 1
        return consumed, error

    def cleanup(self) -> None:
        self._codec.cleanup()


Pillow.register_decoder(_STRICT, _StrictDecoder)


class PillowWarningsIgnored:
    """While at least one thread is inside, warnings that Pillow's modules issue are ignored.

    Warning filters belong to the process, so the first thread in saves them and the last one out restores them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._saved = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._saved = warnings.catch_warnings()
                self._saved.__enter__()
                warnings.filterwarnings("ignore", module=r"PIL\.")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._saved.__exit__(None, None, None)


def open_image(data: bytes, max_pixels: int) -> OpenedImage:
    """Read the header of an image file, and check its size and completeness, without decoding a pixel.

    Args:
        data: The whole file.
        max_pixels: The largest accepted product of width and height, of the canvas and of a TIFF's tiles.

    Raises:
        BrokenImageError: Not an accepted format, not whole, or larger than ``max_pixels``.
        Exception: Whatever Pillow raises on a header that it cannot read.
    """
    name = identify(data)
    return _OPENERS[name](name, data, max_pixels)


def identify(data: bytes) -> str:
    """Name the format that the first bytes announce.

    Raises:
        BrokenImageError: None of ``FORMATS``.
    """
    head = data[:16]
    for name, prefixes in _SIGNATURES.items():
        if head.startswith(prefixes):
            return name
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"avis", b"mif1", b"msf1"):
        return "AVIF"
    if head[:1] == b"P" and head[1:2] in (b"4", b"5", b"6") and head[2:3].isspace():
        return "PPM"
    raise BrokenImageError(f"not an image in an accepted format ({', '.join(FORMATS)})" if data else "the file is empty")


def _check_size(width: int, height: int, max_pixels: int) -> None:
    if width * height > max_pixels:
        raise BrokenImageError(f"{width}x{height} pixels are more than the limit of {max_pixels} (--bench-max-pixels)")


def _opened(
    name: str, image: ImageFile.ImageFile, max_pixels: int, *, bit_depth: int = 8, frames: int = 1, turned: int = 1
) -> OpenedImage:
    _check_size(*image.size, max_pixels)
    return OpenedImage(name, image, bit_depth, frames, turned)


def _open_png(name: str, data: bytes, max_pixels: int) -> OpenedImage:
    depth = png_bit_depth(data)
    image = PngImagePlugin.PngImageFile(io.BytesIO(data))
    return _opened(name, image, max_pixels, bit_depth=depth, frames=image.n_frames)


def _open_jpeg(name: str, data: bytes, max_pixels: int) -> OpenedImage:
    check_jpeg(data)
    return _opened(name, JpegImagePlugin.JpegImageFile(io.BytesIO(data)), max_pixels)


def _open_webp(name: str, data: bytes, max_pixels: int) -> OpenedImage:
    _check_size(*webp_size(data), max_pixels)
    image = WebPImagePlugin.WebPImageFile(io.BytesIO(data))
    return _opened(name, image, max_pixels, frames=image.n_frames)


def _open_avif(name: str, data: bytes, max_pixels: int) -> OpenedImage:
    try:
        from PIL import AvifImagePlugin
    except ImportError:
        raise BrokenImageError("this Pillow has no AVIF decoder (Pillow 11.3 or newer has)") from None
    image = AvifImagePlugin.AvifImageFile(io.BytesIO(data))
    return _opened(name, image, max_pixels, bit_depth=avif_bit_depth(data), frames=image.n_frames)


def _open_tiff(name: str, data: bytes, max_pixels: int) -> OpenedImage:
    pages = tiff_pages(data)
    image = TiffImagePlugin.TiffImageFile(io.BytesIO(data))
    tags = image.tag_v2
    if set(tags.get(_SAMPLE_FORMAT, (1,))) != {1}:
        raise BrokenImageError("signed or floating-point samples have no agreed range; convert the file to 8 bits")
    _check_size(tags.get(_TILE_WIDTH, 0), tags.get(_TILE_LENGTH, 0), max_pixels)
    image.info.pop("xmp", None)  # Pillow would turn the image by an orientation in there, which is not the EXIF one
    depth = 8 if tags.get(_PHOTOMETRIC) == _PALETTE else max(tags.get(_BITS_PER_SAMPLE, (1,)))
    if depth > 8 and tags.get(_PHOTOMETRIC, 0) == _WHITE_IS_ZERO:  # Pillow would give the negative
        raise BrokenImageError(f"{depth}-bit samples with white as zero are not decoded; convert the file to PNG")
    return _opened(name, image, max_pixels, bit_depth=depth, frames=pages, turned=tags.get(_ORIENTATION, 1))


def _open_bmp(name: str, data: bytes, max_pixels: int) -> OpenedImage:
    if int.from_bytes(data[2:6], "little") > len(data):  # smaller and 0 occur in whole files
        raise BrokenImageError("the file is truncated: its header declares more bytes")
    image = BmpImagePlugin.BmpImageFile(io.BytesIO(data))
    _demand_plain_samples(image, "run-length encoded BMP")
    bits_at = 24 if data[14] == 12 else 28
    five_bits = int.from_bytes(data[bits_at : bits_at + 2], "little") == 16
    return _opened(name, image, max_pixels, bit_depth=5 if five_bits else 1 if image.mode == "1" else 8)


def _open_gif(name: str, data: bytes, max_pixels: int) -> OpenedImage:
    frames = gif_frames(data)
    return _opened(name, GifImagePlugin.GifImageFile(io.BytesIO(data)), max_pixels, frames=frames)


def _open_jpeg2000(name: str, data: bytes, max_pixels: int) -> OpenedImage:
    width, height, depth = jpeg2000_size_and_depth(data)
    _check_size(width, height, max_pixels)
    check_jpeg2000_blocks(data)
    return _opened(name, Jpeg2KImagePlugin.Jpeg2KImageFile(io.BytesIO(data)), max_pixels, bit_depth=depth)


def _open_ppm(name: str, data: bytes, max_pixels: int) -> OpenedImage:
    if len(data) > _PPM_HEADER_BYTES:  # which Pillow reads byte by byte, comments and spaces without end
        try:
            PpmImagePlugin.PpmImageFile(io.BytesIO(data[:_PPM_HEADER_BYTES]))
        except ValueError as error:
            raise BrokenImageError(f"no valid header in the first {_PPM_HEADER_BYTES} bytes") from error
    image = PpmImagePlugin.PpmImageFile(io.BytesIO(data))
    _demand_plain_samples(image, "PPM with a maximum other than 255 (gray: or 65535)")
    return _opened(name, image, max_pixels, bit_depth={"1": 1, "I": 16}.get(image.mode, 8))


def _demand_plain_samples(image: ImageFile.ImageFile, what: str) -> None:
    """Refuse what Pillow would decode in Python, sample by sample: minutes for a large file."""
    if any(tile[0] != "raw" for tile in image.tile):
        raise BrokenImageError(f"{what} is not decoded; convert the file to PNG")


_OPENERS: dict[str, Callable[[str, bytes, int], OpenedImage]] = {
    "PNG": _open_png,
    "JPEG": _open_jpeg,
    "WEBP": _open_webp,
    "AVIF": _open_avif,
    "TIFF": _open_tiff,
    "BMP": _open_bmp,
    "GIF": _open_gif,
    "JPEG2000": _open_jpeg2000,
    "PPM": _open_ppm,
}

FORMATS: tuple[str, ...] = tuple(_OPENERS)
"""The accepted formats. Formats that are programs (PostScript, PDF) or that nobody watermarks are not among them."""

_SIGNATURES: dict[str, tuple[bytes, ...]] = {
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "JPEG": (b"\xff\xd8\xff",),
    "TIFF": (b"II\x2a\x00", b"MM\x00\x2a", b"II\x2b\x00", b"MM\x00\x2b"),
    "BMP": (b"BM",),
    "GIF": (b"GIF87a", b"GIF89a"),
    "JPEG2000": (b"\xff\x4f\xff\x51", b"\x00\x00\x00\x0cjP  \r\n\x87\n"),
}

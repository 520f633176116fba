"""Image files for the tests of this room: real codecs, and a PNG writer for what Pillow does not write."""

import hashlib
import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image as Pillow


def _encode(picture, image_format, **options):
    """Encode an array or a Pillow image."""
    picture = picture.copy() if isinstance(picture, Pillow.Image) else Pillow.fromarray(picture)
    file = io.BytesIO()
    picture.save(file, image_format, **options)
    return file.getvalue()


def _chunk(kind, content):
    """One chunk of a PNG."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _write_png(rows, width, height, *, depth, colour_type, extra=()):
    """A PNG of packed rows, with extra chunks before its pixels."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            *extra,
            _chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))),
            _chunk(b"IEND", b""),
        )
    )


def _noise(height, width, channels=3, seed=0):
    """Random samples, shape (height, width, channels)."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, channels), dtype=np.uint8)


def _files():
    picture, transparent = Pillow.fromarray(_noise(12, 17)), Pillow.fromarray(_noise(12, 17, 4))
    gray, palette = picture.convert("L"), picture.quantize(16)
    deep = Pillow.fromarray(np.random.default_rng(1).integers(0, 65536, (12, 17), dtype=np.uint16))
    others = [picture.rotate(180), picture.transpose(Pillow.Transpose.FLIP_LEFT_RIGHT)]
    exif = Pillow.Exif()
    exif[0x0112] = 6
    return {
        "png": _encode(picture, "PNG", exif=exif, icc_profile=b"profile" * 30),
        "png-alpha": _encode(transparent, "PNG"),
        "png-palette": _encode(palette, "PNG", transparency=b"\x00\x80"),
        "png-16": _encode(deep, "PNG"),
        "png-animated": _encode(picture, "PNG", save_all=True, append_images=others),
        "jpeg": _encode(picture, "JPEG", exif=exif),
        "jpeg-progressive": _encode(picture, "JPEG", progressive=True),
        "jpeg-gray": _encode(gray, "JPEG"),
        "jpeg-cmyk": _encode(picture.convert("CMYK"), "JPEG"),
        "webp": _encode(picture, "WEBP"),
        "webp-lossless": _encode(transparent, "WEBP", lossless=True, exact=True),
        "webp-animated": _encode(picture, "WEBP", save_all=True, append_images=others),
        "avif": _encode(picture, "AVIF", max_threads=1),
        "avif-alpha": _encode(transparent, "AVIF", max_threads=1),
        "tiff": _encode(picture, "TIFF", tiffinfo={274: 6}),
        "tiff-lzw": _encode(picture, "TIFF", compression="tiff_lzw"),
        "tiff-jpeg": _encode(picture, "TIFF", compression="jpeg"),
        "tiff-palette": _encode(palette, "TIFF"),
        "tiff-16": _encode(deep, "TIFF"),
        "tiff-big": _encode(picture, "TIFF", big_tiff=True),
        "bmp": _encode(picture, "BMP"),
        "bmp-palette": _encode(palette, "BMP"),
        "gif": _encode(palette, "GIF", transparency=3),
        "gif-animated": _encode(palette, "GIF", save_all=True, append_images=[other.quantize(8) for other in others]),
        "jp2": _encode(picture, "JPEG2000"),
        "j2k": _encode(transparent, "JPEG2000", no_jp2=True),
        "ppm": _encode(picture, "PPM"),
        "pgm-16": _encode(deep, "PPM"),
    }


FILES = _files()


@pytest.fixture(scope="session")
def encode():
    """``encode(array or Pillow image, format, **options) -> bytes``."""
    return _encode


@pytest.fixture(scope="session")
def chunk():
    """``chunk(kind, content) -> bytes``: one chunk of a PNG."""
    return _chunk


@pytest.fixture(scope="session")
def write_png():
    """``write_png(packed rows, width, height, depth=, colour_type=, extra=chunks) -> bytes``."""
    return _write_png


@pytest.fixture(scope="session")
def noise():
    """``noise(height, width, channels=3, seed=0) -> uint8 array``."""
    return _noise


@pytest.fixture(scope="session")
def files():
    """Small whole files by name, at least one for each format and each path through its decoder."""
    return FILES


@pytest.fixture(params=FILES, scope="session")
def whole_file(request):
    """Each of ``files`` in turn."""
    return FILES[request.param]


@pytest.fixture
def save(tmp_path):
    """``save(name, data) -> (path, digest)``."""

    def write(name, data):
        path = tmp_path / name
        path.write_bytes(data)
        return path, hashlib.sha256(data).hexdigest()

    return write

import io
import zlib

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from pytest_benchbench.artifacts.image import decode_image, decode_with_traits, image_traits
from pytest_benchbench.artifacts.media import UndecodableArtifactError


def encoded(make="PNG", **save):
    file = io.BytesIO()
    pixels = np.random.default_rng(1).integers(0, 256, (8, 12, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(file, make, **save)
    return file.getvalue()


def exif():
    block = Image.Exif()
    block[0x010F] = "maker"
    return block.tobytes()


def late(chunk):
    """Put a chunk behind the pixels of a PNG."""
    data = encoded()
    whole = (len(chunk) - 4).to_bytes(4, "big") + chunk + zlib.crc32(chunk).to_bytes(4, "big")
    return data[:-12] + whole + data[-12:]


def test_a_file_without_metadata_shows_format_and_size():
    traits = image_traits(encoded())
    assert (traits.format, traits.size, traits.metadata, traits.quantisation) == ("PNG", (12, 8), (), None)


def texts():
    block = PngImagePlugin.PngInfo()
    block.add_text("parameters", "a cat")
    return block


@pytest.mark.parametrize(
    ("data", "metadata"),
    [
        (encoded(pnginfo=texts()), ("text",)),
        (encoded(exif=exif(), icc_profile=b"\0" * 128), ("exif", "icc")),
        (late(b"tEXtkey\0value"), ("text",)),
        (late(b"eXIfMM\0*\0\0\0\x08\0\0\0\0\0\0"), ("exif",)),
        (late(b"caBXjumb c2pa"), ("c2pa",)),
        (encoded("JPEG", exif=exif(), comment=b"made by"), ("comment", "exif")),
        (encoded("JPEG", xmp=b"<x:xmpmeta/>"), ("xmp",)),
        (encoded("JPEG", comment=b"jumb c2pa"), ("c2pa", "comment")),
        (encoded("WEBP", exif=exif()), ("exif",)),
    ],
    ids=["texts", "exif-icc", "late-text", "late-exif", "c2pa-chunk", "comment", "xmp", "c2pa-segment", "webp"],
)
def test_kinds_of_metadata_are_told(data, metadata):
    assert image_traits(data).metadata == metadata


def test_quantisation_tells_qualities_apart_and_nothing_else():
    assert image_traits(encoded("JPEG", quality=75)).quantisation is not None
    assert (
        image_traits(encoded("JPEG", quality=75)).quantisation
        == image_traits(encoded("JPEG", quality=75, optimize=True)).quantisation
    )
    assert image_traits(encoded("JPEG", quality=75)).quantisation != image_traits(encoded("JPEG", quality=76)).quantisation


@pytest.mark.parametrize("make", ["PNG", "JPEG", "WEBP"])
def test_reading_the_header_once_gives_the_same(make):
    image, traits = decode_with_traits(encoded(make))
    assert traits == image_traits(encoded(make))
    assert np.array_equal(image.pixels, decode_image(encoded(make)).pixels)


@pytest.mark.parametrize("read", [image_traits, decode_with_traits])
def test_what_is_no_image_or_too_large_is_refused_in_one_line(read):
    with pytest.raises(UndecodableArtifactError, match="not an image in an accepted format"):
        read(b"text")
    with pytest.raises(UndecodableArtifactError, match="more than the limit of 95"):
        read(encoded(), max_pixels=95)

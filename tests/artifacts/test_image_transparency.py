"""How opaque pixels are: what ``decode_image`` drops, by ``decode_alpha``."""

import io
import zlib

import numpy as np
import pytest
from PIL import Image as PillowImage

from pytest_benchbench.artifacts.image import decode_alpha, decode_image, embedded_metadata
from pytest_benchbench.artifacts.media import UndecodableArtifactError


def encoded(picture, kind="PNG", **save):
    stream = io.BytesIO()
    picture.save(stream, kind, **save)
    return stream.getvalue()


def png(bit_depth, colour_type, transparent, rows, width):
    """A PNG of stored samples as they are given."""

    def chunk(name, body):
        return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + len(rows).to_bytes(4, "big") + bytes([bit_depth, colour_type, 0, 0, 0])
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    parts = [(b"IHDR", head), (b"tRNS", transparent), (b"IDAT", pixels), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


RAMP = np.array([[0, 64, 255], [1, 128, 254]], np.uint8)


@pytest.mark.parametrize(("mode", "kind"), [("RGBA", "PNG"), ("LA", "PNG"), ("RGBA", "WEBP"), ("RGBA", "TIFF")])
def test_an_alpha_channel(mode, kind):
    picture = PillowImage.new(mode, (3, 2), 90 if mode == "LA" else (9, 90, 200))
    picture.putalpha(PillowImage.fromarray(RAMP))
    data = encoded(picture, kind, **({"lossless": True, "exact": True} if kind == "WEBP" else {}))
    assert decode_alpha(data).tolist() == RAMP.tolist()
    assert decode_image(data).decoding["alpha"] == "dropped"


def test_it_is_turned_as_the_pixels_are():
    picture = PillowImage.fromarray(np.dstack([np.repeat(RAMP[..., None], 3, axis=2), RAMP]), "RGBA")
    exif = PillowImage.Exif()
    exif[0x0112] = 6
    data = encoded(picture, exif=exif)
    assert decode_alpha(data).tolist() == np.rot90(RAMP, -1).tolist() == decode_image(data).pixels[..., 0].tolist()


def test_entries_of_a_palette():
    picture = PillowImage.fromarray(np.array([[0, 1, 2]], np.uint8), "P")
    picture.putpalette([0, 0, 0, 9, 9, 9, 8, 8, 8])
    assert decode_alpha(encoded(picture, transparency=bytes([255, 64, 0]))).tolist() == [[255, 64, 0]]
    assert decode_alpha(encoded(picture, "GIF", transparency=1)).tolist() == [[255, 0, 255]]
    assert decode_alpha(encoded(picture)) is None


@pytest.mark.parametrize(
    ("bit_depth", "row", "width", "transparent", "alpha"),
    [
        (1, bytes([0b10100000]), 3, 1, [0, 255, 0]),
        (2, bytes([0b00011011]), 4, 2, [255, 255, 0, 255]),
        (4, bytes([0x3F, 0x30]), 3, 3, [0, 255, 0]),
        (8, bytes([3, 51, 15]), 3, 3, [0, 255, 255]),
        (16, bytes([2, 188, 2, 189, 0, 3]), 3, 700, [0, 255, 255]),
    ],
)
def test_a_transparent_gray_is_one_of_stored_samples(bit_depth, row, width, transparent, alpha):
    data = png(bit_depth, 0, transparent.to_bytes(2, "big"), [row], width)
    assert decode_alpha(data).tolist() == [alpha]


def test_a_transparent_colour():
    data = png(8, 2, bytes([0, 1, 0, 2, 0, 3]), [bytes([1, 2, 3, 1, 2, 4])], 2)
    assert decode_alpha(data).tolist() == [[0, 255]]
    with pytest.raises(UndecodableArtifactError, match="16-bit samples"):
        decode_alpha(png(16, 2, bytes(6), [bytes(12)], 2))


def test_opaque_pictures_have_none():
    for picture, kind in ((PillowImage.new("RGB", (2, 2)), "JPEG"), (PillowImage.new("L", (2, 2)), "PNG")):
        assert decode_alpha(encoded(picture, kind)) is None


def test_what_is_broken_is_undecodable():
    data = encoded(PillowImage.new("RGBA", (9, 9)))
    for broken in (b"", data[:40]):
        with pytest.raises(UndecodableArtifactError):
            decode_alpha(broken)
    with pytest.raises(UndecodableArtifactError):
        embedded_metadata(b"")


def test_metadata_as_the_decoder_hands_it_out():
    exif = PillowImage.Exif()
    exif[0x010F] = "Maker"
    block, packet = embedded_metadata(encoded(PillowImage.new("RGB", (2, 2)), "AVIF", exif=exif, xmp=b"<x/>"))
    assert b"Maker" in block
    assert packet == b"<x/>"
    assert embedded_metadata(encoded(PillowImage.new("RGB", (2, 2)))) == (b"", b"")

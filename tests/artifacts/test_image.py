"""The rules of docs/decoding.md, one by one."""

import io
import struct

import numpy as np
import pytest
import tifffile
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image as Pillow, ImageOps

from pytest_benchbench.artifacts import opening
from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.artifacts.media import UndecodableArtifactError

PICTURES = arrays.arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 40), st.just(3)))
LOSSLESS = ("PNG", "WEBP", "TIFF", "BMP", "JPEG2000", "PPM")


def lossless(image_format):
    return {"WEBP": {"lossless": True}}.get(image_format, {})


@pytest.mark.parametrize("image_format", LOSSLESS)
@given(picture=PICTURES)
def test_a_lossless_file_gives_back_its_pixels(encode, image_format, picture):
    image = decode_image(encode(picture, image_format, **lossless(image_format)))
    np.testing.assert_array_equal(image.pixels, picture)
    assert image.incomparable is None
    assert image.decoding == {
        "rule": "rgb",
        "format": image_format,
        "mode": "RGB",
        "size": [picture.shape[1], picture.shape[0]],
        "bit_depth": 8,
    }


@pytest.mark.parametrize("image_format", ["JPEG", "AVIF"])
def test_a_lossy_file_gives_what_pillow_gives(encode, noise, image_format):
    data = encode(noise(33, 47), image_format)
    np.testing.assert_array_equal(decode_image(data).pixels, np.asarray(Pillow.open(io.BytesIO(data))))


def test_pixels_are_read_only_for_good(whole_file):
    pixels = decode_image(whole_file).pixels
    assert pixels.dtype == np.uint8
    assert pixels.ndim == 3
    assert pixels.shape[2] == 3
    with pytest.raises(ValueError, match="WRITEABLE"):
        pixels.flags.writeable = True


def test_the_size_in_the_decoding_is_that_of_the_pixels(whole_file):
    image = decode_image(whole_file)
    assert image.decoding["size"] == [image.pixels.shape[1], image.pixels.shape[0]]


# EXIF orientation


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("image_format", ["PNG", "JPEG", "WEBP", "AVIF", "TIFF", "LZW"])
def test_the_exif_orientation_is_applied(encode, noise, image_format, orientation):
    picture = Pillow.fromarray(noise(5, 9))
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    if image_format in ("TIFF", "LZW"):
        options = {"compression": "tiff_lzw"} if image_format == "LZW" else {}
        data = encode(picture, "TIFF", tiffinfo={0x0112: orientation}, **options)
    else:
        data = encode(picture, image_format, exif=exif)
    image = decode_image(data)
    upright = ImageOps.exif_transpose(Pillow.open(io.BytesIO(data)))
    np.testing.assert_array_equal(image.pixels, np.asarray(upright))
    assert image.decoding.get("orientation", 1) == orientation
    assert image.incomparable is None


def test_an_orientation_in_xmp_is_not_the_exif_one(encode, noise):
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><d tiff:Orientation="6"/></x:xmpmeta>'
    picture = noise(5, 9)
    jpeg = decode_image(encode(picture, "JPEG", xmp=xmp))
    tiff = decode_image(encode(picture, "TIFF", tiffinfo={700: xmp}))
    assert jpeg.pixels.shape == tiff.pixels.shape == picture.shape
    assert (jpeg.decoding["rule"], tiff.decoding["rule"]) == ("rgb", "rgb")


@pytest.mark.parametrize(
    "exif", [b"Exif\0\0garbage", b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0", b"Exif\0\0MM\0*\0\0\0\x08\0\x09"]
)
def test_an_unreadable_exif_block_turns_nothing(encode, noise, exif):
    picture = noise(5, 9)
    np.testing.assert_array_equal(decode_image(encode(picture, "PNG", exif=exif)).pixels, picture)


# Transparency


def test_alpha_is_dropped_and_the_colours_under_it_stay(encode, noise):
    picture = noise(8, 8, 4)
    picture[:4, :, 3] = 0
    for image_format, options in (("PNG", {}), ("WEBP", {"lossless": True, "exact": True}), ("TIFF", {})):
        image = decode_image(encode(picture, image_format, **options))
        np.testing.assert_array_equal(image.pixels, picture[..., :3])
        assert image.decoding["rule"] == "rgb+alpha-dropped"
        assert image.decoding["alpha"] == "dropped"
        assert image.incomparable == "transparency was dropped"


def test_an_opaque_alpha_channel_hides_nothing(encode, noise):
    picture = noise(8, 8, 4)
    picture[..., 3] = 255
    image = decode_image(encode(picture, "PNG"))
    assert image.decoding["alpha"] == "opaque"
    assert image.incomparable is None


def test_gray_with_alpha_keeps_the_gray(encode, noise):
    gray_alpha = Pillow.fromarray(noise(8, 8, 4)).convert("LA")
    image = decode_image(encode(gray_alpha, "PNG"))
    np.testing.assert_array_equal(image.pixels, np.asarray(gray_alpha)[..., :1].repeat(3, axis=2))
    assert image.decoding["rule"] == "gray+alpha-dropped"


def test_a_transparent_colour_stays_that_colour(encode, noise):
    picture = noise(8, 8)
    picture[0, 0] = (1, 2, 3)
    image = decode_image(encode(picture, "PNG", transparency=(1, 2, 3)))
    np.testing.assert_array_equal(image.pixels, picture)
    assert image.incomparable == "transparency was dropped"


# Palette, gray, CMYK, other colour spaces


@pytest.mark.parametrize("image_format", ["PNG", "GIF", "BMP", "TIFF"])
def test_palette_entries_are_looked_up(encode, noise, image_format):
    palette = Pillow.fromarray(noise(8, 8)).quantize(16)
    image = decode_image(encode(palette, image_format))
    np.testing.assert_array_equal(image.pixels, np.asarray(palette.convert("RGB")))
    assert image.decoding["rule"] == "palette"
    assert image.incomparable is None


@pytest.mark.parametrize("transparency", [3, bytes(range(0, 160, 10))])
def test_transparent_palette_entries_keep_their_colours(encode, noise, transparency):
    palette = Pillow.fromarray(noise(8, 8)).quantize(16)
    image = decode_image(encode(palette, "PNG", transparency=transparency))
    np.testing.assert_array_equal(image.pixels, np.asarray(palette.convert("RGB")))
    assert image.decoding["rule"] == "palette+alpha-dropped"


@pytest.mark.parametrize("image_format", ["PNG", "BMP", "TIFF", "JPEG2000", "PPM"])
def test_gray_is_replicated(encode, noise, image_format):
    gray = noise(9, 7)[..., 0].copy()
    image = decode_image(encode(gray, image_format))
    np.testing.assert_array_equal(image.pixels, gray[..., None].repeat(3, axis=2))
    assert image.decoding["rule"] == "gray"
    assert image.incomparable is None


def test_cmyk_is_multiplied_out(encode, noise):
    inks = noise(8, 8, 4)
    image = decode_image(encode(Pillow.fromarray(inks, "CMYK"), "TIFF"))
    expected = (255.0 - inks[..., :3]) * (255.0 - inks[..., 3:]) / 255.0
    assert np.abs(image.pixels - expected).max() <= 1.0
    assert image.decoding["rule"] == "cmyk"
    assert image.incomparable == "CMYK samples"


def test_an_adobe_cmyk_jpeg_is_not_a_negative(encode):
    white = Pillow.new("CMYK", (16, 16), (0, 0, 0, 0))
    assert decode_image(encode(white, "JPEG")).pixels.min() >= 254


def test_cielab_is_refused(encode):
    with pytest.raises(UndecodableArtifactError, match="samples of mode LAB have no agreed way to 8-bit RGB"):
        decode_image(encode(Pillow.new("LAB", (4, 4)), "TIFF"))


# Bit depth


def sixteen(height, width, channels):
    return np.random.default_rng(3).integers(0, 65536, (height, width, channels), dtype=np.uint16)


def png_16(write_png, samples, colour_type):
    rows = [row.astype(">u2").tobytes() for row in samples]
    return write_png(rows, samples.shape[1], samples.shape[0], depth=16, colour_type=colour_type)


@pytest.mark.parametrize(("colour_type", "channels"), [(0, 1), (2, 3), (4, 2), (6, 4)])
def test_16_bit_png_keeps_the_high_byte(write_png, colour_type, channels):
    samples = sixteen(6, 5, channels)
    image = decode_image(png_16(write_png, samples, colour_type))
    colours = samples[..., :3] if channels >= 3 else samples[..., :1].repeat(3, axis=2)
    np.testing.assert_array_equal(image.pixels, colours >> 8)
    assert image.decoding["bit_depth"] == 16
    assert "high-byte" in image.decoding["rule"]
    assert image.incomparable.startswith("16-bit samples")


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("byteorder", ["<", ">"])
@pytest.mark.parametrize("compression", [None, "zlib"])
def test_16_bit_tiff_keeps_the_high_byte(channels, byteorder, compression):
    samples = sixteen(6, 5, channels)
    file = io.BytesIO()
    tifffile.imwrite(
        file,
        samples[..., 0] if channels == 1 else samples,
        photometric="minisblack" if channels == 1 else "rgb",
        byteorder=byteorder,
        compression=compression,
        metadata=None,
    )
    image = decode_image(file.getvalue())
    np.testing.assert_array_equal(image.pixels, np.broadcast_to(samples >> 8, (6, 5, 3)))
    assert image.incomparable == "16-bit samples"


def tiff_gray(samples, bits, photometric):
    """A little-endian TIFF of one strip and one row."""
    tags = [
        (256, len(samples) * 8 // bits),
        (257, 1),
        (258, bits),
        (259, 1),
        (262, photometric),
        (273, 8),
        (279, len(samples)),
    ]
    directory = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return b"II*\0" + struct.pack("<I", 8 + len(samples)) + samples + directory + bytes(4)


def test_12_bit_tiff_keeps_the_high_eight_bits():
    image = decode_image(tiff_gray(b"\xab\xc1\x23", 12, 1))
    assert image.pixels[0, :, 0].tolist() == [0xAB, 0x12]
    assert image.incomparable == "12-bit samples"


def test_white_as_zero_is_turned_round_or_refused():
    assert decode_image(tiff_gray(b"\x00\xf0", 8, 0)).pixels[0, :, 0].tolist() == [255, 15]
    with pytest.raises(UndecodableArtifactError, match="16-bit samples with white as zero are not decoded"):
        decode_image(tiff_gray(b"\0\0\1\1", 16, 0))


@pytest.mark.parametrize("image_format", ["PPM", "JPEG2000"])
def test_16_bit_gray_keeps_the_high_byte(encode, image_format):
    samples = sixteen(6, 5, 1)[..., 0]
    image = decode_image(encode(samples, image_format))
    np.testing.assert_array_equal(image.pixels, np.broadcast_to((samples >> 8)[..., None], (6, 5, 3)))
    assert image.incomparable == "16-bit samples"


@pytest.mark.parametrize(
    ("depth", "rows", "expected"), [(2, [b"\x1b"], [0, 85, 170, 255]), (4, [b"\x05\xaf"], [0, 85, 170, 255])]
)
def test_shallow_gray_spreads_over_the_whole_range(write_png, depth, rows, expected):
    image = decode_image(write_png(rows, 4, 1, depth=depth, colour_type=0))
    assert image.pixels[0, :, 0].tolist() == expected
    assert image.decoding["rule"] == "gray+scaled"
    assert image.incomparable == f"{depth}-bit samples"


@pytest.mark.parametrize("image_format", ["PNG", "BMP", "TIFF", "PPM"])
def test_one_bit_becomes_black_and_white(encode, image_format):
    bits = Pillow.fromarray(np.eye(8, dtype=np.uint8) * 255).convert("1")
    image = decode_image(encode(bits, image_format))
    np.testing.assert_array_equal(image.pixels[..., 1], np.eye(8) * 255)
    assert image.incomparable == "1-bit samples"


def test_five_bit_colours_are_no_8_bit_samples():
    header = b"BM" + struct.pack("<IIIIiiHHIIiiII", 62, 0, 54, 40, 2, 2, 1, 16, 0, 8, 0, 0, 0, 0)
    image = decode_image(header + struct.pack("<4H", 0x7FFF, 0, 0x001F, 0x7C00))
    assert image.pixels.reshape(-1, 3).tolist() == [[0, 0, 255], [255, 0, 0], [255, 255, 255], [0, 0, 0]]
    assert image.incomparable == "5-bit samples"


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int16])
def test_samples_without_an_agreed_range_are_refused(dtype):
    file = io.BytesIO()
    tifffile.imwrite(file, np.ones((4, 4), dtype), metadata=None)
    with pytest.raises(UndecodableArtifactError, match="no agreed range; convert the file to 8 bits"):
        decode_image(file.getvalue())


def test_32_bit_unsigned_samples_are_refused():
    file = io.BytesIO()
    tifffile.imwrite(file, np.ones((4, 4), np.uint32), metadata=None)
    with pytest.raises(UndecodableArtifactError, match="mode I have no agreed way to 8-bit RGB"):
        decode_image(file.getvalue())


# Several frames, profiles


@pytest.mark.parametrize(("image_format", "options"), [("PNG", {}), ("WEBP", {"lossless": True}), ("TIFF", {})])
def test_the_first_of_several_frames_is_decoded(encode, noise, image_format, options):
    first, *others = (Pillow.fromarray(noise(8, 8, seed=seed)) for seed in range(3))
    image = decode_image(encode(first, image_format, save_all=True, append_images=others, **options))
    np.testing.assert_array_equal(image.pixels, np.asarray(first))
    assert image.decoding["rule"] == "rgb+first-frame"
    assert image.decoding["frames"] == 3
    assert image.incomparable == "only the first of 3 frames was decoded"


def test_the_first_frame_of_a_gif_is_decoded(encode, noise):
    first, *others = (Pillow.fromarray(noise(8, 8, seed=seed)).quantize(16) for seed in range(4))
    image = decode_image(encode(first, "GIF", save_all=True, append_images=others))
    np.testing.assert_array_equal(image.pixels, np.asarray(first.convert("RGB")))
    assert image.decoding["frames"] == 4


@pytest.mark.parametrize("image_format", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_a_colour_profile_is_noted_and_not_applied(encode, noise, image_format):
    options = {"quality": 90} if image_format == "JPEG" else lossless(image_format)
    plain = decode_image(encode(noise(8, 8), image_format, **options))
    profiled = decode_image(encode(noise(8, 8), image_format, icc_profile=b"a profile" * 20, **options))
    np.testing.assert_array_equal(profiled.pixels, plain.pixels)
    assert profiled.decoding == plain.decoding | {"icc_profile": "not applied"}
    assert profiled.incomparable is None


def test_every_rule_that_applies_is_named_and_every_reason_given(write_png, chunk):
    exif = chunk(b"eXIf", b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x03\0\0\0\0\0\0")
    rows = [row.astype(">u2").tobytes() for row in sixteen(3, 2, 4)]
    image = decode_image(write_png(rows, 2, 3, depth=16, colour_type=6, extra=[exif]))
    assert image.decoding["rule"] == "rgb+high-byte+alpha-dropped+exif-orientation"
    assert image.incomparable == "16-bit samples; transparency was dropped"


# What is not an image


@pytest.mark.parametrize(
    "data",
    [
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        b"%PDF-1.4\n",
        b"8BPS\0\1",
        b"qoif\0\0\0\1\0\0\0\1\3\0",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"\0\0\0\x18ftypheic\0\0\0\0",
        b"P3\n1 1\n255\n1 2 3\n",
        b"Pf\n1 1\n-1.0\n\0\0\0\0",
        b"no image at all",
    ],
)
def test_only_formats_of_the_list_are_opened(data):
    with pytest.raises(UndecodableArtifactError, match="not an image in an accepted format \\(PNG, JPEG, "):
        decode_image(data)


def test_an_empty_file_is_called_empty():
    with pytest.raises(UndecodableArtifactError, match=r"^the file is empty$"):
        decode_image(b"")


def test_samples_that_only_python_could_scale_are_refused():
    with pytest.raises(UndecodableArtifactError, match="PPM with a maximum other than 255"):
        decode_image(b"P6\n1 1\n100\n\1\2\3")


@pytest.mark.parametrize(
    "error",
    [
        OSError, ValueError, SyntaxError, struct.error, MemoryError, OverflowError, RuntimeError, RecursionError, IndexError,
        KeyError, TypeError, AttributeError, AssertionError, EOFError, UnicodeError, ZeroDivisionError, NotImplementedError,
    ],
)  # fmt: skip
def test_whatever_pillow_raises_becomes_one_line(monkeypatch, files, error):
    def broken(_):
        raise error("a message\nof two lines")

    monkeypatch.setattr(opening.JpegImagePlugin, "JpegImageFile", broken)
    with pytest.raises(UndecodableArtifactError, match="a message") as caught:
        decode_image(files["jpeg"])
    assert str(caught.value).isprintable()


def test_an_interrupt_is_not_swallowed(monkeypatch, files):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(opening.JpegImagePlugin, "JpegImageFile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        decode_image(files["jpeg"])

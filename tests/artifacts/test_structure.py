"""What a file's own bytes say, beyond what decoding shows."""

import struct
import zlib

import pytest
from hypothesis import given, strategies as st
from PIL import Image as Pillow

from pytest_benchbench.artifacts.structure import (
    MAX_INFLATED_BYTES,
    BrokenImageError,
    avif_bit_depth,
    gif_frames,
    jpeg2000_size_and_depth,
    png_bit_depth,
    tiff_pages,
    webp_size,
)


def one_pixel(write_png, *extra):
    return write_png([b"\0\0\0"], 1, 1, depth=8, colour_type=2, extra=extra)


def test_every_flipped_bit_of_a_png_after_its_signature_is_noticed(write_png):
    data = one_pixel(write_png)
    for bit in range(8 * 8, 8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(BrokenImageError):
            png_bit_depth(bytes(flipped))


def test_every_shortened_png_is_noticed(write_png):
    data = one_pixel(write_png)
    for length in range(len(data)):
        with pytest.raises(BrokenImageError, match="truncated"):
            png_bit_depth(data[:length])


def test_bytes_after_the_end_of_a_png_do_not_matter(write_png):
    assert png_bit_depth(one_pixel(write_png) + b"anything") == 8


@pytest.mark.parametrize("kind", [b"zTXt", b"iTXt", b"iCCP"])
def test_a_text_that_unfolds_beyond_the_limit_is_refused(write_png, chunk, kind):
    head = b"key\0\x01\0en\0key\0" if kind == b"iTXt" else b"key\0\0"
    fits = chunk(kind, head + zlib.compress(bytes(MAX_INFLATED_BYTES)))
    bursts = chunk(kind, head + zlib.compress(bytes(MAX_INFLATED_BYTES + 1)))
    assert png_bit_depth(one_pixel(write_png, fits)) == 8
    with pytest.raises(BrokenImageError, match=f"a chunk {kind.decode()} unfolds to more than"):
        png_bit_depth(one_pixel(write_png, bursts))


@pytest.mark.parametrize("kind", [b"gAMA", b"cHRM", b"sRGB", b"pHYs", b"acTL", b"fcTL", b"tRNS"])
def test_a_chunk_too_short_for_its_kind_is_refused(write_png, chunk, kind):
    with pytest.raises(BrokenImageError, match=f"a chunk {kind.decode()} is too short"):
        png_bit_depth(one_pixel(write_png, chunk(kind, b"")))


def test_a_second_header_is_refused(write_png, chunk):
    second = chunk(b"IHDR", struct.pack(">IIBBBBB", 9, 9, 8, 2, 0, 0, 0))
    with pytest.raises(BrokenImageError, match="IHDR"):
        png_bit_depth(one_pixel(write_png, second))


def test_the_depth_of_a_palette_png_is_that_of_its_colours(write_png, chunk):
    palette = chunk(b"PLTE", bytes(6))
    assert png_bit_depth(write_png([b"\0"], 1, 1, depth=1, colour_type=3, extra=[palette])) == 8


@given(count=st.integers(1, 6))
def test_gif_frames_are_counted_as_pillow_counts_them(encode, noise, count):
    first, *others = (Pillow.fromarray(noise(9, 9, seed=seed)).quantize(8) for seed in range(count))
    assert gif_frames(encode(first, "GIF", save_all=True, append_images=others, comment=b"c" * 700)) == count


@given(count=st.integers(1, 6), big=st.booleans())
def test_tiff_pages_are_counted_as_pillow_counts_them(encode, noise, count, big):
    first, *others = (Pillow.fromarray(noise(9, 9, seed=seed)) for seed in range(count))
    assert tiff_pages(encode(first, "TIFF", save_all=True, append_images=others, big_tiff=big)) == count


def test_a_tiff_whose_pages_go_round_in_circles_has_an_end():
    assert tiff_pages(b"II*\0" + struct.pack("<I", 8) + struct.pack("<HI", 0, 14) + struct.pack("<HI", 0, 8)) == 2


@pytest.mark.parametrize("header", [b"II*\0\xff\xff\xff\x7f", b"II+\0\x08\0\0\0" + b"\xff" * 8, b"MM\0*"])
def test_a_tiff_directory_outside_the_file_is_noticed(header):
    with pytest.raises(BrokenImageError, match="a directory lies beyond its end"):
        tiff_pages(header)


@pytest.mark.parametrize("boxed", [True, False])
def test_a_jpeg_2000_codestream_says_its_size_and_depth(encode, noise, boxed):
    assert jpeg2000_size_and_depth(encode(noise(5, 9), "JPEG2000", no_jp2=not boxed)) == (9, 5, 8)


@pytest.mark.parametrize(("flags", "depth"), [(0x00, 8), (0x40, 10), (0x60, 12), (0x1C, 8)])
def test_an_av1_configuration_says_its_depth(flags, depth):
    assert avif_bit_depth(b"....av1C\x81\x00" + bytes([flags, 0])) == depth


def test_an_encoded_avif_has_8_bits(files):
    assert avif_bit_depth(files["avif"]) == 8


@given(width=st.integers(1, 300), height=st.integers(1, 300), kind=st.sampled_from(["lossy", "lossless", "alpha"]))
def test_a_webp_header_says_its_size(encode, width, height, kind):
    mode = "RGBA" if kind == "alpha" else "RGB"
    data = encode(Pillow.new(mode, (width, height)), "WEBP", lossless=kind == "lossless", method=0)
    assert webp_size(data) == (width, height)

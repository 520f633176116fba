"""Switches of the process change nothing, and limits hold before a pixel is decoded."""

import concurrent.futures
import io
import struct
import tracemalloc
import warnings
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image as Pillow, ImageFile

from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.artifacts.media import UndecodableArtifactError


def outcome(data):
    try:
        image = decode_image(data)
    except UndecodableArtifactError:
        return None
    return image.pixels.tobytes(), image.decoding, image.incomparable


# LOAD_TRUNCATED_IMAGES


def test_truncated_files_are_refused_whatever_pillow_was_told(monkeypatch, whole_file):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    assert outcome(whole_file) is not None
    for length in {len(whole_file) * share // 16 for share in range(16)}:
        assert outcome(whole_file[:length]) is None, length
    assert ImageFile.LOAD_TRUNCATED_IMAGES is True


def test_a_png_whose_pixels_do_not_unfold_is_refused_whatever_pillow_was_told(monkeypatch, chunk):
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0))
    body = zlib.compress(bytes(64 * 193))
    broken = body[:20] + b"\xff" * 10
    data = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", broken) + chunk(b"IEND", b"")
    for told in (False, True):
        monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", told)
        assert outcome(data) is None


# MAX_IMAGE_PIXELS and our own limit


def test_the_limit_is_the_product_of_width_and_height(whole_file):
    height, width, _ = decode_image(whole_file).pixels.shape
    decode_image(whole_file, max_pixels=width * height)
    with pytest.raises(UndecodableArtifactError, match=f"are more than the limit of {width * height - 1} "):
        decode_image(whole_file, max_pixels=width * height - 1)


def bomb(chunk, width, height):
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(1_000_000))) + chunk(b"IEND", b"")


def test_a_bomb_is_refused_by_its_header(chunk):
    data = bomb(chunk, 100_000, 100_000)
    tracemalloc.start()
    try:
        with pytest.raises(UndecodableArtifactError, match="100000x100000 pixels are more than the limit of 200000000"):
            decode_image(data)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", [b"VP8X", b"VP8L", b"VP8 "])
def test_a_webp_bomb_is_refused_before_its_canvas_is_allocated(kind):
    size = 16_000
    head = {
        b"VP8X": struct.pack("<B3x", 0) + (size - 1).to_bytes(3, "little") * 2,
        b"VP8L": b"\x2f" + ((size - 1) | (size - 1) << 14).to_bytes(4, "little") + bytes(5),
        b"VP8 ": b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", size, size),
    }[kind]
    data = b"RIFF" + struct.pack("<I", 22) + b"WEBP" + kind + struct.pack("<I", 10) + head
    with pytest.raises(UndecodableArtifactError, match="16000x16000 pixels are more than the limit"):
        decode_image(data)


def test_a_jpeg_2000_bomb_inside_a_modest_box_is_refused(files):
    data = bytearray(files["jp2"])
    at = data.find(b"\xff\x4f\xff\x51")
    data[at + 8 : at + 16] = struct.pack(">II", 60_000, 60_000)
    with pytest.raises(UndecodableArtifactError, match="60000x60000 pixels are more than the limit"):
        decode_image(bytes(data))


def test_tiles_of_a_tiff_count_too(noise):
    file = io.BytesIO()
    tifffile.imwrite(file, noise(4, 4), photometric="rgb", tile=(16, 32), metadata=None)
    decode_image(file.getvalue(), max_pixels=16 * 32)
    with pytest.raises(UndecodableArtifactError, match="32x16 pixels are more than the limit of 511 "):
        decode_image(file.getvalue(), max_pixels=16 * 32 - 1)


@pytest.mark.parametrize("name", ["png", "jpeg", "avif", "bmp", "gif", "jp2", "ppm"])
def test_pillows_own_limit_is_neither_followed_nor_changed(monkeypatch, files, name):
    expected = outcome(files[name])
    monkeypatch.setattr(Pillow, "MAX_IMAGE_PIXELS", 10)
    assert outcome(files[name]) == expected
    assert Pillow.MAX_IMAGE_PIXELS == 10


def test_an_image_beyond_pillows_own_limit_decodes(monkeypatch, encode):
    monkeypatch.setattr(Pillow, "MAX_IMAGE_PIXELS", 1000)
    assert decode_image(encode(Pillow.new("RGB", (100, 100)), "PNG")).pixels.shape == (100, 100, 3)


# Warnings


def warning_files(files, write_png, chunk):
    tag_past_the_end = bytearray(files["tiff"])
    (directory,) = struct.unpack_from("<I", tag_past_the_end, 4)
    (entries,) = struct.unpack_from("<H", tag_past_the_end, directory)
    for entry in range(directory + 2, directory + 2 + 12 * entries, 12):
        if struct.unpack_from("<H", tag_past_the_end, entry) == (274,):  # becomes a text that lies outside the file
            struct.pack_into("<HHII", tag_past_the_end, entry, 274, 2, 4000, len(tag_past_the_end))
    invalid_animation = write_png([bytes(3)], 1, 1, depth=8, colour_type=2, extra=[chunk(b"acTL", bytes(8))])
    corrupt_exif = write_png([bytes(3)], 1, 1, depth=8, colour_type=2, extra=[chunk(b"eXIf", b"MM\0*\0\0\0\x08\0\x09\1")])
    return [bytes(tag_past_the_end), invalid_animation, corrupt_exif, files["png-palette"]]


def test_the_files_used_here_do_make_pillow_warn(files, write_png, chunk):
    def read(data):
        with Pillow.open(io.BytesIO(data)) as image:
            image.getexif()
            image.convert("RGB")

    for data in warning_files(files, write_png, chunk):
        with pytest.warns(UserWarning, match="Tag data|Invalid APNG|Corrupt EXIF|Palette images"):
            read(data)


@pytest.mark.parametrize("action", ["error", "always"])
def test_warnings_of_pillow_neither_leak_nor_break(files, write_png, chunk, action):
    for data in warning_files(files, write_png, chunk):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action)
            filters = list(warnings.filters)
            decode_image(data)
            assert warnings.filters == filters
        assert caught == []


def test_filters_are_restored_after_an_error(files):
    filters = list(warnings.filters)
    assert outcome(files["jpeg"][:100]) is None
    assert warnings.filters == filters


# Threads


def test_threads_decode_at_the_same_time(files):
    whole = list(files.values())
    work = (whole + [data[: len(data) // 2] for data in whole]) * 4
    filters = list(warnings.filters)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        together = list(pool.map(outcome, work))
    assert together == [outcome(data) for data in work]
    assert warnings.filters == filters


def test_pixels_of_two_decodes_do_not_share_memory(files):
    assert not np.shares_memory(decode_image(files["png"]).pixels, decode_image(files["png"]).pixels)

"""Short files that would keep a decoder busy or fill the memory out of proportion are refused before they are decoded."""

import io
import struct
import time
import zlib

import numpy as np
import pytest
from PIL import Image as Pillow

from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.structure import (
    MAX_EXIF_SEGMENTS,
    MAX_SCANS,
    MAX_SEGMENTS,
    BrokenImageError,
    check_jpeg,
    check_jpeg2000_blocks,
    png_bit_depth,
    tags_fit,
)


@pytest.fixture(autouse=True)
def quickly():
    """Every file here is refused, or read, without the work that it asks for."""
    begin = time.process_time()
    yield
    assert time.process_time() - begin < 10


def refusal(data):
    with pytest.raises(UndecodableArtifactError) as caught:
        decode_image(data)
    return str(caught.value)


# JPEG


def progressive(scans, *, before=b"", side=64):
    """A picture of one component whose scans say nothing: each is one run over all blocks (ITU-T T.81, section G.1.2.2)."""
    blocks = (side // 8) ** 2
    tables = b"\xff\xdb" + struct.pack(">HB", 67, 0) + b"\1" * 64
    frame = b"\xff\xc2" + struct.pack(">HBHHB3s", 11, 8, side, side, 1, b"\1\x11\0")
    codes = b"".join(
        b"\xff\xc4" + struct.pack(">HB", 20, kind << 4) + b"\1" + bytes(15) + bytes([symbol])
        for kind, symbol in ((0, 0), (1, 0x60))  # a difference of zero; a run of 64 to 127 blocks
    )
    first = b"\xff\xda" + struct.pack(">HBBBBBB", 8, 1, 1, 0, 0, 0, 1) + bytes(blocks // 8)
    run = int(f"0{blocks - 64:06b}1", 2).to_bytes(1, "big")
    more = b"".join(
        b"\xff\xda" + struct.pack(">HBBBBBB", 8, 1, 1, 0, 1 + number % 63, 1 + number % 63, 0) + run
        for number in range(scans - 1)
    )
    return b"\xff\xd8" + before + tables + frame + codes + first + more + b"\xff\xd9"


def test_a_jpeg_of_many_scans_is_refused():
    assert decode_image(progressive(MAX_SCANS)).pixels.shape == (64, 64, 3)
    assert refusal(progressive(MAX_SCANS + 1)) == f"more than {MAX_SCANS} scans"


def test_an_end_before_the_picture_hides_no_scans():
    assert refusal(progressive(MAX_SCANS + 1, before=b"\xff\xd9")) == f"more than {MAX_SCANS} scans"


def test_bytes_that_look_like_scans_inside_a_segment_are_none(encode, noise):
    comment = b"\xff\xda" * 1000
    data = encode(noise(9, 9), "JPEG")
    decode_image(data[:2] + b"\xff\xfe" + struct.pack(">H", len(comment) + 2) + comment + data[2:])


def test_pictures_behind_the_end_of_a_jpeg_are_not_counted(encode, noise):
    decode_image(encode(noise(9, 9), "JPEG") * (MAX_SCANS + 1))


def test_a_jpeg_of_many_segments_is_refused(encode, noise):
    data = encode(noise(9, 9), "JPEG")
    assert refusal(data[:2] + b"\xff\xfe\0\2" * MAX_SEGMENTS + data[2:]) == f"more than {MAX_SEGMENTS} segments"


def test_exif_in_many_segments_is_refused():
    segment = b"\xff\xe1" + struct.pack(">H", 65_535) + b"Exif\0\0" + bytes(65_527)
    assert refusal(b"\xff\xd8" + segment * (MAX_EXIF_SEGMENTS + 1)) == f"more than {MAX_EXIF_SEGMENTS} EXIF segments"


@pytest.mark.parametrize("data", [b"\xff\xd8", b"\xff\xd8\xff", b"\xff\xd8\xff\xe1", b"\xff\xd8\xff\xda\0\0\xff\xda\0"])
def test_a_jpeg_that_breaks_off_is_left_to_its_decoder(data):
    check_jpeg(data)


@pytest.mark.parametrize("after", [b"\0", b"\xd0", b""])
def test_a_run_of_fill_bytes_costs_no_more_than_its_length(encode, noise, after):
    data = encode(noise(9, 9), "JPEG")
    check_jpeg(data[:-2] + b"\xff" * 500_000 + after + data[-2:])


# JPEG 2000


def codestream(*, size=(14_000, 14_000), tile=(14_000, 14_000), coding=b"\0\0\0\1\0\5\4\4\0\1", components=1, extra=b""):
    parts = b"\7\1\1" * components
    head = struct.pack(">HIIIIIIIIH", 0, *size, 0, 0, *tile, 0, 0, components) + parts
    main = b"\xff\x4f\xff\x51" + struct.pack(">H", len(head) + 2) + head
    main += b"\xff\x52" + struct.pack(">H", len(coding) + 2) + coding
    tile_part = struct.pack(">HHHIBB", 0xFF90, 10, 0, 12 + len(extra) + 2, 0, 1) + extra + b"\xff\x93"
    return main + tile_part + b"\xff\xd9"


PRECINCTS_OF_8 = b"\1\0\0\1\0\5\4\4\0\1" + b"\x33" * 6
BLOCKS_OF_4 = b"\0\0\0\1\0\5\0\0\0\1"


@pytest.mark.parametrize(
    "data",
    [
        codestream(coding=PRECINCTS_OF_8),
        codestream(coding=BLOCKS_OF_4),
        codestream(extra=b"\xff\x52\0\x0c" + BLOCKS_OF_4),
        codestream(extra=b"\xff\x53\0\x09\0\0" + BLOCKS_OF_4[5:]),
        codestream(tile=(50, 50), components=20, coding=b"\0\0\0\1\0\5\4\4\0\1"),
        codestream(components=16_384, size=(64, 64), tile=(1, 1)),
    ],
    ids=["precincts", "blocks", "blocks-of-a-tile", "blocks-of-a-component", "tiles", "components"],
)
def test_a_jpeg_2000_of_too_many_parts_is_refused(data):
    assert refusal(data).startswith("the codestream is divided into more than")


def test_a_large_picture_in_usual_blocks_is_no_bomb():
    check_jpeg2000_blocks(codestream(components=3))
    check_jpeg2000_blocks(codestream(components=3, coding=b"\1\0\0\1\0\5\4\4\0\1" + b"\x77" * 6))


def test_tile_parts_that_go_back_or_change_their_coding_without_end_are_refused():
    whole = codestream(size=(64, 64), tile=(64, 64), extra=b"\xff\x52\0\x0c" + bytes(10))
    back = whole.replace(struct.pack(">HI", 0, 28), struct.pack(">HI", 0, 1))
    assert back != whole
    check_jpeg2000_blocks(back)
    codings = b"".join(b"\xff\x52\0\x0c" + b"\0\0\0\1\0\1\4\4" + struct.pack(">H", n) for n in range(1001))
    with pytest.raises(BrokenImageError, match="more than 1000 coding styles"):
        check_jpeg2000_blocks(codestream(size=(64, 64), tile=(64, 64), extra=codings))


# PNG


def test_texts_that_unfold_to_too_much_together_are_refused(write_png, chunk):
    text = chunk(b"zTXt", b"key\0\0" + zlib.compress(bytes(1 << 20)))
    few, many = (write_png([bytes(3)], 1, 1, depth=8, colour_type=2, extra=[text] * count) for count in (64, 1000))
    assert png_bit_depth(few) == 8
    assert refusal(many) == "its texts and profiles unfold to more than 67108864 bytes"


def test_texts_that_break_after_unfolding_count_too(write_png, chunk):
    text = chunk(b"zTXt", b"key\0\0" + zlib.compress(bytes(1 << 20))[:-1] + b"\0")
    data = write_png([bytes(3)], 1, 1, depth=8, colour_type=2, extra=[text] * 1000)
    assert refusal(data) == "its texts and profiles unfold to more than 67108864 bytes"


# TIFF and EXIF


def directory(tags, size):
    """A directory whose tags all name the same bytes behind it."""
    area = 8 + 2 + 12 * tags + 4
    entries = b"".join(struct.pack("<HHII", 40_000 + number, 7, size, area) for number in range(tags))
    return b"II*\0\x08\0\0\0" + struct.pack("<H", tags) + entries + bytes(4) + bytes(size)


def test_tags_that_all_name_the_same_bytes_are_refused():
    assert refusal(directory(2, 1_000_000)) == "the values of its tags are larger than the file"


def test_a_directory_may_hold_as_much_as_the_file():
    assert tags_fit(directory(1, 1_000_000), 8, "<")
    assert not tags_fit(directory(2, 1_000_000), 8, "<")
    assert tags_fit(directory(3, 1_000)[:60], 8, "<")  # what lies beyond the end is not read


def test_exif_tags_that_all_name_the_same_bytes_turn_nothing(write_png, chunk):
    wide = [np.zeros(3 * 2, np.uint8).tobytes()]
    turned = b"II*\0\x08\0\0\0\1\0" + struct.pack("<HHIHxx", 274, 3, 1, 6) + bytes(4)
    for exif, shape in ((turned, (2, 1, 3)), (directory(3000, 1_000_000), (1, 2, 3))):
        data = write_png(wide, 2, 1, depth=8, colour_type=2, extra=[chunk(b"eXIf", exif)])
        assert decode_image(data).pixels.shape == shape


# PPM


@pytest.mark.parametrize("filler", [b"#" + b"x" * 30_000_000 + b"\n", b" " * 30_000_000, b"#\n" * 15_000_000])
def test_a_header_without_end_is_refused(filler):
    assert refusal(b"P6\n" + filler + b"1 1 255\n\0\0\0") == "no valid header in the first 4096 bytes"


def test_a_long_ppm_with_a_comment_is_read():
    pixels = np.arange(3 * 50 * 50, dtype=np.uint32).astype(np.uint8).reshape(50, 50, 3)
    file = io.BytesIO()
    Pillow.fromarray(pixels).save(file, "PPM")
    data = file.getvalue().replace(b"P6\n", b"P6\n# a comment\n")
    assert (decode_image(data).pixels == pixels).all()

"""Real files of Pillow and of c2pa, taken apart, put together and told apart."""

import io
import struct
import time

import numpy as np
import PIL.Image
import PIL.PngImagePlugin
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.image_containers import (
    joined,
    jpeg_segment,
    orientation_part,
    parts_of,
    png_chunk,
    webp_chunk,
)

PIXELS = np.random.default_rng(3).integers(0, 256, (24, 40, 3), dtype=np.uint8)


def saved(container, **options):
    stream = io.BytesIO()
    PIL.Image.fromarray(PIXELS).save(stream, container, **options)
    return stream.getvalue()


def exif():
    block = PIL.Image.Exif()
    block[0x010F] = "A maker"
    return block


def png_texts():
    texts = PIL.PngImagePlugin.PngInfo()
    texts.add_text("Software", "a program")
    texts.add_itxt("XML:com.adobe.xmp", "<x:xmpmeta/>")
    return texts


FILES = {
    "plain JPEG": ("JPEG", lambda: saved("JPEG"), {}),
    "progressive JPEG": ("JPEG", lambda: saved("JPEG", progressive=True, comment=b"c"), {"comment": 5}),
    "JPEG": (
        "JPEG",
        lambda: saved("JPEG", exif=exif(), xmp=b"<x:xmpmeta/>", comment=b"a comment", icc_profile=b"profile"),
        {"exif": 54, "xmp": 45, "comment": 13},
    ),
    "plain PNG": ("PNG", lambda: saved("PNG"), {}),
    "PNG": ("PNG", lambda: saved("PNG", exif=exif(), pnginfo=png_texts()), {"exif": 48, "xmp": 46, "text": 30}),
    "plain WebP": ("WEBP", lambda: saved("WEBP"), {}),
    "WebP": ("WEBP", lambda: saved("WEBP", exif=exif(), xmp=b"<x:xmpmeta/>", lossless=True), {"exif": 44, "xmp": 20}),
}


def said(parts):
    counts = {}
    for part in parts:
        if part.is_metadata:
            counts[part.kind] = counts.get(part.kind, 0) + len(part.data)
    return counts


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_the_sum_of_its_parts(name):
    container, write, _ = FILES[name]
    data = write()
    assert joined(parts_of(data, container), container) == data


@pytest.mark.parametrize("name", FILES)
def test_what_is_said_beside_the_picture_is_told_by_kind(name):
    container, write, expected = FILES[name]
    counts = said(parts_of(write(), container))
    assert counts.keys() == expected.keys()
    for kind, least in expected.items():
        assert least - 20 <= counts[kind] <= least + 40


@pytest.mark.parametrize(
    ("segment", "kind"),
    [
        (jpeg_segment(0xE2, b"MPF\0..."), "multi-picture"),
        (jpeg_segment(0xE1, b"http://ns.adobe.com/xmp/extension/\0..."), "xmp"),
        (jpeg_segment(0xEB, b"JP\0\1...jumb"), "jumbf"),
        (jpeg_segment(0xEB, b"JP\0\1...jumbc2pa"), "c2pa"),
        (jpeg_segment(0xED, b"Photoshop 3.0\0..."), "iptc"),
        (jpeg_segment(0xE0, b"JFXX\0..."), "app0"),
        (jpeg_segment(0xE1, b"else"), "app1"),
        (b"stray", "stray bytes"),
    ],
)
def test_segments_of_a_jpeg_are_known_by_how_they_begin(segment, kind):
    data = saved("JPEG")
    inserted = data[:2] + segment + data[2:]
    parts = parts_of(inserted, "JPEG")
    assert said(parts) == {kind: len(segment)}
    assert joined((part for part in parts if not part.is_metadata), "JPEG") == data


@pytest.mark.parametrize("segment", [jpeg_segment(0xEE, b"Adobe\0d\0\0\0\0\1"), jpeg_segment(0xE2, b"ICC_PROFILE\0\1\1...")])
def test_what_decides_colours_belongs_to_the_picture(segment):
    data = saved("JPEG")
    assert said(parts_of(data[:2] + segment + data[2:], "JPEG")) == {}


@pytest.mark.parametrize(("container", "end"), [("JPEG", b"\xff\xd8more"), ("PNG", b"more"), ("WEBP", b"more")])
def test_what_follows_the_picture_is_metadata(container, end):
    data = saved(container)
    parts = parts_of(data + end, container)
    assert said(parts) == {"trailing bytes": len(end)}
    assert joined((part for part in parts if not part.is_metadata), container) == data


def test_a_comment_between_two_scans_is_found():
    data = saved("JPEG", progressive=True)
    second = data.index(b"\xff\xc4", data.index(b"\xff\xda"))
    parts = parts_of(data[:second] + jpeg_segment(0xFE, b"here") + data[second:], "JPEG")
    assert said(parts) == {"comment": 8}
    assert joined((part for part in parts if not part.is_metadata), "JPEG") == data


@pytest.mark.parametrize("after", [b"\0", b"\xd0", b"\xfe\0\4ab", b""])
def test_a_run_of_fill_bytes_costs_no_more_than_its_length(after):
    data = saved("JPEG")
    run = b"\xff" * 500_000 + after
    begin = time.process_time()
    parts = parts_of(data[:-2] + run + data[-2:], "JPEG")
    assert time.process_time() - begin < 10
    assert joined(parts, "JPEG") == data[:-2] + run + data[-2:]
    assert said(parts) == ({"comment": len(run)} if b"ab" in after else {})


def test_unknown_chunks_are_metadata_under_their_names():
    png = saved("PNG")
    assert said(parts_of(png[:33] + png_chunk(b"teSt", b"x") + png[33:], "PNG")) == {"chunk 'teSt'": 13}
    assert said(parts_of(png[:33] + png_chunk(b"caBX", b"x") + png[33:], "PNG")) == {"c2pa": 13}
    webp = saved("WEBP")
    chunks = webp[12:] + webp_chunk(b"TEST", b"odd")
    data = b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WEBP" + chunks
    assert said(parts_of(data, "WEBP")) == {"chunk 'TEST'": 12}


@pytest.mark.parametrize("container", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(2, 9))
def test_the_smallest_exif_block_turns_a_picture(container, orientation):
    turned = PIL.Image.Exif()
    turned[0x0112] = orientation
    parts = parts_of(saved(container, exif=turned), container)
    (at,) = (index for index, part in enumerate(parts) if part.kind == "exif")
    parts[at] = orientation_part(orientation, container)
    decoded = decode_image(joined(parts, container))
    assert decoded.decoding["orientation"] == orientation
    assert np.array_equal(decoded.pixels, decode_image(saved(container, exif=turned)).pixels)


@pytest.mark.parametrize("container", ["JPEG", "PNG", "WEBP"])
@given(data=st.data())
def test_a_damaged_file_is_taken_apart_or_refused_in_one_line(container, data):
    whole = saved(container, exif=exif())
    at = data.draw(st.integers(0, len(whole)))
    damaged = whole[:at] + data.draw(st.binary(max_size=8)) + whole[data.draw(st.integers(at, len(whole))) :]
    try:
        parts = parts_of(damaged, container)
    except CohortError as refused:
        assert "\n" not in str(refused)  # noqa: PT017
        return
    if container != "WEBP":
        head = b"" if container == "JPEG" else whole[:8]
        assert joined(parts, container).startswith(head[:at])
    if container == "JPEG":
        assert joined(parts, container) == damaged

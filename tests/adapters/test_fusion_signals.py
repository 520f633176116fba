"""Signals out of real files: each present and absent by one block, in every format that carries it, and broken files."""

import io
import zlib

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image as PillowImage
from PIL.PngImagePlugin import PngInfo
from PIL.TiffImagePlugin import IFDRational as Fraction, ImageFileDirectory_v2

from pytest_benchbench.adapters import fusion_signals
from pytest_benchbench.adapters.fusion_signals import SIGNALS, read_signals

PICTURE = PillowImage.fromarray((np.arange(64 * 64 * 3) % 251).astype(np.uint8).reshape(64, 64, 3))

AI = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
CAMERA = "http://cv.iptc.org/newscodes/digitalsourcetype/digitalCapture"

KINDS = ["PNG", "JPEG", "WEBP", "AVIF", "TIFF"]


def encoded(kind, **save):
    stream = io.BytesIO()
    PICTURE.save(stream, kind, **save)
    return stream.getvalue()


def with_exif(kind, ifd0=(), details=(), **save):
    """Save a picture with an EXIF block, which Pillow writes into a TIFF by another name."""
    tags = {0x010E: "a picture", **dict(ifd0)}  # no block is saved that has nothing but a directory inside
    if kind == "TIFF":
        info = ImageFileDirectory_v2()
        for tag, value in (tags | ({0x8769: dict(details)} if details else {})).items():
            info[tag] = value
        return encoded(kind, tiffinfo=info, **save)
    block = PillowImage.Exif()
    for tag, value in tags.items():
        block[tag] = value
    if details:
        block.get_ifd(0x8769).update(dict(details))
    return encoded(kind, exif=block, **save)


MAKE, MODEL, SOFTWARE = 0x010F, 0x0110, 0x0131
EXPOSURE, APERTURE, ISO, COMMENT = 0x829A, 0x829D, 0x8827, 0x9286


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_without_metadata_has_no_signal(kind):
    assert read_signals(encoded(kind)) == ()


@pytest.mark.parametrize("kind", ["GIF", "BMP", "PPM", "JPEG2000"])
def test_other_formats_give_none(kind):
    assert read_signals(encoded(kind)) == ()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("ifd0", "details", "signals"),
    [
        ({MAKE: "Leica", MODEL: "M11"}, {}, ("exif-camera",)),
        ({MAKE: "Leica"}, {}, ()),
        ({MAKE: " ", MODEL: "M11"}, {}, ()),
        ({}, {EXPOSURE: Fraction(1, 60), ISO: 100}, ("exif-exposure",)),
        ({}, {EXPOSURE: Fraction(1, 60), APERTURE: Fraction(28, 10)}, ("exif-exposure",)),
        ({}, {EXPOSURE: Fraction(1, 60)}, ()),
        ({}, {ISO: 100}, ()),
        ({}, {EXPOSURE: Fraction(0, 60), ISO: 100}, ()),
        ({SOFTWARE: "Adobe Firefly 3"}, {}, ("generator-software",)),
        ({SOFTWARE: "darktable 4.6"}, {}, ()),
        ({}, {COMMENT: b"UNICODE\0" + "a cat\nSteps: 20, Sampler: Euler".encode("utf-16-be")}, ("generator-parameters",)),
        ({}, {COMMENT: b"UNICODE\0" + "a cat\nSteps: 20, Sampler: Euler".encode("utf-16-le")}, ("generator-parameters",)),
        ({}, {COMMENT: b"ASCII\0\0\0a cat\nSteps: 20, Sampler: Euler"}, ("generator-parameters",)),
        ({}, {COMMENT: b"ASCII\0\0\0Steps: many, Sampler: me"}, ()),
    ],
)
def test_exif(kind, ifd0, details, signals):
    assert read_signals(with_exif(kind, ifd0, details)) == signals


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "AVIF"])
def test_xmp(kind):
    def save(text):
        if kind == "PNG":
            info = PngInfo()
            info.add_itxt("XML:com.adobe.xmp", text)
            return encoded(kind, pnginfo=info)
        return encoded(kind, xmp=text.encode())

    assert read_signals(save(f'<x Iptc4xmpExt:DigitalSourceType="{AI}"/>')) == ("xmp-ai-source",)
    assert read_signals(save(f'<x Iptc4xmpExt:DigitalSourceType="{CAMERA}"/>')) == ()
    assert read_signals(save('<x xmp:CreatorTool="Midjourney v7"/>')) == ("generator-software",)
    assert read_signals(save("<xmp:CreatorTool>ComfyUI</xmp:CreatorTool>")) == ("generator-software",)
    assert read_signals(save('<x xmp:CreatorTool="Capture One" note="Midjourney"/>')) == ()


@pytest.mark.parametrize("add", ["add_text", "add_itxt"])
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("key", "value", "signals"),
    [
        ("parameters", "a cat", ("generator-parameters",)),
        ("Workflow", "{}", ("generator-parameters",)),
        ("parameters", " ", ()),
        ("Comment", "parameters", ()),
        ("Software", "InvokeAI", ("generator-software",)),
        ("Software", "GIMP 2.10", ()),
    ],
)
def test_png_texts(add, compressed, key, value, signals):
    info = PngInfo()
    getattr(info, add)(key, value, zip=compressed)
    assert read_signals(encoded("PNG", pnginfo=info)) == signals


@pytest.mark.parametrize(
    ("kind", "mime"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp"), ("AVIF", "image/avif")]
)
def test_signed_c2pa_manifests(authority, c2pa_definition, kind, mime):
    data = encoded(kind)
    for types, signals in (
        ((AI,), ("c2pa-ai-source", "c2pa-manifest")),
        ((CAMERA,), ("c2pa-capture-source", "c2pa-manifest")),
        ((), ("c2pa-manifest",)),
    ):
        assert read_signals(authority.sign(data, mime, c2pa_definition(*types))) == signals


def test_a_store_that_is_longer_than_a_segment(authority, c2pa_definition):
    # 60,000 characters before the source type move it to where segments meet, at one place or another
    for filling in range(64_800, 65_100, 12):
        more = {"title": "x" * filling}
        signed = authority.sign(encoded("JPEG"), "image/jpeg", c2pa_definition(AI, **more))
        assert read_signals(signed) == ("c2pa-ai-source", "c2pa-manifest")


def test_signals_of_several_kinds_are_sorted():
    info = PngInfo()
    info.add_text("parameters", "a cat")
    data = with_exif("PNG", {MAKE: "a", MODEL: "b", SOFTWARE: "NovelAI"}, pnginfo=info)
    assert read_signals(data) == ("exif-camera", "generator-parameters", "generator-software")
    assert set(read_signals(data)) <= set(SIGNALS)


def chunk(name, body):
    return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")


def test_texts_that_unfold_without_end_are_not_unfolded(monkeypatch):
    bomb = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(4000)))
    data = encoded("PNG")
    told = chunk(b"zTXt", b"parameters\0\0" + zlib.compress(b"a cat"))
    full = data[:33] + bomb * 3 + told + data[33:]
    assert read_signals(full) == ("generator-parameters",)
    monkeypatch.setattr(fusion_signals, "MAX_STORE_BYTES", 8000)
    assert read_signals(full) == ()
    monkeypatch.setattr(fusion_signals, "MAX_BLOCK_BYTES", 3)
    assert read_signals(data[:33] + told + data[33:]) == ()


def test_the_blocks_before_a_break_count():
    data = with_exif("JPEG", {MAKE: "a", MODEL: "b"})
    assert read_signals(data[:400]) == ("exif-camera",)
    assert read_signals(data[:21]) == ()


FILES = [
    with_exif(kind, {MAKE: "a", MODEL: "b"}, {COMMENT: b"ASCII\0\0\0x", EXPOSURE: Fraction(1, 10), ISO: 1}) for kind in KINDS
]


@given(st.sampled_from(FILES), st.data())
def test_damaged_files_give_signals_or_none(data, draw):
    damaged = bytearray(data[:600])
    for _ in range(draw.draw(st.integers(0, 6))):
        damaged[draw.draw(st.integers(0, len(damaged) - 1))] = draw.draw(st.integers(0, 255))
    cut = draw.draw(st.integers(0, len(damaged)))
    assert set(read_signals(bytes(damaged[:cut]))) <= set(SIGNALS)

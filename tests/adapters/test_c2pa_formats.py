"""Which files C2PA's reader is shown, and as what. ``test_c2pa.py`` reads real ones of most formats."""

import io

import pytest
from PIL import Image as PillowImage

from pytest_benchbench.adapters.c2pa_formats import mime_of


@pytest.mark.parametrize("pillow", ["BMP", "JPEG2000", "PPM"])
def test_pictures_without_a_place_for_a_manifest(pillow):
    stream = io.BytesIO()
    PillowImage.new("RGB", (8, 8)).save(stream, pillow)
    assert mime_of(stream.getvalue(), "image") is None


@pytest.mark.parametrize(
    ("head", "media_type", "mime"),
    [
        (b"\x00\x00\x00\x18ftypheic", "image", "image/heic"),
        (b"\x00\x00\x00\x18ftypmif1", "image", "image/avif"),
        (b"\x00\x00\x00\x0cJXL \r\n\x87\n", "image", "image/jxl"),
        (b"\x00\x00\x00\x20ftypisom", "video", "video/mp4"),
        (b"\x00\x00\x00\x20ftypisom", "audio", "audio/mp4"),
        (b"ID3\x04\x00\x00\x00\x00\x01\x00" + bytes(128) + b"fLaC", "audio", "audio/flac"),
    ],
)
def test_what_is_read(head, media_type, mime):
    assert mime_of(head, media_type) == mime


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (b"", "image"),
        (b"", "audio"),
        (b"", "video"),
        (b"\x00\x00\x00\x20ftypisom", "image"),
        (b"\x00\x00\x00\x20ftypavif", "video"),
        (b"\x89PNG\r\n\x1a\n", "audio"),
        (b"\xff\xf1\x50\x80", "audio"),  # AAC in an ADTS stream
        (b"OggS", "audio"),
        (b"\x1aE\xdf\xa3", "video"),  # Matroska
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image"),
        (b"%PDF-1.7", "image"),
        (b"\x00\x00\x00\x10jumb", "image"),  # a manifest store without a file around it
    ],
)
def test_what_is_not(head, media_type):
    assert mime_of(head, media_type) is None

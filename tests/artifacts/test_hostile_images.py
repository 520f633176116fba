"""Damaged files of every format end as an image or as an UndecodableArtifactError, and nothing else."""

import pytest
from hypothesis import given, settings, strategies as st
from PIL import ImageFile

from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.artifacts.media import UndecodableArtifactError


def attempt(data):
    """Decode under both states of Pillow's switch, which have to agree; small limits keep crafted sizes quick."""
    results = []
    before = ImageFile.LOAD_TRUNCATED_IMAGES
    try:
        for told in (False, True):
            ImageFile.LOAD_TRUNCATED_IMAGES = told
            try:
                image = decode_image(data, max_pixels=1_000_000)
            except UndecodableArtifactError as error:
                results.append(None if str(error) and str(error).isprintable() else "not one line")
            else:
                results.append((image.pixels.tobytes(), image.decoding))
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = before
    assert results[0] == results[1] != "not one line"
    return results[0]


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_flipped_bits(whole_file, data):
    bits = data.draw(st.lists(st.integers(0, 8 * len(whole_file) - 1), min_size=1, max_size=8))
    damaged = bytearray(whole_file)
    for bit in bits:
        damaged[bit // 8] ^= 1 << bit % 8
    attempt(bytes(damaged))


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_overwritten_bytes(whole_file, data):
    start = data.draw(st.integers(0, len(whole_file) - 1))
    patch = data.draw(st.binary(min_size=1, max_size=16))
    attempt(whole_file[:start] + patch + whole_file[start + len(patch) :])


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_truncated_files_are_errors(whole_file, data):
    assert attempt(whole_file[: data.draw(st.integers(0, len(whole_file) - 1))]) is None


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_grafted_files(whole_file, files, data):
    other = files[data.draw(st.sampled_from(sorted(files)))]
    cut = data.draw(st.integers(0, len(whole_file)))
    attempt(whole_file[:cut] + other[data.draw(st.integers(0, len(other))) :])


@pytest.mark.parametrize(
    "head", [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF\xff\0\0\0WEBP", b"II*\0", b"BM", b"GIF89a", b"P6\n"]
)
@given(tail=st.binary(max_size=200))
def test_bytes_after_a_signature(head, tail):
    attempt(head + tail)

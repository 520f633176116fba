"""Pictures small enough for a page: bounds, sizes and lines, held against the pixels that come back."""

import base64
import io

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from pytest_benchbench.reports.html.raster import columns_of, extremes, line_drawing, photograph, thumbnail


def opened(uri):
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ((800, 600), (256, 192)),
        ((256, 100), (256, 100)),
        ((100, 40), (200, 80)),
        ((1, 1), (256, 256)),
        ((9000, 3), (256, 1)),
        ((3, 9000), (1, 256)),
        ((257, 129), (256, 128)),
    ],
)
def test_the_longer_side_fills_the_thumbnail_as_far_as_whole_enlargement_goes(size, shown):
    width, height = size
    assert thumbnail(np.zeros((height, width, 3), np.uint8)).size == shown


def test_an_enlarged_thumbnail_has_the_very_pixels():
    pixels = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    shown = np.asarray(thumbnail(pixels))
    assert (shown == pixels.repeat(128, axis=0).repeat(128, axis=1)).all()


def test_a_photograph_fits_its_room_or_is_not_given(picture):
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 256, (256, 256, 3), np.uint8))
    sizes = {}
    for room in (60_000, 20_000, 8_000, 3_000, 900, 100):
        uri = photograph(noise, room)
        if uri is not None:
            assert len(uri) <= room
            sizes[room] = opened(uri).size
    assert sizes[60_000] == (256, 256)
    assert sizes[8_000] < (256, 256)
    assert 100 not in sizes
    assert photograph(noise, 20_000) == photograph(noise, 20_000)


def test_a_line_drawing_is_transparent_but_for_its_lines():
    ink = np.zeros((20, 30), bool)
    ink[5] = True
    shown = opened(line_drawing(ink, 10_000))
    alpha = np.asarray(shown.convert("RGBA"))[..., 3]
    assert ((alpha == 255) == ink).all()
    assert line_drawing(ink, 20) is None


@given(arrays.arrays(np.float32, st.integers(1, 2000), elements=st.floats(-1, 1, width=32)), st.integers(1, 64))
def test_extremes_are_those_of_equal_parts(values, width):
    lows, highs = extremes(values, width)
    assert lows.shape == highs.shape == (width,)
    assert lows.min() == values.min()
    assert highs.max() == values.max()
    if len(values) >= width:
        parts = [values[len(values) * n // width : len(values) * (n + 1) // width] for n in range(width)]
        assert [part.min() for part in parts] == lows.tolist()
        assert [part.max() for part in parts] == highs.tolist()


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted), min_size=1, max_size=20), st.integers(2, 50))
def test_each_column_has_one_unbroken_stroke(bands, height):
    lows, highs = np.array(bands).T
    ink = columns_of(lows, highs, height)
    assert ink.shape == (height, len(bands))
    for column, (low, high) in enumerate(bands):
        rows = np.flatnonzero(ink[:, column])
        assert len(rows)
        assert (np.diff(rows) == 1).all()
        assert rows[0] == round((1 - high) * (height - 1))
        assert rows[-1] >= round((1 - low) * (height - 1))

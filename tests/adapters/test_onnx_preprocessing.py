"""Preprocessing against formulas written by hand in NumPy, and against torch-like conventions where they are claimed."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from pytest_benchbench.adapters import onnx_preprocessing
from pytest_benchbench.adapters.onnx_config import Crops, Preprocessing, Resize
from pytest_benchbench.adapters.onnx_preprocessing import NotShown, Preprocessor, composite, crop, resize

PLAIN = {"version": "v", "colour": "RGB", "alpha": "drop", "minimum_side": 1, "layout": "NCHW", "dtype": "float32"}

PICTURES = st.tuples(st.integers(1, 24), st.integers(1, 24)).flatmap(lambda size: arrays(np.uint8, (*size, 3)))

KERNELS = {
    "box": (0.5, lambda x: np.where((x > -0.5) & (x <= 0.5), 1.0, 0.0)),
    "bilinear": (1.0, lambda x: np.clip(1 - np.abs(x), 0, None)),
    "bicubic": (
        2.0,
        lambda x: np.where(
            np.abs(x) < 1,
            (1.5 * np.abs(x) - 2.5) * np.abs(x) ** 2 + 1,
            np.where(np.abs(x) < 2, ((-0.5 * np.abs(x) + 2.5) * np.abs(x) - 4) * np.abs(x) + 2, 0.0),
        ),
    ),
    "lanczos": (3.0, lambda x: np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0.0)),
}


def block(**changes):
    return msgspec.convert(PLAIN | changes, Preprocessing)


def scaled_by_hand(pixels, size, name):
    """The rule of docs/onnx.md: columns first, then rows; weights in 22 bits; each pass rounded to 8 bits."""
    support, kernel = KERNELS[name]
    for axis, length in ((1, size[0]), (0, size[1])):
        have = pixels.shape[axis]
        if have == length:
            continue
        scale = have / length
        reach = support * max(scale, 1.0)
        out = []
        for index in range(length):
            centre = (index + 0.5) * scale
            first, last = max(0, int(centre - reach + 0.5)), min(have, int(centre + reach + 0.5))
            weights = kernel((np.arange(first, last) + 0.5 - centre) / max(scale, 1.0))
            weights = weights / weights.sum()
            fixed = np.trunc(weights * (1 << 22) + np.where(weights < 0, -0.5, 0.5)).astype(np.int64)
            taken = np.take(pixels, range(first, last), axis).astype(np.int64)
            summed = np.tensordot(taken, fixed, axes=(axis, 0))
            out.append(np.clip((summed + (1 << 21)) >> 22, 0, 255))
        pixels = np.stack(out, axis)
    return pixels.astype(np.uint8)


@given(PICTURES, st.integers(1, 30), st.integers(1, 30), st.sampled_from(sorted(KERNELS)))
def test_antialiased_filters_follow_the_written_rule(pixels, width, height, name):
    declared = Resize(mode="exact", size=(width, height), filter=name, antialias=True)
    assert np.array_equal(resize(pixels, declared), scaled_by_hand(pixels, (width, height), name))


@given(PICTURES, st.integers(1, 30), st.integers(1, 30))
def test_nearest_takes_the_pixel_under_the_centre(pixels, width, height):
    declared = Resize(mode="exact", size=(width, height), filter="nearest", antialias=False)
    rows = [(2 * y + 1) * pixels.shape[0] // (2 * height) for y in range(height)]
    columns = [(2 * x + 1) * pixels.shape[1] // (2 * width) for x in range(width)]
    assert np.array_equal(resize(pixels, declared), pixels[rows][:, columns])


@given(PICTURES, st.integers(1, 30), st.integers(1, 30))
def test_plain_bilinear_is_a_weighted_mean_of_four_pixels(pixels, width, height):
    declared = Resize(mode="exact", size=(width, height), filter="bilinear", antialias=False)
    scaled = resize(pixels, declared)
    have_y, have_x = pixels.shape[:2]
    for y, x in {(0, 0), (height - 1, width - 1), (height // 2, width // 3)}:
        down = min(max((y + 0.5) * (have_y / height) - 0.5, 0), have_y - 1)
        right = min(max((x + 0.5) * (have_x / width) - 0.5, 0), have_x - 1)
        top, left = int(down), int(right)
        below, beside = min(top + 1, have_y - 1), min(left + 1, have_x - 1)
        part_y, part_x = down - top, right - left
        corners = pixels.astype(float)
        mean = (corners[top, left] * (1 - part_y) + corners[below, left] * part_y) * (1 - part_x)
        mean += (corners[top, beside] * (1 - part_y) + corners[below, beside] * part_y) * part_x
        assert np.all(np.abs(scaled[y, x] - mean) <= 0.5 + 1e-9)


@pytest.mark.parametrize(
    ("mode", "size", "scaled"),
    [
        ("shortest", (640, 427), (383, 256)),  # 256 * 640 / 427 = 383.7
        ("shortest", (427, 640), (256, 383)),
        ("longest", (640, 427), (256, 170)),
        ("longest", (1000, 1), (256, 1)),
        ("shortest", (300, 300), (256, 256)),
    ],
)
def test_the_other_side_is_rounded_down(mode, size, scaled):
    declared = Resize(mode=mode, side=256, filter="box", antialias=True)
    assert resize(np.zeros((size[1], size[0], 3), np.uint8), declared).shape[1::-1] == scaled


def test_a_strip_that_would_fill_the_memory_is_not_scaled(monkeypatch):
    declared = Resize(mode="shortest", side=4, filter="box", antialias=True)
    monkeypatch.setattr(onnx_preprocessing, "MAX_RESIZED_PIXELS", 160)
    assert resize(np.zeros((1, 10, 3), np.uint8), declared).shape == (4, 40, 3)
    with pytest.raises(NotShown, match="scaled it would be 44x4, more than 160 pixels") as refusal:
        resize(np.zeros((1, 11, 3), np.uint8), declared)
    assert refusal.value.status == "unsupported"


@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 255))
def test_compositing_rounds_to_the_nearest_level(level, alpha, background):
    mixed = composite(np.full((1, 1, 3), level, np.uint8), np.full((1, 1), alpha, np.uint8), (background,) * 3)
    exact = (level * alpha + background * (255 - alpha)) / 255
    assert mixed[0, 0, 0] == int(exact + 0.5)  # 255 is odd: there are no halves


NUMBERED = np.arange(5 * 7, dtype=np.uint8).reshape(5, 7, 1).repeat(3, axis=2)
"""Every pixel names its place: 7 * row + column."""


@pytest.mark.parametrize(
    ("mode", "size", "more", "corners"),
    [
        ("centre", (2, 2), {}, [(1, 2)]),
        ("centre", (7, 5), {}, [(0, 0)]),
        ("centre", (4, 4), {}, [(0, 1)]),
        ("five", (2, 3), {}, [(0, 0), (0, 5), (2, 0), (2, 5), (1, 2)]),
        ("grid", (3, 2), {"columns": 3, "rows": 2}, [(0, 0), (0, 2), (0, 4), (3, 0), (3, 2), (3, 4)]),
        ("grid", (3, 2), {"columns": 1, "rows": 1}, [(1, 2)]),
        ("grid", (4, 5), {"columns": 3, "rows": 1}, [(0, 0), (0, 1), (0, 3)]),
    ],
)
def test_crops_lie_where_the_page_says(mode, size, more, corners):
    declared = Crops(mode=mode, size=size, **more)
    crops = crop(NUMBERED, declared)
    assert crops.shape == (declared.count, size[1], size[0], 3)
    assert [divmod(int(one[0, 0, 0]), 7) for one in crops] == corners


def test_a_smaller_picture_is_too_small_or_filled_up():
    with pytest.raises(NotShown, match="a crop has 8x4 pixels, it is 7x5") as refusal:
        crop(NUMBERED, Crops(mode="centre", size=(8, 4)))
    assert refusal.value.status == "too-small"
    (padded,) = crop(NUMBERED, Crops(mode="centre", size=(10, 8), pad=(1, 2, 3)))
    assert np.array_equal(padded[1:6, 1:8], NUMBERED)
    padded[1:6, 1:8] = (1, 2, 3)
    assert (padded == (1, 2, 3)).all()


@given(
    arrays(np.uint8, (3, 4, 3)),
    st.sampled_from(["RGB", "BGR"]),
    st.sampled_from(["NCHW", "NHWC"]),
    st.tuples(*[st.floats(-200, 200)] * 3),
    st.tuples(*[st.floats(0.01, 300)] * 3),
    st.floats(0.1, 300),
)
def test_levels_are_normalised_in_doubles_and_rounded_once(pixels, colour, layout, mean, deviation, scale):
    declared = block(colour=colour, layout=layout, mean=mean, deviation=deviation, scale=scale)
    tensor = Preprocessor(declared).tensor(pixels)
    ordered = pixels[..., :: 1 if colour == "RGB" else -1].astype(np.float64)
    by_hand = ((ordered / scale - np.array(mean)) / np.array(deviation)).astype(np.float32)[np.newaxis]
    assert tensor.dtype == np.float32
    assert np.array_equal(tensor, by_hand.transpose(0, 3, 1, 2) if layout == "NCHW" else by_hand)


@pytest.mark.parametrize("dtype", ["float16", "uint8"])
def test_other_types(dtype):
    declared = block(dtype=dtype, **({"scale": 255} if dtype == "float16" else {}))
    tensor = Preprocessor(declared).tensor(NUMBERED)
    assert tensor.dtype == dtype
    wanted = NUMBERED / (255 if dtype == "float16" else 1)
    assert np.array_equal(tensor[0, 0], wanted[..., 0].astype(dtype))


def test_the_smallest_side_counts(monkeypatch):
    preprocessor = Preprocessor(block(minimum_side=5))
    assert preprocessor.tensor(NUMBERED).shape == (1, 3, 5, 7)
    with pytest.raises(NotShown, match="sides of 5 or more are needed, it is 7x4"):
        preprocessor.tensor(NUMBERED[:4])
    monkeypatch.setattr(onnx_preprocessing, "MAX_WHOLE_PIXELS", 34)
    with pytest.raises(NotShown, match="34 pixels are shown whole at most"):
        preprocessor.tensor(NUMBERED)


def test_steps_come_in_their_order():
    declared = block(
        alpha=(0, 0, 0),
        resize={"mode": "exact", "size": [2, 2], "filter": "box", "antialias": True},
        crops={"mode": "centre", "size": [1, 1]},
    )
    pixels, alpha = np.full((4, 4, 3), 200, np.uint8), np.full((4, 4), 255, np.uint8)
    alpha[:, 0] = 0
    preprocessor = Preprocessor(declared)
    assert preprocessor.needs_alpha
    assert preprocessor.tensor(pixels, alpha).ravel().tolist() == [100.0] * 3
    assert preprocessor.tensor(pixels, None).ravel().tolist() == [200.0] * 3

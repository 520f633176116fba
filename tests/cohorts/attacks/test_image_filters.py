import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.cohorts.attacks.image_filters import (
    blurred,
    median_filtered,
    sharpened,
    under_checkerboard,
    under_patch,
    with_noise,
    with_text,
)

GREY = np.full((60, 80, 3), 128, np.uint8)


def step():
    picture = np.full((32, 32, 3), 60, np.uint8)
    picture[:, 16:] = 180
    return picture


def test_noise_has_the_deviation_of_its_name_and_differs_between_channels():
    noisy, _ = with_noise(10, seed=0)(GREY)
    difference = noisy.astype(int) - 128
    assert difference.std() == pytest.approx(10, rel=0.03)
    assert abs(difference.mean()) < 0.5
    assert not np.array_equal(noisy[:, :, 0], noisy[:, :, 1])


def test_noise_is_clipped_at_black_and_white():
    assert with_noise(40, seed=0)(np.zeros_like(GREY))[0].min() == 0
    assert with_noise(40, seed=0)(np.full_like(GREY, 255))[0].max() == 255


def test_another_seed_draws_other_noise():
    assert not np.array_equal(with_noise(10, seed=0)(GREY)[0], with_noise(10, seed=1)(GREY)[0])


def test_a_median_removes_a_lone_point():
    picture = GREY.copy()
    picture[30, 40] = 255
    assert np.array_equal(median_filtered(3)(picture)[0], GREY)


def test_a_blur_keeps_the_mean_and_spreads_by_its_sigma():
    picture = np.zeros((65, 65, 3), np.uint8)
    picture[:, 32] = 255
    profile = blurred(4)(picture)[0][32, :, 0].astype(float)
    places = np.arange(65) - 32
    assert (profile * places**2).sum() / profile.sum() == pytest.approx(16, rel=0.15)
    assert np.array_equal(blurred(4)(GREY)[0], GREY)


def test_sharpening_overshoots_at_a_step():
    sharp, _ = sharpened(2)(step())
    assert sharp[16, 15, 0] < 60
    assert sharp[16, 16, 0] > 180


@pytest.mark.parametrize("percent", [10, 50, 100])
def test_text_covers_its_box_alone(percent):
    written, record = with_text(percent)(GREY)
    left, top, right, bottom = record["box"]
    assert right - left == 80 * percent // 100
    changed = (written != GREY).any(axis=2)
    assert changed.any()
    changed[top:bottom, left:right] = False
    assert not changed.any()
    assert set(np.unique(written)) == {128, 255}


def test_a_checkerboard_mixes_black_and_white_by_its_opacity():
    mixed, record = under_checkerboard(50)(GREY)
    assert record["square"] == 7
    assert mixed[0, 0].tolist() == pytest.approx([64, 64, 64], abs=1)
    assert mixed[0, 7].tolist() == pytest.approx([191, 191, 191], abs=1)
    assert mixed[7, 0].tolist() == pytest.approx([191, 191, 191], abs=1)


@given(width=st.integers(1, 80), height=st.integers(1, 80), seed=st.integers(0, 2**48 - 1))
def test_a_patch_covers_its_box_alone_and_mixes_its_colour_in(width, height, seed):
    picture = np.full((height, width, 3), 128, np.uint8)
    covered, record = under_patch(50, seed)(picture)
    left, top, right, bottom = record["box"]
    assert (0 <= left < right <= width, 0 <= top < bottom <= height) == (True, True)
    assert (right - left, bottom - top) == (max(1, width // 2), max(1, height // 2))
    middle = covered[(top + bottom) // 2, (left + right) // 2]
    assert middle.tolist() == pytest.approx([(128 + colour) / 2 for colour in record["colour"]], abs=1)
    outside = (covered != picture).any(axis=2)
    outside[top:bottom, left:right] = False
    assert not outside.any()


def test_a_patch_has_soft_edges():
    covered, record = under_patch(75, seed=1)(np.zeros((80, 160, 3), np.uint8))
    left, top, right, bottom = record["box"]
    brightest = int(np.argmax(record["colour"]))
    profile = covered[(top + bottom) // 2, left:right, brightest].astype(int)
    assert record["soft_pixels"] == 5
    assert (np.diff(profile[:5]) > 0).all()
    assert len(set(profile[5:-5])) == 1
    assert profile[::-1].tolist() == profile.tolist()

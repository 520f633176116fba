import numpy as np
import pytest

from pytest_benchbench.cohorts.attacks.image_tone import enhanced, gamma_corrected, greyed, hue_turned


def picture(*colours):
    return np.array([colours], dtype=np.uint8)


def test_brightness_scales_values_and_clips():
    assert enhanced("brightness", 1.5)(picture((10, 100, 200)))[0].tolist() == [[[15, 150, 255]]]
    assert enhanced("brightness", 0.5)(picture((10, 100, 200)))[0].tolist() == [[[5, 50, 100]]]


def test_contrast_scales_the_distance_to_the_mean():
    two = picture((50, 50, 50), (150, 150, 150))
    assert enhanced("contrast", 0.5)(two)[0][0, :, 0].tolist() == [75, 125]
    assert enhanced("contrast", 1.5)(two)[0][0, :, 0].tolist() == [25, 175]


def test_saturation_leaves_grey_alone_and_moves_colours_to_it():
    assert enhanced("saturation", 2)(picture((90, 90, 90)))[0].tolist() == [[[90, 90, 90]]]
    spread = [np.ptp(enhanced("saturation", factor)(picture((60, 100, 140)))[0]) for factor in (0.1, 0.5, 1.5)]
    assert spread == pytest.approx([8, 40, 120], abs=2)


def test_a_third_of_the_circle_turns_red_to_green():
    red = picture((255, 0, 0))
    assert hue_turned(1 / 3)(red)[0].ravel().tolist() == pytest.approx([0, 255, 0], abs=6)  # a step of the 8-bit hue
    assert hue_turned(-1 / 3)(red)[0].ravel().tolist() == pytest.approx([0, 0, 255], abs=6)


def test_hue_leaves_grey_alone():
    grey = np.repeat(np.arange(256, dtype=np.uint8)[np.newaxis, :, np.newaxis], 3, axis=2)
    assert np.array_equal(hue_turned(0.25)(grey)[0], grey)


def test_gamma_keeps_the_ends_and_bends_the_middle():
    ends = picture((0, 128, 255))
    assert gamma_corrected(2)(ends)[0].tolist() == [[[0, 64, 255]]]
    assert gamma_corrected(0.5)(ends)[0].tolist() == [[[0, 181, 255]]]


def test_grayscale_is_luma():
    assert greyed(picture((255, 0, 0), (0, 255, 0), (0, 0, 255)))[0][0].tolist() == [[76] * 3, [150] * 3, [29] * 3]

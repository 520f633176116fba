"""The colour conversion against OpenCV."""

import numpy as np
import pytest

from pytest_benchbench.adapters.yuv import luma_plane, rgb, u_plane, v_plane

cv2 = pytest.importorskip("cv2")

FIRST_VALUES = (*range(0, 256, 7), 1, 127, 128, 129, 254, 255)
"""Of the first channel; the other two take every value."""


def triples(first: int) -> np.ndarray:
    second, third = np.mgrid[:256, :256]
    return np.stack([np.full_like(second, first), second, third], axis=-1).astype(np.uint8)


def test_to_yuv_equals_opencv():
    for first in FIRST_VALUES:
        pixels = triples(first)
        expected = cv2.cvtColor(pixels, cv2.COLOR_RGB2YUV)
        luma = luma_plane(pixels)
        planes = np.stack([luma, u_plane(pixels), v_plane(pixels, luma)], axis=-1)
        np.testing.assert_array_equal(planes, expected)


def test_back_to_rgb_equals_opencv():
    for first in FIRST_VALUES:
        planes = triples(first)
        expected = cv2.cvtColor(planes, cv2.COLOR_YUV2RGB)
        np.testing.assert_array_equal(rgb(*planes.astype(np.int32).transpose(2, 0, 1)), expected)


def test_read_only_and_strided_pixels_are_read():
    pixels = triples(90)
    pixels.flags.writeable = False
    np.testing.assert_array_equal(u_plane(pixels[::-2, 3::5]), u_plane(pixels)[::-2, 3::5])

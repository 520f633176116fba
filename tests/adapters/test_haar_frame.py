"""The frame's parts against PyWavelets and plain loops."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from pytest_benchbench.adapters import haar_frame
from pytest_benchbench.adapters.haar_frame import blocks_of, haar, inverse_haar, low_band, payload_bits, write_blocks

PLANES = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(
    lambda half: arrays.arrays(np.uint8, (half[0] * 2, half[1] * 2), elements=st.integers(0, 255))
)


@given(PLANES)
def test_bands_equal_pywavelets_to_the_last_bit(plane):
    pywt = pytest.importorskip("pywt")
    low, (horizontal, vertical, diagonal) = pywt.dwt2(plane, "haar")
    for ours, expected in zip(haar(plane), (low, horizontal, vertical, diagonal), strict=True):
        np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal(low_band(plane), low)


@given(PLANES)
def test_the_inverse_equals_pywavelets_to_the_last_bit(plane):
    pywt = pytest.importorskip("pywt")
    low, horizontal, vertical, diagonal = haar(plane)
    swapped = pywt.idwt2((low, (vertical, horizontal, diagonal)), "haar")
    np.testing.assert_array_equal(inverse_haar(low, vertical, horizontal, diagonal), swapped)


def test_blocks_are_a_view_in_row_order():
    band = np.arange(9 * 13, dtype=float).reshape(9, 13)
    blocks = blocks_of(band)
    assert blocks.shape == (2, 3, 4, 4)
    np.testing.assert_array_equal(blocks[1, 2], band[4:8, 8:12])
    blocks[0, 0] = -1
    assert band[3, 3] == -1


@given(st.lists(st.booleans(), max_size=600), st.integers(1, 140))
def test_a_payload_bit_is_the_mean_of_its_blocks(blocks, length):
    expected = []
    for bit in range(length):
        own = blocks[bit::length]
        expected.append(bool(own) and np.mean(own) * 255 > 127)
    np.testing.assert_array_equal(payload_bits(np.array(blocks, dtype=bool), length), expected)


def test_a_mean_of_exactly_127_of_255_is_a_zero():
    assert not payload_bits(np.array([True] * 127 + [False] * 128), 1).any()
    assert payload_bits(np.array([True] * 128 + [False] * 127), 1).all()


@given(values=arrays.arrays(np.float64, 20, elements=st.floats(0, 4000)), bits=arrays.arrays(np.bool_, 20))
def test_a_written_bit_is_read(values, bits):
    written = haar_frame.write_bit(values, bits)
    np.testing.assert_array_equal(haar_frame.read_bit(written), bits)
    assert np.abs(written - values).max() <= 27


@pytest.mark.parametrize(
    "array",
    [np.zeros((256, 256), np.uint8), np.zeros((256, 256, 4), np.uint8), np.zeros((256, 256, 3), np.float32)],
    ids=["no channels", "alpha", "float"],
)
def test_only_rgb_pictures_are_marked(array):
    with pytest.raises(ValueError, match=r"expected \(H, W, 3\) uint8"):
        write_blocks(array, (1,), lambda blocks, bits: blocks)


@pytest.mark.parametrize("shape", [(255, 257), (7, 10_000), (10_000, 7)])
def test_pictures_that_carry_no_message_are_not_marked(shape):
    with pytest.raises(ValueError, match=f"the image is {shape[1]}x{shape[0]}"):
        write_blocks(np.zeros((*shape, 3), np.uint8), (1,), lambda blocks, bits: blocks)

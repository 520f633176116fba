"""Fidelity against naive arithmetic, scikit-image, and its own laws."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from skimage.metrics import peak_signal_noise_ratio

from pytest_benchbench.artifacts.fidelity import _BLOCK_POSITIONS, Fidelity, image_fidelity
from pytest_benchbench.artifacts.image import Image, decode_image


def image(pixels, incomparable=None):
    return Image(np.asarray(pixels, np.uint8), {}, incomparable)


@st.composite
def pairs(draw):
    """Two pictures of one size; half the time near each other, as a marked one and its carrier are."""
    shape = (draw(st.integers(1, 20)), draw(st.integers(1, 20)), 3)
    first = draw(arrays.arrays(np.uint8, shape))
    second = draw(arrays.arrays(np.uint8, shape) | st.just(first))
    if draw(st.booleans()):
        second = np.where(draw(arrays.arrays(np.bool_, shape)), second, first)
    return first, second


def naive(first, second):
    difference = first.astype(np.float64) - second.astype(np.float64)
    return np.abs(difference).mean(), (difference != 0).any(axis=2).mean(), (difference**2).mean()


@given(pairs())
def test_the_figures_are_those_of_plain_arithmetic(pair):
    fidelity = image_fidelity(image(pair[0]), image(pair[1]))
    mae, changed, mse = naive(*pair)
    assert fidelity.status == "measured"
    assert fidelity.mae == pytest.approx(mae, rel=1e-12)
    assert fidelity.changed_fraction == pytest.approx(changed, rel=1e-12)
    if mse:
        assert fidelity.psnr_status == "finite"
        assert fidelity.psnr_db == pytest.approx(10 * math.log10(255**2 / mse), rel=1e-12)
        assert fidelity.psnr_db == pytest.approx(peak_signal_noise_ratio(*pair, data_range=255), rel=1e-12)


@given(pairs())
def test_it_is_symmetric_and_finite(pair):
    first, second = image(pair[0]), image(pair[1])
    fidelity = image_fidelity(first, second)
    assert fidelity == image_fidelity(second, first)
    assert all(math.isfinite(value) for value in (fidelity.mae, fidelity.changed_fraction, fidelity.psnr_db or 0.0))
    assert 0 <= fidelity.mae <= 255
    assert 0 <= fidelity.changed_fraction <= 1
    assert fidelity.mae <= 255 * fidelity.changed_fraction


@given(pairs())
def test_zero_means_identical_and_nothing_else_does(pair):
    fidelity = image_fidelity(image(pair[0]), image(pair[1]))
    identical = np.array_equal(*pair)
    assert (fidelity.mae == 0) == (fidelity.changed_fraction == 0) == (fidelity.psnr_db is None) == identical
    assert fidelity.psnr_status == ("unbounded_identical" if identical else "finite")


def test_identical_pixels_have_no_psnr_instead_of_a_number():
    assert image_fidelity(image(np.zeros((2, 2, 3))), image(np.zeros((2, 2, 3)))) == Fidelity(
        "measured", mae=0.0, changed_fraction=0.0, psnr_db=None, psnr_status="unbounded_identical"
    )


@pytest.mark.parametrize("positions", [_BLOCK_POSITIONS - 1, _BLOCK_POSITIONS, _BLOCK_POSITIONS + 1, 3 * _BLOCK_POSITIONS])
def test_the_largest_differences_are_summed_without_overflow(positions):
    black, white = image(np.zeros((1, positions, 3))), image(np.full((1, positions, 3), 255))
    assert image_fidelity(black, white) == Fidelity(
        "measured", mae=255.0, changed_fraction=1.0, psnr_db=0.0, psnr_status="finite"
    )


@pytest.mark.parametrize("where", [(0, 0, 0), (0, 0, 2), (149, 399, 0), (149, 399, 2), (54, 245, 1), (54, 246, 1)])
def test_one_sample_anywhere_is_one_position(where):
    first = np.random.default_rng(0).integers(0, 255, (150, 400, 3), dtype=np.uint8)
    second = first.copy()
    second[where] += 1
    fidelity = image_fidelity(image(first), image(second))
    assert fidelity.changed_fraction == 1 / 60_000
    assert fidelity.mae == 1 / 180_000
    assert fidelity.psnr_db == 10 * math.log10(255 * 255 * 180_000)


def test_strided_pixels_count_alike():
    pixels = np.random.default_rng(0).integers(0, 256, (40, 30, 3), dtype=np.uint8)
    assert image_fidelity(image(pixels[::-1, ::2]), image(pixels[:, 1::2])) == image_fidelity(
        image(pixels[::-1, ::2].copy()), image(pixels[:, 1::2].copy())
    )


@pytest.mark.parametrize(("shape", "size"), [((256, 1, 3), "1x256"), ((1, 256, 3), "256x1"), ((1, 1, 3), "1x1")])
def test_sizes_are_not_broadcast(shape, size):
    fidelity = image_fidelity(image(np.zeros((256, 256, 3))), image(np.zeros(shape)))
    assert fidelity == Fidelity("incomparable", f"size: artifact 256x256, reference {size}")


def test_an_image_that_is_not_8_bit_is_not_compared():
    plain, deep = image(np.zeros((1, 1, 3))), image(np.zeros((1, 1, 3)), "16-bit samples")
    assert image_fidelity(deep, plain) == Fidelity("incomparable", "artifact: 16-bit samples")
    assert image_fidelity(plain, deep) == Fidelity("incomparable", "reference: 16-bit samples")


def test_a_file_turned_by_exif_is_compared_upright(encode, noise):
    from PIL import Image as Pillow

    exif = Pillow.Exif()
    exif[0x0112] = 3
    upright = decode_image(encode(noise(6, 9), "PNG"))
    turned = decode_image(encode(noise(6, 9)[::-1, ::-1].copy(), "PNG", exif=exif))
    assert image_fidelity(turned, upright).psnr_status == "unbounded_identical"

import hashlib

import numpy as np
import pytest
from scipy.ndimage import convolve1d

from pytest_benchbench.cohorts.carriers.synthetic import CARRIERS, HIGH_FREQUENCY, _binomial

EVERY = (*CARRIERS, HIGH_FREQUENCY)

FROZEN = {
    ("gradient", 1): "cb21bac9eba165441ee5e25cede0c6ccf58226d651d29e9a49451ad7e4793d94",
    ("texture", 1): "2609b40632d5b408ac1677d96192389607c623de278df57884e655a6561a8eec",
    ("low-detail", 1): "f58195a3e67f7768f063a9304b9f7c368585d33f864010665864ee1afb106e43",
    ("high-frequency", 1): "44432e795d7d7540d22a5557b67c235e70612cc762292c66b6782947ca318702",
}


@pytest.mark.parametrize("carrier", EVERY, ids=lambda carrier: carrier.name)
def test_a_formula_gives_the_frozen_pixels(carrier):
    pixels = carrier.draw(256)
    assert (pixels.shape, pixels.dtype) == ((256, 256, 3), np.uint8)
    assert hashlib.sha256(pixels.tobytes()).hexdigest() == FROZEN[carrier.name, carrier.revision]


@pytest.mark.parametrize("carrier", EVERY, ids=lambda carrier: carrier.name)
def test_the_recorded_seed_is_the_one_that_the_generator_got(carrier):
    if carrier.seed is None:
        assert np.array_equal(carrier.drawing(256, 99), carrier.draw(256))
    else:
        assert not np.array_equal(carrier.drawing(256, carrier.seed + 1), carrier.draw(256))


def test_zero_is_a_seed():
    assert 0 in {carrier.seed for carrier in EVERY}


def test_smoothing_agrees_with_scipy():
    plane = np.random.default_rng(3).integers(0, 256, (24, 40, 3))
    smooth = plane
    for axis in (0, 1):
        smooth = convolve1d(smooth, [1, 4, 6, 4, 1], axis=axis, mode="wrap")
    assert np.array_equal(_binomial(plane), (smooth + 128) >> 8)

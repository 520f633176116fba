"""The two routes to a singular value; what the adapter answers is tested in ``test_dwt_dct``."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.adapters import dwt_dct_svd
from pytest_benchbench.adapters.dwt_dct_svd import read_blocks


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), spread=st.sampled_from([0, 1, 3, 40]))
def test_screening_never_decides_otherwise_than_the_full_route(seed, spread):
    generator = np.random.default_rng(seed)
    base = generator.integers(40, 200, 3)
    pixels = (base + generator.integers(-spread, spread + 1, (64, 64, 3))).astype(np.uint8)
    screened = read_blocks(pixels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dwt_dct_svd, "_DOUBTFUL", 99.0)
        np.testing.assert_array_equal(read_blocks(pixels), screened)


def test_most_blocks_of_a_picture_are_decided_by_screening(monkeypatch):
    pixels = np.random.default_rng(1).integers(0, 256, (256, 256, 3)).astype(np.uint8)
    read_blocks(pixels)

    def refuse(*_):
        raise AssertionError("the full route was taken")

    monkeypatch.setattr(np.linalg, "svd", refuse)
    read_blocks(pixels)

"""Random numbers that every machine and every version of NumPy draws alike.

NumPy promises the raw words of PCG64 and nothing about what its distributions make of them. So normal deviates are made
here, with integers: the sum of the 32 bytes of four words, less its mean, over its standard deviation. By the central limit
theorem that is normal but for an excess kurtosis of -0.04 and tails that end at 9.8 deviations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GENERATOR = "PCG64 raw words; normal deviate = (sum of the 32 bytes of 4 words - 4080) / sqrt(32 (256^2 - 1) / 12)"
"""How the deviates are drawn, for case rows."""

_WORDS = 4
_BYTES = 8 * _WORDS
_MEAN = _BYTES * 255 / 2
_DEVIATION = float(np.sqrt(_BYTES * (256**2 - 1) / 12))
_BLOCK = 1 << 18


def normal_deviates(count: int, seed: int) -> NDArray[np.float64]:
    """Draw ``count`` independent deviates of mean 0 and variance 1."""
    words = np.random.PCG64(seed)
    deviates = np.empty(count)
    for start in range(0, count, _BLOCK):  # the words of a large picture would not fit
        block = deviates[start : start + _BLOCK]
        drawn = np.asarray(words.random_raw(_WORDS * block.size), dtype="<u8").view(np.uint8).reshape(block.size, _BYTES)
        block[:] = (drawn.sum(axis=1, dtype=np.int64) - _MEAN) / _DEVIATION
    return deviates


def uniform_words(count: int, seed: int) -> NDArray[np.uint64]:
    """Draw ``count`` independent 64-bit words."""
    return np.asarray(np.random.PCG64(seed).random_raw(count), dtype=np.uint64)

import numpy as np
import pytest

from pytest_benchbench.cohorts.attacks import noise
from pytest_benchbench.cohorts.attacks.noise import normal_deviates, uniform_words


def test_the_deviates_are_normal_but_for_what_is_stated():
    deviates = normal_deviates(400_000, seed=0)
    assert abs(deviates.mean()) < 0.01
    assert abs(deviates.var() - 1) < 0.01
    assert abs((deviates**4).mean() - 3) < 0.1
    inside = [(np.abs(deviates) < bound).mean() for bound in (1, 2, 3)]
    assert inside == pytest.approx([0.6827, 0.9545, 0.9973], abs=0.005)


def test_the_deviates_are_these_on_every_machine():
    """Sums of the bytes of the first raw words of PCG64(0), worked out by hand from the words."""
    words = np.random.PCG64(0).random_raw(8).tolist()
    sums = [sum(sum(word.to_bytes(8, "little")) for word in words[start : start + 4]) for start in (0, 4)]
    deviation = (32 * (256**2 - 1) / 12) ** 0.5
    assert normal_deviates(2, seed=0).tolist() == [(total - 4080) / deviation for total in sums]
    assert words[0] == 11749869230777074271


def test_a_block_ends_nothing(monkeypatch):
    whole = normal_deviates(1000, seed=3)
    monkeypatch.setattr(noise, "_BLOCK", 64)
    assert np.array_equal(normal_deviates(1000, seed=3), whole)


def test_seeds_differ_and_a_longer_draw_begins_alike():
    assert not np.array_equal(normal_deviates(16, seed=0), normal_deviates(16, seed=1))
    assert np.array_equal(uniform_words(16, seed=0)[:4], uniform_words(4, seed=0))
